"""Calls of tools: one line for each that has returned, and one status line for those that run."""

from collections.abc import Iterable, Iterator

import msgspec

from hitsend.client import (
    FormAsked,
    Message,
    ToolCalled,
    ToolProgressed,
    ToolResult,
    ToolReturned,
    Update,
)

DONE, FAILED, OPEN = "✓", "✗", "–"


class CallLines:
    """The calls of one answer."""

    def __init__(self) -> None:
        self._calls: dict[str, ToolCalled] = {}
        """Those that run, by the ids of their messages."""
        self._reported = ""
        """The last line that one of them reported."""

    def take(self, update: Update) -> str | None:
        """Returns the line of a call that has returned."""
        match update:
            case ToolCalled():
                self._calls[update.message_id] = update
            case ToolProgressed(text=text):
                self._reported = _last_line(text) or self._reported
            case FormAsked():
                self._reported = ""
            case ToolReturned(message_id=message_id, output=output, failed=failed):
                self._reported = ""
                if called := self._calls.pop(message_id, None):
                    mark = FAILED if failed else DONE
                    return f"{mark} {_describe(called)} → {_first_line(output)}"
        return None

    def has_changed(self, update: Update) -> bool:
        """Whether the update is of a call, and so changes `status`."""
        return isinstance(update, ToolCalled | ToolProgressed | ToolReturned)

    @property
    def status(self) -> str:
        """What runs, and what it reported last."""
        names = ", ".join(called.tool for called in self._calls.values())
        if not names:
            return ""
        return f"{names}… {self._reported}".rstrip()

    def take_open(self) -> Iterator[str]:
        """Yields the lines of calls that have not returned by the end of the answer."""
        for called in self._calls.values():
            yield f"{OPEN} {_describe(called)} did not finish"
        self._calls.clear()


def describe_result(message: Message, path: Iterable[Message]) -> str:
    """Returns the line of a stored call. Its arguments are in an earlier message."""
    result = message.metadata.tool_result or ToolResult()
    calls = [call for one in path for call in one.metadata.tool_calls]
    arguments = next((one.arguments for one in calls if one.call_id == result.call_id), "{}")
    name = _describe(ToolCalled(message.id, result.tool, result.call_id, arguments, result.server))
    if result.is_undecided:
        return f"{OPEN} {name} waits for you"
    if message.metadata.finish_details is not None:
        return f"{OPEN} {name} did not finish"
    return f"{FAILED if result.failed else DONE} {name} → {_first_line(message.text)}"


def show_arguments(arguments: str) -> Iterator[str]:
    """Yields one line per argument, as JSON."""
    values = _decode(arguments)
    if values is None:
        yield arguments
        return
    for name, value in values.items():
        yield f"{name}: {_encode(value)}"


def _describe(called: ToolCalled) -> str:
    values = _decode(called.arguments)
    said = ", ".join(f"{name}={_encode(value)}" for name, value in (values or {}).items())
    server = f" on {called.server}" if called.server else ""
    return _one_line(f"{called.tool}({said}){server}")


def _decode(arguments: str) -> dict[str, object] | None:
    try:
        return msgspec.json.decode(arguments, type=dict[str, object])
    except msgspec.DecodeError:
        return None


def _encode(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "nothing")


def _last_line(text: str) -> str:
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")


def _one_line(text: str) -> str:
    return " ".join(text.split())
