"""CPU and speed of a Send without a model: one hitsend process in front of bench/upstream.py.

    python -m bench.send                        all parts, a few minutes
    python -m bench.send --only one,later       some parts (add `--size 1` for a quick look)
    python -m bench.send --url http://127.0.0.1:8080 --path /api/chat/completions \\
        --key KEY --model words --pid 4711      the `fast` load through another server

The parts:

    one     a turn of one token in a new conversation, with and without a title by the model
    later   a turn of 20 tokens, at turns 1 to 20 and 100 to 120 of one conversation
    fast    answers of 512 tokens as fast as they go, at 1 and 16 streams
    paced   200 Sends at once, each answered with 512 tokens at 20 tok/s

CPU is user and system time of the server process; that of its child, the embedding model, is given
apart. Each answer is compared with the upstream's text, each chat answer with the checksum in its
stream, and in `paced` with the stored text. To measure another server, start
`python bench/upstream.py --port 9000` and configure that server to use it.
"""

import argparse
import asyncio
import statistics
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import uvloop

from bench import launch, machine
from bench.follow import stored_text
from bench.launch import Server
from bench.load import Answer, BadAnswer, Load, Target, run_streams, send, stream_stats
from bench.machine import Figure
from bench.upstream import MODEL, PIECES, answer_text

SETTLE_S = 0.5
"""Work after the last byte of an answer, such as a title, belongs to its turn."""
NUM_TOKENS = 512
NUM_LATER_TOKENS = 20
STREAMS = (1, 16)
PACED_STREAMS, PACED_RATE = 200, 20
PACED_TURNS = 2000
"""`max_turns` of the paced server. One API key, which sends everything, may use a third of it."""
BURST_S = 5.0
"""Gaps between tokens count after it, when the streams run evenly."""


@asynccontextmanager
async def serve(
    build: launch.Build, num_tokens: int, rate: float = 0, **settings: str
) -> AsyncGenerator[Server]:
    with launch.upstream(rate, num_tokens) as engine:
        flags = ["--engine", "remote", "--engine-url", engine.url]
        async with launch.serve(flags, settings, build=build) as server:
            load = Load(2, 1 if rate else 2)  # a paced answer takes half a minute
            warming = (run_streams(one, load, prompt) for one in targets(server).values())
            await asyncio.gather(*warming)
            yield server


def targets(server: Server) -> dict[str, Target]:
    completions = replace(server.chat, path="/v1/chat/completions", shape="openai", model=MODEL)
    return {"chat": server.chat, "/v1": completions}


def prompt(stream: int, turn: int) -> str:
    return f"Tell me something worth knowing, {stream}.{turn}."


async def measure_cpu(
    pid: int | None, num_tokens: int, run: Awaitable[list[Answer]]
) -> tuple[list[Answer], float]:
    """Returns the checked answers, and the CPU seconds they took."""
    cpu_before_s = machine.process_cpu_s(pid) if pid else 0.0
    answers = await run
    await asyncio.sleep(SETTLE_S)
    cpu_s = machine.process_cpu_s(pid) - cpu_before_s if pid else float("nan")
    texts = {answer_text(number, num_tokens) for number in range(len(PIECES))}
    if num_wrong := sum(answer.text not in texts for answer in answers):
        raise BadAnswer(f"{num_wrong} of {len(answers)} answers differ from the upstream's text.")
    return answers, cpu_s


async def measure_one(build: launch.Build, size: int) -> list[Figure]:
    figures = []
    for name, titles in (("", "true"), (", no title", "false")):
        async with serve(build, num_tokens=1, model_titles=titles) as server:
            num_turns = 40 * size
            run = run_streams(server.chat, Load(1, num_turns), prompt)
            answers, cpu_s = await measure_cpu(server.pid, 1, run)
        cpu_ms = cpu_s * 1000 / num_turns
        seconds = answers[-1].ended_at - answers[0].started_at
        figures += [
            Figure(f"one token{name}: CPU ms of a turn", cpu_ms, limit=5),
            Figure(f"one token{name}: ms of a turn", seconds * 1000 / num_turns),
        ]
    return figures


