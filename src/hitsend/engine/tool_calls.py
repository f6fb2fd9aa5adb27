"""Parses tool calls out of a model's text while it streams.

Models write calls in three ways: between `<tool_call>` tags, as a fenced JSON object, or as a JSON
object that begins the answer. A call begins once its tool and the start of its arguments are known;
from then on the arguments are passed on as they come. A call that does not become whole is dropped,
and never shown as text. A fence with words before or after it is an example, not a call: fenced
calls are held until the answer ends. Other text is passed on unchanged. The result does not depend
on where the stream was cut into chunks.
"""

import re
import secrets
from collections.abc import Callable, Collection, Sequence
from typing import Literal, Protocol, TypeAlias

import msgspec

from hitsend.events import DropReason, ToolArgumentsArrived, ToolCallDropped, ToolCallStarted
from hitsend.messages import ToolCall

TAG, FENCE = "<tool_call>", "```"
CLOSINGS = {
    TAG: "</tool_call>",
    "```json\n": FENCE,
    "```tool_call\n": FENCE,
    "```\n": FENCE,
}
"""What comes before a call, and what comes after it."""
OPENER = re.compile(r"<|`+")
BEGINNING = re.compile(
    r'\s*\{\s*(?:\{\s*)?"name"\s*:\s*"(?P<tool>[^"]*)"\s*'
    r'(?:,\s*"(?:arguments|parameters)"\s*:\s*(?=[{"]|null)|(?=\}))'
)
"""A call up to its arguments: an object, an object in a string, null, or none. Some models name
them `parameters`, and some copy two braces from the example in Qwen's template."""
NAME = re.compile(r'"name"\s*:\s*"([^"]*)"')
TOOL_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
STRING_STOP = re.compile(r'["\\\x00-\x1f]')
BRACKET = re.compile(r'["{}\[\]]')
AFTER_CALL = "} \t\r\n"
UNDECIDED = -1
MAX_BEGINNING_CHARS = 512
"""How many characters are compared, for each chunk, to tell a call from other JSON."""

Piece: TypeAlias = str | ToolCallStarted | ToolArgumentsArrived | ToolCall | ToolCallDropped
End: TypeAlias = Literal["open", "stopped", "cut"]
"""More text may come, the model ended its answer, or the answer reached its limit."""


def new_call_id() -> str:
    return f"call_{secrets.token_hex(12)}"


def read_tool_name(text: str) -> str:
    """Returns the name of the tool in a call that cannot be read, as far as it is a name."""
    name = NAME.search(text)
    return name[1] if name and TOOL_NAME.fullmatch(name[1]) else "unknown"


