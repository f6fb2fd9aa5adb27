"""Messages to token ids, in a way no message can break out of.

The chat template is rendered around placeholders. What is left between them is structure, and
is tokenised as such; what they stand for is text, and in text nothing is special. Each stretch
of the result keeps the message it came from. The words of an answer that was begun come last:
they follow the template, as the tokens they were written in or as text, and nothing closes them.
"""

import re
import secrets
from collections.abc import Iterator, Sequence
from typing import Protocol

import msgspec

from hitsend.engine.openai_request import Json, messages_json, tool_json
from hitsend.errors import Refused
from hitsend.events import Span
from hitsend.messages import (
    Begun,
    Message,
    Part,
    Source,
    Text,
    Tool,
    ToolCall,
    ToolResult,
    source_of,
)


class Templated(Protocol):
    """What encoding needs of a model."""

    @property
    def can_call_tools(self) -> bool: ...

    async def render(self, messages: Sequence[Json], tools: Sequence[object]) -> str:
        """The model's own chat template, up to where the answer begins."""

    async def ids_of_structure(self, text: str, *, is_first: bool) -> tuple[int, ...]: ...

    async def ids_of_text(self, text: str) -> tuple[int, ...]: ...

    async def text_of_ids(self, ids: tuple[int, ...]) -> str | None:
        """What they spell. None where the model knows no such tokens."""

    def is_plain(self, text: str) -> bool:
        """Nothing in it could be taken for a special token."""


class Encoded(msgspec.Struct, frozen=True):
    ids: tuple[int, ...]
    spans: tuple[Span, ...]


class Stretch(msgspec.Struct, frozen=True):
    """A run of characters that came from one place."""

    source: Source
    index: int
    text: str


async def encode(
    model: Templated, messages: Sequence[Message], tools: Sequence[Tool] = ()
) -> Encoded:
    said, begun = split_begun(messages)
    try:
        hidden = Hidden(model, said, tools)
        rendered = await model.render(messages_json(hidden.messages), hidden.tools)
    except RecursionError:
        raise Refused("A tool, or a call of one, is nested too deeply.", param="tools") from None
    ids: list[int] = []
    spans: list[Span] = []
    for stretch in hidden.revealed(rendered):
        if stretch.source == "template":
            new = await model.ids_of_structure(stretch.text, is_first=not ids)
        else:
            new = await model.ids_of_text(stretch.text)
        ids += new
        _extend(spans, stretch, len(new))
    if begun is not None:
        new = await _ids_of_begun(model, begun)
        ids += new
        spans.append(Span(begun.source, len(said), len(new)))
    return Encoded(tuple(ids), tuple(spans))


def split_begun(messages: Sequence[Message]) -> tuple[Sequence[Message], Message | None]:
    """The messages, and the answer that is to be continued. An assistant's message that merely
    comes last, as an API call may bring it, is none."""
    *said, last = messages
    return (said, last) if last.source == "answer" else (messages, None)


async def _ids_of_begun(model: Templated, begun: Message) -> tuple[int, ...]:
    """The very tokens it was written in, where they are known and spell it. Its text in tokens
    may be others: the model would go on from what it has not said, and read all of it again."""
    known = begun.token_ids if isinstance(begun, Begun) else ()
    if known and await model.text_of_ids(known) == begun.text:
        return known
    return await model.ids_of_text(begun.text)


def _extend(spans: list[Span], stretch: Stretch, num_tokens: int) -> None:
    """What comes from the same place is one span."""
    if spans and (spans[-1].source, spans[-1].index) == (stretch.source, stretch.index):
        num_tokens += spans.pop().num_tokens
    if num_tokens:
        spans.append(Span(stretch.source, stretch.index, num_tokens))


