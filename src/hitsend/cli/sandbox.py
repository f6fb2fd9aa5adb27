"""`hitsend sandbox`: the CPython in WebAssembly that can run programs of models."""

import re
import shutil
import subprocess
from pathlib import Path

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from hitsend.cli.flags import with_settings
from hitsend.cli.output import print_note, stdout
from hitsend.errors import Refused
from hitsend.settings import Loaded
from hitsend.tools.code import wasi

PEAK_BYTES = 2_500_000_000
SHOW_S = 0.5


@with_settings("sandbox_dir")
def install(loaded: Loaded) -> int:
    folder = loaded.settings.sandbox_dir
    if not wasi.find_versions():
        raise Refused(
            "The extra is missing. Install it first: `pip install 'hitsend[sandbox]'`, or "
            "`make sandbox` in hitsend's folder."
        )
    if wasi.find_problem(folder):
        _warn_of_little_memory()
        print_note(
            "CPython is compiled once. It takes a minute or two, and up to 2.5 GB of memory."
        )
        _compile(folder)
    stdout.write(str(folder))
    print_note("Programs of models run in it with HITSEND_PYTHON=wasi.")
    return 0


@with_settings("sandbox_dir")
def remove(loaded: Loaded) -> int:
    shutil.rmtree(loaded.settings.sandbox_dir, ignore_errors=True)
    print_note("The compiled CPython was removed.")
    return 0


def _compile(folder: Path) -> None:
    compiling = wasi.start_compiling(folder)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    try:
        with Progress(*columns, console=Console(stderr=True)) as progress:
            task = progress.add_task("Compiling")
            while compiling.poll() is None:
                if num_bytes := _memory_of(compiling.pid):
                    progress.update(task, description=f"Compiling ({num_bytes / 1e9:.1f} GB)")
                try:
                    compiling.wait(SHOW_S)
                except subprocess.TimeoutExpired:
                    continue
    finally:
        compiling.kill()
        _, problem = compiling.communicate()
    if compiling.returncode != 0 or not any(folder.glob("*.cwasm")):
        lines = problem.decode(errors="replace").strip().splitlines()
        reason = lines[-1] if lines else "it was ended, perhaps for lack of memory"
        raise Refused(f"CPython could not be compiled: {reason}.")
    wasi.note_compiled(folder)


def _memory_of(pid: int) -> int:
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except OSError:
        return 0
    found = re.search(r"VmRSS:\s*(\d+)", status)
    return int(found[1]) * 1024 if found else 0


def _warn_of_little_memory() -> None:
    try:
        memory = Path("/proc/meminfo").read_text(encoding="ascii")
    except OSError:
        return
    found = re.search(r"MemAvailable:\s*(\d+)", memory)
    if found and int(found[1]) * 1024 < PEAK_BYTES:
        print_note(f"Only {int(found[1]) / 1e6:.1f} GB of memory are free: this may not be enough.")
