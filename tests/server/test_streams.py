"""A stream says that it is over where the turn is, and only there."""

from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

import msgspec

from hitsend.events import Stamped
from hitsend.server.streams import TurnStream, stream
from hitsend.wire.plain import PlainView
from hitsend.wire.sse import DONE

HELLO = (Path(__file__).parents[1] / "turns" / "hello.jsonl").read_bytes().splitlines()
LOG = [msgspec.json.decode(line, type=Stamped) for line in HELLO]


async def told(*batches: Sequence[Stamped]) -> AsyncGenerator[Sequence[Stamped], None]:
    for batch in batches:
        yield batch


async def heard(response: TurnStream) -> bytes:
    return b"".join([c async for c in response.body_iterator if isinstance(c, bytes)])


async def test_a_log_that_breaks_off_is_not_over() -> None:
    assert DONE not in await heard(stream(PlainView(), told(LOG[:-1], ()), {}))


async def test_a_log_with_an_end_is_over() -> None:
    assert (await heard(stream(PlainView(), told(LOG[:-1], LOG[-1:]), {}))).endswith(DONE)


async def test_so_is_one_that_ended_before_its_reader_came_back() -> None:
    assert (await heard(stream(PlainView(), told(), {}, has_ended=True))).endswith(DONE)
