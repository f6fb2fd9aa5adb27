"""Renders prompts.

Values are inserted after the template was parsed, so they cannot become part of it. Raises Refused
for a value that is missing, unknown, of the wrong kind, or a secret.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from hitsend.errors import Refused, TooLarge
from hitsend.messages import Message, Role, Source, Text
from hitsend.prompts.prompt_text import PromptText, Slot, Value
from hitsend.prompts.template import Kinds, Section, compile_sections
from hitsend.prompts.untrusted_text import clean_text, wrap_untrusted
from hitsend.safety import find_secret, remove_secrets

MAX_CHARS = 4_000_000
MAX_CACHED_CHARS = 2_000


def render(prompt: PromptText, values: Mapping[str, object], model: str = "") -> str:
    return "\n\n".join(message.text for message in render_chat(prompt, values, model))


def render_chat(
    prompt: PromptText, values: Mapping[str, object], model: str = ""
) -> tuple[Message, ...]:
    """Returns a message for each section: instructions, examples and question."""
    compiled = compile_sections(prompt.template_for(model), _kinds(prompt))
    checked = _check_values(prompt, values)
    rendered = list(_render_sections(prompt, compiled, checked))
    last = len(rendered) - 1
    return tuple(
        Message(role, (Text(text),), _source(role, is_last=place == last))
        for place, (role, text) in enumerate(rendered)
    )


def _render_sections(
    prompt: PromptText, compiled: Sequence[Section], values: Mapping[str, Value]
) -> Iterator[tuple[Role, str]]:
    """Renders in pieces, and stops as soon as the prompt is too long."""
    room = MAX_CHARS
    for role, template in compiled:
        pieces = []
        for piece in template.generate(values):
            pieces.append(piece)
            room -= len(piece)
            if room < 0:
                raise TooLarge(f"The prompt `{prompt.name}` has over {MAX_CHARS:,} characters.")
        yield role, "".join(pieces).strip()


def check_template(prompt: PromptText, template: str) -> None:
    """Raises Refused, with the line, if the template is not valid for this prompt."""
    if secret := find_secret(template):
        raise Refused(f"There is {secret} in the template. Remove it.", param="template")
    compiled = compile_sections(template, _kinds(prompt))
    if prompt.is_in_chat and (len(compiled) > 1 or compiled[0][0] != "system"):
        raise Refused("It is part of a message, and has no messages of its own.", param="template")


def _kinds(prompt: PromptText) -> Kinds:
    return tuple((slot.name, slot.kind, slot.is_required) for slot in prompt.slots)


def _source(role: str, *, is_last: bool) -> Source:
    if role == "system":
        return "system"
    return "user" if is_last else "history"


def _check_values(prompt: PromptText, values: Mapping[str, object]) -> dict[str, Value]:
    if unknown := values.keys() - {slot.name for slot in prompt.slots}:
        raise _bad_value(prompt, min(unknown), "is none of its slots")
    return dict(_check_each(prompt, values))


def _check_each(prompt: PromptText, values: Mapping[str, object]) -> Iterator[tuple[str, Value]]:
    for slot in prompt.slots:
        if slot.name in values:
            yield slot.name, _check_value(prompt, slot, values[slot.name])
        elif slot.is_required:
            raise _bad_value(prompt, slot.name, "is missing")
        else:
            yield slot.name, EMPTY[slot.kind]


class Lines(tuple[str, ...]):
    """Renders as one line each where a template shows the whole list."""

    __slots__ = ()

    def __str__(self) -> str:
        return "\n".join(self)


EMPTY: Mapping[str, Value] = {"text": "", "data": "", "list": Lines(), "flag": False}


def _check_value(prompt: PromptText, slot: Slot, value: object) -> Value:
    match slot.kind, value:
        case "flag", bool():
            return value
        case "text", str():
            return _check_no_secret(prompt, slot, clean_text(value))
        case "data", str():
            return _wrap(slot, value) if value.strip() else ""
        case "list", Sequence() if not isinstance(value, str) and _are_texts(value):
            return Lines(_wrap(slot, one) for one in value if one.strip())
    raise _bad_value(prompt, slot.name, f"has to be {KINDS[slot.kind]}")


KINDS = {"text": "text", "data": "text", "list": "a list of texts", "flag": "true or false"}


def _are_texts(values: Sequence[object]) -> bool:
    return all(isinstance(value, str) for value in values)


def _check_no_secret(prompt: PromptText, slot: Slot, text: str) -> str:
    if secret := find_secret(text):
        raise _bad_value(prompt, slot.name, f"holds {secret}, which no model may see")
    return text


def _wrap(slot: Slot, text: str) -> str:
    """The notes of a conversation are rendered again for every turn, so short texts are cached."""
    return (_wrap_cached if len(text) <= MAX_CACHED_CHARS else _wrap_text)(slot.tag, text)


def _wrap_text(tag: str, text: str) -> str:
    """Removes secrets from untrusted text, because refusing it would end the turn."""
    return wrap_untrusted(tag, remove_secrets(clean_text(text)))


_wrap_cached = lru_cache(maxsize=1024)(_wrap_text)


def _bad_value(prompt: PromptText, slot: str, problem: str) -> Refused:
    return Refused(f"`{slot}` {problem}, in the prompt `{prompt.name}`.", param=slot)
