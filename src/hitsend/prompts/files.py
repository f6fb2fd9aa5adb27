"""The shipped prompts: one TOML file each, read once.

A changed prompt needs a new version: `library.lock` holds the fingerprint of each, and
`make check` compares.
"""

import hashlib
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from types import MappingProxyType

import msgspec

from hitsend.messages import Sampling
from hitsend.prompts.prompt_text import Check, PromptText, Slot, SlotKind, Value


class SlotTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    kind: SlotKind
    about: str
    sample: Value
    is_required: bool = True
    label: str = ""


class PromptFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    version: int
    about: str
    template: str
    is_in_chat: bool = False
    slots: dict[str, SlotTable] = {}
    sampling: Sampling | None = None
    families: dict[str, str] = {}
    checks: tuple[Check, ...] = ()


def shipped_prompts() -> Mapping[str, PromptText]:
    return MappingProxyType(_library()[0])


def checks() -> Mapping[str, tuple[Check, ...]]:
    """Returns the tests of each prompt."""
    return MappingProxyType(_library()[1])


def fingerprint(prompt: PromptText) -> str:
    """Hashes everything that affects the prompt's text and its answer's sampling."""
    slots = [(slot.name, slot.kind, slot.tag) for slot in prompt.slots]
    hashed = (prompt.template, slots, sorted(prompt.families.items()), prompt.sampling.explicit)
    return hashlib.sha256(msgspec.json.encode(hashed)).hexdigest()


@cache
def _library() -> tuple[dict[str, PromptText], dict[str, tuple[Check, ...]]]:
    folder = resources.files("hitsend.prompts").joinpath("library")
    paths = sorted(folder.iterdir(), key=lambda path: path.name)
    files = {path.name.removesuffix(".toml"): _read(path) for path in paths}
    return (
        {name: _prompt(name, file) for name, file in files.items()},
        {name: file.checks for name, file in files.items()},
    )


def _read(path: Traversable) -> PromptFile:
    return msgspec.convert(tomllib.loads(path.read_text("utf-8")), PromptFile)


def _prompt(name: str, file: PromptFile) -> PromptText:
    return PromptText(
        name=name,
        version=file.version,
        template=file.template.strip("\n"),
        slots=tuple(
            Slot(slot, table.kind, table.is_required, table.about, table.label, table.sample)
            for slot, table in file.slots.items()
        ),
        sampling=file.sampling or Sampling(),
        families={family: text.strip("\n") for family, text in file.families.items()},
        about=file.about,
        is_in_chat=file.is_in_chat,
        is_decoded=file.sampling is not None,
    )
