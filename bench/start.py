"""Time of a start, memory of the idle app, and size of an install.

    python -m bench.start [--starts 5]

The first start creates the database. The engine loads in the background; neither its time nor its
memory is counted. An install is counted without the weights of models.
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
from bench.machine import Figure

SETTLE_S = 3


@dataclass(frozen=True)
class Start:
    healthy_s: float
    page_s: float
    rss_mb: float


async def measure_start(data_dir: Path, engine: str) -> Start:
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


async def measure_starts(count: int, engine: str) -> list[Start]:
    with tempfile.TemporaryDirectory() as data_dir:
        return [await measure_start(Path(data_dir), engine) for _ in range(count)]


@dataclass(frozen=True)
class Install:
    num_packages: int
    num_mb: float


def measure_install() -> Install:
    """Disk space of the packages in requirements/run.lock, by their own file lists."""
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
    measured = uvloop.run(measure_starts(args.starts, args.engine))
    weight = measure_install()
    print(f"{weight.num_packages} packages")
    machine.report(
        "start",
        [
            Figure("start to first healthy answer, first time, s", measured[0].healthy_s, 2),
            Figure(
                "start to first healthy answer, s",
                statistics.median(start.healthy_s for start in measured),
                2,
            ),
            Figure("RSS of the idle app, MB", max(start.rss_mb for start in measured), 150),
            Figure("install without weights, MB", weight.num_mb, 350),
        ],
        [*(asdict(start) for start in measured), asdict(weight)],
    )


if __name__ == "__main__":
    main()
