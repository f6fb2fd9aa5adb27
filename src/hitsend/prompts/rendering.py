"""A prompt with its slots filled in.

Values are data: they are put in after the template was read, canonical, and cannot become part of
it. Raises Refused where something is missing, unknown, of the wrong kind, or a secret.
"""

from collections.abc import Iterator, Mapping, Sequence

from hitsend.errors import Refused, TooLarge
from hitsend.messages import Message, Role, Source, Text
from hitsend.prompts.data import as_data, cleaned
from hitsend.prompts.secrets import find_secret, without_secrets
from hitsend.prompts.template import Kinds, Section, sections
from hitsend.prompts.text import PromptText, Slot, Value

MOST_CHARS = 4_000_000


def render(prompt: PromptText, values: Mapping[str, object], model: str = "") -> str:
    return "\n\n".join(message.text for message in render_chat(prompt, values, model))


def render_chat(
    prompt: PromptText, values: Mapping[str, object], model: str = ""
) -> tuple[Message, ...]:
    """Section by section: instructions, examples, and what is asked."""
    compiled = sections(prompt.template_for(model), _kinds(prompt))
    filled = _filled(prompt, values)
    rendered = list(_rendered(prompt, compiled, filled))
    last = len(rendered) - 1
    return tuple(
        Message(role, (Text(text),), _source(role, is_last=place == last))
        for place, (role, text) in enumerate(rendered)
    )


def _rendered(
    prompt: PromptText, compiled: Sequence[Section], filled: Mapping[str, Value]
) -> Iterator[tuple[Role, str]]:
    """Bit by bit: what would be too long is not made at all."""
    room = MOST_CHARS
    for role, template in compiled:
        bits = []
        for bit in template.generate(filled):
            bits.append(bit)
            room -= len(bit)
            if room < 0:
                raise TooLarge(f"The prompt `{prompt.name}` has over {MOST_CHARS:,} characters.")
        yield role, "".join(bits).strip()


def check_template(prompt: PromptText, template: str) -> None:
    """Raises Refused, with the line, where it is none that this prompt could have."""
    if secret := find_secret(template):
        raise Refused(f"There is {secret} in the template. Take it out.", param="template")
    found = sections(template, _kinds(prompt))
    if prompt.is_in_chat and (len(found) > 1 or found[0][0] != "system"):
        raise Refused("It is part of a message, and has no messages of its own.", param="template")


def _kinds(prompt: PromptText) -> Kinds:
    return tuple((slot.name, slot.kind, slot.is_required) for slot in prompt.slots)


def _source(role: str, *, is_last: bool) -> Source:
    if role == "system":
        return "system"
    return "user" if is_last else "history"


def _filled(prompt: PromptText, values: Mapping[str, object]) -> dict[str, Value]:
    if unknown := values.keys() - {slot.name for slot in prompt.slots}:
        raise _misfit(prompt, min(unknown), "is none of its slots")
    return dict(_each(prompt, values))


def _each(prompt: PromptText, values: Mapping[str, object]) -> Iterator[tuple[str, Value]]:
    for slot in prompt.slots:
        if slot.name in values:
            yield slot.name, _fit(prompt, slot, values[slot.name])
        elif slot.is_required:
            raise _misfit(prompt, slot.name, "is missing")
        else:
            yield slot.name, EMPTY[slot.kind]


class Lines(tuple[str, ...]):
    """Reads one below the other where a template shows it whole."""

    __slots__ = ()

    def __str__(self) -> str:
        return "\n".join(self)


EMPTY: Mapping[str, Value] = {"text": "", "data": "", "list": Lines(), "flag": False}


def _fit(prompt: PromptText, slot: Slot, value: object) -> Value:
    match slot.kind, value:
        case "flag", bool():
            return value
        case "text", str():
            return _told(prompt, slot, cleaned(value))
        case "data", str():
            return _marked(slot, value) if value.strip() else ""
        case "list", Sequence() if not isinstance(value, str) and _are_texts(value):
            return Lines(_marked(slot, one) for one in value if one.strip())
    raise _misfit(prompt, slot.name, f"has to be {KINDS[slot.kind]}")


KINDS = {"text": "text", "data": "text", "list": "a list of texts", "flag": "true or false"}


def _are_texts(values: Sequence[object]) -> bool:
    return all(isinstance(value, str) for value in values)


def _told(prompt: PromptText, slot: Slot, text: str) -> str:
    if secret := find_secret(text):
        raise _misfit(prompt, slot.name, f"holds {secret}, which no model is told")
    return text


def _marked(slot: Slot, text: str) -> str:
    """A secret in what comes from elsewhere must not stop the turn: it is left out."""
    return as_data(slot.mark, without_secrets(cleaned(text)))


def _misfit(prompt: PromptText, slot: str, problem: str) -> Refused:
    return Refused(f"`{slot}` {problem}, in the prompt `{prompt.name}`.", param=slot)
