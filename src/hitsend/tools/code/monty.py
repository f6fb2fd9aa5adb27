"""Runs programs in Monty: Python written in Rust, without files, network and processes.

Each program gets a process of its own, so that one that breaks out of the interpreter finds
nothing of others. Between programs only the variables are kept, as bytes. So a program that is
stopped leaves them as they were. Each program also takes a thread of ours, which waits for the
process: the asynchronous half of the library sometimes aborts Python when Python exits.
"""

import asyncio
import logging
import os
import signal
import sys
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from functools import partial
from typing import TYPE_CHECKING

from hitsend.errors import Unavailable
from hitsend.tools.code.last_expression import split_last_statement
from hitsend.tools.code.memory_files import FOLDER
from hitsend.tools.code.sandbox import Limits, Outcome, Printed, cut

if TYPE_CHECKING:
    from pydantic_monty import Frame, Monty, MontyError, MontySession

    from hitsend.tools.code.monty_files import MontyFiles

log = logging.getLogger(__name__)

MODULES = (
    "asyncio, base64, bisect, collections, copy, csv, dataclasses, datetime, decimal, functools, "
    "hashlib, itertools, json, math, os.path, random, re, time, tomllib, typing, unicodedata"
)
DESCRIPTION = f"""\
It is a small Python. Its modules are {MODULES}. It has no other module: no statistics, numpy, \
pandas or matplotlib. It has no network, no input(), no yield, no del, no class inheritance, no \
properties and no `import *`. The files that the person attached are in its folder; those that it \
writes there are shown."""

MAX_VALUE_CHARS = 20_000
MAX_REASON_CHARS = 2_000
MAX_LINE_CHARS = 200
MAX_VARIABLES_BYTES = 8 * 1024 * 1024
"""Of one conversation."""
GRACE_S = 2.0
"""For the interpreter to stop a program by itself, before its process is killed."""
NICENESS = 10
"""Answers come first."""
SPARE_BYTES = 1024**3
"""Address space beyond a program's memory: allocators reserve more than they use."""
SET_VALUE = "_ = ("
SHOW_VALUE = f"""\
(lambda text: text if len(text) <= {MAX_VALUE_CHARS} else text[:{MAX_VALUE_CHARS}] + '…')(repr(_)) \
if _ is not None else None"""
DROP_VALUE = "_ = None"
UNSUPPORTED = "The monty syntax parser does not yet support "
UNCHANGED = "The variables are as they were before this run."


class MontySandbox:
    description = DESCRIPTION

    def __init__(self, limits: Limits, max_running: int) -> None:
        self.limits = limits
        self.threads = ThreadPoolExecutor(max_running, "monty")
        self.running: set[_Process] = set()
        self._max_running = max_running
        self._lock = threading.Lock()
        self._pool: Monty | None = None
        self._resources = ExitStack()

    def open(self, time_zone: str) -> "MontyInterpreter":
        return MontyInterpreter(self, time_zone)

    async def close(self) -> None:
        for process in self.running:
            process.kill()
        await asyncio.to_thread(self.threads.shutdown)
        await asyncio.to_thread(self._resources.close)

    def pool(self) -> "Monty":
        """Makes it at the first call, in a thread: loading the library takes a while, and most
        servers start without anybody needing it."""
        with self._lock:
            if self._pool is None:
                from pydantic_monty import Monty

                pool = Monty(
                    min_processes=0, max_processes=self._max_running, max_checkouts_per_worker=1
                )
                self._pool = self._resources.enter_context(pool)
            return self._pool


class MontyInterpreter:
    is_alive = True

    def __init__(self, sandbox: MontySandbox, time_zone: str) -> None:
        self._sandbox = sandbox
        self._limits = sandbox.limits
        self._time_zone = time_zone
        self._variables: bytes | None = None

    async def run(self, code: str, printed: Printed, files: Mapping[str, str]) -> Outcome:
        process = _Process()
        self._sandbox.running.add(process)
        loop = asyncio.get_running_loop()
        running = loop.run_in_executor(
            self._sandbox.threads, self._run, process, code, printed, files
        )
        try:
            await asyncio.wait({running}, timeout=self._limits.time_s + GRACE_S)
        finally:
            process.kill()
            await asyncio.wait({running})
            self._sandbox.running.discard(process)
        return running.result()

    async def close(self) -> None:
        self._variables = None

    def _run(
        self, process: "_Process", code: str, printed: Printed, attached: Mapping[str, str]
    ) -> Outcome:
        from pydantic_monty import MontyError

        from hitsend.tools.code.monty_files import MontyFiles

        files = MontyFiles(attached)

        with ExitStack() as stack:
            session = self._start_session(stack)
            process.set_pid(session.worker_pid, self._limits)
            stack.callback(process.clear_pid)
            try:
                if self._variables is not None:
                    session.load_session(self._variables)
                value = _run_program(session, code, printed, process, files)
            except MontyError as error:
                if reason := self._reached_limit(error, printed, process):
                    return Outcome(error=f"{reason}\n{UNCHANGED}")
                text = describe_error(error, is_fresh=self._variables is None)
                note = self._keep_variables(session)
                return Outcome(error=text, note=note, files=tuple(files.list_written()))
            note = self._keep_variables(session)
            return Outcome(value=value, note=note, files=tuple(files.list_written()))

    def _start_session(self, stack: ExitStack) -> "MontySession":
        try:
            pool = self._sandbox.pool()
            with suppress(ValueError):  # a time zone that Monty does not know
                return stack.enter_context(self._check_out(pool, self._time_zone))
            return stack.enter_context(self._check_out(pool, "UTC"))
        except (OSError, RuntimeError) as error:
            log.error("Monty cannot be started: %s", error)
            raise Unavailable("Python cannot be started on this server.") from None

    def _check_out(self, pool: "Monty", time_zone: str) -> "MontySession":
        limits = self._limits
        return pool.checkout(
            limits={
                "max_feed_duration_secs": limits.time_s,
                "max_total_sleep_secs": limits.time_s,
                "max_memory": limits.memory_bytes,
            },
            os_policy={"timezone": time_zone, "sleep_system_max": float("inf")},
        )

    def _reached_limit(
        self, error: "MontyError", printed: Printed, process: "_Process"
    ) -> str | None:
        from pydantic_monty import MontyCrashedError, MontyRuntimeError

        reason = error.display("type-msg") if isinstance(error, MontyRuntimeError) else ""
        if printed.is_cut:
            return f"The program was stopped: it prints over {self._limits.output_bytes} bytes."
        if process.is_killed or reason.startswith(
            ("TimeoutError: feed time limit", "TimeoutError: sleep limit")
        ):
            return f"The program was stopped: it runs longer than {self._limits.time_s:g} s."
        if isinstance(error, MontyCrashedError):
            return "Python crashed while it ran the program."
        if reason.startswith("MemoryError: "):
            megabytes = self._limits.memory_bytes // 1_000_000
            return f"The program was stopped: it needs over {megabytes} MB of memory."
        return None

    def _keep_variables(self, session: "MontySession") -> str:
        """Returns what to say of them."""
        from pydantic_monty import MontyError

        try:
            variables = session.dump()
        except MontyError:
            variables = None
        if variables is None or len(variables) > MAX_VARIABLES_BYTES:
            return f"The variables are too large to keep. {UNCHANGED}"
        self._variables = variables
        return ""


