"""Readers that were cut off and come back: how long until they read on, and is it all there?

Each is cut in the middle of an answer, stays away for a moment, and reads to the end; what it has
then is compared with the hash the server states.
"""

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from bench.load import BadAnswer, Timed, V1Reader, exchange, frames, percentile, streamed
from bench.readers import (
    ENDS,
    begin,
    events_request,
    open_line,
    read_into,
    resume_request,
    script,
)

NUM_TOKENS = 40
CUT_AFTER = 12
AWAY_S = 0.3
NUM_REPLAYS = 5

Way: TypeAlias = Callable[[str, str, V1Reader], Awaitable[Timed]]
"""From the last event to the end: what arrived."""


@dataclass(frozen=True)
class Comeback:
    way: str
    when: str
    num_readers: int
    first_ms_p50: float
    first_ms_p99: float

    def __str__(self) -> str:
        return (
            f"{self.num_readers} readers come back by {self.way}, {self.when}: first new byte "
            f"p50 {self.first_ms_p50:.1f} ms, p99 {self.first_ms_p99:.1f} ms"
        )


@dataclass(frozen=True)
class Replay:
    way: str
    num_tokens: int
    num_events: int
    ms: float

    def __str__(self) -> str:
        return (
            f"finished turn of {self.num_tokens:,} tokens ({self.num_events:,} events) by "
            f"{self.way}: {self.ms:.0f} ms"
        )


async def measure(
    url: str, keys: Sequence[str], num_readers: int, spread_s: float
) -> list[Comeback]:
    return [
        await _come_back(url, keys, num_readers, way, when, over_s)
        for way in WAYS
        for when, over_s in (("one by one", spread_s), ("all at once", 0.0))
    ]


async def _come_back(
    url: str, keys: Sequence[str], num_readers: int, way: str, when: str, spread_s: float
) -> Comeback:
    everyone = asyncio.Barrier(1 if spread_s else num_readers)

    async def one(index: int) -> float:
        key = keys[index % len(keys)]
        await asyncio.sleep(index * spread_s / num_readers)
        reader = await begin(url, key, script(NUM_TOKENS), CUT_AFTER)
        await everyone.wait()
        await asyncio.sleep(AWAY_S)
        return await _first_ms(reader, WAYS[way](url, key, reader))

    firsts = await asyncio.gather(*map(one, range(num_readers)))
    return Comeback(way, when, num_readers, percentile(firsts, 50), percentile(firsts, 99))


async def _first_ms(reader: V1Reader, coming: Awaitable[Timed]) -> float:
    num_before, began = len(reader.arrivals), time.perf_counter()
    read_into(reader, await coming)
    reader.is_done = True  # said by a stream over HTTP alone; what counts is the hash
    reader.check()
    return (reader.arrivals[num_before].at - began) * 1000


async def _by_resume(url: str, key: str, reader: V1Reader) -> Timed:
    request = resume_request(url, key, reader, reader.last_id)
    return streamed(await exchange(url, request))


async def _by_events(url: str, key: str, reader: V1Reader) -> Timed:
    request = events_request(url, key, reader.turn_id, reader.last_id)
    return streamed(await exchange(url, request))


async def _by_socket(url: str, key: str, reader: V1Reader) -> Timed:
    """From the ticket on."""
    async with open_line(url, key) as line:
        await line.follow((reader.turn_id, reader.last_id))
        await line.read_until_ended()
        return line.arrivals[reader.turn_id]


WAYS: dict[str, Way] = {
    "POST resume": _by_resume,
    "GET events": _by_events,
    "WebSocket": _by_socket,
}


async def replays(url: str, key: str, num_tokens: int) -> list[Replay]:
    whole = V1Reader()
    turn = await begin(url, key, script(num_tokens, pace_ms=1))
    read_into(whole, await _by_events(url, key, turn))
    num_events = whole.last_id
    return [
        Replay(way, num_tokens, num_events, await _replay_ms(url, key, turn, read))
        for way, read in WAYS.items()
    ]


async def _replay_ms(url: str, key: str, turn: V1Reader, read: Way) -> float:
    times = []
    for _ in range(NUM_REPLAYS):
        reader = V1Reader()
        reader.turn_id, reader.conversation_id = turn.turn_id, turn.conversation_id
        began = time.perf_counter()
        arrivals = await read(url, key, reader)
        times.append((_end(arrivals) - began) * 1000)
        read_into(reader, arrivals)
        reader.is_done = True
        reader.check()
    return statistics.median(times)


def _end(arrivals: Timed) -> float:
    for at, frame in frames(arrivals):
        if ENDS in frame:
            return at
    raise BadAnswer("The stream has no end.")
