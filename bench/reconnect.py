"""Clients that lose their stream and reconnect: time to the first new byte, and to a whole replay.

Each disconnects in the middle of an answer, waits a moment, resumes, and reads to the end. The
text is compared with the checksum in the stream.
"""

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from bench.follow import (
    END,
    check_followed,
    events_request,
    open_socket,
    read_into,
    resume_request,
    script,
    start_turn,
)
from bench.load import (
    BadAnswer,
    TimedBytes,
    V1Reader,
    percentile,
    read_body,
    run_exchange,
    split_frames,
)

NUM_TOKENS = 40
CUT_AFTER = 12
AWAY_S = 0.3
NUM_REPLAYS = 5

Transport: TypeAlias = Callable[[str, str, V1Reader], Awaitable[TimedBytes]]
"""Reads a turn from after the reader's last event to its end."""


@dataclass(frozen=True)
class Reconnect:
    transport: str
    when: str
    num_clients: int
    first_ms_p50: float
    first_ms_p99: float

    def __str__(self) -> str:
        return (
            f"{self.num_clients} clients reconnect by {self.transport}, {self.when}: "
            f"first new byte p50 {self.first_ms_p50:.1f} ms, p99 {self.first_ms_p99:.1f} ms"
        )


@dataclass(frozen=True)
class Replay:
    transport: str
    num_tokens: int
    num_events: int
    ms: float

    def __str__(self) -> str:
        return (
            f"finished turn of {self.num_tokens:,} tokens ({self.num_events:,} events) by "
            f"{self.transport}: {self.ms:.0f} ms"
        )


async def measure(
    url: str, keys: Sequence[str], num_clients: int, spread_s: float
) -> list[Reconnect]:
    return [
        await _reconnect(url, keys, num_clients, transport, when, over_s)
        for transport in TRANSPORTS
        for when, over_s in (("one by one", spread_s), ("all at once", 0.0))
    ]


async def _reconnect(
    url: str, keys: Sequence[str], num_clients: int, transport: str, when: str, spread_s: float
) -> Reconnect:
    everyone = asyncio.Barrier(1 if spread_s else num_clients)

    async def one(index: int) -> float:
        key = keys[index % len(keys)]
        await asyncio.sleep(index * spread_s / num_clients)
        reader = await start_turn(url, key, script(NUM_TOKENS), CUT_AFTER)
        await everyone.wait()
        await asyncio.sleep(AWAY_S)
        return await _first_ms(reader, TRANSPORTS[transport](url, key, reader))

    firsts = await asyncio.gather(*map(one, range(num_clients)))
    return Reconnect(transport, when, num_clients, percentile(firsts, 50), percentile(firsts, 99))


async def _first_ms(reader: V1Reader, rest: Awaitable[TimedBytes]) -> float:
    num_before, began = len(reader.arrivals), time.perf_counter()
    read_into(reader, await rest)
    check_followed(reader)
    return (reader.arrivals[num_before].at - began) * 1000


async def _read_by_resume(url: str, key: str, reader: V1Reader) -> TimedBytes:
    request = resume_request(url, key, reader)
    return read_body(await run_exchange(url, request))


async def _read_by_events(url: str, key: str, reader: V1Reader) -> TimedBytes:
    request = events_request(url, key, reader.turn_id, reader.last_id)
    return read_body(await run_exchange(url, request))


async def _read_by_socket(url: str, key: str, reader: V1Reader) -> TimedBytes:
    """Includes the request for a ticket."""
    async with open_socket(url, key) as socket:
        await socket.follow((reader.turn_id, reader.last_id))
        await socket.read_until_ended()
        return socket.arrivals[reader.turn_id]


TRANSPORTS: dict[str, Transport] = {
    "POST resume": _read_by_resume,
    "GET events": _read_by_events,
    "WebSocket": _read_by_socket,
}


async def measure_replays(url: str, key: str, num_tokens: int) -> list[Replay]:
    turn = await start_turn(url, key, script(num_tokens, pace_ms=1))
    num_events = read_into(V1Reader(), await _read_by_events(url, key, turn)).last_id
    return [
        Replay(name, num_tokens, num_events, await _replay_ms(url, key, turn, read))
        for name, read in TRANSPORTS.items()
    ]


async def _replay_ms(url: str, key: str, turn: V1Reader, read: Transport) -> float:
    times = []
    for _ in range(NUM_REPLAYS):
        reader = V1Reader()
        reader.turn_id, reader.conversation_id = turn.turn_id, turn.conversation_id
        began = time.perf_counter()
        arrivals = await read(url, key, reader)
        times.append((_end_time(arrivals) - began) * 1000)
        check_followed(read_into(reader, arrivals))
    return statistics.median(times)


def _end_time(arrivals: TimedBytes) -> float:
    for at, frame in split_frames(arrivals):
        if END in frame:
            return at
    raise BadAnswer("The stream has no end.")
