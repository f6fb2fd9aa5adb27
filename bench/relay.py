"""What hitsend costs between an engine and a reader: tokens through it, with no model behind.

    python -m bench.relay                       our own two ways in, unpaced and paced
    python -m bench.relay --url http://127.0.0.1:8080 --path /api/chat/completions \\
        --key KEY --model words --pid 4711      the same load through a peer

For a peer, start `python bench/upstream.py --port 9000` and have the peer use it. Every answer
is compared with what the upstream said; v1 answers also with the hash the server states.
"""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass

import uvloop

from bench import launch, machine
from bench.load import BadAnswer, Figures, Load, Target, figures, run_streams
from bench.machine import Bar
from bench.upstream import MODEL, PIECES, answer_text

NUM_TOKENS = 512
PACED_STREAMS, PACED_RATE, PACED_START_S = 200, 20, 5


@dataclass(frozen=True)
class Row:
    """One line of the table: a way in, a number of streams, what it came to."""

    name: str
    num_streams: int
    figures: Figures
    cpu_ms_per_1000_tokens: float
    cpu_percent: float
    rss_mb: float

    def __str__(self) -> str:
        f = self.figures
        return (
            f"{self.name:<34} {self.num_streams:>4} {f.tokens_per_s:>9,.0f} "
            f"{self.cpu_ms_per_1000_tokens:>8.1f} {self.cpu_percent:>6.0f} "
            f"{f.bytes_per_token:>8.1f} {f.tokens_per_arrival:>8.1f} "
            f"{f.first_ms_p50:>7.1f} {f.first_ms_p99:>8.1f} {f.gap_ms_p99:>8.1f} "
            f"{self.rss_mb:>7.0f}"
        )


HEADINGS = (
    f"{'':<34} {'n':>4} {'tok/s':>9} {'ms/1000':>8} {'CPU %':>6} {'B/token':>8} "
    f"{'tok/read':>8} {'first50':>7} {'first99':>8} {'gap99':>8} {'RSS MB':>7}"
)


async def measure(name: str, target: Target, pid: int | None, load: Load) -> Row:
    cpu_before = machine.cpu_s(pid) if pid else 0.0
    answers = await run_streams(target, load, prompt)
    cpu = machine.cpu_s(pid) - cpu_before if pid else float("nan")
    said = {answer_text(number, NUM_TOKENS) for number in range(len(PIECES))}
    if changed := sum(answer.text not in said for answer in answers):
        raise BadAnswer(f"{changed} of {len(answers)} answers are not what the upstream said.")
    total = figures(answers)
    row = Row(
        name=name,
        num_streams=load.num_streams,
        figures=total,
        cpu_ms_per_1000_tokens=cpu * 1e6 / total.num_tokens,
        cpu_percent=100 * cpu / total.seconds,
        rss_mb=machine.rss_mb(pid) if pid else float("nan"),
    )
    print(row, flush=True)
    return row


def prompt(stream: int, turn: int) -> str:
    return f"Tell me something worth knowing, {stream}.{turn}."


@contextmanager
def relayed(rate: float = 0) -> Iterator[launch.Running]:
    with launch.upstream(rate, NUM_TOKENS) as engine:
        flags = ["--engine", "remote", "--engine-url", engine.url]
        with launch.hitsend(flags, {}) as server:
            yield server


def ways_in(url: str, key: str) -> dict[str, Target]:
    return {
        "chat, persisted": Target(url, "/backend-api/f/conversation", "v1", key),
        "/v1/chat/completions": Target(url, "/v1/chat/completions", "openai", key, MODEL),
    }


async def unpaced(streams: list[int], num_answers: int) -> list[Row]:
    with relayed() as server:
        await launch.until_healthy(server)
        targets = ways_in(server.url, await launch.make_key(server.url))
        for target in targets.values():
            await run_streams(target, Load(2, 2), prompt)
        return [
            await measure(name, target, server.pid, Load(n, max(num_answers // n, 1)))
            for name, target in targets.items()
            for n in streams
        ]


async def paced(num_streams: int) -> list[Row]:
    """Each stream at the pace of its own engine, so that a flush holds about one token."""
    load = Load(num_streams, start_over_s=PACED_START_S)
    with relayed(PACED_RATE) as server:
        await launch.until_healthy(server)
        targets = ways_in(server.url, await launch.make_key(server.url))
        return [
            await measure(f"{name}, {PACED_RATE} tok/s each", target, server.pid, load)
            for name, target in targets.items()
        ]


def bars(fast: list[Row], slow: list[Row]) -> list[Bar]:
    chat = [row for row in fast if row.name == "chat, persisted"]
    most = max(chat, key=lambda row: row.num_streams)
    return [
        Bar(
            "CPU ms per 1,000 tokens, persisted chat",
            max(row.cpu_ms_per_1000_tokens for row in chat),
            30,
        ),
        Bar(
            f"tokens/s, persisted chat, {most.num_streams} streams",
            most.figures.tokens_per_s,
            30_000,
            is_floor=True,
        ),
        Bar(
            "bytes on the wire per token, persisted chat",
            max(row.figures.bytes_per_token for row in [*chat, *slow[:1]]),
            60,
        ),
        Bar("RSS of the app, MB", max(row.rss_mb for row in [*fast, *slow]), 150),
    ]


async def peer(args: argparse.Namespace) -> None:
    target = Target(args.url, args.path, args.shape, args.key, args.model)
    name = args.name or args.path
    rows = [
        await measure(name, target, args.pid, Load(n, max(args.answers // n, 1)))
        for n in args.streams
    ]
    machine.report("relay-peer", [asdict(row) for row in rows], [])


async def ours(args: argparse.Namespace) -> None:
    fast = await unpaced(args.streams, args.answers)
    slow = await paced(args.paced_streams) if args.paced_streams else []
    machine.report("relay", [asdict(row) for row in [*fast, *slow]], bars(fast, slow))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--streams", type=int, nargs="+", default=[1, 16])
    parser.add_argument("--answers", type=int, default=160, help="answers of 512 tokens in a run")
    parser.add_argument("--paced-streams", type=int, default=PACED_STREAMS, help="0 leaves it out")
    parser.add_argument("--url", help="measure this server instead of hitsend")
    parser.add_argument("--path", default="/v1/chat/completions")
    parser.add_argument("--shape", choices=["v1", "openai"], default="openai")
    parser.add_argument("--key", default="")
    parser.add_argument("--model", default=MODEL)
    parser.add_argument("--pid", type=int, help="its process, for CPU and memory")
    parser.add_argument("--name", help="what to call it in the table")
    args = parser.parse_args()
    print(HEADINGS)
    uvloop.run(peer(args) if args.url else ours(args))


if __name__ == "__main__":
    main()
