"""Runs programs in the machine's own CPython, in namespaces that bubblewrap makes (Linux only).

The program has a network, processes and files of its own, of which there are none but Python itself
and an empty folder in memory. A filter refuses system calls that it does not need. Whether all of
that holds on this machine is tried out when the server starts; if not, no program is run.
"""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from hitsend.tools.code import seccomp
from hitsend.tools.code.child import ChildInterpreter
from hitsend.tools.code.isolation_probe import find_ways_out
from hitsend.tools.code.memory_files import FOLDER, TEMPORARY
from hitsend.tools.code.sandbox import Limits

DESCRIPTION = """\
It is CPython {version}{packages}. Plots appear in the chat when they are shown with plt.show(), \
and so do files that the program writes into its folder, where the files that the person attached \
are. A table as the last value is drawn as one. There is no network, no input(), and no other \
process."""
PACKAGES = ("numpy", "pandas", "scipy", "sklearn", "sympy", "matplotlib")
NICENESS = 10
PROBE_S = 30.0
FILES_BYTES = 64 * 2**20
MAX_OPEN_FILES = 256
SPARE_BYTES = 2**28
"""Address space of Python itself, and of its libraries."""
SYSTEM = ("/usr", "/lib", "/lib64", "/lib32", "/bin", "/etc/ld.so.cache")
WORKER = """
import os, sys, types
receiving, sending = os.fdopen(os.dup(0), "rb"), os.dup(1)
nothing = os.open("/dev/null", os.O_RDWR)
for number in (0, 1, 2):
    os.dup2(nothing, number)
import resource
for kind, most in {limits!r}:
    resource.setrlimit(kind, (most, most))
def receive():
    header = receiving.read(4)
    return receiving.read(int.from_bytes(header, "big")) if header else None
def send(frame):
    left = memoryview(len(frame).to_bytes(4, "big") + frame)
    while left:
        left = left[os.write(sending, left):]
harness = types.ModuleType("hitsend_harness")
sys.modules["hitsend_harness"] = harness
exec(compile({harness!r}, "<harness>", "exec"), harness.__dict__)
harness.serve(receive, send)
"""
DESCRIBE = f"""
import importlib.util, json, platform, sys
packages = [name for name in {PACKAGES!r} if importlib.util.find_spec(name)]
print(json.dumps([sys.prefix, sys.base_prefix, platform.python_version(), packages]))
"""


class Interpreter(msgspec.Struct, frozen=True):
    """A Python of this machine."""

    executable: str
    folders: tuple[str, ...]
    version: str
    packages: tuple[str, ...]


class CannotIsolate(Exception):
    """The message says why."""


class BubblewrapSandbox:
    """Raises CannotIsolate if programs would not be held in. Takes a moment."""

    def __init__(self, limits: Limits, executable: Path | None) -> None:
        self._limits = limits
        self._command = find_command()
        self._python = describe_python(executable)
        with open_filter() as fd:
            if out := find_ways_out(lambda program: self.build_command(fd, program), [fd]):
                raise CannotIsolate(f"Bubblewrap does not isolate on this machine: {out}.")
        names = f" with {', '.join(self._python.packages)}" if self._python.packages else ""
        self.description = DESCRIPTION.format(version=self._python.version, packages=names)

    def open(self, time_zone: str) -> ChildInterpreter:
        return ChildInterpreter(self, self._limits, time_zone)

    async def start(self, time_s: float) -> asyncio.subprocess.Process:
        with open_filter() as fd:
            return await asyncio.create_subprocess_exec(
                *self.build_command(fd, build_worker(self._limits)),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                env={},
                pass_fds=(fd,),
                start_new_session=True,
            )

    async def close(self) -> None:
        return None

    def build_command(self, filter_fd: int, program: str) -> Sequence[str]:
        options = [*list_options(self._python.folders), "--seccomp", str(filter_fd)]
        python = [self._python.executable, "-I", "-B", "-c", program]
        return ["/usr/bin/env", "nice", "-n", str(NICENESS), self._command, *options, "--", *python]


def build_worker(limits: Limits) -> str:
    """Returns the program of the process, for `python -c`."""
    import resource

    most = (
        (resource.RLIMIT_AS, limits.memory_bytes + SPARE_BYTES),
        (resource.RLIMIT_FSIZE, FILES_BYTES),
        (resource.RLIMIT_NOFILE, MAX_OPEN_FILES),
        (resource.RLIMIT_CORE, 0),
    )
    harness = Path(__file__).with_name("harness.py").read_text(encoding="utf-8")
    return WORKER.format(limits=most, harness=harness)


def list_options(folders: Sequence[str]) -> Iterator[str]:
    yield from ("--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent")
    yield from ("--new-session", "--clearenv", "--uid", "65534", "--gid", "65534")
    yield from ("--cap-drop", "ALL", "--hostname", "sandbox")
    for path in SYSTEM:
        if os.path.islink(path):
            yield from ("--symlink", os.readlink(path), path)
        elif os.path.exists(path):
            yield from ("--ro-bind", path, path)
    for path in folders:
        if not path.startswith("/usr/") and path != "/usr":
            yield from ("--ro-bind", path, path)
    yield from ("--dev", "/dev", "--remount-ro", "/dev")
    for path in (FOLDER, TEMPORARY):
        yield from ("--size", str(FILES_BYTES), "--tmpfs", path)
    yield from ("--remount-ro", "/", "--chdir", FOLDER)
    for name, value in (
        ("HOME", "/tmp"),
        ("MPLCONFIGDIR", "/tmp/matplotlib"),
        ("OMP_NUM_THREADS", "1"),
        ("OPENBLAS_NUM_THREADS", "1"),
        ("LANG", "C.UTF-8"),
    ):
        yield from ("--setenv", name, value)


@contextmanager
def open_filter() -> Iterator[int]:
    """Yields the descriptor of a file that has no name."""
    with tempfile.TemporaryFile() as file:
        file.write(seccomp.build_filter())
        file.seek(0)
        yield file.fileno()


def find_command() -> str:
    if sys.platform != "linux" or not seccomp.is_supported():
        raise CannotIsolate("Bubblewrap needs Linux on x86_64 or aarch64.")
    if (found := shutil.which("bwrap")) is None:
        raise CannotIsolate("The command bwrap is missing: install bubblewrap.")
    return found


def describe_python(executable: Path | None) -> Interpreter:
    """Returns the Python that runs hitsend, without the packages of hitsend, unless another one
    is named."""
    path = str(executable or os.path.realpath(sys.executable))
    try:
        done = subprocess.run(
            [path, "-I", "-c", DESCRIBE], capture_output=True, timeout=PROBE_S, check=True
        )
        prefix, base, version, packages = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise CannotIsolate(f"{path} does not run: {error}") from None
    folders = tuple(dict.fromkeys((base, prefix)))
    return Interpreter(path, folders, version, tuple(packages))
