"""The `hitsend` command as a person runs it: a process, in a home of its own."""

import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[3] / "src"

Ran = subprocess.CompletedProcess[str]
Hitsend = Callable[..., Ran]


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """Nothing of the person running the tests: no settings, no data, no keys."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return kept | {"HOME": str(tmp_path), "PYTHONPATH": str(SOURCES), "COLUMNS": "200"}


@pytest.fixture
def hitsend(environ: dict[str, str]) -> Hitsend:
    def run(*words: str, stdin: str = "", **variables: str) -> Ran:
        return subprocess.run(
            [sys.executable, "-m", "hitsend", *words],
            input=stdin,
            capture_output=True,
            text=True,
            env=environ | variables,
            timeout=60,
            check=False,
        )

    return run


@dataclass
class Running:
    process: subprocess.Popen[str]
    url: str

    @property
    def port(self) -> str:
        return self.url.rpartition(":")[2]


Serve = Callable[..., Running]


@pytest.fixture
def serve(environ: dict[str, str]) -> Iterator[Serve]:
    """`hitsend serve` with an engine that needs no model, on a port of its own."""
    running: list[subprocess.Popen[str]] = []

    def start(*words: str, port: str = "0") -> Running:
        process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "hitsend",
                "serve",
                "--engine",
                "scripted",
                "--port",
                port,
                *words,
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environ,
        )
        running.append(process)
        assert process.stdout is not None
        return Running(process, process.stdout.readline().split()[-1])

    yield start
    for process in running:
        process.terminate()
        process.communicate(timeout=20)


@pytest.fixture
def data_dir(hitsend: Hitsend, tmp_path: Path) -> Path:
    """A database in which Ann has the only account."""
    folder = tmp_path / "data"
    words = ("admin", "create-user", "ann", "--password-stdin", "--data-dir", str(folder))
    assert hitsend(*words, stdin="correct horse battery\n").returncode == 0
    return folder


TERMINAL = {"TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1"}


class Terminal:
    """A person at a terminal: types, and waits for what has to appear."""

    def __init__(self, words: list[str], environ: dict[str, str]) -> None:
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            os.execve(sys.executable, [sys.executable, "-m", "hitsend", *words], environ)
        self._seen = ""

    def type(self, keys: str) -> None:
        os.write(self._fd, keys.encode())

    def expect(self, text: str, within_s: float = 60.0) -> None:
        """Waits for `text`, and counts everything up to it as read."""
        ends = time.monotonic() + within_s
        while text not in self._seen:
            if not select.select([self._fd], [], [], max(0.0, ends - time.monotonic()))[0]:
                raise AssertionError(f"{text!r} did not appear: {self._seen[-500:]!r}")
            self._seen += os.read(self._fd, 65_536).decode(errors="replace")
        self._seen = self._seen.partition(text)[2]

    def expect_prompt(self) -> None:
        """Keys typed earlier than this may be lost, as they are to any program."""
        self.expect("\x1b[?2004h")

    def exit_code(self) -> int:
        """Once the program has ended by itself."""
        with suppress(OSError):  # the other end is gone
            while os.read(self._fd, 65_536):
                continue
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


@pytest.fixture
def terminal(environ: dict[str, str]) -> Iterator[Callable[..., Terminal]]:
    opened: list[Terminal] = []

    def start(*words: str) -> Terminal:
        opened.append(Terminal(list(words), environ | TERMINAL))
        return opened[-1]

    yield start
    for one in opened:
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(one.pid, signal.SIGKILL)
            os.waitpid(one.pid, 0)
