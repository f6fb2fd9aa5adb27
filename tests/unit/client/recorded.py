"""Recorded turns, as a server streams them: from the beginning, from later on, summed up."""

from functools import cache
from pathlib import Path

import msgspec

from hitsend import events
from hitsend.client import TextAdded, TextCut, TextReplaced, Update
from hitsend.events import Stamped, is_end
from hitsend.sse import DONE
from hitsend.wire import side_events
from hitsend.wire.v1 import V1View, build_channels, encode_opening

TURNS = Path(__file__).parents[2] / "turns"
NAMES = sorted(path.stem for path in TURNS.glob("*.sse"))


@cache
def log(name: str) -> tuple[Stamped, ...]:
    lines = (TURNS / f"{name}.jsonl").read_bytes().splitlines()
    return tuple(msgspec.json.decode(line, type=events.Stamped) for line in lines)


def began(name: str) -> events.TurnStarted:
    event = log(name)[0].event
    assert isinstance(event, events.TurnStarted)
    return event


def token(name: str, signed: str = "first") -> side_events.ResumeToken:
    turn = began(name)
    return side_events.ResumeToken(signed, turn.conversation_id, turn.turn_id, 1760007200.25)


def whole(name: str) -> bytes:
    """Each event by itself. Those who come later get text that has piled up in one piece."""
    view = V1View(16, token(name))
    return b"".join([view.encode([stamped]) for stamped in log(name)]) + DONE


def rest(name: str, after: int, signed: str = "next") -> bytes:
    """Returns the stream for a reader that has seen everything up to `after`."""
    view, turn = V1View(), began(name)
    view.skip(log(name)[:after])
    resumed = side_events.StreamResumed(turn.conversation_id, turn.turn_id, after + 1, view.carry)
    return encode_opening(resumed, token(name, signed)) + view.encode(log(name)[after:]) + DONE


def summary(name: str, at: int) -> bytes:
    """Returns the stream for a reader that is too far behind or lost: a snapshot, and the end."""
    view, turn, past = V1View(), began(name), log(name)[: min(at, end_of(name) - 1)]
    view.skip(past)
    snapshot = side_events.StreamSnapshot(
        turn.conversation_id, turn.turn_id, view.seq, build_channels(past), view.carry
    )
    return (
        encode_opening(snapshot, token(name, "next")) + view.encode(log(name)[len(past) :]) + DONE
    )


def end_of(name: str) -> int:
    return next(stamped.seq for stamped in log(name) if is_end(stamped.event))


def stored_messages(name: str) -> list[dict[str, object]]:
    found = msgspec.json.decode((TURNS / f"{name}.json").read_bytes())
    return list(found["messages"])


def stored_answer(name: str) -> str:
    answers = [m for m in msgspec.convert(stored_messages(name), list[_Said]) if m.is_answer]
    return "".join("".join(m.content.parts) for m in answers)


def said(updates: list[Update]) -> str:
    """All answers of a turn, one after the other, as somebody who reads along has them."""
    texts = dict[str, str]()
    for update in updates:
        if isinstance(update, TextAdded):
            texts[update.message_id] = texts.get(update.message_id, "") + update.text
        elif isinstance(update, TextCut | TextReplaced):
            texts[update.message_id] = update.text
    return "".join(texts.values())


class _Author(msgspec.Struct):
    role: str


class _Content(msgspec.Struct):
    parts: list[str]


class _Said(msgspec.Struct):
    author: _Author
    content: _Content

    @property
    def is_answer(self) -> bool:
        return self.author.role == "assistant"
