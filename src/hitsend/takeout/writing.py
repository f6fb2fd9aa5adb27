"""An export: a zip made piece by piece, so that its size is nobody's memory.

README.txt, markdown/….md, conversations.json (the shape ChatGPT exports), account.json
"""

import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from hitsend.takeout.taken import TakenConversation, TakenMessage

README = """\
What {name} said and was answered on the page of hitsend, as of {now}.

conversations.json  every conversation with all its branches, in the shape ChatGPT exports
markdown/           the same to read: one file per conversation, as it is shown on the page
account.json        your name, what you say of yourself, what is remembered of you, folders,
                    feedback, shared links and the labels of API keys

hitsend can import this file again, on this machine or on another.

Not in here, though hitsend keeps it too:
- calls through the API: what they brought along, and what was answered
- the log of each turn: the prompt as the model read it, its tokens and when they came
- sessions: when and with which browser you signed in
Passwords and API keys are not in here either: nobody can read them, hitsend included.
"""

NOT_IN_NAMES = re.compile(r'[\x00-\x1f\x7f"*/:<>?\\|\u200e\u200f\u202a-\u202e\u2066-\u2069]+')
"""What one system or another does not take in the name of a file, or what would disguise it."""
MOST_NAME_BYTES = 120


class Export:
    """Writes to itself; whoever sends it on takes what is there."""

    def __init__(self) -> None:
        self._sink = _Sink()
        self._zip = zipfile.ZipFile(self._sink, "w", zipfile.ZIP_DEFLATED)
        self._num_named: Counter[str] = Counter()

    def take(self) -> bytes:
        """What was written since the last time."""
        return self._sink.take()

    def add(self, name: str, content: str | bytes) -> None:
        self._zip.writestr(name, content)

    def add_markdown(self, conversation: TakenConversation) -> None:
        self.add(f"markdown/{self._unused(file_name(conversation))}.md", markdown(conversation))

    @contextmanager
    def array(self, name: str) -> Iterator[Callable[[bytes], None]]:
        """A JSON array. What it gives writes one more value into it."""
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

    def _unused(self, name: str) -> str:
        """Names that differ in large and small letters alone are one to some systems."""
        self._num_named[name.casefold()] += 1
        number = self._num_named[name.casefold()]
        return name if number == 1 else self._unused(f"{name} ({number})")


class _Sink:
    """A file that cannot be sought in: what is written is soon gone."""

    def __init__(self) -> None:
        self._waiting = bytearray()

    def write(self, data: bytes) -> int:
        self._waiting += data
        return len(data)

    def flush(self) -> None:
        """Nothing is kept back."""

    def close(self) -> None:
        """There is nothing to close."""

    def take(self) -> bytes:
        taken = bytes(self._waiting)
        self._waiting.clear()
        return taken


def file_name(conversation: TakenConversation) -> str:
    title = " ".join(NOT_IN_NAMES.sub(" ", conversation.title).split())
    short = title.encode()[:MOST_NAME_BYTES].decode(errors="ignore")
    return f"{_date(conversation.created_at)[:10]} {short.rstrip(' .')}".rstrip()


def markdown(conversation: TakenConversation) -> str:
    """The branch that is shown, as one page."""
    head = f"# {conversation.title}\n\n{_date(conversation.created_at)}\n"
    return "\n".join([head, *map(_said, path(conversation))])


def path(conversation: TakenConversation) -> list[TakenMessage]:
    """From the first message to the one that is shown last."""
    by_id = {message.id: message for message in conversation.messages}
    found: list[TakenMessage] = []
    message = by_id.get(conversation.current_node)
    while message is not None:
        found.append(message)
        message = by_id.get(message.parent_id) if message.parent_id else None
    return found[::-1]


def _said(message: TakenMessage) -> str:
    who = f"Answer ({message.model})" if message.model else "Answer"
    heading = "You" if message.role == "user" else who
    problem = f"\n\n> {message.problem}" if message.problem else ""
    return f"## {heading}\n\n{_date(message.created_at)}\n\n{message.text}{problem}\n"


def _date(at: float) -> str:
    """In UTC. What no calendar has is told as it is kept."""
    try:
        return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):
        return f"{at:.0f}"
