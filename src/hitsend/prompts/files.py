"""The prompts that come with hitsend: one TOML file each, read once.

A text that changed needs a new version: `library.lock` holds the fingerprint of each, and
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
from hitsend.prompts.text import Check, PromptText, Slot, SlotKind, Value


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


def shipped() -> Mapping[str, PromptText]:
    return MappingProxyType(_library()[0])


def checks() -> Mapping[str, tuple[Check, ...]]:
    """What a real model has to make of each."""
    return MappingProxyType(_library()[1])


def fingerprint(prompt: PromptText) -> str:
    """Of all that shapes what a model is told and how its answer is decoded."""
    slots = [(slot.name, slot.kind, slot.mark) for slot in prompt.slots]
    told = (prompt.template, slots, sorted(prompt.families.items()), prompt.sampling.said)
    return hashlib.sha256(msgspec.json.encode(told)).hexdigest()


@cache
def _library() -> tuple[dict[str, PromptText], dict[str, tuple[Check, ...]]]:
    folder = resources.files("hitsend.prompts").joinpath("library")
    found = sorted(folder.iterdir(), key=lambda path: path.name)
    read = {path.name.removesuffix(".toml"): _read(path) for path in found}
    return (
        {name: _prompt(name, file) for name, file in read.items()},
        {name: file.checks for name, file in read.items()},
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