class ToolCallParser:
    def __init__(
        self,
        tool_names: Collection[str],
        new_id: Callable[[], str] = new_call_id,
        *,
        is_parallel: bool = True,
    ) -> None:
        """Unless calls are parallel, the answer is over where a second one begins."""
        self.is_parallel = is_parallel
        self._is_over = False
        self._has_call = False
        self._names = frozenset(tool_names)
        self._beginnings = [one for name in tool_names for one in _compact_beginnings(name)]
        self._new_id = new_id
        self._held = ""
        self._reader: _Reader | None = None
        """Reads the call that was begun."""
        self._closing = ""
        """What comes after the last call, such as an end tag."""
        self._is_at_start = True
        self._is_after_call = False
        self._is_fenced = False
        """Whether only fences were read so far. They are calls unless words follow."""
        self._fenced_text = ""
        self._fenced_pieces: list[Piece] = []

    def is_over(self) -> bool:
        """Whether nothing more belongs to the answer."""
        return self._is_over

    def feed(self, text: str) -> list[Piece]:
        """Returns the text and the calls that are certain by now, in order."""
        self._held += text
        return self._take("open")

    def finish(self, *, is_cut: bool = False) -> list[Piece]:
        """Returns what is still held at the end of the answer. `is_cut`: it reached its limit."""
        found = self._take("cut" if is_cut else "stopped")
        if self._reader:
            return found + self._fenced_pieces + self._reader.finish(is_cut=is_cut)
        return found + self._fenced_pieces

    def _take(self, end: End) -> list[Piece]:
        found: list[Piece] = []
        while self._held and not self._is_over:
            held, reader = self._held, self._reader
            pieces = self._read_call(reader) if reader else self._read_text(end)
            if (len(held), reader) == (len(self._held), self._reader):
                break  # more text is needed to decide
            found += self._hold_fenced(held[: len(held) - len(self._held)], pieces)
        return found

    def _hold_fenced(self, text: str, pieces: list[Piece]) -> list[Piece]:
        """`text` was read as `pieces`. Returns what is certain now."""
        text, pieces = self._fenced_text + text, self._fenced_pieces + pieces
        has_words = any(isinstance(piece, str) for piece in pieces)
        is_example = bool(self._fenced_text) and has_words
        held: tuple[str, list[Piece]] = (text, pieces) if self._is_fenced else ("", [])
        self._fenced_text, self._fenced_pieces = held
        if self._is_fenced:
            return []
        return [text] if is_example else pieces

    def _read_call(self, reader: "_Reader") -> list[Piece]:
        found, self._held = reader.read(self._held)
        if reader.is_done:
            self._reader, self._is_after_call = None, True
            self._has_call = True
        return found

    def _read_text(self, end: End) -> list[Piece]:
        """Holds whitespace until the next text: whitespace around a call is dropped."""
        if self._is_after_call and not self._skip_closing(end):
            return []
        start = self._find_opener()
        if num_chars := len(self._held[:start].rstrip()):
            return self._release(num_chars)
        if start < len(self._held):
            return self._read_candidate(start, end)
        return [] if end == "open" else self._release(start)

    def _skip_closing(self, end: End) -> bool:
        """Skips what comes after a call. Returns False if more text is needed to find it."""
        rest = self._held.lstrip(AFTER_CALL)
        if self._closing and rest.startswith(self._closing):
            rest, self._closing = rest.removeprefix(self._closing).lstrip(AFTER_CALL), ""
        elif end == "open" and rest and self._closing.startswith(rest):
            return False
        self._held = rest
        return True

    def _find_opener(self) -> int:
        """Returns where a call might begin, or the end of the held text."""
        start = len(self._held) - len(self._held.lstrip())
        can_begin = self._is_after_call and (self._closing or not self._is_fenced)
        if (self._is_at_start or can_begin) and self._held.startswith("{", start):
            return start
        opener = OPENER.search(self._held)
        return opener.start() if opener else len(self._held)

    def _read_candidate(self, start: int, end: End) -> list[Piece]:
        """Reads the held text at `start` as the beginning of a call, or as text."""
        rest = self._held[start:]
        head = "" if rest.startswith("{") else next(filter(rest.startswith, CLOSINGS), None)
        if head is None:
            if end == "cut" and len(rest) > 1 and TAG.startswith(rest):
                self._begin(_UnreadableCall(self._names, ""), TAG, rest)
                return []
            num_chars = _num_plain_chars(rest, end)
            return [] if num_chars == UNDECIDED else self._release(start + num_chars)
        if head.startswith(FENCE) and not (self._is_at_start or self._is_fenced):
            return self._release(start + len(head))
        body = rest[len(head) :]
        beginning = BEGINNING.match(body)
        if beginning and beginning["tool"] in self._names:
            return self._begin_call(beginning["tool"], head, body[beginning.end() :])
        may_begin = self._may_begin(body)
        if may_begin and end == "open":
            return []
        if self._is_unreadable_call(start, head, body, is_cut=may_begin and end == "cut"):
            self._begin(_UnreadableCall(self._names, CLOSINGS.get(head, "")), head, body)
            return []
        return self._release(start + max(len(head), 1))

    def _may_begin(self, body: str) -> bool:
        """Whether `body` may become a call. Whitespace is ignored: tool names have none."""
        compact = "".join(body.split())
        is_short = len(body) <= MAX_BEGINNING_CHARS
        return is_short and any(one.startswith(compact) for one in self._beginnings)

    def _is_unreadable_call(self, start: int, head: str, body: str, *, is_cut: bool) -> bool:
        """Text may mention the tag, but no text has it where a line begins or an object follows."""
        is_object = body.lstrip().startswith("{")
        starts_line = self._is_at_start or self._is_after_call or "\n" in self._held[:start]
        return (head == TAG and (starts_line or is_object)) or (is_cut and is_object)

    def _begin_call(self, tool: str, head: str, arguments: str) -> list[Piece]:
        call = _CallReader(self._new_id(), tool, arguments[0])
        self._begin(call, head, arguments)
        return [] if self._is_over else [ToolCallStarted(call.call_id, tool)]

    def _begin(self, reader: "_Reader", head: str, body: str) -> None:
        self._is_over = self._has_call and not self.is_parallel
        self._reader, self._held = None if self._is_over else reader, body
        self._closing = CLOSINGS.get(head, self._closing)
        self._is_at_start = self._is_after_call = False
        self._is_fenced = head.startswith(FENCE) or (self._is_fenced and not head)

    def _release(self, num_chars: int) -> list[Piece]:
        text, self._held = self._held[:num_chars], self._held[num_chars:]
        self._is_at_start = self._is_after_call = self._is_fenced = False
        return [text] if text else []


class _Reader(Protocol):
    """Reads a call to its end."""

    @property
    def is_done(self) -> bool: ...

    def read(self, text: str) -> tuple[list[Piece], str]:
        """Returns what was found, and the text after the call."""

    def finish(self, *, is_cut: bool) -> list[Piece]:
        """Called at the end of an answer in which the call did not end."""


