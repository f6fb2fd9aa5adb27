"""CPU of a follower, over HTTP and over a WebSocket, compared with answers nobody follows.

The answers stay silent until all of them have started and have their followers. The clock starts
after that.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple, TypeAlias

from bench import launch, machine
from bench.follow import (
    PACE_MS,
    check_followed,
    events_request,
    open_socket,
    read_into,
    script,
    start_turn,
)
from bench.load import V1Reader, read_body, run_exchange

SILENT_S, READY_S = 4.0, 3.5
"""How long an answer is silent, and when the clock starts."""
LATE_S = 1.5
"""Time for answers that nobody follows to end."""
TURNS_PER_PERSON = 8
"""The server gives one person no more tickets for sockets at a time."""


@dataclass(frozen=True)
class Cost:
    name: str
    num_streams: int
    cpu_ms_per_1000_tokens: float

    def __str__(self) -> str:
        return (
            f"{self.num_streams} turns at {1000 / PACE_MS:.0f} tok/s, {self.name}: "
            f"{self.cpu_ms_per_1000_tokens:.0f} ms of CPU per 1,000 tokens"
        )


class Turn(NamedTuple):
    key: str
    turn_id: str


Turns: TypeAlias = Sequence[Sequence[Turn]]
"""A list for each person."""


async def measure(
    server: launch.Running, keys: Sequence[str], num_streams: int, seconds: float
) -> list[Cost]:
    people = keys[: num_streams // TURNS_PER_PERSON]
    return [
        Cost(name, num_streams, await _cpu_ms(server, people, follow, seconds))
        for name, follow in FOLLOWERS.items()
    ]


async def _cpu_ms(
    server: launch.Running, keys: Sequence[str], follow: "Follow", seconds: float
) -> float:
    """CPU ms per 1,000 tokens."""
    num_tokens = round(seconds * 1000 / PACE_MS)
    prompt = script(num_tokens, first_s=SILENT_S)
    began = time.perf_counter()

    async def start_turns(key: str) -> list[Turn]:
        readers = [await start_turn(server.url, key, prompt) for _ in range(TURNS_PER_PERSON)]
        return [Turn(key, reader.turn_id) for reader in readers]

    turns = await asyncio.gather(*map(start_turns, keys))
    following = asyncio.gather(*follow(server.url, turns))
    await asyncio.sleep(began + READY_S - time.perf_counter())
    cpu_before = machine.cpu_s(server.pid)
    await asyncio.sleep(SILENT_S - READY_S + seconds + LATE_S)
    await following
    cpu_s = machine.cpu_s(server.pid) - cpu_before
    return cpu_s * 1e6 / (len(keys) * TURNS_PER_PERSON * num_tokens)


def _follow_none(url: str, turns: Turns) -> list[Awaitable[None]]:
    return []


def _follow_by_http(url: str, turns: Turns) -> list[Awaitable[None]]:
    return [_read_stream(url, turn) for turn in chain.from_iterable(turns)]


def _follow_by_sockets(url: str, turns: Turns) -> list[Awaitable[None]]:
    return [_read_socket(url, [turn]) for turn in chain.from_iterable(turns)]


def _follow_by_shared_sockets(url: str, turns: Turns) -> list[Awaitable[None]]:
    return [_read_socket(url, of_person) for of_person in turns]


Follow: TypeAlias = Callable[[str, Turns], list[Awaitable[None]]]

FOLLOWERS: dict[str, Follow] = {
    "nobody follows": _follow_none,
    "each followed over SSE": _follow_by_http,
    "each followed over a WebSocket": _follow_by_sockets,
    f"{TURNS_PER_PERSON} followed over one WebSocket": _follow_by_shared_sockets,
}


async def _read_stream(url: str, turn: Turn) -> None:
    done = await run_exchange(url, events_request(url, turn.key, turn.turn_id))
    check_followed(read_into(V1Reader(), read_body(done)))


async def _read_socket(url: str, turns: Sequence[Turn]) -> None:
    async with open_socket(url, turns[0].key) as socket:
        await socket.follow(*((turn.turn_id, 0) for turn in turns))
        await socket.read_until_ended(len(turns))
    for turn in turns:
        check_followed(read_into(V1Reader(), socket.arrivals[turn.turn_id]))
