"""kill -9 during many answers: how much of the shown text is stored, and the time to be ready."""

import asyncio
import os
import signal
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from bench import launch
from bench.follow import SETTINGS, read_stream, script, stored_text
from bench.launch import SEND
from bench.load import Target, V1Reader, start_exchange
from bench.machine import Figure

PACE_MS = 20
SHOWN_S = 3.0
FLAGS = ["--engine", "scripted"]


@dataclass(frozen=True)
class Recovery:
    name: str
    num_streams: int
    num_shown_chars: int
    num_stored_chars: int
    ready_s: float | None
    closed_s: float | None
    """Until no answer has the status "in progress". None is never."""

    def __str__(self) -> str:
        ready = "-" if self.ready_s is None else f"{self.ready_s:.2f}"
        closed = "never" if self.closed_s is None else f"{self.closed_s:.2f}"
        return (
            f"{self.name:<36} {self.num_streams:>7} {self.num_shown_chars:>9,} "
            f"{self.num_stored_chars:>9,} {ready:>8} {closed:>8}"
        )

    def figures(self) -> list[Figure]:
        num_lost = self.num_shown_chars - self.num_stored_chars
        return [
            Figure("shown characters lost by kill -9", num_lost, 0),
            Figure("ready after kill -9, s", self.ready_s or 0.0, 3),
        ]


HEADINGS = (
    f"{'kill -9':<36} {'streams':>7} {'shown':>9} {'stored':>9} {'ready s':>8} {'closed s':>8}"
)

OPEN_WEBUI = Recovery("Open WebUI 0.12.4, measured earlier", 20, 20_964, 0, None, None)
"""Two kills in the middle of ten streams each, on a machine of the same kind."""


async def measure(num_streams: int) -> Recovery:
    with tempfile.TemporaryDirectory() as scratch:
        data_dir = Path(scratch)
        key, shown = await _run_until_killed(data_dir, num_streams)
        began = time.perf_counter()
        with launch.hitsend(FLAGS, SETTINGS, data_dir) as server:
            await launch.until_healthy(server, "/readyz")
            ready_s = time.perf_counter() - began
            stored = await _stored_texts(server.url, key, shown)
            closed_s = time.perf_counter() - began
    num_shown = sum(len(reader.text) for reader in shown)
    num_stored = sum(
        len(os.path.commonprefix([reader.text, text]))
        for reader, text in zip(shown, stored, strict=True)
    )
    return Recovery("hitsend", num_streams, num_shown, num_stored, ready_s, closed_s)


async def _run_until_killed(data_dir: Path, num_streams: int) -> tuple[str, list[V1Reader]]:
    """Returns an API key, and the streams as far as they came."""
    with launch.hitsend(FLAGS, SETTINGS, data_dir) as server:
        await launch.until_healthy(server)
        key = await launch.make_key(server.url)
        target = Target(server.url, SEND, "v1", key)
        prompt = script(num_tokens=10_000, pace_ms=PACE_MS)
        streams = [
            await start_exchange(server.url, target.request(prompt)) for _ in range(num_streams)
        ]
        await asyncio.sleep(SHOWN_S)
        os.kill(server.pid, signal.SIGKILL)
        await asyncio.gather(*(stream.ended for stream in streams))
    return key, [read_stream(stream) for stream in streams]


async def _stored_texts(url: str, key: str, shown: list[V1Reader]) -> list[str]:
    """Waits until the server has closed every answer."""
    while True:
        stored = [await stored_text(url, key, reader.conversation_id) for reader in shown]
        if all(status != "in_progress" for _, status in stored):
            return [text for text, _ in stored]
        await asyncio.sleep(0.05)
