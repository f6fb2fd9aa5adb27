"""Prompts, for administrators: list, write a version, try it, activate it, roll back.

A prompt cannot be deleted or renamed: the code refers to it by name.
"""

from collections import defaultdict
from collections.abc import Mapping
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType
from starlette.responses import Response

from hitsend.canonical import canonicalize
from hitsend.errors import NotFound, Refused
from hitsend.messages import Role, Sampling
from hitsend.prompts import (
    PromptText,
    Slot,
    check_template,
    render_chat,
    samples,
    shipped_prompts,
    with_template,
)
from hitsend.prompts.picker import find_misfit
from hitsend.server.call import NO_CONTENT, Access, Call, endpoint, json_response
from hitsend.store.prompts import (
    FIRST_OWN,
    PromptOverride,
    Prompts,
    PromptVersion,
    RunningExperiment,
    VersionNumber,
)
from hitsend.wire.responses import Items

MAX_BYTES = 262_144
NOT_DECODED = "A note has no answer of its own. Choose how chats are decoded with `system`."


class NewVersion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    template: Annotated[str, Meta(min_length=1, max_length=20_000)]
    note: Annotated[str, Meta(max_length=500)] = ""


class PromptChoice(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Fields that are left out stay unchanged; null restores hitsend's default."""

    version: VersionNumber | None | UnsetType = UNSET
    sampling: Sampling | None | UnsetType = UNSET


class Trial(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    template: Annotated[str, Meta(max_length=20_000)]
    values: dict[str, str | list[str] | bool] | None = None


class PromptLine(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt in the list of prompts."""

    name: str
    about: str
    slots: tuple[Slot, ...]
    is_in_chat: bool
    is_decoded: bool
    shipped: PromptText
    versions: tuple[PromptVersion, ...]
    """Written by administrators, the newest first."""
    active: int
    misfits: Mapping[int, str]
    """Active or compared versions that cannot be rendered any more, each with the reason."""
    sampling: Sampling | None
    experiment: RunningExperiment | None


class CreatedVersion(msgspec.Struct, frozen=True):
    name: str
    version: int


class RenderedMessage(msgspec.Struct, frozen=True):
    role: Role
    text: str


class RenderedPrompt(msgspec.Struct, frozen=True):
    text: str
    """All messages, with empty lines between them."""
    messages: tuple[RenderedMessage, ...]


@endpoint("GET", "/backend-api/admin/prompts", Access.ADMIN)
async def list_prompts(call: Call) -> Response:
    """List every prompt with its versions, and which one is active."""
    store = call.app.services.store.prompts
    overrides, own = await store.overrides(), defaultdict[str, list[PromptVersion]](list)
    for version in await store.versions():
        own[version.name].append(version)
    lines = [_line(prompt, own[name], overrides) for name, prompt in shipped_prompts().items()]
    return json_response(Items(lines))


@endpoint("POST", "/backend-api/admin/prompts/{name}/versions", Access.ADMIN)
async def write_version(call: Call) -> Response:
    """Write a version of a prompt. It is unused until it is activated."""
    prompt, new = _prompt(call), await call.read_body(NewVersion, MAX_BYTES)
    template = canonicalize(new.template).strip("\n")
    check_template(prompt, template)
    render_chat(with_template(prompt, FIRST_OWN, template), samples(prompt))
    store = call.app.services.store.prompts
    version = await store.add(prompt.name, template, canonicalize(new.note).strip(), call.actor)
    return json_response(CreatedVersion(prompt.name, version), 201)


@endpoint("PUT", "/backend-api/admin/prompts/{name}", Access.ADMIN)
async def set_version(call: Call) -> Response:
    """Activate a version, or set the sampling of the answers it asks for."""
    prompt, choice = _prompt(call), await call.read_body(PromptChoice, MAX_BYTES)
    if choice.sampling and not prompt.is_decoded:
        raise Refused(NOT_DECODED, param="sampling")
    version, store = choice.version, call.app.services.store.prompts
    if isinstance(version, int):
        await check_version(prompt, version, store)
        version = None if version == prompt.version else version
    await store.choose(prompt.name, call.actor, version=version, sampling=choice.sampling)
    return Response(status_code=NO_CONTENT)


@endpoint("POST", "/backend-api/admin/prompts/{name}/try", Access.ADMIN)
async def try_template(call: Call) -> Response:
    """Render a template with sample values or others. Nothing is stored."""
    prompt, trial = _prompt(call), await call.read_body(Trial)
    template = canonicalize(trial.template).strip("\n")
    check_template(prompt, template)
    values = samples(prompt) if trial.values is None else trial.values
    messages = render_chat(with_template(prompt, FIRST_OWN, template), values)
    rendered = tuple(RenderedMessage(message.role, message.text) for message in messages)
    return json_response(RenderedPrompt("\n\n".join(one.text for one in rendered), rendered))


async def check_version(prompt: PromptText, version: int, store: Prompts) -> None:
    """Raises NotFound or Refused unless the version exists and can be rendered."""
    if version == prompt.version:
        return
    template = await store.template(prompt.name, version)
    if template is None:
        raise NotFound(f"There is no version {version} of this prompt.", param="version")
    check_template(prompt, template)


def _prompt(call: Call) -> PromptText:
    if (prompt := shipped_prompts().get(call.path_param("name"))) is None:
        raise NotFound("There is no such prompt.", param="name")
    return prompt


def _line(
    prompt: PromptText, own: list[PromptVersion], overrides: Mapping[str, PromptOverride]
) -> PromptLine:
    override = overrides.get(prompt.name, PromptOverride())
    chosen, misfits = override.version, _misfits(prompt, override)
    return PromptLine(
        name=prompt.name,
        about=prompt.about,
        slots=prompt.slots,
        is_in_chat=prompt.is_in_chat,
        is_decoded=prompt.is_decoded,
        shipped=prompt,
        versions=tuple(own),
        active=chosen if chosen and chosen not in misfits else prompt.version,
        misfits=misfits,
        sampling=override.sampling,
        experiment=override.experiment,
    )


def _misfits(prompt: PromptText, override: PromptOverride) -> dict[int, str]:
    problems = (
        (version, find_misfit(prompt.name, version, template))
        for version, template in override.templates.items()
    )
    return {version: problem for version, problem in problems if problem}
