"""A prompt as a value: its template, what goes into it, and how its answer is decoded."""

import re
from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from hitsend.messages import Sampling

SlotKind: TypeAlias = Literal["text", "data", "list", "flag"]
"""`text` is ours, the operator's, or the very message that is answered, and stands as it is. `data`
comes from anywhere and stands between marks; `list` is several of those. A `flag` is not shown."""

Value: TypeAlias = str | tuple[str, ...] | bool


class Slot(msgspec.Struct, frozen=True):
    name: str
    kind: SlotKind
    is_required: bool = True
    """Has to be given, and a template has to show it."""
    about: str = ""
    label: str = ""
    """What its marks are called, if not like the slot."""
    sample: Value = ""

    @property
    def mark(self) -> str:
        return self.label or self.name


class PromptText(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    version: int
    template: str
    """A section begins with `=== user` or `=== assistant`; what comes before is the system's."""
    slots: tuple[Slot, ...] = ()
    sampling: Sampling = Sampling()
    families: Mapping[str, str] = {}
    """Another template for models whose name has this in it."""
    about: str = ""
    is_in_chat: bool = False
    """A part of what is answered, so that versions can be compared by what people think of it."""
    is_decoded: bool = False
    """Something is answered as `sampling` says. A note is answered as `system` says."""

    def template_for(self, model: str) -> str:
        """That of the longest name of a family which fits."""
        name = model.casefold()
        fitting = [family for family in self.families if family in name]
        return self.families[max(fitting, key=len)] if fitting else self.template


class Check(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a real model has to make of a prompt."""

    values: Mapping[str, Value]
    ask: str = ""
    """What a person says after it, for a prompt that does not ask anything itself."""
    has: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    """Compared without regard to case."""
    matches: str = ""
    most_chars: Annotated[int, Meta(ge=1)] = 4000
    families: tuple[str, ...] = ()
    """Only of models whose name has one of these in it. Empty: of all."""

    def is_for(self, model: str) -> bool:
        return not self.families or any(family in model.casefold() for family in self.families)

    def failures(self, written: str) -> list[str]:
        """What is wrong with an answer, in words; nothing where all is right."""
        said = written.casefold()
        found = [f"lacks {text!r}" for text in self.has if text.casefold() not in said]
        found += [f"has {text!r}" for text in self.lacks if text.casefold() in said]
        if self.matches and not _matches(self.matches, written):
            found.append(f"does not match {self.matches}")
        if not written.strip():
            found.append("is empty")
        if len(written) > self.most_chars:
            found.append(f"has {len(written)} characters")
        return found


def _matches(pattern: str, text: str) -> bool:
    return re.fullmatch(pattern, text.strip(), re.DOTALL) is not None


def samples(prompt: PromptText) -> dict[str, Value]:
    """A value for each slot, to try a template with."""
    return {slot.name: slot.sample for slot in prompt.slots}


def with_template(prompt: PromptText, version: int, template: str) -> PromptText:
    """Somebody's own version. It is meant for every model."""
    return replace(prompt, version=version, template=template, families={})
