"""A turn as a stream of bytes: follows the runner, and lets a view of the log encode it.

A reader that goes away ends its stream and nothing else: the turn belongs to the runner. So
does a reader whose session or key is revoked.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Iterable, Iterator, Sequence
from contextlib import aclosing
from typing import Protocol

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from hitsend.errors import StoreDown
from hitsend.events import Stamped
from hitsend.store import Store
from hitsend.wire.sse import DONE, heartbeat
from hitsend.work import is_end

log = logging.getLogger(__name__)

HEADERS = {
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",  # nginx would otherwise collect the answer and send it whole
    # Caddy 2.6 would otherwise compress it, whatever `no-transform` says, and so send it whole.
    "content-encoding": "identity",
}
CHUNK_BYTES = 65_536
LOOK_S = 0.25
LOOK_AGAIN_S = 5.0
"""How long to wait when the store could not be asked."""


class View(Protocol):
    """One of the wire formats: events in, bytes out."""

    def pieces(self, batch: Sequence[Stamped]) -> Iterable[bytes]: ...


class OpenStreams:
    """Which streams are open, and with which session or key.

    Those that no longer hold are looked for in the store, with one question for all streams:
    so it does not matter who revoked them, this process or the command line.
    """

    def __init__(self, store: Store) -> None:
        self._accounts = store.accounts
        self._open: dict[asyncio.Timeout, str] = {}

    async def until_revoked(self, credential_id: str, streaming: Awaitable[None]) -> bool:
        """Whether it came to its own end."""
        try:
            async with asyncio.timeout(None) as stay:
                self._open[stay] = credential_id
                await streaming
        except TimeoutError:
            if not stay.expired():
                raise
            return False
        finally:
            self._open.pop(stay, None)
        return True

    async def watch(self) -> None:
        """Ends what was revoked, until it is cancelled."""
        while True:
            await asyncio.sleep(LOOK_S)
            if not self._open:
                continue
            try:
                await self._end_revoked(set(self._open.values()))
            except StoreDown as error:
                log.warning("Cannot look for revoked sessions and keys: %s", error.message)
                await asyncio.sleep(LOOK_AGAIN_S)

    async def _end_revoked(self, credential_ids: set[str]) -> None:
        live = await self._accounts.live_sessions(credential_ids)
        live |= await self._accounts.live_keys(credential_ids - live)
        revoked = credential_ids - live
        for stay in [stay for stay, held_by in self._open.items() if held_by in revoked]:
            del self._open[stay]
            stay.reschedule(0)


class RevocableStream(StreamingResponse):
    """Breaks off when the session or key it was asked for with is revoked. The server then hangs
    up, so that what has arrived cannot be taken for the whole."""

    _held_by: tuple[str, OpenStreams] | None = None

    def end_with(self, credential_id: str, streams: OpenStreams) -> None:
        self._held_by = credential_id, streams

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        streaming = self._stream(scope, receive, send)
        if self._held_by is None:
            await streaming
            return
        credential_id, streams = self._held_by
        if not await streams.until_revoked(credential_id, streaming):
            await self._break_off(send)

    async def _stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        await super().__call__(scope, receive, send)

    async def _break_off(self, send: Send) -> None:
        """Nothing more is said."""


class TurnStream(RevocableStream):
    """Its own last words tell whether it is whole: it may end like any other answer."""

    async def _break_off(self, send: Send) -> None:
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def stream(
    view: View,
    batches: AsyncGenerator[Sequence[Stamped], None],
    headers: dict[str, str],
    opening: bytes = b"",
    *,
    has_ended: bool = False,
) -> TurnStream:
    """`has_ended` says that the turn's end may lie before the first batch."""
    return TurnStream(
        _encoded(view, batches, opening, has_ended),
        media_type="text/event-stream",
        headers=HEADERS | headers,
    )


async def _encoded(
    view: View,
    batches: AsyncGenerator[Sequence[Stamped], None],
    opening: bytes,
    has_ended: bool,
) -> AsyncGenerator[bytes, None]:
    if opening:
        yield opening
    async with aclosing(batches):
        async for batch in batches:
            if not batch:
                yield heartbeat(int(time.time() * 1000))
            has_ended = has_ended or any(is_end(stamped.event) for stamped in batch)
            for chunk in _chunks(view.pieces(batch)):
                yield chunk
                if len(chunk) >= CHUNK_BYTES:
                    await asyncio.sleep(0)  # a reader far behind keeps nobody else waiting
    if has_ended:  # a log that broke off is not over: its reader is to come back
        yield DONE


def _chunks(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """As few as there can be, of a bounded size: a reader that does not read has one of them
    waiting, and nothing else."""
    chunk = bytearray()
    for piece in pieces:
        chunk += piece
        while len(chunk) >= CHUNK_BYTES:
            yield bytes(chunk[:CHUNK_BYTES])
            del chunk[:CHUNK_BYTES]
    if chunk:
        yield bytes(chunk)
