"""Writes an export as a zip, in pieces, so that it need not fit in memory.

README.txt, markdown/….md, files/…, conversations.json (the format of ChatGPT exports), account.json
"""

import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from hitsend.import_export.imported_conversation import ImportedConversation, ImportedMessage

README = """\
What {name} said and was answered on the page of hitsend, as of {now}.

conversations.json  every conversation with all its branches, in the shape ChatGPT exports
markdown/           the same to read: one file per conversation, as it is shown on the page
files/              what tools made in them, such as plots, by the `file_id` in conversations.json
account.json        your name, what you say of yourself, what is remembered of you, folders,
                    feedback, shared links and the labels of API keys

hitsend can import this file again, on this machine or on another.

Not in here, though hitsend keeps it too:
- calls through the API: what they brought along, and what was answered
- the log of each turn: the prompt as the model read it, its tokens and when they came
- sessions: when and with which browser you signed in
Passwords and API keys are not in here either: nobody can read them, hitsend included.
"""

UNSAFE_IN_NAMES = re.compile(r'[\x00-\x1f\x7f"*/:<>?\\|\u200e\u200f\u202a-\u202e\u2066-\u2069]+')
"""Characters that some systems refuse in file names, or that disguise a name."""
MAX_NAME_BYTES = 120
COMPRESSION_LEVEL = 1
"""Takes a third of the time of the default, and a fifth more room."""


class ExportZip:
    """Buffers the zip; `take` returns the bytes written since the last call."""

    def __init__(self) -> None:
        self._sink = _Sink()
        self._zip = zipfile.ZipFile(
            self._sink, "w", zipfile.ZIP_DEFLATED, compresslevel=COMPRESSION_LEVEL
        )
        self._num_named: Counter[str] = Counter()

    def take(self) -> bytes:
        """Returns the bytes written since the last call."""
        return self._sink.take()

    def add(self, name: str, content: str | bytes) -> None:
        self._zip.writestr(name, content)

    def add_markdown(self, conversation: ImportedConversation) -> None:
        self.add(
            f"markdown/{self._make_unique(file_name(conversation))}.md",
            conversation_markdown(conversation),
        )

    def add_file(self, file_id: str, name: str, content: bytes) -> None:
        self.add(f"files/{file_id} {_safe_name(name)}".rstrip(), content)

    @contextmanager
    def open_array(self, name: str) -> Iterator[Callable[[bytes], None]]:
        """Opens a JSON array; the yielded function appends an encoded value."""
        with self._zip.open(name, "w", force_zip64=True) as member:
            between = b"[\n"

            def write(value: bytes) -> None:
                nonlocal between
                member.write(between + value)
                between = b",\n"

            yield write
            member.write(b"\n]\n" if between == b",\n" else b"[]\n")

    def close(self) -> None:
        self._zip.close()

    def _make_unique(self, name: str) -> str:
        """Numbers repeated names. Some systems ignore case, so names are compared without it."""
        self._num_named[name.casefold()] += 1
        number = self._num_named[name.casefold()]
        return name if number == 1 else self._make_unique(f"{name} ({number})")


class _Sink:
    """A write-only file that cannot seek, and hands out what was written."""

    def __init__(self) -> None:
        self._waiting = bytearray()

    def write(self, data: bytes) -> int:
        self._waiting += data
        return len(data)

    def flush(self) -> None:
        """Does nothing: every write is visible at once."""

    def close(self) -> None:
        """Does nothing: there is nothing to close."""

    def take(self) -> bytes:
        taken = bytes(self._waiting)
        self._waiting.clear()
        return taken


def file_name(conversation: ImportedConversation) -> str:
    title = _safe_name(conversation.title)
    return f"{_format_time(conversation.created_at)[:10]} {title}".rstrip()


def _safe_name(text: str) -> str:
    name = " ".join(UNSAFE_IN_NAMES.sub(" ", text).split())
    return name.encode()[:MAX_NAME_BYTES].decode(errors="ignore").rstrip(" .")


def conversation_markdown(conversation: ImportedConversation) -> str:
    """Returns the shown branch as one Markdown page."""
    head = f"# {conversation.title}\n\n{_format_time(conversation.created_at)}\n"
    return "\n".join([head, *map(_message_markdown, shown_path(conversation))])


def shown_path(conversation: ImportedConversation) -> list[ImportedMessage]:
    """Returns the shown branch, from the first message to the current one."""
    by_id = {message.id: message for message in conversation.messages}
    found: list[ImportedMessage] = []
    message = by_id.get(conversation.current_node)
    while message is not None:
        found.append(message)
        message = by_id.get(message.parent_id) if message.parent_id else None
    return found[::-1]


def _message_markdown(message: ImportedMessage) -> str:
    who = f"Answer ({message.model})" if message.model else "Answer"
    heading = "You" if message.role == "user" else who
    problem = f"\n\n> {message.problem}" if message.problem else ""
    return f"## {heading}\n\n{_format_time(message.created_at)}\n\n{message.text}{problem}\n"


def _format_time(at: float) -> str:
    """In UTC. A time beyond the calendar is shown as its number."""
    try:
        return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):
        return f"{at:.0f}"
