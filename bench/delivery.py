"""Followers of running answers: idle ones, reconnecting ones, their CPU, and recovery from kill -9.

    python -m bench.delivery [--quick] [--idle-minutes 1] [--followers 1000]

The scripted engine writes known texts at a known pace. Each answer is compared with the checksum
in its stream, or with its stored text.
"""

import argparse
import resource
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import uvloop

from bench import crash, follower_cost, idle_followers, launch, machine, reconnect
from bench.follow import SETTINGS
from bench.machine import Figure

FOLLOWERS_PER_PERSON = 20
"""The server allows one person no more sockets."""
MIN_PEOPLE = 15
NUM_KILLED = 50
COST_STREAMS = 96


@dataclass(frozen=True)
class Amounts:
    num_followers: int
    idle_s: float
    num_reconnecting: int
    reconnect_over_s: float
    num_replayed_tokens: int
    cost_s: float


def choose_amounts(args: argparse.Namespace) -> Amounts:
    if args.quick:
        return Amounts(min(args.followers, 300), 2, 30, 1, 2000, 2)
    return Amounts(args.followers, args.idle_minutes * 60, 100, 5, 10_000, 10)


async def run(amounts: Amounts) -> tuple[list[Any], list[Figure]]:
    rows: list[Any] = []

    def show(measured: Sequence[Any]) -> None:
        for row in measured:
            print(row, flush=True)
        rows.extend(measured)

    with launch.hitsend(["--engine", "scripted"], SETTINGS) as server:
        await launch.until_healthy(server)
        num_people = max(-(-amounts.num_followers // FOLLOWERS_PER_PERSON), MIN_PEOPLE)
        keys = await launch.make_keys(server.url, num_people)
        idle = await idle_followers.measure(server, keys, amounts.num_followers, amounts.idle_s)
        show(idle)
        num, over_s = amounts.num_reconnecting, amounts.reconnect_over_s
        show(await reconnect.measure(server.url, keys, num, over_s))
        show(await reconnect.measure_replays(server.url, keys[0], amounts.num_replayed_tokens))
        show(await follower_cost.measure(server, keys, COST_STREAMS, amounts.cost_s))
    recovery = await crash.measure(NUM_KILLED)
    print(crash.HEADINGS)
    show([recovery, crash.OPEN_WEBUI])
    figures = [figure for row in idle for figure in row.figures()]
    return rows, figures + recovery.figures()


def allow_open_files(num: int) -> None:
    """Raises the limit for this process and its children."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most != resource.RLIM_INFINITY and most < num:
        sys.exit(f"This takes {num} open files in a process, and {most} are allowed (ulimit -n).")
    resource.setrlimit(resource.RLIMIT_NOFILE, (num, most))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--idle-minutes", type=float, default=1)
    parser.add_argument("--followers", type=int, default=1000, help="idle ones of each kind")
    parser.add_argument("--quick", action="store_true", help="less of everything, no result file")
    args = parser.parse_args()
    allow_open_files(2 * args.followers + 1000)
    rows, figures = uvloop.run(run(choose_amounts(args)))
    named = [{"part": type(row).__name__} | asdict(row) for row in rows]
    machine.report(None if args.quick else "delivery", figures, named)


if __name__ == "__main__":
    main()
