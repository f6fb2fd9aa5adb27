"""Finds the calls of tools in what a model writes, while it is writing.

Models write them in three ways: between `<tool_call>` tags, as a fenced JSON object, or as a
JSON object that is the whole answer. What merely looks like one is passed on unchanged. Where
the text was cut on its way makes no difference.
"""

import re
import secrets
from collections.abc import Callable, Collection, Sequence
from typing import Literal

import msgspec

from hitsend.errors import Refused
from hitsend.messages import Tool, ToolCall

FENCE = "```"
ENDS = {
    "<tool_call>": re.compile(r"</tool_call>"),
    "```json\n": re.compile(r"\n[ \t]*```"),
    "```tool_call\n": re.compile(r"\n[ \t]*```"),
    "```\n": re.compile(r"\n[ \t]*```"),
}
"""What a call begins with, and what it then ends with."""
BARE_END = re.compile(r"(?!)")
"""A bare object ends with the answer."""
OPENER = re.compile(r"<|`+")
UNDECIDED = -1
MAX_OPENING_CHARS = 512
"""As far as is looked to tell a call from other JSON, at every piece that arrives."""


class _Written(msgspec.Struct, frozen=True):
    name: str
    arguments: msgspec.Raw = msgspec.Raw()
    parameters: msgspec.Raw = msgspec.Raw()
    """Some models call them so."""


def new_call_id() -> str:
    return f"call_{secrets.token_hex(12)}"


class ToolCallParser:
    def __init__(
        self, tool_names: Collection[str], new_id: Callable[[], str] = new_call_id
    ) -> None:
        self._names = frozenset(tool_names)
        names = [f'"name":"{name}"' for name in tool_names]
        self._openings = [brace + name for name in names for brace in ("{", "{{")]
        self._new_id = new_id
        self._held = ""
        self._is_at_start = True
        self._is_after_call = False

    def feed(self, text: str) -> list[str | ToolCall]:
        """Visible text and calls, in order, as far as they are certain."""
        self._held += text
        return self._take(is_whole=False)

    def finish(self) -> list[str | ToolCall]:
        """What was still held, now that nothing follows."""
        return self._take(is_whole=True)

    def _take(self, *, is_whole: bool) -> list[str | ToolCall]:
        """Space is held until what follows is known: around a call it is not worth showing."""
        found: list[str | ToolCall] = []
        while self._held:
            start = self._opener()
            if num_chars := len(self._held[:start].rstrip()):
                self._release(num_chars, found)
            elif start < len(self._held):
                if not self._take_candidate(start, found, is_whole=is_whole):
                    break
            elif is_whole:
                self._release(start, found)
            else:
                break
        return found

    def _opener(self) -> int:
        """Where a call might begin; the end of what is held where none might."""
        start = len(self._held) - len(self._held.lstrip())
        if self._is_at_start and self._held.startswith("{", start):
            return start
        opener = OPENER.search(self._held)
        return opener.start() if opener else len(self._held)

    def _take_candidate(self, start: int, found: list[str | ToolCall], *, is_whole: bool) -> bool:
        """Take what begins at `start` as a call or as text; False when more has to be seen."""
        rest = self._held[start:]
        head = self._head(rest)
        if head is None:
            if (num_chars := _num_plain_chars(rest, is_whole=is_whole)) == UNDECIDED:
                return False
            self._release(start + num_chars, found)
            return True
        body = rest[len(head) :]
        end = ENDS.get(head, BARE_END).search(body)
        may_be_call = self._may_be_call(body)
        if may_be_call and end is None and not is_whole:
            return False
        call = self._call(body[: end.start()] if end else body) if may_be_call else None
        if call is None:
            self._release(start + max(len(head), 1), found)
        else:
            self._held = body[end.end() :] if end else ""
            self._is_at_start, self._is_after_call = False, True
            found.append(call)
        return True

    def _head(self, rest: str) -> str | None:
        if rest.startswith("{"):
            return ""
        return next((head for head in ENDS if rest.startswith(head)), None)

    def _may_be_call(self, body: str) -> bool:
        """True of the beginning of a call, however short. Names hold no space."""
        seen = "".join(body[:MAX_OPENING_CHARS].split())
        return any(seen.startswith(one) or one.startswith(seen) for one in self._openings)

    def _call(self, body: str) -> ToolCall | None:
        body = body.strip().removesuffix(FENCE).rstrip()
        if body.startswith("{{"):  # as the example in Qwen's own template has it
            body = body.removeprefix("{").removesuffix("}")
        try:
            call = msgspec.json.decode(body, type=_Written)
        except (msgspec.DecodeError, UnicodeEncodeError):
            return None
        if call.name not in self._names:
            return None
        return ToolCall(self._new_id(), call.name, _arguments(call))

    def _release(self, num_chars: int, found: list[str | ToolCall]) -> None:
        text, self._held = self._held[:num_chars], self._held[num_chars:]
        if self._is_after_call:
            text = text.lstrip()
        if text:
            found.append(text)
            self._is_after_call = False
        self._is_at_start = False


def _num_plain_chars(rest: str, *, is_whole: bool) -> int:
    """How much of what looked like an opener is only text."""
    if not is_whole and any(head.startswith(rest) for head in ENDS):
        return UNDECIDED
    num_chars = max(len(rest) - len(rest.lstrip("`")), 1)
    if not is_whole and num_chars == len(rest):
        return UNDECIDED  # the run of ticks may go on
    return num_chars


def _arguments(call: _Written) -> str:
    """As the model wrote them. Some write the object as a string."""
    raw = bytes(call.arguments) or bytes(call.parameters) or b"{}"
    if raw.startswith(b'"'):
        return msgspec.json.decode(raw, type=str)
    return raw.decode()


def tool_schema(tools: Sequence[Tool], choice: str | Literal["required"]) -> str:
    """The JSON Schema of an answer that is one call: of any tool, or of the one named."""
    chosen = [tool for tool in tools if choice in ("required", tool.name)]
    if not chosen:
        raise Refused(f"There is no tool {choice!r} among those offered.", param="tool_choice")
    definitions: dict[str, object] = {}
    calls = [_call_schema(tool, definitions) for tool in chosen]
    schema: dict[str, object] = calls[0] if len(calls) == 1 else {"anyOf": calls}
    if definitions:
        schema = schema | {"$defs": definitions}
    return msgspec.json.encode(schema).decode()


def _call_schema(tool: Tool, definitions: dict[str, object]) -> dict[str, object]:
    """References in it are from the root, so its definitions go there."""
    try:
        parameters = msgspec.json.decode(tool.parameters, type=dict[str, object])
        own = msgspec.convert(parameters.pop("$defs", {}), dict[str, object])
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise Refused(
            f"The parameters of the tool {tool.name!r} are not a JSON Schema: {error}.",
            param="tools",
        ) from None
    if any(definitions.get(name, value) != value for name, value in own.items()):
        raise Refused("Two tools define different things by the same name.", param="tools")
    definitions |= own
    return {
        "type": "object",
        "properties": {"name": {"const": tool.name}, "arguments": parameters},
        "required": ["name", "arguments"],
        "additionalProperties": False,
    }
