"""What a run ran on, what the processes under test used, and what is said of it at the end.

Figures come from /proc, so a bench needs Linux. It names the processor, never the host.
"""

import json
import os
import platform
import subprocess
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parent.parent
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
LOAD_BEFORE = os.getloadavg()[0]
"""Others at work on the machine when the run began. Above a few tenths, figures wander."""


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
    asked = ["git", "-C", str(ROOT), "describe", "--always", "--dirty"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "not committed"


def tree(pid: int) -> Iterator[int]:
    """A process and everything it started."""
    yield pid
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            yield from tree(int(child))


def cpu_s(pid: int) -> float:
    """Processor time of a process tree so far, user and system."""
    return sum(_cpu_s_of(process) for process in tree(pid))


def _cpu_s_of(pid: int) -> float:
    after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(after_name[11]) + int(after_name[12])) / TICKS_PER_S


def rss_mb(pid: int) -> float:
    """Memory of one process, without what it started."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


@dataclass(frozen=True)
class Bar:
    """A figure we hold ourselves to."""

    name: str
    measured: float
    limit: float
    is_floor: bool = False

    @property
    def is_met(self) -> bool:
        return self.measured >= self.limit if self.is_floor else self.measured <= self.limit

    def __str__(self) -> str:
        verdict = "met" if self.is_met else "MISSED"
        bound = "at least" if self.is_floor else "at most"
        return f"{verdict:>6}  {self.name}: {self.measured:,.5g} ({bound} {self.limit:,g})"


def report(name: str | None, rows: list[dict[str, object]], bars: list[Bar]) -> None:
    """To people on standard output, to programs as JSON under bench/results/, if it has a name."""
    machine = this_machine()
    print(f"\n{machine}")
    for bar in bars:
        print(bar)
    if name is None:
        return
    shape = {
        "machine": asdict(machine),
        "rows": rows,
        "bars": [asdict(bar) | {"is_met": bar.is_met} for bar in bars],
    }
    path = ROOT / "bench" / "results" / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(shape, indent=2) + "\n")
