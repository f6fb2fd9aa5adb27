"""A stream sends `[DONE]` if and only if its turn has ended."""

from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

import msgspec
import pytest

from hitsend.errors import DatabaseDamaged, DiskFull, StoreDown
from hitsend.events import Stamped
from hitsend.server.turns.stream import Heartbeat, TurnStream, describe_delay, stream_turn
from hitsend.sse import DONE
from hitsend.wire.full_messages import FullMessageView

HELLO = (Path(__file__).parents[1] / "turns" / "hello.jsonl").read_bytes().splitlines()
LOG = [msgspec.json.decode(line, type=Stamped) for line in HELLO]

HEARTBEAT = Heartbeat(60, lambda: None)


async def batches(*batches: Sequence[Stamped]) -> AsyncGenerator[Sequence[Stamped], None]:
    for batch in batches:
        yield batch


async def read_stream(response: TurnStream) -> bytes:
    return b"".join([c async for c in response.body_iterator if isinstance(c, bytes)])


async def test_a_log_that_breaks_off_has_no_done() -> None:
    assert DONE not in await read_stream(
        stream_turn(FullMessageView(), batches(LOG[:-1], ()), {}, HEARTBEAT)
    )


async def test_a_log_with_an_end_has_a_done() -> None:
    assert (
        await read_stream(
            stream_turn(FullMessageView(), batches(LOG[:-1], LOG[-1:]), {}, HEARTBEAT)
        )
    ).endswith(DONE)


async def test_a_turn_that_ended_before_the_resume_has_a_done() -> None:
    assert (
        await read_stream(stream_turn(FullMessageView(), batches(), {}, HEARTBEAT, has_ended=True))
    ).endswith(DONE)


@pytest.mark.parametrize(
    ("problem", "sentence"),
    [
        (DiskFull("full"), "The server's disk is full. The answer waits until there is room."),
        (DatabaseDamaged("damaged"), "The server's database is damaged. The answer waits."),
        (StoreDown("down"), "The server cannot save anything right now. The answer waits."),
    ],
)
async def test_a_heartbeat_says_what_the_answer_waits_for(
    problem: StoreDown, sentence: str
) -> None:
    heartbeat = Heartbeat(60, lambda: problem)
    raw = await read_stream(stream_turn(FullMessageView(), batches(()), {}, heartbeat))
    assert raw.startswith(b": ping ")
    assert raw.endswith(f"\n: {sentence}\n\n".encode())
    delay = describe_delay(problem)
    assert delay is not None
    assert delay.code == problem.code


def test_nothing_is_said_while_answers_are_stored() -> None:
    assert describe_delay(None) is None
