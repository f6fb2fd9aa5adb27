"""Parses tool calls out of a model's text while it streams.

Models write calls in three ways: between `<tool_call>` tags, as a fenced JSON object, or as a JSON
object that is the whole answer. Text that only looks like a call is passed on unchanged. The
result does not depend on where the stream was cut into chunks.
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
"""The opening of a call, and the pattern that closes it."""
BARE_END = re.compile(r"(?!)")
"""Never matches: a bare object ends with the answer."""
OPENER = re.compile(r"<|`+")
UNDECIDED = -1
MAX_OPENING_CHARS = 512
"""How many characters are compared, for each chunk, to tell a call from other JSON."""


class _CallJson(msgspec.Struct, frozen=True):
    name: str
    arguments: msgspec.Raw = msgspec.Raw()
    parameters: msgspec.Raw = msgspec.Raw()
    """Some models use this name for `arguments`."""


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
        """Returns the text and the calls that are certain by now, in order."""
        self._held += text
        return self._take(is_final=False)

    def finish(self) -> list[str | ToolCall]:
        """Returns what is still held, at the end of the answer."""
        return self._take(is_final=True)

    def _take(self, *, is_final: bool) -> list[str | ToolCall]:
        """Holds whitespace until the next text: whitespace around a call is dropped."""
        found: list[str | ToolCall] = []
        while self._held:
            start = self._find_opener()
            if num_chars := len(self._held[:start].rstrip()):
                self._release(num_chars, found)
            elif start < len(self._held):
                if not self._take_candidate(start, found, is_final=is_final):
                    break
            elif is_final:
                self._release(start, found)
            else:
                break
        return found

    def _find_opener(self) -> int:
        """Returns where a call might begin, or the end of the held text."""
        start = len(self._held) - len(self._held.lstrip())
        if self._is_at_start and self._held.startswith("{", start):
            return start
        opener = OPENER.search(self._held)
        return opener.start() if opener else len(self._held)

    def _take_candidate(self, start: int, found: list[str | ToolCall], *, is_final: bool) -> bool:
        """Consumes the held text at `start` as a call or as text. Returns False if more text is
        needed to decide."""
        rest = self._held[start:]
        head = self._head(rest)
        if head is None:
            if (num_chars := _num_plain_chars(rest, is_final=is_final)) == UNDECIDED:
                return False
            self._release(start + num_chars, found)
            return True
        body = rest[len(head) :]
        end = ENDS.get(head, BARE_END).search(body)
        may_be_call = self._may_be_call(body)
        if may_be_call and end is None and not is_final:
            return False
        call = self._parse_call(body[: end.start()] if end else body) if may_be_call else None
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
        """Whether `body` is a call or the beginning of one. Whitespace is ignored: tool names have
        none."""
        seen = "".join(body[:MAX_OPENING_CHARS].split())
        return any(seen.startswith(one) or one.startswith(seen) for one in self._openings)

    def _parse_call(self, body: str) -> ToolCall | None:
        body = body.strip().removesuffix(FENCE).rstrip()
        if body.startswith("{{"):  # copied by models from the example in Qwen's template
            body = body.removeprefix("{").removesuffix("}")
        try:
            call = msgspec.json.decode(body, type=_CallJson)
        except (msgspec.DecodeError, UnicodeEncodeError):
            return None
        if call.name not in self._names:
            return None
        return ToolCall(self._new_id(), call.name, _arguments_json(call))

    def _release(self, num_chars: int, found: list[str | ToolCall]) -> None:
        text, self._held = self._held[:num_chars], self._held[num_chars:]
        if self._is_after_call:
            text = text.lstrip()
        if text:
            found.append(text)
            self._is_after_call = False
        self._is_at_start = False


def _num_plain_chars(rest: str, *, is_final: bool) -> int:
    """Returns how many characters of a possible opener are plain text."""
    if not is_final and any(head.startswith(rest) for head in ENDS):
        return UNDECIDED
    num_chars = max(len(rest) - len(rest.lstrip("`")), 1)
    if not is_final and num_chars == len(rest):
        return UNDECIDED  # the run of ticks may go on
    return num_chars


def _arguments_json(call: _CallJson) -> str:
    """Returns the arguments as the model wrote them. Some models write the object as a string."""
    raw = bytes(call.arguments) or bytes(call.parameters) or b"{}"
    if raw.startswith(b'"'):
        return msgspec.json.decode(raw, type=str)
    return raw.decode()


def tool_schema(tools: Sequence[Tool], choice: str | Literal["required"]) -> str:
    """Returns the JSON Schema of an answer that is one call: of any tool, or of the named one."""
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
    """Moves the tool's `$defs` to the root, because references are resolved from there."""
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
