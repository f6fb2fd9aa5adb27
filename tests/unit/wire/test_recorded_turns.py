"""Each recorded turn is three files that have to agree. The TypeScript tests read them too;
scripts/record_turns.py writes them."""

from pathlib import Path

import msgspec
import pytest

from hitsend import transcript
from hitsend.events import Stamped, TurnStarted
from hitsend.sse import DONE
from hitsend.wire.message import Origin, WireMessage, build_message
from hitsend.wire.v1 import V1View

TURNS = sorted((Path(__file__).parents[2] / "turns").glob("*.jsonl"))


class Outcome(msgspec.Struct):
    transcript: transcript.Transcript
    messages: list[WireMessage]


def log_of(turn: Path) -> list[Stamped]:
    return [msgspec.json.decode(line, type=Stamped) for line in turn.read_bytes().splitlines()]


def outcome_of(turn: Path) -> Outcome:
    return msgspec.json.decode(turn.with_suffix(".json").read_bytes(), type=Outcome)


def test_there_are_recorded_turns() -> None:
    assert len(TURNS) >= 7


@pytest.mark.parametrize("turn", TURNS, ids=lambda turn: turn.stem)
def test_the_events_fold_to_the_recorded_transcript(turn: Path) -> None:
    events = [stamped.event for stamped in log_of(turn)]
    start = events[0]
    assert isinstance(start, TurnStarted)
    said = transcript.fold(events)
    assert said == outcome_of(turn).transcript
    messages = [build_message(one, Origin.from_turn(start)) for one in said.messages]
    assert messages == outcome_of(turn).messages


@pytest.mark.parametrize("turn", TURNS, ids=lambda turn: turn.stem)
def test_the_events_are_streamed_as_recorded(turn: Path) -> None:
    view = V1View()
    stream = b"".join(view.encode([stamped]) for stamped in log_of(turn))
    assert stream + DONE == turn.with_suffix(".sse").read_bytes()