async def measure_later(build: launch.Build, size: int) -> list[Figure]:
    early, late = [], []
    async with serve(build, NUM_LATER_TOKENS) as server:
        for conversation in range(size):
            answer = await send(server.chat, prompt(conversation, 0))
            early.append(await _cpu_ms_of_turns(server, answer, range(1, 21)))
            answer = (await _turns(server.chat, early[-1].last, range(21, 100)))[-1]
            late.append(await _cpu_ms_of_turns(server, answer, range(100, 121)))
    return [
        Figure("later turn, 1 to 20: CPU ms", _median_cpu_ms(early), limit=8),
        Figure("later turn, 100 to 120: CPU ms", _median_cpu_ms(late), limit=12),
        Figure(
            "later turn, 100 to 120: CPU ms of the embedding model",
            statistics.median(stretch.child_cpu_ms_per_turn for stretch in late),
        ),
    ]


@dataclass(frozen=True)
class Stretch:
    """Consecutive turns of one conversation."""

    cpu_ms_per_turn: float
    child_cpu_ms_per_turn: float
    last: Answer


def _median_cpu_ms(stretches: Sequence[Stretch]) -> float:
    return statistics.median(stretch.cpu_ms_per_turn for stretch in stretches)


async def _cpu_ms_of_turns(server: Server, before: Answer, numbers: range) -> Stretch:
    await asyncio.sleep(SETTLE_S)
    run = _turns(server.chat, before, numbers)
    tree_before_s = machine.cpu_s(server.pid)
    answers, cpu_s = await measure_cpu(server.pid, NUM_LATER_TOKENS, run)
    child_s = machine.cpu_s(server.pid) - tree_before_s - cpu_s
    return Stretch(cpu_s * 1000 / len(answers), child_s * 1000 / len(answers), answers[-1])


async def _turns(chat: Target, before: Answer, numbers: range) -> list[Answer]:
    answers = [before]
    for number in numbers:
        answers.append(await send(chat, prompt(0, number), after=answers[-1]))
    return answers[1:]


