"""What a reader costs the server, over HTTP and over a WebSocket, beside a turn nobody reads.

The answers keep silent until all of them have begun and have their readers: that is not in it.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple, TypeAlias

from bench import launch, machine
from bench.load import V1Reader, exchange, streamed
from bench.readers import (
    PACE_MS,
    begin,
    events_request,
    open_line,
    read_into,
    script,
)

SILENT_S, READY_S = 4.0, 3.5
"""Of an answer, and until the clock starts."""
LATE_S = 1.5
"""For answers that nobody reads to come to their end."""
EACH = 8
"""Turns of a person, who can have as many tickets for sockets at a time."""


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
"""Of each person."""


async def measure(
    server: launch.Running, keys: Sequence[str], num_streams: int, seconds: float
) -> list[Cost]:
    return [
        Cost(name, num_streams, await _cpu_ms(server, keys[: num_streams // EACH], read, seconds))
        for name, read in READERS.items()
    ]


async def _cpu_ms(
    server: launch.Running, keys: Sequence[str], read: "Read", seconds: float
) -> float:
    """Per 1,000 tokens."""
    num_tokens = round(seconds * 1000 / PACE_MS)
    prompt = script(num_tokens, first_s=SILENT_S)
    began = time.perf_counter()

    async def begun(key: str) -> list[Turn]:
        readers = [await begin(server.url, key, prompt) for _ in range(EACH)]
        return [Turn(key, one.turn_id) for one in readers]

    turns = await asyncio.gather(*map(begun, keys))
    reading = asyncio.gather(*read(server.url, turns))
    await asyncio.sleep(began + READY_S - time.perf_counter())
    cpu_before = machine.cpu_s(server.pid)
    await asyncio.sleep(SILENT_S - READY_S + seconds + LATE_S)
    await reading
    cpu_s = machine.cpu_s(server.pid) - cpu_before
    return cpu_s * 1e6 / (len(keys) * EACH * num_tokens)


def _by_nobody(url: str, turns: Turns) -> list[Awaitable[None]]:
    return []


def _by_streams(url: str, turns: Turns) -> list[Awaitable[None]]:
    return [_stream(url, turn) for turn in chain.from_iterable(turns)]


def _by_lines(url: str, turns: Turns) -> list[Awaitable[None]]:
    return [_line(url, [turn]) for turn in chain.from_iterable(turns)]


def _by_shared_lines(url: str, turns: Turns) -> list[Awaitable[None]]:
    return [_line(url, theirs) for theirs in turns]


Read: TypeAlias = Callable[[str, Turns], list[Awaitable[None]]]

READERS: dict[str, Read] = {
    "read by nobody": _by_nobody,
    "each read over SSE": _by_streams,
    "each read over a WebSocket": _by_lines,
    f"{EACH} read over one WebSocket": _by_shared_lines,
}


async def _stream(url: str, turn: Turn) -> None:
    done = await exchange(url, events_request(url, turn.key, turn.turn_id))
    _check(read_into(V1Reader(), streamed(done)))


async def _line(url: str, turns: Sequence[Turn]) -> None:
    async with open_line(url, turns[0].key) as line:
        await line.follow(*((turn.turn_id, 0) for turn in turns))
        await line.read_until_ended(len(turns))
    for turn in turns:
        _check(read_into(V1Reader(), line.arrivals[turn.turn_id]))


def _check(reader: V1Reader) -> None:
    reader.is_done = True  # said by a stream over HTTP alone; what counts is the hash
    reader.check()
