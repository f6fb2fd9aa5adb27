"""A stream sends `[DONE]` if and only if its turn has ended."""

from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

import msgspec

from hitsend.events import Stamped
from hitsend.server.turns.stream import TurnStream, stream_turn
from hitsend.sse import DONE
from hitsend.wire.full_messages import FullMessageView

HELLO = (Path(__file__).parents[1] / "turns" / "hello.jsonl").read_bytes().splitlines()
LOG = [msgspec.json.decode(line, type=Stamped) for line in HELLO]


async def batches(*batches: Sequence[Stamped]) -> AsyncGenerator[Sequence[Stamped], None]:
    for batch in batches:
        yield batch


async def read_stream(response: TurnStream) -> bytes:
    return b"".join([c async for c in response.body_iterator if isinstance(c, bytes)])


async def test_a_log_that_breaks_off_has_no_done() -> None:
    assert DONE not in await read_stream(
        stream_turn(FullMessageView(), batches(LOG[:-1], ()), {}, 60)
    )


async def test_a_log_with_an_end_has_a_done() -> None:
    assert (
        await read_stream(stream_turn(FullMessageView(), batches(LOG[:-1], LOG[-1:]), {}, 60))
    ).endswith(DONE)


async def test_a_turn_that_ended_before_the_resume_has_a_done() -> None:
    assert (
        await read_stream(stream_turn(FullMessageView(), batches(), {}, 60, has_ended=True))
    ).endswith(DONE)
