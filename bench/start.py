"""How long a start takes, what an idle app holds in memory, and what an install weighs.

    python -m bench.start [--starts 5]

The first start makes the database, the others find it. The engine loads behind and is not
part of it: neither its time nor its memory. The weights of a model are not part of an install.
"""

import argparse
import asyncio
import re
import statistics
import tempfile
import time
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path

import uvloop

from bench import launch, machine
from bench.machine import Bar

SETTLE_S = 3


@dataclass(frozen=True)
class Start:
    healthy_s: float
    page_s: float
    rss_mb: float


async def one_start(data_dir: Path, engine: str) -> Start:
    began = time.perf_counter()
    with launch.hitsend(["--engine", engine], {"model": "smollm2-135m"}, data_dir) as server:
        await launch.until_healthy(server)
        healthy_s = time.perf_counter() - began
        await launch.call(server.url, "GET", "/")
        page_s = time.perf_counter() - began
        await asyncio.sleep(SETTLE_S)
        start = Start(healthy_s, page_s, machine.rss_mb(server.pid))
    print(f"{start.healthy_s:>9.2f} {start.page_s:>9.2f} {start.rss_mb:>9.0f}", flush=True)
    return start


async def starts(count: int, engine: str) -> list[Start]:
    with tempfile.TemporaryDirectory() as data_dir:
        return [await one_start(Path(data_dir), engine) for _ in range(count)]


@dataclass(frozen=True)
class Install:
    num_packages: int
    num_mb: float


def install() -> Install:
    """What the packages of requirements/run.lock take on this disk, by their own file lists."""
    lock = (machine.ROOT / "requirements" / "run.lock").read_text()
    names = re.findall(r"^([A-Za-z0-9._-]+)==", lock, re.MULTILINE)
    found = [dist for name in names for dist in metadata.distributions(name=name)]
    paths = {Path(str(dist.locate_file(file))) for dist in found for file in dist.files or ()}
    blocks = sum(path.stat().st_blocks for path in paths if path.is_file())
    return Install(len(found), blocks * 512 / 1e6)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--starts", type=int, default=5)
    parser.add_argument("--engine", choices=["llama", "scripted"], default="llama")
    args = parser.parse_args()
    print(f"{'healthy s':>9} {'page s':>9} {'RSS MB':>9}")
    measured = uvloop.run(starts(args.starts, args.engine))
    weight = install()
    print(f"{weight.num_packages} packages")
    machine.report(
        "start",
        [*(asdict(start) for start in measured), asdict(weight)],
        [
            Bar("start to first healthy answer, first time, s", measured[0].healthy_s, 2),
            Bar(
                "start to first healthy answer, s",
                statistics.median(start.healthy_s for start in measured),
                2,
            ),
            Bar("RSS of the idle app, MB", max(start.rss_mb for start in measured), 150),
            Bar("install without weights, MB", weight.num_mb, 300),
        ],
    )


if __name__ == "__main__":
    main()
