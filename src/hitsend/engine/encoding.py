"""Encodes messages as token ids, safe from prompt injection through special tokens.

The chat template is rendered with placeholders instead of the texts. The rendered text between the
placeholders is structure, in which special tokens are parsed; the texts are tokenized separately,
without. Each segment of the result keeps the index of its message. A partial answer comes
last, after the template, with its own token ids if they are known, and is not closed.
"""

import re
import secrets
from collections.abc import Iterator, Sequence
from typing import Protocol

import msgspec

from hitsend.engine.contract import Prompt
from hitsend.engine.message_json import Json, messages_json, tool_json
from hitsend.engine.tool_listing import list_tools
from hitsend.errors import Refused
from hitsend.events import Span
from hitsend.messages import (
    AnswerRules,
    Attachment,
    Message,
    Part,
    PartialAnswer,
    Source,
    Text,
    Thought,
    Tool,
    ToolCall,
    ToolResult,
    part_source,
)

ANSWER_NOW = (
    "Now answer my question in a sentence with this result. If I asked for something more, call "
    "the tool for it, with what this result says."
)


class ChatTemplate(Protocol):
    """A model's chat template and tokenizer."""

    @property
    def can_call_tools(self) -> bool: ...

    async def render(self, messages: Sequence[Json], tools: Sequence[object]) -> str:
        """Renders the messages up to where the answer begins."""

    async def tokenize_structure(self, text: str, *, is_first: bool) -> tuple[int, ...]: ...

    async def tokenize_text(self, text: str) -> tuple[int, ...]: ...

    async def decode_ids(self, ids: tuple[int, ...]) -> str | None:
        """Returns None if the model has no such tokens."""

    def is_plain(self, text: str) -> bool:
        """Whether the text contains nothing that could be parsed as a special token."""


class EncodedPrompt(msgspec.Struct, frozen=True):
    ids: tuple[int, ...]
    spans: tuple[Span, ...]

    def to_prompt(
        self, model: str, num_window_tokens: int, tools: Sequence[Tool], rules: AnswerRules
    ) -> Prompt:
        return Prompt(
            model,
            len(self.ids),
            num_window_tokens,
            True,
            self.spans,
            self.ids,
            tools=tuple(tools),
            rules=rules,
        )


class Segment(msgspec.Struct, frozen=True):
    """A part of the rendered prompt that came from one source."""

    source: Source
    index: int
    text: str


async def encode(
    template: ChatTemplate, messages: Sequence[Message], tools: Sequence[Tool] = ()
) -> EncodedPrompt:
    closed, partial = split_partial_answer(messages)
    try:
        placeholders = Placeholders(template, closed, tools)
        rendered = await template.render(messages_json(placeholders.messages), placeholders.tools)
    except RecursionError:
        raise Refused("A tool, or a call of one, is nested too deeply.", param="tools") from None
    ids: list[int] = []
    spans: list[Span] = []
    for segment in placeholders.split_rendered(rendered):
        if segment.source == "template":
            new = await template.tokenize_structure(segment.text, is_first=not ids)
        else:
            new = await template.tokenize_text(segment.text)
        ids += new
        _add_span(spans, segment, len(new))
    if partial is not None:
        new = await _tokenize_partial_answer(template, partial)
        ids += new
        spans.append(Span(partial.source, len(closed), len(new)))
    return EncodedPrompt(tuple(ids), tuple(spans))


async def encode_listed(
    template: ChatTemplate, messages: Sequence[Message], tools: Sequence[Tool]
) -> EncodedPrompt:
    """Lists the tools in the system message, in our words instead of the template's. After the
    result of a call the model is told to answer with it: else it thanks for it, or calls again."""
    listing = Text(list_tools(tools), "tools")
    first, *others = _ask_for_answer(messages)
    if first.role == "system":
        listed = Message(first.role, (*first.parts, listing), first.source)
        return await encode(template, (listed, *others))
    system = Message("system", (Text("You are a helpful assistant."), listing), "template")
    encoded = await encode(template, (system, first, *others))
    spans = [Span(one.source, max(one.index - 1, -1), one.num_tokens) for one in encoded.spans]
    return EncodedPrompt(encoded.ids, tuple(spans))


def _ask_for_answer(messages: Sequence[Message]) -> Sequence[Message]:
    *before, last = messages
    if last.role != "tool":
        return messages
    told = [
        msgspec.structs.replace(part, output=f"{part.output}\n\n{ANSWER_NOW}")
        if isinstance(part, ToolResult)
        else part
        for part in last.parts
    ]
    return (*before, msgspec.structs.replace(last, parts=tuple(told)))


def split_partial_answer(messages: Sequence[Message]) -> tuple[Sequence[Message], Message | None]:
    """Splits off the answer that is to be continued, if there is one. An assistant message that
    merely comes last, as in an API call, is not continued."""
    *closed, last = messages
    return (closed, last) if last.source == "answer" else (messages, None)


