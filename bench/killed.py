"""kill -9 in the middle of many answers: what people had been shown, and what is left of it."""

import asyncio
import os
import signal
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from bench import launch
from bench.load import Target, V1Reader, begin_exchange
from bench.machine import Bar
from bench.readers import SEND, SETTINGS, heard, script, stored_text

PACE_MS = 20
SHOWN_S = 3.0
FLAGS = ["--engine", "scripted"]


@dataclass(frozen=True)
class Killed:
    name: str
    num_streams: int
    num_shown_chars: int
    num_kept_chars: int
    ready_s: float | None
    ended_s: float | None
    """Until no message says any more that it is being written; None is never."""

    def __str__(self) -> str:
        ready = "-" if self.ready_s is None else f"{self.ready_s:.2f}"
        ended = "never" if self.ended_s is None else f"{self.ended_s:.2f}"
        return (
            f"{self.name:<36} {self.num_streams:>7} {self.num_shown_chars:>9,} "
            f"{self.num_kept_chars:>9,} {ready:>8} {ended:>8}"
        )

    def bars(self) -> list[Bar]:
        lost = self.num_shown_chars - self.num_kept_chars
        return [
            Bar("shown characters lost by kill -9", lost, 0),
            Bar("ready after kill -9, s", self.ready_s or 0.0, 3),
        ]


HEADINGS = f"{'kill -9':<36} {'streams':>7} {'shown':>9} {'kept':>9} {'ready s':>8} {'ended s':>8}"

OPEN_WEBUI = Killed("Open WebUI 0.12.4, measured earlier", 20, 20_964, 0, None, None)
"""Two kills in the middle of ten streams each, on a machine of the same kind."""


async def measure(num_streams: int) -> Killed:
    with tempfile.TemporaryDirectory() as scratch:
        data_dir = Path(scratch)
        key, shown = await _until_killed(data_dir, num_streams)
        began = time.perf_counter()
        with launch.hitsend(FLAGS, SETTINGS, data_dir) as server:
            await launch.until_healthy(server, "/readyz")
            ready_s = time.perf_counter() - began
            kept = await _kept(server.url, key, shown)
            ended_s = time.perf_counter() - began
    num_shown = sum(len(reader.text) for reader in shown)
    num_kept = sum(
        len(os.path.commonprefix([reader.text, text]))
        for reader, text in zip(shown, kept, strict=True)
    )
    return Killed("hitsend", num_streams, num_shown, num_kept, ready_s, ended_s)


async def _until_killed(data_dir: Path, num_streams: int) -> tuple[str, list[V1Reader]]:
    """What was on the screens at that moment."""
    with launch.hitsend(FLAGS, SETTINGS, data_dir) as server:
        await launch.until_healthy(server)
        key = await launch.make_key(server.url)
        target = Target(server.url, SEND, "v1", key)
        prompt = script(num_tokens=10_000, pace_ms=PACE_MS)
        streams = [
            await begin_exchange(server.url, target.request(prompt)) for _ in range(num_streams)
        ]
        await asyncio.sleep(SHOWN_S)
        os.kill(server.pid, signal.SIGKILL)
        await asyncio.gather(*(stream.ended for stream in streams))
    return key, [heard(stream) for stream in streams]


async def _kept(url: str, key: str, shown: list[V1Reader]) -> list[str]:
    """What is stored, once all of it says that it was interrupted."""
    while True:
        found = [await stored_text(url, key, reader.conversation_id) for reader in shown]
        if all(status != "in_progress" for _, status in found):
            return [text for text, _ in found]
        await asyncio.sleep(0.05)
