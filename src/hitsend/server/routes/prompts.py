"""Prompts, for an administrator: read, write a version, try it, choose it, roll back.

A prompt cannot be taken away or renamed: the code asks for it by its name.
"""

from collections import defaultdict
from collections.abc import Mapping
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType
from starlette.responses import Response

from hitsend.canonical import canonical
from hitsend.errors import NotFound, Refused
from hitsend.messages import Sampling
from hitsend.prompt_book import misfit
from hitsend.prompts import (
    PromptText,
    Slot,
    check_template,
    render_chat,
    samples,
    shipped,
    with_template,
)
from hitsend.server.calls import NOTHING, Access, Call, answer, endpoint
from hitsend.store.prompts import (
    FIRST_OWN,
    Prompts,
    PromptVersion,
    Running,
    Standing,
    VersionNumber,
)

MOST_BYTES = 262_144
MOST_LINES = 100
NOT_DECODED = "A note has no answer of its own. Choose how chats are decoded with `system`."


class NewVersion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    template: Annotated[str, Meta(min_length=1, max_length=20_000)]
    note: Annotated[str, Meta(max_length=500)] = ""


class Choice(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is not given stays; null is what comes with hitsend."""

    version: VersionNumber | None | UnsetType = UNSET
    sampling: Sampling | None | UnsetType = UNSET


class Attempt(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    template: Annotated[str, Meta(max_length=20_000)]
    values: dict[str, str | list[str] | bool] | None = None


class PromptLine(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt as the page of prompts shows it."""

    name: str
    about: str
    slots: tuple[Slot, ...]
    is_in_chat: bool
    is_decoded: bool
    shipped: PromptText
    versions: tuple[PromptVersion, ...]
    """The administrators' own, the newest first."""
    active: int
    """What is told."""
    misfits: Mapping[int, str]
    """Of the versions that were chosen or are compared, those that are not told any more, and why
    not."""
    sampling: Sampling | None
    experiment: Running | None


@endpoint("GET", "/backend-api/admin/prompts", Access.ADMIN)
async def list_prompts(call: Call) -> Response:
    """Every prompt, with all of its versions and which one holds."""
    store = call.house.services.store.prompts
    standings, own = await store.standings(), defaultdict[str, list[PromptVersion]](list)
    for version in await store.versions():
        own[version.name].append(version)
    lines = [_line(prompt, own[name], standings) for name, prompt in shipped().items()]
    return answer({"items": lines})


@endpoint("POST", "/backend-api/admin/prompts/{name}/versions", Access.ADMIN)
async def write_version(call: Call) -> Response:
    """Write a version of a prompt. It is not used before it is chosen."""
    prompt, new = _prompt(call), await call.body(NewVersion, MOST_BYTES)
    template = canonical(new.template).strip("\n")
    check_template(prompt, template)
    render_chat(with_template(prompt, FIRST_OWN, template), samples(prompt))
    store = call.house.services.store.prompts
    version = await store.add(prompt.name, template, canonical(new.note).strip(), call.user_id)
    return answer({"name": prompt.name, "version": version}, 201)


@endpoint("PUT", "/backend-api/admin/prompts/{name}", Access.ADMIN)
async def choose_version(call: Call) -> Response:
    """Choose the version that holds, or how what it asks for is decoded."""
    prompt, choice = _prompt(call), await call.body(Choice, MOST_BYTES)
    if choice.sampling and not prompt.is_decoded:
        raise Refused(NOT_DECODED, param="sampling")
    version, store = choice.version, call.house.services.store.prompts
    if isinstance(version, int):
        await check_can_be_told(prompt, version, store)
        version = None if version == prompt.version else version
    await store.choose(prompt.name, call.user_id, version=version, sampling=choice.sampling)
    return Response(status_code=NOTHING)


@endpoint("POST", "/backend-api/admin/prompts/{name}/try", Access.ADMIN)
async def try_template(call: Call) -> Response:
    """What a template would say, with sample values or others. Nothing is kept."""
    prompt, attempt = _prompt(call), await call.body(Attempt)
    template = canonical(attempt.template).strip("\n")
    check_template(prompt, template)
    values = samples(prompt) if attempt.values is None else attempt.values
    messages = render_chat(with_template(prompt, FIRST_OWN, template), values)
    told = [{"role": message.role, "text": message.text} for message in messages]
    return answer({"text": "\n\n".join(message.text for message in messages), "messages": told})


@endpoint("GET", "/backend-api/admin/audit", Access.ADMIN)
async def list_changes(call: Call) -> Response:
    """Who changed prompts, and which comparisons of theirs there were, the newest first."""
    limit = call.number("limit", 50, most=MOST_LINES)
    before = call.number("before", 0, most=2**53)
    audit = call.house.services.store.audit
    return answer({"items": await audit.list(before=before, limit=limit)})


async def check_can_be_told(prompt: PromptText, version: int, store: Prompts) -> None:
    """It is there, and fits what this hitsend has to say."""
    if version == prompt.version:
        return
    template = await store.template(prompt.name, version)
    if template is None:
        raise NotFound(f"There is no version {version} of this prompt.", param="version")
    check_template(prompt, template)


def _prompt(call: Call) -> PromptText:
    if (prompt := shipped().get(call.path("name"))) is None:
        raise NotFound("There is no such prompt.", param="name")
    return prompt


def _line(
    prompt: PromptText, own: list[PromptVersion], standings: Mapping[str, Standing]
) -> PromptLine:
    standing = standings.get(prompt.name, Standing())
    chosen, misfits = standing.version, _misfits(prompt, standing)
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
        sampling=standing.sampling,
        experiment=standing.experiment,
    )


def _misfits(prompt: PromptText, standing: Standing) -> dict[int, str]:
    problems = (
        (version, misfit(prompt.name, version, template))
        for version, template in standing.templates.items()
    )
    return {version: problem for version, problem in problems if problem}
