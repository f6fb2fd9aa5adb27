"""Which version of a prompt holds for whom: what comes with hitsend, what an administrator chose,
or the variant of an experiment that the person's share fell to.

The share is a hash of the person and the experiment: the same person always sees the same variant,
and no list of who sees what is kept.
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
    find_secret,
    laid_over,
    render,
    render_chat,
    shipped,
    with_template,
)
from hitsend.settings import BadSetting, Settings
from hitsend.store import Store
from hitsend.store.prompts import Standing

log = logging.getLogger(__name__)


class Picked(msgspec.Struct, frozen=True):
    prompt: PromptText
    used: UsedPrompt

    @property
    def sampling(self) -> Sampling:
        return self.prompt.sampling


class PromptBook:
    def __init__(self, store: Store) -> None:
        self._store = store

    async def pick(self, name: str, user_id: str) -> Picked:
        """Nobody in particular (empty) takes part in no experiment."""
        prompt = shipped()[name]
        standing = (await self._store.prompts.standings()).get(name)
        if standing is None:
            return Picked(prompt, UsedPrompt(name, prompt.version))
        if standing.sampling:
            prompt = replace(prompt, sampling=laid_over(standing.sampling, prompt.sampling))
        if standing.experiment and user_id:
            experiment = standing.experiment
            version = variant(experiment.id, experiment.versions, user_id)
            if (tried := _version(prompt, version, standing)) is not None:
                return _picked(tried, experiment.id)
        return _picked(_version(prompt, standing.version, standing) or prompt)

    async def text(
        self, name: str, values: Mapping[str, object], *, user_id: str = "", model: str = ""
    ) -> tuple[str, Picked]:
        picked = await self.pick(name, user_id)
        return render(picked.prompt, values, model), picked

    async def messages(
        self, name: str, values: Mapping[str, object], *, user_id: str = "", model: str = ""
    ) -> tuple[tuple[Message, ...], Picked]:
        """Of a prompt that is a small conversation by itself: instructions, examples, question."""
        picked = await self.pick(name, user_id)
        return render_chat(picked.prompt, values, model), picked


def check_instructions(settings: Settings) -> None:
    """Before anybody is here, not when they are refused an answer."""
    if secret := find_secret(settings.instructions):
        raise BadSetting(
            f"There is {secret} in HITSEND_INSTRUCTIONS, and no model is told one. Take it out."
        )


def variant(experiment_id: str, versions: tuple[int, ...], user_id: str) -> int:
    """The same for the same person, and as many people for each."""
    share = hashlib.sha256(f"{experiment_id}:{user_id}".encode()).digest()
    return versions[int.from_bytes(share[:8]) % len(versions)]


def _picked(prompt: PromptText, experiment_id: str | UnsetType = UNSET) -> Picked:
    return Picked(prompt, UsedPrompt(prompt.name, prompt.version, experiment_id))


@lru_cache(maxsize=256)
def misfit(name: str, version: int, template: str) -> str | None:
    """Why a version of an administrator's cannot be told any more: it was written for slots this
    hitsend has not. Looked at, and logged, once: neither of the two changes while we run."""
    try:
        check_template(shipped()[name], template)
    except Refused as problem:
        log.error("version %d of %s is left out: %s", version, name, problem.message)
        return problem.message
    return None


def _version(prompt: PromptText, version: int | None, standing: Standing) -> PromptText | None:
    """None where there is no such version any more, or it no longer fits."""
    if version is None or version == prompt.version:
        return prompt
    template = standing.templates.get(version)
    if template is None or misfit(prompt.name, version, template):
        return None
    return with_template(prompt, version, template)
