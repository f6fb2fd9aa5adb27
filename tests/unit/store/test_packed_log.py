import math
import struct
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as some
from msgspec.structs import replace

from hitsend.events import Stamped, TextArrived, TurnAccepted, encode
from hitsend.messages import Alternative, Token
from hitsend.store.packed_log import pack, unpack, without_tokens

FIRST_VERSION = (
    "0178bbadf9b0289bc53879d2597501203ac200842e04f33f11864e649c786822d3e489670dae"
    "800c9dcccece3979994212a830805329f9a5e91993275ffcc7c370f1af10481900a5e53438"
)
FIRST_EVENTS = [
    TurnAccepted(),
    TextArrived(
        " bread",
        (
            Token(
                7,
                " bread",
                -0.5,
                12.5,
                (Alternative(7, " bread", -0.5), Alternative(9, " dough", -1.25)),
            ),
        ),
    ),
]
"""What was packed into it."""

TURNS = sorted((Path(__file__).parents[2] / "turns").glob("*.jsonl"))

numbers = some.floats(allow_nan=False, allow_infinity=False)
singles = some.floats(allow_nan=False, allow_infinity=False, width=32)
milliseconds = some.integers(0, 10**9).map(lambda micros: micros / 1000)
ids, texts = some.integers(-1, 2**31), some.text(max_size=8)
alternatives = some.builds(Alternative, ids, texts, numbers | singles)
tokens = some.builds(
    Token,
    ids,
    texts,
    some.none() | numbers | singles,
    numbers | milliseconds,
    some.lists(alternatives, max_size=4).map(tuple),
)
arrivals = some.builds(TextArrived, some.text(), some.lists(tokens, max_size=5).map(tuple))
exact_arrivals = some.lists(tokens, max_size=5).map(
    lambda own: TextArrived("".join(token.text for token in own), tuple(own))
)
thoughts = some.builds(TextArrived, some.text(), reasoning=some.text(min_size=1))
logs = some.lists(
    some.tuples(
        numbers | milliseconds,
        arrivals | exact_arrivals | thoughts | some.builds(TurnAccepted),
    ),
    min_size=1,
    max_size=12,
)


@given(logs, some.integers(1, 10**6))
def test_a_packed_log_is_unpacked_byte_for_byte(
    log: list[tuple[float, TextArrived | TurnAccepted]], first_seq: int
) -> None:
    events = [Stamped(seq, at_ms, event) for seq, (at_ms, event) in enumerate(log, first_seq)]
    assert msgspec.json.encode(unpack(pack(events))) == msgspec.json.encode(events)


@pytest.mark.parametrize("turn", TURNS, ids=lambda turn: turn.stem)
def test_every_recorded_turn_is_unpacked_byte_for_byte(turn: Path) -> None:
    lines = turn.read_bytes().splitlines()
    events = [msgspec.json.decode(line, type=Stamped) for line in lines]
    assert [msgspec.json.encode(stamped) for stamped in unpack(pack(events))] == lines


def test_a_token_with_three_alternatives_takes_less_than_60_bytes() -> None:
    assert len(pack(answer(500, num_top=3))) < 60 * 500
    assert len(pack(answer(500, num_top=3))) * 4 < sum(len(encode(e.event)) for e in answer(500, 3))


def test_what_is_left_without_tokens_is_the_text() -> None:
    [stamped] = without_tokens(answer(1, num_top=3))
    assert stamped.event == TextArrived(" word1")


def test_a_token_that_is_one_of_its_alternatives_is_stored_once() -> None:
    [stamped] = answer(1, num_top=3)
    assert isinstance(stamped.event, TextArrived)
    [token] = stamped.event.tokens
    (first, *others) = token.top
    picked = replace(token, token_id=first.token_id, text=first.text, logprob=first.logprob)
    same = Stamped(1, 1.0, TextArrived(first.text, (picked,)))
    other = Stamped(1, 1.0, TextArrived(first.text, (replace(picked, top=tuple(others)),)))
    assert len(pack([same])) - len(pack([other])) < 4
    assert unpack(pack([same])) == [same]


def test_a_log_of_the_first_version_is_read() -> None:
    packed = bytes.fromhex(FIRST_VERSION)
    assert [stamped.event for stamped in unpack(packed)] == FIRST_EVENTS


def test_a_log_packed_by_a_newer_hitsend_is_refused() -> None:
    with pytest.raises(ValueError, match="newer"):
        unpack(b"\x7f" + pack(answer(1, num_top=0))[1:])


def answer(num_tokens: int, num_top: int) -> list[Stamped]:
    """With probabilities as engines report them: no two alike, in single precision."""
    return [
        Stamped(
            seq,
            seq * 51.237,
            TextArrived(
                f" word{seq % 97}",
                (
                    Token(
                        seq * 7919 % 49152,
                        f" word{seq % 97}",
                        single(-math.log1p(seq)),
                        seq * 51.2,
                        tuple(
                            Alternative(
                                seq * k * 7919 % 49152,
                                f" other{seq % 89}{k}",
                                single(-k * math.log1p(seq)),
                            )
                            for k in range(1, num_top + 1)
                        ),
                    ),
                ),
            ),
        )
        for seq in range(1, num_tokens + 1)
    ]


def single(value: float) -> float:
    (rounded,) = struct.unpack("<f", struct.pack("<f", value))
    return float(rounded)
