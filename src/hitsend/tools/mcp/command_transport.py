"""Runs a server as a child process and exchanges lines of JSON-RPC with it.

The child gets a process group of its own and an environment of a few variables. Lines have a
largest length, and its standard error goes to the server's log.
"""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from hitsend.errors import Unavailable
from hitsend.tools.mcp.server_log import ServerLog

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.client._transport import TransportStreams

KEPT_VARIABLES = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "SYSTEMROOT", "COMSPEC")
"""Of hitsend's own environment. Its settings, with keys of engines, are not among them."""
EXIT_S = 2.0
"""Time to leave after the end of its input, and again after it was asked to."""
CHUNK_BYTES = 65_536
STDERR_BYTES_PER_S = 65_536


class CommandTransport:
    """An MCP transport: a context of a stream to read from and one to write to."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        max_line_bytes: int,
        log: ServerLog,
        report: Callable[[str], None],
    ) -> None:
        """`report` takes the reason why the connection ended."""
        self._command = command
        self._environment = build_environment(environment)
        self._max_line_bytes = max_line_bytes
        self._log = log
        self._report = report
        self._process: asyncio.subprocess.Process | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._is_closing = False

    async def __aenter__(self) -> "TransportStreams":
        self._process = await self._start()
        incoming, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        write, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
        self._streams = (incoming, read, write, outgoing)
        self._log.note(f"started as process {self._process.pid}")
        self._tasks = [
            asyncio.create_task(self._read_output(incoming)),
            asyncio.create_task(self._write_input(outgoing)),
            asyncio.create_task(self._read_errors()),
        ]
        return read, write

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._is_closing = True
        stopping = asyncio.ensure_future(self._stop())
        try:
            await asyncio.shield(stopping)
        except asyncio.CancelledError:
            await stopping  # its waits are bounded
            raise

    async def _start(self) -> asyncio.subprocess.Process:
        try:
            return await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=self._environment,
                limit=CHUNK_BYTES,
                start_new_session=True,
            )
        except FileNotFoundError:
            raise Unavailable(f"there is no program {self._command[0]}") from None
        except PermissionError:
            raise Unavailable(f"{self._command[0]} may not be run") from None

    async def _read_output(
        self, incoming: "MemoryObjectSendStream[SessionMessage | Exception]"
    ) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        line = bytearray()
        with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            async with incoming:
                while chunk := await self._process.stdout.read(CHUNK_BYTES):
                    *lines, rest = chunk.split(b"\n")
                    for one in lines:
                        line += one
                        if len(line) <= self._max_line_bytes:
                            await self._take_line(bytes(line), incoming)
                        line.clear()
                    line += rest
                    if len(line) > self._max_line_bytes:
                        self._end(f"sent more than {self._max_line_bytes:,} bytes at once")
                        return
                code = await self._wait(EXIT_S)
                self._end("closed its output" if code is None else f"ended with code {code}")

    async def _take_line(
        self, line: bytes, incoming: "MemoryObjectSendStream[SessionMessage | Exception]"
    ) -> None:
        text = line.decode(errors="replace").strip()
        if not text:
            return
        try:
            message = jsonrpc_message_adapter.validate_json(text, by_name=False)
        except ValueError:
            self._log.note(f"not a message: {text[:200]}")
            return
        await incoming.send(SessionMessage(message))

    async def _write_input(self, outgoing: "MemoryObjectReceiveStream[SessionMessage]") -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            async with outgoing:
                async for one in outgoing:
                    text = one.message.model_dump_json(by_alias=True, exclude_unset=True)
                    self._process.stdin.write(text.encode(errors="replace") + b"\n")
                    await self._process.stdin.drain()
        except (OSError, anyio.ClosedResourceError):
            self._end("does not read its input any more")

    async def _read_errors(self) -> None:
        """Reads on even where nothing is kept: a full pipe would stop the server."""
        assert self._process is not None
        assert self._process.stderr is not None
        rest = b""
        while chunk := await self._process.stderr.read(CHUNK_BYTES):
            *lines, rest = (rest + chunk).split(b"\n")
            rest = rest[-STDERR_BYTES_PER_S:]
            for line in lines[-100:]:
                self._log.add_stderr(line.decode(errors="replace"))
            await asyncio.sleep(0)
        if rest:
            self._log.add_stderr(rest.decode(errors="replace"))

    def _end(self, reason: str) -> None:
        if not self._is_closing:
            self._report(reason)
            self._log.note(reason)

    async def _stop(self) -> None:
        """Closes its input, then asks the whole group to end, then kills it."""
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.close()
        if await self._wait(EXIT_S) is None:
            self._signal(signal.SIGTERM)
            await self._wait(EXIT_S)
        self._signal(signal.SIGKILL if sys.platform != "win32" else signal.SIGTERM)
        await self._wait(EXIT_S)
        for stream in self._streams:
            stream.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        # A child of the server may hold the pipes open: they are closed on our side.
        vars(self._process)["_transport"].close()
        self._log.note("stopped")

    async def _wait(self, seconds: float) -> int | None:
        assert self._process is not None
        deadline = asyncio.get_running_loop().time() + seconds
        while self._process.returncode is None:
            if asyncio.get_running_loop().time() > deadline:
                return None
            await asyncio.sleep(0.01)  # `wait` would wait for the pipes, too
        return self._process.returncode

    def _signal(self, number: int) -> None:
        assert self._process is not None
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if sys.platform == "win32":
                self._process.send_signal(number)
            else:
                os.killpg(self._process.pid, number)


def build_environment(own: Mapping[str, str]) -> dict[str, str]:
    kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    return kept | dict(own)
