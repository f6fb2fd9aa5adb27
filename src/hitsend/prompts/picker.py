"""Picks the version of a prompt for a person: the shipped one, the one an administrator chose, or
a variant of a running experiment.

The variant is a hash of the person and the experiment, so a person always gets the same one and
no assignment is stored.
"""

import hashlib
import logging
from collections.abc import Mapping
from functools import lru_cache

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from hitsend.errors import Refused
from hitsend.messages import Message, Sampling, UsedPrompt
from hitsend.prompts import (
    PromptText,
    check_template,
    merge_sampling,
    render,
    render_chat,
    shipped_prompts,
    with_template,
)
from hitsend.safety import find_secret
from hitsend.settings import BadSetting, Settings
from hitsend.store import Store
from hitsend.store.prompts import PromptOverride

log = logging.getLogger(__name__)


class PickedPrompt(msgspec.Struct, frozen=True):
    prompt: PromptText
    used: UsedPrompt

    @property
    def sampling(self) -> Sampling:
        return self.prompt.sampling


class PromptPicker:
    def __init__(self, store: Store) -> None:
        self._store = store

    async def pick(self, name: str, user_id: str) -> PickedPrompt:
        """An empty `user_id` takes part in no experiment."""
        prompt = shipped_prompts()[name]
        override = (await self._store.prompts.overrides()).get(name)
        if override is None:
            return PickedPrompt(prompt, UsedPrompt(name, prompt.version))
        if override.sampling:
            prompt = replace(prompt, sampling=merge_sampling(override.sampling, prompt.sampling))
        if override.experiment and user_id:
            experiment = override.experiment
            version = pick_variant(experiment.id, experiment.versions, user_id)
            if (tried := _with_version(prompt, version, override)) is not None:
                return _build_picked(tried, experiment.id)
        return _build_picked(_with_version(prompt, override.version, override) or prompt)

    async def render_text(
        self, name: str, values: Mapping[str, object], *, user_id: str = "", model: str = ""
    ) -> tuple[str, PickedPrompt]:
        picked = await self.pick(name, user_id)
        return render(picked.prompt, values, model), picked

    async def render_messages(
        self, name: str, values: Mapping[str, object], *, user_id: str = "", model: str = ""
    ) -> tuple[tuple[Message, ...], PickedPrompt]:
        """Renders a prompt that is a conversation: instructions, examples and question."""
        picked = await self.pick(name, user_id)
        return render_chat(picked.prompt, values, model), picked


def check_instructions(settings: Settings) -> None:
    """Called at start, so that no person is refused an answer later."""
    if secret := find_secret(settings.instructions):
        raise BadSetting(
            f"There is {secret} in HITSEND_INSTRUCTIONS, which no model may see. Remove it."
        )


def pick_variant(experiment_id: str, versions: tuple[int, ...], user_id: str) -> int:
    """Assigns people evenly, and the same person always to the same version."""
    digest = hashlib.sha256(f"{experiment_id}:{user_id}".encode()).digest()
    return versions[int.from_bytes(digest[:8]) % len(versions)]


def _build_picked(prompt: PromptText, experiment_id: str | UnsetType = UNSET) -> PickedPrompt:
    return PickedPrompt(prompt, UsedPrompt(prompt.name, prompt.version, experiment_id))


@lru_cache(maxsize=256)
def find_misfit(name: str, version: int, template: str) -> str | None:
    """Returns why an administrator's version cannot be used: it has slots that this hitsend does
    not. Cached, so it is logged once."""
    try:
        check_template(shipped_prompts()[name], template)
    except Refused as problem:
        log.error("version %d of %s is left out: %s", version, name, problem.message)
        return problem.message
    return None


def _with_version(
    prompt: PromptText, version: int | None, override: PromptOverride
) -> PromptText | None:
    """Returns None if the version does not exist any more, or does not fit."""
    if version is None or version == prompt.version:
        return prompt
    template = override.templates.get(version)
    if template is None or find_misfit(prompt.name, version, template):
        return None
    return with_template(prompt, version, template)
