"""Time and CPU of list, open, send and search as the database grows, against a small one.

    python -m bench.scale [--conversations 10000] [--messages 5000] [--gb 0.5]

Four databases, filled through `POST /backend-api/import`:

    small   20 conversations of 10 messages: the base of all ratios
    many    `--conversations`
    long    one conversation of `--messages`
    big     a file of `--gb`; 10 take most of an hour to fill

The figures are medians of the wall clock, and the mean CPU of the server process, for one call.
The conversation that is opened and written to is the newest, in `long` the long one.
"""

import argparse
import asyncio
import random
import statistics
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import uvloop

from bench import launch, machine
from bench.launch import Server, build_conversation
from bench.load import send
from bench.machine import Figure

SETTINGS = {"embeddings": "words"}
"""Otherwise a model reads the imported conversations while the calls are measured."""
NUM_CALLS = 20
MAX_CALLS = 200
"""While an export is downloaded."""
LIMITS_CPU_MS = {("many", "export"): 10_000.0}
NUM_TOKENS = 20
MESSAGE_WORDS = 60
BIG_MESSAGE_WORDS = 1200
IMPORT_CHARS = 100_000_000
"""In one file: an import may have 256 MB."""

CHANCE = random.Random(11)
SYLLABLES = ("ka", "lo", "mi", "ren", "tu", "sa", "vor", "pel", "dri", "un", "oth", "ber")
WORDS = [f"{a}{b}{c}" for a in SYLLABLES for b in SYLLABLES for c in SYLLABLES]
RARE_WORD, COMMON_WORD = "zanzibar", "the"
"""One message in a thousand has the first, every message the second."""


@dataclass(frozen=True)
class Size:
    num_conversations: int = 20
    num_messages: int = 10
    num_words: int = MESSAGE_WORDS


@dataclass(frozen=True)
class Cost:
    ms: float
    cpu_ms: float


@asynccontextmanager
async def serve(data_dir: Path) -> AsyncGenerator[Server]:
    with launch.upstream(num_tokens=NUM_TOKENS) as engine:
        flags = ["--engine", "remote", "--engine-url", engine.url]
        async with launch.serve(flags, SETTINGS, data_dir) as server:
            yield server


def write_text(num_words: int) -> str:
    words = CHANCE.choices(WORDS, k=num_words)
    words[0] = RARE_WORD if CHANCE.random() < 0.001 else COMMON_WORD
    words[-1] = COMMON_WORD
    return " ".join(words)


def write_conversation(number: int, size: Size) -> dict[str, Any]:
    texts = [write_text(size.num_words) for _ in range(size.num_messages)]
    return build_conversation(number, f"{write_text(4)} {number}", texts)


