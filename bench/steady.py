"""Many answers at once, each at a reader's pace: what hitsend adds to the gaps between tokens.

The same load also reads a bare server that only paces, before and after: what the machine adds by
itself is not hitsend's.
"""

import asyncio
from dataclasses import dataclass

from bench import launch, machine
from bench.load import Answer, BadAnswer, Load, Target, percentile, run_streams
from bench.machine import Bar
from bench.readers import PACE_MS, SEND, SETTINGS, script, stored_text
from bench.upstream import MODEL

START_S, BARE_START_S = 5, 2


@dataclass(frozen=True)
class Steady:
    num_streams: int
    seconds: float
    num_tokens: int
    gap_ms_p50: float
    gap_ms_p99: float
    bare_gap_ms_p99: float
    cores: float
    rss_mb: float
    num_untrue: int
    """Streams that said something else than what is stored."""

    @property
    def added_ms_p99(self) -> float:
        return self.gap_ms_p99 - max(self.bare_gap_ms_p99, PACE_MS)

    def __str__(self) -> str:
        return (
            f"{self.num_streams} streams for {self.seconds:.0f} s, {self.num_tokens:,} tokens: "
            f"gap p50 {self.gap_ms_p50:.1f} ms, p99 {self.gap_ms_p99:.1f} ms "
            f"(bare server {self.bare_gap_ms_p99:.1f}), {self.cores:.2f} cores, "
            f"RSS {self.rss_mb:.0f} MB, {self.num_untrue} not as stored"
        )

    def bars(self) -> list[Bar]:
        return [
            Bar(f"added p99 gap, {self.num_streams} streams, ms", self.added_ms_p99, 20),
            Bar(f"cores, {self.num_streams} streams at 20 tok/s", self.cores, 1.5),
            Bar("streams that differ from what is stored", self.num_untrue, 0),
        ]


async def measure(num_streams: int, seconds: float, bare_s: float) -> Steady:
    bare_gaps = await _bare_gaps_ms(num_streams, bare_s)
    num_tokens = round(seconds * 1000 / PACE_MS)
    with launch.hitsend(["--engine", "scripted"], SETTINGS) as server:
        await launch.until_healthy(server)
        key = await launch.make_key(server.url)
        target = Target(server.url, SEND, "v1", key)
        answers, cores = await asyncio.gather(
            run_streams(target, Load(num_streams, 1, START_S), lambda *_: script(num_tokens)),
            _cores(server.pid, seconds),
        )
        rss_mb = machine.rss_mb(server.pid)
        if any(answer.num_tokens != num_tokens for answer in answers):
            raise BadAnswer("Answers were shorter than they were asked to be.")
        are_true = [await _is_true(server.url, key, answer) for answer in answers]
    bare_gaps += await _bare_gaps_ms(num_streams, bare_s)
    gaps = _gaps_ms(answers)
    lasted_s = max(one.ended_at for one in answers) - min(one.started_at for one in answers)
    return Steady(
        num_streams=num_streams,
        seconds=lasted_s,
        num_tokens=num_tokens * num_streams,
        gap_ms_p50=percentile(gaps, 50),
        gap_ms_p99=percentile(gaps, 99),
        bare_gap_ms_p99=percentile(bare_gaps, 99),
        cores=cores,
        rss_mb=rss_mb,
        num_untrue=are_true.count(False),
    )


async def _cores(pid: int, seconds: float) -> float:
    """While all streams run: after the last has begun, before the first ends."""
    await asyncio.sleep(START_S)
    cpu_before = machine.cpu_s(pid)
    await asyncio.sleep(seconds - START_S)
    return (machine.cpu_s(pid) - cpu_before) / (seconds - START_S)


async def _bare_gaps_ms(num_streams: int, seconds: float) -> list[float]:
    rate = 1000 / PACE_MS
    with launch.upstream(rate, round(seconds * rate)) as bare:
        target = Target(bare.url, "/v1/chat/completions", "openai", model=MODEL)
        answers = await run_streams(target, Load(num_streams, 1, BARE_START_S), lambda *_: "Go on.")
    return _gaps_ms(answers)


def _gaps_ms(answers: list[Answer]) -> list[float]:
    return [gap for answer in answers for gap in answer.gaps_ms]


async def _is_true(url: str, key: str, answer: Answer) -> bool:
    stored, _ = await stored_text(url, key, answer.conversation_id)
    return stored == answer.text
