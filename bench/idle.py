"""Readers of turns that say nothing: what each holds in the server's memory, and whether they stay.

One person has at most twenty sockets, so it takes fifty people, with a silent turn each. The first
fifth of the followers is not weighed: they find a place in memory that something else has left.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from websockets.exceptions import ConnectionClosed

from bench import launch, machine
from bench.load import Exchange, begin_exchange
from bench.machine import Bar
from bench.readers import Line, begin, events_request, open_line

SILENT = "!script hang=3"
AT_ONCE = 16
SETTLE_S = 2.0


@dataclass(frozen=True)
class Idle:
    kind: str
    num_followers: int
    kb_each: float
    seconds: float
    num_dropped: int

    def __str__(self) -> str:
        return (
            f"{self.num_followers:,} idle {self.kind} followers for {self.seconds:.0f} s: "
            f"{self.kb_each:.1f} kB each, {self.num_dropped} dropped"
        )

    def bars(self) -> list[Bar]:
        return [
            Bar(f"memory of an idle {self.kind} follower, kB", self.kb_each, 40),
            Bar(f"idle {self.kind} followers dropped", self.num_dropped, 0),
        ]


class Turn(NamedTuple):
    url: str
    key: str
    turn_id: str


class Follower(Protocol):
    @property
    def is_there(self) -> bool:
        """It has heard the beginning, and was not dropped."""


async def measure(
    server: launch.Running, keys: Sequence[str], num_followers: int, seconds: float
) -> list[Idle]:
    silent = [Turn(server.url, key, (await begin(server.url, key, SILENT)).turn_id) for key in keys]
    turns = [silent[index % len(silent)] for index in range(num_followers)]
    async with AsyncExitStack() as stack:
        streams, stream_kb = await _all(server, turns, lambda turn: _stream(turn, stack))
        lines, line_kb = await _all(server, turns, lambda turn: _line(turn, stack))
        await asyncio.sleep(seconds)
        return [
            Idle("SSE", len(streams), stream_kb, seconds, _num_dropped(streams)),
            Idle("WebSocket", len(lines), line_kb, seconds, _num_dropped(lines)),
        ]


def _num_dropped(followers: Sequence[Follower]) -> int:
    return sum(not one.is_there for one in followers)


async def _all(
    server: launch.Running, turns: Sequence[Turn], follow: Callable[[Turn], Awaitable[Follower]]
) -> tuple[list[Follower], float]:
    """A few at a time, as people come; and the kB that each of them took."""
    room = asyncio.Semaphore(AT_ONCE)

    async def one(turn: Turn) -> Follower:
        async with room:
            return await follow(turn)

    num_first = len(turns) // 5
    first = await asyncio.gather(*map(one, turns[:num_first]))
    mb_before = await _settled_mb(server)
    others = await asyncio.gather(*map(one, turns[num_first:]))
    mb = await _settled_mb(server) - mb_before
    return [*first, *others], mb * 1024 / len(others)


async def _settled_mb(server: launch.Running) -> float:
    await asyncio.sleep(SETTLE_S)
    return machine.rss_mb(server.pid)


@dataclass(frozen=True)
class StreamFollower:
    exchange: Exchange

    @property
    def is_there(self) -> bool:
        arrivals = self.exchange.arrivals
        has_begun = bool(arrivals) and arrivals[0][1].startswith(b"HTTP/1.1 200")
        return has_begun and not self.exchange.ended.done()


async def _stream(turn: Turn, stack: AsyncExitStack) -> Follower:
    exchange = await begin_exchange(turn.url, events_request(turn.url, turn.key, turn.turn_id))
    stack.callback(exchange.transport.abort)
    return StreamFollower(exchange)


@dataclass(frozen=True)
class LineFollower:
    line: Line
    staying: asyncio.Task[None]

    @property
    def is_there(self) -> bool:
        return bool(self.line.arrivals) and not self.staying.done()


async def _line(turn: Turn, stack: AsyncExitStack) -> Follower:
    line = await stack.enter_async_context(open_line(turn.url, turn.key))
    await line.follow((turn.turn_id, 0))
    staying = asyncio.create_task(_stay(line))
    stack.callback(staying.cancel)
    return LineFollower(line, staying)


async def _stay(line: Line) -> None:
    try:
        while True:
            await line.read()
    except ConnectionClosed:
        return