def import_files(size: Size, numbers: Iterator[int]) -> Iterator[list[dict[str, Any]]]:
    num_chars = size.num_messages * size.num_words * 7
    at_once = max(IMPORT_CHARS // num_chars, 1)
    for left in range(size.num_conversations, 0, -at_once):
        yield [write_conversation(next(numbers), size) for _ in range(min(at_once, left))]


async def fill(server: Server, size: Size, numbers: Iterator[int]) -> None:
    for file in import_files(size, numbers):
        await server.post("/backend-api/import", file)


def file_bytes(database: Path) -> int:
    return database.stat().st_size


async def fill_up_to(server: Server, database: Path, num_bytes: float) -> None:
    numbers = count()
    while (num_done := file_bytes(database)) < num_bytes:
        print(f"{num_done / 1e9:.1f} of {num_bytes / 1e9:.1f} GB", flush=True)
        await fill(server, Size(100, 100, BIG_MESSAGE_WORDS), numbers)


async def measure_calls(server: Server, call: Callable[[int], Awaitable[object]]) -> Cost:
    await call(0)
    times = []
    cpu_before_s = machine.cpu_s(server.pid)
    for number in range(1, NUM_CALLS + 1):
        began = time.perf_counter()
        await call(number)
        times.append((time.perf_counter() - began) * 1000)
    cpu_s = machine.cpu_s(server.pid) - cpu_before_s
    return Cost(statistics.median(times), cpu_s * 1000 / NUM_CALLS)


async def measure_server(server: Server) -> dict[str, Cost]:
    last = await server.find_newest()
    path = f"/backend-api/conversation/{last.conversation_id}"

    async def send_later(number: int) -> None:
        nonlocal last
        last = await send(server.chat, f"And what about the {number}?", after=last)

    async def search(word: str) -> object:
        return await server.get("/backend-api/conversations", q=word)

    return {
        "list": await measure_calls(server, lambda _: server.get("/backend-api/conversations")),
        "open": await measure_calls(server, lambda _: server.get(path)),
        "search, rare word": await measure_calls(server, lambda _: search(RARE_WORD)),
        "search, common word": await measure_calls(server, lambda _: search(COMMON_WORD)),
        "send, new": await measure_calls(server, lambda n: send(server.chat, f"Tell me of {n}.")),
        "send, later": await measure_calls(server, send_later),
        "send, later, indexed": await measure_indexed(server, send_later),
        **await measure_export(server),
    }


async def measure_export(server: Server) -> dict[str, Cost]:
    """The whole export, alone, and Sends while another one is downloaded."""
    began, cpu_before_s = time.perf_counter(), machine.cpu_s(server.pid)
    await server.get("/backend-api/export")
    seconds, cpu_s = time.perf_counter() - began, machine.cpu_s(server.pid) - cpu_before_s
    export = asyncio.create_task(server.get("/backend-api/export"))
    times: list[float] = []
    while len(times) < NUM_CALLS or not (export.done() or len(times) > MAX_CALLS):
        answer = await send(server.chat, f"Tell me of {len(times)}.")
        times.append(answer.seconds * 1000)
    await export
    beside = Cost(statistics.median(times), float("nan"))
    return {"export": Cost(seconds * 1000, cpu_s * 1000), "send, new, beside an export": beside}


async def measure_indexed(server: Server, call: Callable[[int], Awaitable[object]]) -> Cost:
    """Once everything that the conversation had before the first call is indexed for recall."""
    await machine.until_idle(server.pid)
    return await measure_calls(server, call)


async def measure(name: str, args: argparse.Namespace) -> dict[str, Cost]:
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        data_dir = Path(folder)
        async with serve(data_dir) as server:
            numbers = count()
            await fill(server, Size(), numbers)
            match name:
                case "many":
                    await fill(server, Size(num_conversations=args.conversations), numbers)
                case "long":
                    await fill(server, Size(1, num_messages=args.messages), numbers)
                case "big":
                    await fill_up_to(server, data_dir / "hitsend.db", args.gb * 1e9)
            costs = await measure_server(server)
            mb = file_bytes(data_dir / "hitsend.db") / 1e6
            print(f"\n{name}: {mb:,.0f} MB, RSS {machine.rss_mb(server.pid):.0f} MB", flush=True)
    return costs


def ratio_figures(name: str, costs: dict[str, Cost], base: dict[str, Cost]) -> list[Figure]:
    figures = []
    for call, cost in costs.items():
        small = base[call]
        ms, cpu = cost.ms / small.ms, cost.cpu_ms / small.cpu_ms
        print(
            f"  {call:<28} {cost.ms:>9.1f} ms {cost.cpu_ms:>9.1f} CPU ms   "
            f"x {ms:.2f} time, x {cpu:.2f} CPU",
            flush=True,
        )
        figures += [
            Figure(f"{name}: {call}, ms", cost.ms),
            Figure(f"{name}: {call}, CPU ms", cost.cpu_ms, LIMITS_CPU_MS.get((name, call))),
            Figure(f"{name}: {call}, CPU against small", cpu),
        ]
    return figures


async def run(args: argparse.Namespace) -> list[Figure]:
    base = await measure("small", args)
    figures = ratio_figures("small", base, base)
    for name in args.only:
        figures += ratio_figures(name, await measure(name, args), base)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--conversations", type=int, default=10_000)
    parser.add_argument("--messages", type=int, default=5_000)
    parser.add_argument("--gb", type=float, default=0.5)
    parser.add_argument("--only", nargs="+", default=["many", "long", "big"])
    parser.add_argument("--folder", help="where the databases are made; a temporary one if absent")
    args = parser.parse_args()
    machine.report("scale", uvloop.run(run(args)))


if __name__ == "__main__":
    main()