class _Process:
    """The process of one program, which any thread may kill at any time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pid: int | None = None
        self.is_killed = False

    def set_pid(self, pid: int | None, limits: Limits) -> None:
        with self._lock:
            self._pid = pid
        if pid is not None:
            _limit_process(pid, limits)
        if self.is_killed:
            self.kill()

    def clear_pid(self) -> None:
        with self._lock:
            self._pid = None

    def kill(self) -> None:
        with self._lock:
            self.is_killed = True
            if self._pid is not None:
                with suppress(ProcessLookupError):
                    os.kill(self._pid, signal.SIGKILL)


def _run_program(
    session: "MontySession", code: str, printed: Printed, process: _Process, files: "MontyFiles"
) -> str | None:
    """Returns the repr of its value."""
    from pydantic_monty import MontySyntaxError

    def show(_: str, text: str) -> None:
        printed.add(text)
        if printed.is_cut:
            process.kill()

    run = partial(session.feed_run, print_callback=show, os=files, cwd=FOLDER)
    if split := split_last_statement(code):
        with suppress(MontySyntaxError):  # it is no expression
            run(f"{split.before}{SET_VALUE}{split.last}\n)")
            value = run(SHOW_VALUE)
            session.feed_run(DROP_VALUE)
            return cut(value, MAX_VALUE_CHARS) if isinstance(value, str) else None
    # A program that ends with a value would have it copied to us, however large it is.
    run(f"{code}\nNone")
    return None


def describe_error(error: "MontyError", *, is_fresh: bool) -> str:
    """Returns a short traceback, with what a small model needs to repair the program."""
    from pydantic_monty import MontyRuntimeError, MontySyntaxError

    if not isinstance(error, MontyRuntimeError | MontySyntaxError):
        return str(error)
    reason = error.display("type-msg")
    hint = ""
    if UNSUPPORTED in reason:
        missing = reason.partition(UNSUPPORTED)[2]
        reason, hint = f"SyntaxError: this Python has no {missing}.", "Write it in another way."
    elif reason.startswith("ModuleNotFoundError"):
        hint = f"Only these modules exist: {MODULES}."
    elif reason.startswith("NameError") and is_fresh:
        hint = "There are no variables from earlier runs: define everything that the program uses."
    frames = [_describe_frame(one) for one in error.traceback() if one.source_line != SHOW_VALUE]
    reason = cut(reason, MAX_REASON_CHARS)
    return "\n".join(["Traceback:", *_shorten(frames), reason, *([hint] if hint else [])])


def _describe_frame(frame: "Frame") -> str:
    function = "" if frame.function_name in (None, "<module>") else f", in {frame.function_name}"
    source = (frame.source_line or "").strip().partition("\n")[0].removeprefix(SET_VALUE)
    return f"  line {frame.line}{function}: {cut(source, MAX_LINE_CHARS)}"


def _shorten(frames: Sequence[str]) -> list[str]:
    return list(frames) if len(frames) <= 6 else [*frames[:3], "  …", *frames[-2:]]


def _limit_process(pid: int, limits: Limits) -> None:
    """Limits of the system, should the interpreter's own fail."""
    if sys.platform != "linux":
        return
    import resource

    with suppress(ProcessLookupError):
        for kind, most in (
            (resource.RLIMIT_CPU, int(limits.time_s + GRACE_S) + 1),
            (resource.RLIMIT_AS, 2 * limits.memory_bytes + SPARE_BYTES),
            (resource.RLIMIT_FSIZE, 0),
            (resource.RLIMIT_CORE, 0),
        ):
            resource.prlimit(pid, kind, (most, most))
        os.setpriority(os.PRIO_PROCESS, pid, NICENESS)