async def measure_fast(build: launch.Build, size: int) -> list[Figure]:
    async with serve(build, NUM_TOKENS) as server:
        figures = []
        for name, target in targets(server).items():
            for num_streams in STREAMS:
                load = Load(num_streams, max(32 * size // num_streams, 1))
                label = f"512 tokens, {name}, {num_streams} streams"
                figures += await measure_streams(label, target, server.pid, load)
        return figures + [Figure("512 tokens: RSS, MB", machine.rss_mb(server.pid), limit=150)]


async def measure_streams(name: str, target: Target, pid: int | None, load: Load) -> list[Figure]:
    run = run_streams(target, load, prompt)
    answers, cpu_s = await measure_cpu(pid, NUM_TOKENS, run)
    stats = stream_stats(answers)
    min_rate = 50_000 if target.shape == "v1" and load.num_streams == 16 else None
    max_bytes = 60 if target.shape == "v1" else None
    return [
        Figure(f"{name}: CPU ms per 1,000 tokens", cpu_s * 1e6 / stats.num_tokens, limit=18),
        Figure(f"{name}: tok/s", stats.tokens_per_s, limit=min_rate, is_floor=True),
        Figure(f"{name}: bytes per token", stats.bytes_per_token, limit=max_bytes),
        Figure(f"{name}: first words p50, ms", stats.first_ms_p50),
        Figure(f"{name}: first words p99, ms", stats.first_ms_p99),
    ]


async def measure_paced(build: launch.Build, _size: int) -> list[Figure]:
    """Sends all at once: a burst is the worst case for first words."""
    figures = []
    bare_gap_ms = await measure_bare_gap_ms()
    async with serve(build, NUM_TOKENS, PACED_RATE, max_turns=str(PACED_TURNS)) as server:
        for name, target in targets(server).items():
            run = run_streams(target, Load(PACED_STREAMS), prompt)
            answers, cpu_s = await measure_cpu(server.pid, NUM_TOKENS, run)
            stats = stream_stats(answers, BURST_S)
            label = f"200 streams at 20 tok/s, {name}"
            cpu_ms = cpu_s * 1e6 / stats.num_tokens
            added_gap_ms = stats.gap_ms_p99 - bare_gap_ms
            max_bytes = 60 if target.shape == "v1" else None
            figures += [
                Figure(f"{label}: CPU ms per 1,000 tokens", cpu_ms, limit=80),
                Figure(f"{label}: tok/s", stats.tokens_per_s, limit=3900, is_floor=True),
                Figure(f"{label}: first words p50, ms", stats.first_ms_p50, limit=500),
                Figure(f"{label}: first words p99, ms", stats.first_ms_p99, limit=1000),
                Figure(f"{label}: gap p99, ms more than without", added_gap_ms, limit=20),
                Figure(f"{label}: bytes per token", stats.bytes_per_token, limit=max_bytes),
            ]
            if target.shape == "v1":
                num_wrong = await count_wrong(target, answers)
                figures.append(Figure(f"{label}: not as stored", num_wrong, limit=0))
        figures.append(Figure("200 streams: RSS, MB", machine.rss_mb(server.pid), limit=150))
    return figures


async def measure_bare_gap_ms() -> float:
    """The p99 gap of the upstream by itself: the machine's jitter, and at least the pace."""
    with launch.upstream(PACED_RATE, NUM_TOKENS // 2) as bare:
        target = Target(bare.url, "/v1/chat/completions", "openai", model=MODEL)
        answers = await run_streams(target, Load(PACED_STREAMS), prompt)
    return max(stream_stats(answers, BURST_S).gap_ms_p99, 1000 / PACED_RATE)


async def count_wrong(chat: Target, answers: Sequence[Answer]) -> int:
    """The number of answers that differ from their stored text."""
    texts = [(await stored_text(chat.url, chat.key, a.conversation_id))[0] for a in answers]
    return sum(a.text != text for a, text in zip(answers, texts, strict=True))


Part = Callable[[launch.Build, int], Awaitable[list[Figure]]]
PARTS: dict[str, Part] = {
    "one": measure_one,
    "later": measure_later,
    "fast": measure_fast,
    "paced": measure_paced,
}
DEFAULT_SIZE = 5


async def measure(build: launch.Build, parts: Sequence[str], size: int) -> list[Figure]:
    figures = []
    for part in parts:
        for figure in await PARTS[part](build, size):
            print(figure, flush=True)
            figures.append(figure)
    return figures


async def measure_other(args: argparse.Namespace) -> list[Figure]:
    target = Target(args.url, args.path, args.shape, args.key, args.model)
    return [
        figure
        for num_streams in STREAMS
        for figure in await measure_streams(
            f"512 tokens, {args.path}, {num_streams} streams",
            target,
            args.pid,
            Load(num_streams, max(32 * args.size // num_streams, 1)),
        )
    ]


def parse_parts(value: str) -> list[str]:
    parts = value.split(",")
    if unknown := set(parts) - PARTS.keys():
        raise argparse.ArgumentTypeError(f"{', '.join(unknown)}: parts are {', '.join(PARTS)}")
    return parts


def add_part_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--only", type=parse_parts, help=f"of {','.join(PARTS)}")
    parser.add_argument(
        "--size", type=int, default=DEFAULT_SIZE, help="1 is quick and rough; paced is always whole"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add_part_flags(parser)
    parser.add_argument("--url", help="measure this server instead of hitsend")
    parser.add_argument("--path", default="/v1/chat/completions")
    parser.add_argument("--shape", choices=["v1", "openai"], default="openai")
    parser.add_argument("--key", default="")
    parser.add_argument("--model", default=MODEL)
    parser.add_argument("--pid", type=int, help="its process, for CPU")
    args = parser.parse_args()
    if args.url:
        machine.report("send-other", uvloop.run(measure_other(args)))
        return
    figures = uvloop.run(measure(launch.THIS_TREE, args.only or list(PARTS), args.size))
    is_whole = args.only is None and args.size == DEFAULT_SIZE
    machine.report("send" if is_whole else None, figures)


if __name__ == "__main__":
    main()