async def _tokenize_partial_answer(template: ChatTemplate, partial: Message) -> tuple[int, ...]:
    """Returns the ids it was generated with, if they are known and decode to its text. Tokenizing
    the text may give other ids, which the model did not generate and the KV cache does not hold."""
    known = partial.token_ids if isinstance(partial, PartialAnswer) else ()
    if known and await template.decode_ids(known) == partial.text:
        return known
    return await template.tokenize_text(partial.text)


def _add_span(spans: list[Span], segment: Segment, num_tokens: int) -> None:
    """Merges adjacent segments of the same source into one span."""
    if spans and (spans[-1].source, spans[-1].index) == (segment.source, segment.index):
        num_tokens += spans.pop().num_tokens
    if num_tokens:
        spans.append(Span(segment.source, segment.index, num_tokens))


class Placeholders:
    """Messages and tools with placeholders instead of their texts, and the text of each.

    Texts of messages are always replaced. Tool definitions and arguments are JSON, which templates
    rearrange: of those only strings that could be parsed as special tokens are replaced, so that
    the others are tokenized the way the model was trained.
    """

    def __init__(
        self, template: ChatTemplate, messages: Sequence[Message], tools: Sequence[Tool]
    ) -> None:
        self._template = template
        self._mark = _unused_mark(messages, tools)
        self._texts: list[Segment] = []
        self._json_strings: set[int] = set()
        self.messages = [self._message(message, index) for index, message in enumerate(messages)]
        self.tools = [self._json(_plain_json(tool), "tool", -1) for tool in tools]

    def split_rendered(self, rendered: str) -> Iterator[Segment]:
        """Splits the rendered prompt at the placeholders and puts the texts back."""
        pieces = re.split(f"{self._mark}([0-9]+)x", rendered)
        for before, number in zip(pieces[::2], [*pieces[1::2], None], strict=True):
            if before:
                yield Segment("template", -1, before)
            if number is not None:
                yield self._text(int(number), is_quoted=before.endswith('"'))

    def _text(self, number: int, *, is_quoted: bool) -> Segment:
        segment = self._texts[number]
        if is_quoted and number in self._json_strings:
            quoted = msgspec.json.encode(segment.text).decode()
            return Segment(segment.source, segment.index, quoted[1:-1])
        return segment

    def _message(self, message: Message, index: int) -> Message:
        parts = [self._part(part, part_source(part, message), index) for part in message.parts]
        return Message(message.role, tuple(parts), message.source)

    def _part(self, part: Part, source: Source, index: int) -> Part:
        match part:
            case Text(text) | Attachment(text=text):
                return Text(self._replace(text, source, index)) if text else part
            case ToolResult(call_id, output, failed):
                call_id = str(self._json(call_id, source, index))
                return ToolResult(call_id, self._replace(output, source, index), failed)
            case Thought():
                return part  # no model reads it again
            case ToolCall() if not self._template.can_call_tools:
                return Text(self._replace(_call_text(part), source, index))
            case ToolCall(call_id, tool, arguments):
                replaced = self._json([call_id, tool, _parse_arguments(arguments)], source, index)
                call_id, tool, value = msgspec.convert(replaced, tuple[str, str, object])
                return ToolCall(call_id, tool, msgspec.json.encode(value).decode())

    def _json(self, value: object, source: Source, index: int) -> object:
        """Returns the value with the strings replaced that could be parsed as special tokens."""
        match value:
            case str() if not self._template.is_plain(value):
                self._json_strings.add(len(self._texts))
                return self._replace(value, source, index)
            case list():
                return [self._json(item, source, index) for item in value]
            case dict():
                return {
                    self._json(key, source, index): self._json(item, source, index)
                    for key, item in value.items()
                }
            case _:
                return value

    def _replace(self, text: str, source: Source, index: int) -> str:
        self._texts.append(Segment(source, index, text))
        return f"{self._mark}{len(self._texts) - 1}x"


def _unused_mark(messages: Sequence[Message], tools: Sequence[Tool]) -> str:
    """Returns a random mark that occurs in no text, so that no message contains a placeholder."""
    texts = msgspec.json.encode((messages, tools))
    while (mark := f"x{secrets.token_hex(8)}n").encode() in texts:
        continue
    return mark


def _plain_json(tool: Tool) -> object:
    try:
        return msgspec.json.decode(msgspec.json.encode(tool_json(tool)))
    except msgspec.DecodeError as error:
        raise Refused(
            f"The parameters of the tool {tool.name!r} are not JSON: {error}.", param="tools"
        ) from None


def _parse_arguments(arguments: str) -> object:
    """Arguments that are not JSON are passed on as one string."""
    try:
        return msgspec.json.decode(arguments)
    except msgspec.DecodeError:
        return arguments


def _call_text(call: ToolCall) -> str:
    """The text of a call, for a template without tool calls."""
    name = msgspec.json.encode(call.tool).decode()
    return f'{{"name": {name}, "arguments": {call.arguments}}}'
