"""Delivery, measured: steady streams, idle readers, readers that come back, kill -9.

    python -m bench.delivery [--quick] [--minutes 1] [--idle-minutes 1]

No model is behind: the scripted engine says known texts at a known pace. Every answer that is
read is compared with the hash the server states or with what it has stored.
"""

import argparse
import resource
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import uvloop

from bench import comeback, idle, killed, launch, machine, reading_cost, steady
from bench.machine import Bar
from bench.readers import SETTINGS

FOLLOWERS_EACH = 20
"""A person may have no more sockets than that."""
LEAST_PEOPLE = 15
REPLAYED_TOKENS = 10_000
COST_STREAMS = 96


@dataclass(frozen=True)
class Amounts:
    """How much of everything, and for how long."""

    num_streams: int
    steady_s: float
    bare_s: float
    num_followers: int
    idle_s: float
    num_readers: int
    come_back_over_s: float
    num_replayed_tokens: int
    num_killed: int
    cost_s: float


def amounts(args: argparse.Namespace) -> Amounts:
    steady_s, few = args.minutes * 60, args.quick
    return Amounts(
        num_streams=args.streams,
        steady_s=min(steady_s, 8) if few else steady_s,
        bare_s=1 if few else 8,
        num_followers=min(args.followers, 300) if few else args.followers,
        idle_s=2 if few else args.idle_minutes * 60,
        num_readers=30 if few else 100,
        come_back_over_s=1 if few else 5,
        num_replayed_tokens=REPLAYED_TOKENS // 5 if few else REPLAYED_TOKENS,
        num_killed=50,
        cost_s=2 if few else 10,
    )


async def run(much: Amounts) -> tuple[list[Any], list[Bar]]:
    rows: list[Any] = []
    bars: list[Bar] = []

    def say(found: Sequence[Any]) -> None:
        for row in found:
            print(row, flush=True)
        rows.extend(found)

    steadily = await steady.measure(much.num_streams, much.steady_s, much.bare_s)
    say([steadily])
    bars += steadily.bars()
    with launch.hitsend(["--engine", "scripted"], SETTINGS) as server:
        await launch.until_healthy(server)
        num_people = max(-(-much.num_followers // FOLLOWERS_EACH), LEAST_PEOPLE)
        keys = await launch.make_keys(server.url, num_people)
        idly = await idle.measure(server, keys, much.num_followers, much.idle_s)
        say(idly)
        bars += [bar for row in idly for bar in row.bars()]
        spread_s = much.come_back_over_s
        say(await comeback.measure(server.url, keys, much.num_readers, spread_s))
        say(await comeback.replays(server.url, keys[0], much.num_replayed_tokens))
        say(await reading_cost.measure(server, keys, COST_STREAMS, much.cost_s))
    survived = await killed.measure(much.num_killed)
    print(killed.HEADINGS)
    say([survived, killed.OPEN_WEBUI])
    return rows, bars + survived.bars()


def allow_files(num: int) -> None:
    """For this process and those it starts."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most != resource.RLIM_INFINITY and most < num:
        sys.exit(f"This takes {num} open files in a process, and {most} are allowed (ulimit -n).")
    resource.setrlimit(resource.RLIMIT_NOFILE, (num, most))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=1, help="of steady streams")
    parser.add_argument("--idle-minutes", type=float, default=1, help="of idle followers")
    parser.add_argument("--streams", type=int, default=200)
    parser.add_argument("--followers", type=int, default=1000, help="idle ones of each kind")
    parser.add_argument("--quick", action="store_true", help="a minute in all, roughly; no file")
    args = parser.parse_args()
    allow_files(2 * args.followers + 1000)
    rows, bars = uvloop.run(run(amounts(args)))
    named = [{"part": type(row).__name__} | asdict(row) for row in rows]
    machine.report(None if args.quick else "delivery", named, bars)


if __name__ == "__main__":
    main()
