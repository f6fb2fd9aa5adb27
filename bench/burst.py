"""Many Sends at once beside running answers: how soon each is answered, and what the others notice.

    python -m bench.burst [--sends 500] [--running 40]

Answers run at 20 tok/s. Then all Sends arrive at once, from twenty people, over bare sockets. An
early refusal (429 or 503) counts as an answer. The gap between the words of the running answers is
compared with the gap before the burst: by the clock, and in CPU time of the server, which does not
depend on what else the machine does.
"""

import argparse
import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import uvloop

from bench import launch, machine
from bench.launch import THIS_TREE, Build, make_keys, until_healthy
from bench.load import (
    Exchange,
    StopWhen,
    Target,
    parse_answer,
    percentile,
    split_head,
    start_exchange,
)
from bench.machine import Figure
from bench.upstream import MODEL

NUM_PEOPLE = 20
RATE, NUM_TOKENS = 20, 300
NUM_BURST_TOKENS = 20
CALM_S = 4.0
LONGEST_S = 60.0
SETTINGS = {"engine_concurrency": "1000", "gate": "off", "embeddings": "words"}


@dataclass(frozen=True)
class Moment:
    """The time, and the CPU seconds that server and client have used by then."""

    at: float
    server_s: float
    client_s: float


@dataclass
class Clock:
    """Notes when words arrive."""

    pid: int
    arrivals: dict[Exchange, list[Moment]] = field(default_factory=dict)

    def now(self) -> Moment:
        return Moment(time.perf_counter(), machine.process_cpu_s(self.pid), time.process_time())

    def note(self, answer: Exchange) -> bool:
        self.arrivals.setdefault(answer, []).append(self.now())
        return False  # reads on

    def gaps(self, since: Moment, until: Moment) -> list[tuple[Moment, Moment]]:
        """The gaps of all answers that lie in a span of time, wholly or in part."""
        return [
            (one, after)
            for moments in self.arrivals.values()
            for one, after in zip(moments, moments[1:], strict=False)
            if since.at <= after.at and one.at <= until.at
        ]


@dataclass(frozen=True)
class Gap:
    ms: float
    cpu_ms: float


def gap_p99(clock: Clock, since: Moment, until: Moment) -> Gap:
    gaps = clock.gaps(since, until)
    return Gap(
        percentile([(after.at - one.at) * 1000 for one, after in gaps], 99),
        percentile([(after.server_s - one.server_s) * 1000 for one, after in gaps], 99),
    )


async def measure(build: Build, num_sends: int, num_running: int) -> list[Figure]:
    with launch.upstream(RATE, NUM_TOKENS) as engine:
        flags = ["--engine", "remote", "--engine-url", engine.url]
        with launch.hitsend(flags, SETTINGS, build=build) as running:
            await until_healthy(running)
            chat = Target(running.url, launch.SEND, "v1", model=MODEL)
            keys = await make_keys(running.url, NUM_PEOPLE)
            people = [replace(chat, key=key) for key in keys]
            return await measure_burst(people, Clock(running.pid), num_sends, num_running)


async def measure_burst(
    people: Sequence[Target], clock: Clock, num_sends: int, num_running: int
) -> list[Figure]:
    running = await start_sends(people, num_running, NUM_TOKENS, clock.note)
    await asyncio.sleep(CALM_S / 2)
    calm = clock.now()
    await asyncio.sleep(CALM_S / 2)
    began = clock.now()
    heads = asyncio.Semaphore(0)
    sent = await start_sends(people, num_sends, NUM_BURST_TOKENS, partial(release_once, heads))
    async with asyncio.timeout(LONGEST_S):
        for _ in sent:
            await heads.acquire()
    ended = clock.now()
    await asyncio.gather(*(one.ended for one in (*running, *sent)))
    for one in (*running, *sent):
        if status(one) == 200:
            parse_answer(one, "v1")  # raises unless it is whole
    before, during = gap_p99(clock, calm, began), gap_p99(clock, began, ended)
    heads_ms = [(one.arrivals[0][0] - one.started_at) * 1000 for one in sent]
    name = f"{num_sends} Sends at once"
    return [
        *(
            Figure(f"{name}: answered {code}", number)
            for code, number in sorted(Counter(map(status, sent)).items())
        ),
        Figure(f"{name}: headers p50, ms", percentile(heads_ms, 50)),
        Figure(f"{name}: headers p95, ms", percentile(heads_ms, 95), limit=1000),
        Figure(f"{name}: gap p99 before, ms", before.ms),
        Figure(f"{name}: gap p99, ms more", during.ms - before.ms, limit=50),
        Figure(f"{name}: server CPU in the gap before, p99, ms", before.cpu_ms),
        Figure(f"{name}: server CPU in the gap, p99, ms", during.cpu_ms),
        Figure(f"{name}: server CPU, s", ended.server_s - began.server_s),
        Figure(f"{name}: client CPU, s", ended.client_s - began.client_s),
    ]


async def start_sends(
    people: Sequence[Target], num_sends: int, num_tokens: int, note: StopWhen
) -> list[Exchange]:
    limited = [one.with_sampling({"max_tokens": num_tokens}) for one in people]
    requests = [
        limited[number % len(limited)].request(f"What is number {number}?")
        for number in range(num_sends)
    ]
    return await asyncio.gather(*(start_exchange(people[0].url, one, note) for one in requests))


def release_once(heads: asyncio.Semaphore, answer: Exchange) -> bool:
    if len(answer.arrivals) == 1:
        heads.release()
    return False  # reads on


def status(done: Exchange) -> int:
    return int(split_head(done)[0].split(b" ", 2)[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sends", type=int, default=500)
    parser.add_argument("--running", type=int, default=40)
    args = parser.parse_args()
    figures = uvloop.run(measure(THIS_TREE, args.sends, args.running))
    for figure in figures:
        print(figure)
    machine.report("burst", figures)


if __name__ == "__main__":
    main()
