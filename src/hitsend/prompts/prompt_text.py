"""A prompt as a value: its template, its slots, and the sampling of its answer."""

import re
from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from hitsend.messages import Sampling

SlotKind: TypeAlias = Literal["text", "data", "list", "flag"]
"""`text` is trusted (ours, the operator's, or the message that is answered) and inserted as it is.
`data` is untrusted and wrapped in tags; `list` is several of those. A `flag` is not shown."""

Value: TypeAlias = str | tuple[str, ...] | bool


class Slot(msgspec.Struct, frozen=True):
    name: str
    kind: SlotKind
    is_required: bool = True
    """A value must be given, and every template must show it."""
    about: str = ""
    label: str = ""
    """The name of its tag, if not the slot's name."""
    sample: Value = ""

    @property
    def tag(self) -> str:
        return self.label or self.name


class PromptText(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    version: int
    template: str
    """`=== user` and `=== assistant` start sections; the text before them is the system's."""
    slots: tuple[Slot, ...] = ()
    sampling: Sampling = Sampling()
    families: Mapping[str, str] = {}
    """Templates for model families, by a part of the model's name."""
    about: str = ""
    is_in_chat: bool = False
    """Part of a chat's context, so that feedback on answers can compare its versions."""
    is_decoded: bool = False
    """A model answers it, using `sampling`. A note has no answer of its own."""

    def template_for(self, model: str) -> str:
        """Picks the template of the longest matching family name."""
        name = model.casefold()
        fitting = [family for family in self.families if family in name]
        return self.families[max(fitting, key=len)] if fitting else self.template


class Check(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A test of a prompt with a real model."""

    values: Mapping[str, Value]
    ask: str = ""
    """A person's message after the prompt, if the prompt itself asks nothing."""
    has: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    """Both ignore case."""
    matches: str = ""
    most_chars: Annotated[int, Meta(ge=1)] = 4000
    families: tuple[str, ...] = ()
    """Only for models whose name contains one of these. Empty for all."""

    def is_for(self, model: str) -> bool:
        return not self.families or any(family in model.casefold() for family in self.families)

    def failures(self, written: str) -> list[str]:
        """Returns what is wrong with an answer."""
        folded = written.casefold()
        found = [f"lacks {text!r}" for text in self.has if text.casefold() not in folded]
        found += [f"has {text!r}" for text in self.lacks if text.casefold() in folded]
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
    """Returns a sample value for each slot, to try a template."""
    return {slot.name: slot.sample for slot in prompt.slots}


def with_template(prompt: PromptText, version: int, template: str) -> PromptText:
    """Returns an administrator's version, which applies to every model family."""
    return replace(prompt, version=version, template=template, families={})


def merge_sampling(requested: Sampling, default: Sampling) -> Sampling:
    """Returns the requested fields, and the default's where none was requested. Drops a default
    that contradicts the request, such as a temperature with beam search."""
    merged = requested
    for name, value in default.explicit.items():
        if getattr(requested, name) is None:
            merged = _replace_if_valid(merged, name, value)
    return merged


def _replace_if_valid(sampling: Sampling, name: str, value: object) -> Sampling:
    try:
        return replace(sampling, **{name: value})
    except ValueError:
        return sampling
