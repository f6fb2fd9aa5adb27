"""The machine of a run, CPU and memory of the measured processes, and the report at the end.

CPU and memory come from /proc and process clocks, so a bench needs Linux. Reports name the
processor, never the host.
"""

import asyncio
import json
import os
import platform
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parent.parent
LOAD_BEFORE = os.getloadavg()[0]
"""Load of other programs when the run began. Above a few tenths, figures vary between runs."""


@dataclass(frozen=True)
class Machine:
    cpu: str
    num_cores: int
    memory_gb: int
    python: str
    revision: str
    date: str
    load_before: float

    def __str__(self) -> str:
        return (
            f"{self.cpu}, {self.num_cores} cores, {self.memory_gb} GB; Python {self.python}; "
            f"revision {self.revision}; {self.date}; load before the run {self.load_before:.1f}"
        )


def this_machine() -> Machine:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return Machine(
        cpu=cpu_model(),
        num_cores=len(os.sched_getaffinity(0)),
        memory_gb=round(memory / 2**30),
        python=platform.python_version(),
        revision=revision(),
        date=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        load_before=LOAD_BEFORE,
    )


def cpu_model() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def revision() -> str:
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "not committed"


def process_tree(pid: int) -> Iterator[int]:
    """A process and its descendants."""
    yield pid
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            yield from process_tree(int(child))


def cpu_s(pid: int) -> float:
    """CPU time of a process and its children so far, user and system."""
    return sum(map(process_cpu_s, process_tree(pid)))


def process_cpu_s(pid: int) -> float:
    """CPU time of one process so far, without its children."""
    # The clock of clock_getcpuclockid(3): /proc/PID/stat counts in steps of 10 ms.
    return time.clock_gettime((~pid << 3) | 2)


async def until_idle(pid: int) -> None:
    """Waits until a process has used almost no CPU for half a second."""
    cpu_before_s = float("-inf")
    while (now_s := cpu_s(pid)) - cpu_before_s > 0.01:
        cpu_before_s = now_s
        await asyncio.sleep(0.5)


def rss_mb(pid: int) -> float:
    """Resident memory of one process, without its children."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


@dataclass(frozen=True)
class Figure:
    """One measured number. A limit is an upper bound, or a lower bound if it is a floor."""

    name: str
    value: float
    limit: float | None = None
    is_floor: bool = False

    @property
    def is_met(self) -> bool:
        if self.limit is None:
            return True
        return self.value >= self.limit if self.is_floor else self.value <= self.limit

    def __str__(self) -> str:
        shown = f"{self.name}: {self.value:,.5g}"
        if self.limit is None:
            return f"{'':>6}  {shown}"
        verdict = "met" if self.is_met else "MISSED"
        bound = "at least" if self.is_floor else "at most"
        return f"{verdict:>6}  {shown} ({bound} {self.limit:,g})"


def report(
    name: str | None, figures: Sequence[Figure], rows: Sequence[Mapping[str, object]] = ()
) -> None:
    """Prints the machine and the figures that have a limit. Unless `name` is None, also writes all
    figures and the rows they came from to bench/results/REVISION/NAME.json."""
    machine = this_machine()
    print(f"\n{machine}")
    for figure in figures:
        if figure.limit is not None:
            print(figure)
    if name is None:
        return
    shape = {
        "machine": asdict(machine),
        "rows": rows,
        "figures": [asdict(figure) | {"is_met": figure.is_met} for figure in figures],
    }
    path = ROOT / "bench" / "results" / machine.revision / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(shape, indent=2) + "\n")