class Hidden:
    """Messages and tools with their texts taken out, and where each text belongs.

    Texts of messages are always hidden. Definitions and arguments of tools are JSON, which
    templates rearrange: of those only strings that could pass for structure are hidden, so
    that all others are tokenised the way the model has learned them.
    """

    def __init__(
        self, model: Templated, messages: Sequence[Message], tools: Sequence[Tool]
    ) -> None:
        self._model = model
        self._mark = _unused_mark(messages, tools)
        self._texts: list[Stretch] = []
        self._json_strings: set[int] = set()
        self.messages = [self._message(message, index) for index, message in enumerate(messages)]
        self.tools = [self._json(_plain_json(tool), "tool", -1) for tool in tools]

    def revealed(self, rendered: str) -> Iterator[Stretch]:
        """The rendered prompt in its stretches, with the texts back in their places."""
        pieces = re.split(f"{self._mark}([0-9]+)x", rendered)
        for before, number in zip(pieces[::2], [*pieces[1::2], None], strict=True):
            if before:
                yield Stretch("template", -1, before)
            if number is not None:
                yield self._text(int(number), is_quoted=before.endswith('"'))

    def _text(self, number: int, *, is_quoted: bool) -> Stretch:
        stretch = self._texts[number]
        if is_quoted and number in self._json_strings:
            quoted = msgspec.json.encode(stretch.text).decode()
            return Stretch(stretch.source, stretch.index, quoted[1:-1])
        return stretch

    def _message(self, message: Message, index: int) -> Message:
        parts = [self._part(part, source_of(part, message), index) for part in message.parts]
        return Message(message.role, tuple(parts), message.source)

    def _part(self, part: Part, source: Source, index: int) -> Part:
        match part:
            case Text(text):
                return Text(self._hide(text, source, index)) if text else part
            case ToolResult(call_id, output, failed):
                call_id = str(self._json(call_id, source, index))
                return ToolResult(call_id, self._hide(output, source, index), failed)
            case ToolCall() if not self._model.can_call_tools:
                return Text(self._hide(_written(part), source, index))
            case ToolCall(call_id, tool, arguments):
                hidden = self._json([call_id, tool, _arguments(arguments)], source, index)
                call_id, tool, value = msgspec.convert(hidden, tuple[str, str, object])
                return ToolCall(call_id, tool, msgspec.json.encode(value).decode())

    def _json(self, value: object, source: Source, index: int) -> object:
        """The same value, with the strings hidden that could pass for structure."""
        match value:
            case str() if not self._model.is_plain(value):
                self._json_strings.add(len(self._texts))
                return self._hide(value, source, index)
            case list():
                return [self._json(item, source, index) for item in value]
            case dict():
                return {
                    self._json(key, source, index): self._json(item, source, index)
                    for key, item in value.items()
                }
            case _:
                return value

    def _hide(self, text: str, source: Source, index: int) -> str:
        self._texts.append(Stretch(source, index, text))
        return f"{self._mark}{len(self._texts) - 1}x"


def _unused_mark(messages: Sequence[Message], tools: Sequence[Tool]) -> str:
    """Nobody can know it beforehand; that it is in no text is checked all the same."""
    said = msgspec.json.encode((messages, tools))
    while (mark := f"x{secrets.token_hex(8)}n").encode() in said:
        continue
    return mark


def _plain_json(tool: Tool) -> object:
    try:
        return msgspec.json.decode(msgspec.json.encode(tool_json(tool)))
    except msgspec.DecodeError as error:
        raise Refused(
            f"The parameters of the tool {tool.name!r} are not JSON: {error}.", param="tools"
        ) from None


def _arguments(arguments: str) -> object:
    """Callers may send anything as arguments; what is not JSON goes in as one string."""
    try:
        return msgspec.json.decode(arguments)
    except msgspec.DecodeError:
        return arguments


def _written(call: ToolCall) -> str:
    """A call, for a model whose template has no place for calls."""
    name = msgspec.json.encode(call.tool).decode()
    return f'{{"name": {name}, "arguments": {call.arguments}}}'
