"""Finds what web pages say, in processes of their own: a page may hang or break its reader."""

import asyncio
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from hitsend.errors import Refused, Unavailable

PROGRAM = Path(__file__).with_name("page_text.py")
TIME_S = 10.0
MAX_RUNNING = 2
MAX_OUTPUT_BYTES = 4_000_000
NOT_READ = "The page cannot be read: it is too large or too deeply nested."


class Link(msgspec.Struct, frozen=True, array_like=True):
    words: str
    url: str


class PageText(msgspec.Struct, frozen=True):
    title: str
    text: str
    links: Sequence[Link]
    is_cut: bool
    """Whether the page has more text."""


class PageReader:
    def __init__(self, time_s: float = TIME_S) -> None:
        self._time_s = time_s
        self._room = asyncio.Semaphore(MAX_RUNNING)

    async def read(self, url: str, content: bytes, *, is_html: bool, charset: str) -> PageText:
        """Raises Refused for a page that cannot be read in time."""
        head = msgspec.json.encode({"url": url, "is_html": is_html, "charset": charset})
        async with self._room:
            try:
                async with asyncio.timeout(self._time_s):
                    output = await _run(head + b"\n" + content)
            except TimeoutError:
                raise Refused(NOT_READ, param="url") from None
        try:
            return msgspec.json.decode(output, type=PageText)
        except msgspec.DecodeError:  # it crashed, or was stopped
            raise Refused(NOT_READ, param="url") from None


async def _run(given: bytes) -> bytes:
    try:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", str(PROGRAM)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env={},
            start_new_session=True,  # Ctrl-C reaches only the server, which ends this process
        )
    except OSError:
        raise Unavailable("No process can be started to read the page.") from None
    try:
        _, output = await asyncio.gather(_write(process, given), _read(process))
        await process.wait()
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    return output if process.returncode == 0 else b""


async def _write(process: asyncio.subprocess.Process, given: bytes) -> None:
    assert process.stdin is not None
    with suppress(ConnectionError):  # it has ended: what it wrote tells
        process.stdin.write(given)
        await process.stdin.drain()
    process.stdin.close()


async def _read(process: asyncio.subprocess.Process) -> bytes:
    assert process.stdout is not None
    output = bytearray()
    while (piece := await process.stdout.read(65_536)) and len(output) <= MAX_OUTPUT_BYTES:
        output += piece
    return bytes(output[: MAX_OUTPUT_BYTES + 1])
