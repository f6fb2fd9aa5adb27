from pathlib import Path
from typing import get_args

import msgspec
import pytest

from hitsend import events
from hitsend.events import AnyEvent, Event, Stamped, TextArrived, join_texts
from hitsend.messages import Token

TURNS = sorted((Path(__file__).parent.parent / "turns").glob("*.jsonl"))


@pytest.mark.parametrize("turn", TURNS, ids=lambda turn: turn.stem)
def test_a_stored_event_is_read_back_as_it_was(turn: Path) -> None:
    for line in turn.read_bytes().splitlines():
        stamped = msgspec.json.decode(line, type=Stamped)
        assert events.decode(events.encode(stamped.event)) == stamped.event
        assert msgspec.json.encode(stamped) == line


def test_the_union_has_every_event_class() -> None:
    assert set(get_args(AnyEvent)) == set(Event.__subclasses__())


def test_the_recorded_turns_have_every_event() -> None:
    lines = [line for turn in TURNS for line in turn.read_bytes().splitlines()]
    shown = {type(msgspec.json.decode(line, type=Stamped).event) for line in lines}
    assert shown == set(get_args(AnyEvent))


def test_an_unknown_event_is_not_decoded() -> None:
    with pytest.raises(msgspec.ValidationError):
        events.decode(b'{"type":"SunRose"}')


def test_joined_texts_keep_the_text_and_the_tokens() -> None:
    tokens = [Token(i, text, None, 1.0 * i) for i, text in enumerate("abc")]
    parts = [TextArrived(token.text, (token,)) for token in tokens]
    assert join_texts(parts) == TextArrived("abc", tuple(tokens))
    assert join_texts(parts[:1]) is parts[0]


def test_joined_texts_keep_what_the_model_thought() -> None:
    thought = TextArrived("", reasoning="Six times "), TextArrived("It", reasoning="seven.")
    assert join_texts([*thought, TextArrived(" is 42.")]) == TextArrived(
        "It is 42.", reasoning="Six times seven."
    )
    assert join_texts([TextArrived("a"), TextArrived("b")]) == TextArrived("ab")
