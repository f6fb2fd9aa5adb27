"""Followers of silent answers: server memory for each, and whether all stay connected.

One person may have at most twenty sockets, so it takes fifty people with a silent answer each. The
memory of the first fifth of the followers is not counted: they reuse memory that is free already.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from websockets.exceptions import ConnectionClosed

from bench import launch, machine
from bench.follow import Socket, events_request, open_socket, start_turn
from bench.load import Exchange, start_exchange
from bench.machine import Figure

SILENT = "!script hang=3"
AT_ONCE = 16
SETTLE_S = 2.0


@dataclass(frozen=True)
class IdleFollowers:
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

    def figures(self) -> list[Figure]:
        return [
            Figure(f"memory of an idle {self.kind} follower, kB", self.kb_each, 40),
            Figure(f"idle {self.kind} followers dropped", self.num_dropped, 0),
        ]


class Turn(NamedTuple):
    url: str
    key: str
    turn_id: str


class Follower(Protocol):
    @property
    def is_connected(self) -> bool:
        """It received the beginning, and was not dropped."""


async def measure(
    server: launch.Running, keys: Sequence[str], num_followers: int, seconds: float
) -> list[IdleFollowers]:
    silent = [
        Turn(server.url, key, (await start_turn(server.url, key, SILENT)).turn_id) for key in keys
    ]
    turns = [silent[index % len(silent)] for index in range(num_followers)]
    async with AsyncExitStack() as stack:
        streams, stream_kb = await _connect_all(server, turns, lambda turn: _follow(turn, stack))
        sockets, socket_kb = await _connect_all(
            server, turns, lambda turn: _follow_by_socket(turn, stack)
        )
        await asyncio.sleep(seconds)
        return [
            IdleFollowers("SSE", len(streams), stream_kb, seconds, _num_dropped(streams)),
            IdleFollowers("WebSocket", len(sockets), socket_kb, seconds, _num_dropped(sockets)),
        ]


def _num_dropped(followers: Sequence[Follower]) -> int:
    return sum(not one.is_connected for one in followers)


async def _connect_all(
    server: launch.Running, turns: Sequence[Turn], follow: Callable[[Turn], Awaitable[Follower]]
) -> tuple[list[Follower], float]:
    """Connects a few at a time. Returns the followers, and the kB for each."""
    limit = asyncio.Semaphore(AT_ONCE)

    async def one(turn: Turn) -> Follower:
        async with limit:
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
    def is_connected(self) -> bool:
        arrivals = self.exchange.arrivals
        has_begun = bool(arrivals) and arrivals[0][1].startswith(b"HTTP/1.1 200")
        return has_begun and not self.exchange.ended.done()


async def _follow(turn: Turn, stack: AsyncExitStack) -> Follower:
    exchange = await start_exchange(turn.url, events_request(turn.url, turn.key, turn.turn_id))
    stack.callback(exchange.transport.abort)
    return StreamFollower(exchange)


@dataclass(frozen=True)
class SocketFollower:
    socket: Socket
    reading: asyncio.Task[None]

    @property
    def is_connected(self) -> bool:
        return bool(self.socket.arrivals) and not self.reading.done()


async def _follow_by_socket(turn: Turn, stack: AsyncExitStack) -> Follower:
    socket = await stack.enter_async_context(open_socket(turn.url, turn.key))
    await socket.follow((turn.turn_id, 0))
    reading = asyncio.create_task(_read_until_closed(socket))
    stack.callback(reading.cancel)
    return SocketFollower(socket, reading)


async def _read_until_closed(socket: Socket) -> None:
    try:
        while True:
            await socket.read()
    except ConnectionClosed:
        return