class _CallReader:
    """A call of a known tool. It is whole as soon as its arguments are: the rest is skipped."""

    def __init__(self, call_id: str, tool: str, first_char: str) -> None:
        self.call_id = call_id
        self.tool = tool
        self._is_string = first_char == '"'
        self._arguments = JsonReader() if first_char in '{"' else None
        self._pieces: list[str] = []
        self._has_arguments = False
        self._outer = JsonReader(depth=1)

    @property
    def is_done(self) -> bool:
        return self._outer.is_done

    def read(self, text: str) -> tuple[list[Piece], str]:
        found: list[Piece] = []
        if not self._has_arguments:
            found, text = self._read_arguments(text)
        if self._has_arguments:
            _, text = self._outer.read(text)
        return found, text

    def finish(self, *, is_cut: bool) -> list[Piece]:
        return [] if self._has_arguments else [self._drop("cut" if is_cut else "malformed")]

    def _read_arguments(self, text: str) -> tuple[list[Piece], str]:
        if self._arguments is None:
            self._has_arguments = True
            return [ToolArgumentsArrived(self.call_id, "{}"), self._build_call("{}")], text
        piece, rest = self._arguments.read(text)
        self._pieces.append(piece)
        found: list[Piece] = [] if self._is_string else [ToolArgumentsArrived(self.call_id, piece)]
        self._has_arguments = self._arguments.is_done
        return found + (self._end_arguments() if self._has_arguments else []), rest

    def _end_arguments(self) -> list[Piece]:
        written = "".join(self._pieces)
        arguments = _unquote(written) if self._is_string else written
        if not _is_object(arguments):
            return [self._drop("malformed")]
        call = self._build_call(arguments)
        return [ToolArgumentsArrived(self.call_id, arguments), call] if self._is_string else [call]

    def _build_call(self, arguments: str) -> ToolCall:
        return ToolCall(self.call_id, self.tool, arguments)

    def _drop(self, reason: DropReason) -> ToolCallDropped:
        return ToolCallDropped(reason, call_id=self.call_id)


class _UnreadableCall:
    """A call of an unknown tool, or one without a tool or arguments."""

    def __init__(self, names: Collection[str], closing: str) -> None:
        self.is_done = False
        self._names = names
        self._closing = closing
        self._text = ""

    def read(self, text: str) -> tuple[list[Piece], str]:
        start = max(len(self._text) - len(self._closing), 0)
        self._text += text
        end = self._text.find(self._closing, start) if self._closing else -1
        if end < 0:
            return [], ""
        self.is_done = True
        self._text, rest = self._text[:end], self._text[end:]
        return self.finish(is_cut=False), rest

    def finish(self, *, is_cut: bool) -> list[Piece]:
        reason: DropReason = "cut" if is_cut else "malformed"
        name = NAME.search(self._text)
        if name and name[1] not in self._names:
            reason = "unknown"
        return [ToolCallDropped(reason, self._text)]


class JsonReader:
    """Finds the end of a JSON value, an object, list or string, in text that comes in pieces.
    Escapes control characters in strings: models write line breaks there."""

    def __init__(self, depth: int = 0) -> None:
        self.is_done = False
        self._depth = depth
        self._is_in_string = False
        self._is_escaped = False

    def read(self, text: str) -> tuple[str, str]:
        """Returns the value, as far as it is there, and the text after it."""
        pieces: list[str] = []
        at = 0
        while at < len(text) and not self.is_done:
            if self._is_escaped:
                pieces.append(text[at])
                self._is_escaped = False
                at += 1
                continue
            stop = (STRING_STOP if self._is_in_string else BRACKET).search(text, at)
            if stop is None:
                pieces.append(text[at:])
                at = len(text)
            else:
                pieces.append(text[at : stop.start()] + self._step(stop[0]))
                at = stop.end()
        return "".join(pieces), text[at:]

    def _step(self, char: str) -> str:
        if char == '"':
            self._is_in_string = not self._is_in_string
            self.is_done = self._depth == 0 and not self._is_in_string
        elif not self._is_in_string:
            self._depth += 1 if char in "{[" else -1
            self.is_done = self._depth == 0
        elif char == "\\":
            self._is_escaped = True
        else:
            return msgspec.json.encode(char).decode()[1:-1]
        return char


def _compact_beginnings(tool: str) -> Sequence[str]:
    """Returns all that a call may begin with, without whitespace, up to its arguments."""
    named = [f'{brace}"name":"{tool}"' for brace in ("{", "{{")]
    keys = [f',"{key}":' for key in ("arguments", "parameters")]
    values = [key + value for key in keys for value in ("{", '"', "null")]
    return [name + rest for name in named for rest in (*values, "}")]


def _num_plain_chars(rest: str, end: End) -> int:
    """Returns how many characters of a possible opener are plain text."""
    if end == "open" and any(head.startswith(rest) for head in CLOSINGS):
        return UNDECIDED
    num_chars = max(len(rest) - len(rest.lstrip("`")), 1)
    if end == "open" and num_chars == len(rest):
        return UNDECIDED  # the run of ticks may go on
    return num_chars


def _unquote(text: str) -> str:
    """Returns the JSON in a JSON string, or nothing."""
    try:
        return JsonReader().read(msgspec.json.decode(text, type=str))[0]
    except (msgspec.DecodeError, UnicodeEncodeError):
        return ""


def _is_object(text: str) -> bool:
    try:
        msgspec.json.decode(text, type=dict[str, object])
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return False
    return True
