"""The response that streams a turn: reads batches of events, and a view encodes them as bytes.

A reader that disconnects, or whose session or key is revoked, ends its stream and nothing else: the
turn belongs to the runner.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from typing import NamedTuple, Protocol

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from hitsend.errors import DatabaseDamaged, DiskFull, StoreDown
from hitsend.events import Stamped, is_end
from hitsend.runner import Runner
from hitsend.settings import Settings
from hitsend.sse import DONE, encode_heartbeat
from hitsend.store import Store
from hitsend.wire.side_events import StoreDelayed

log = logging.getLogger(__name__)

HEADERS = {
    "cache-control": "no-store, no-transform",
    "x-accel-buffering": "no",  # nginx would otherwise buffer the whole answer
    # Caddy 2.6 would otherwise compress the stream despite `no-transform`, and so buffer it.
    "content-encoding": "identity",
}
CHUNK_BYTES = 65_536
SMALL_BATCH = 4
"""Events that are encoded at once. A reader who keeps up gets one or two at a time."""
CHECK_S = 0.25
CHECK_AGAIN_S = 5.0
"""After the store was down."""


class View(Protocol):
    """A wire format: encodes events as bytes."""

    def encode(self, batch: Sequence[Stamped]) -> bytes: ...

    def encode_chunks(self, batch: Sequence[Stamped]) -> Iterable[bytes]: ...

    def encode_delay(self, delay: StoreDelayed) -> bytes:
        """Empty in formats that have only comments for it."""


class OpenStreams:
    """The open streams, and the session or key of each.

    One query for all streams finds the credentials that were revoked, whether by this process or
    by the command line.
    """

    def __init__(self, store: Store) -> None:
        self._accounts = store.accounts
        self._open: dict[asyncio.Timeout, str] = {}

    @property
    def num_open(self) -> int:
        return len(self._open)

    async def run_until_revoked(self, credential_id: str, streaming: Awaitable[None]) -> bool:
        """Returns False if the credential was revoked before `streaming` ended."""
        try:
            async with asyncio.timeout(None) as timeout:
                self._open[timeout] = credential_id
                await streaming
        except TimeoutError:
            if not timeout.expired():
                raise
            return False
        finally:
            self._open.pop(timeout, None)
        return True

    async def end_revoked_forever(self) -> None:
        while True:
            await asyncio.sleep(CHECK_S)
            if not self._open:
                continue
            try:
                await self._end_revoked(set(self._open.values()))
            except StoreDown as error:
                log.warning("Cannot look for revoked sessions and keys: %s", error.message)
                await asyncio.sleep(CHECK_AGAIN_S)

    async def _end_revoked(self, credential_ids: set[str]) -> None:
        live = await self._accounts.filter_sessions(credential_ids)
        live |= await self._accounts.filter_keys(credential_ids - live)
        revoked = credential_ids - live
        ended = [timeout for timeout, credential in self._open.items() if credential in revoked]
        for timeout in ended:
            del self._open[timeout]
            timeout.reschedule(0)


class RevocableStream(StreamingResponse):
    """A stream that ends when its session or key is revoked. It then ends without its last chunk,
    so that the client does not take it for complete."""

    _revocation: tuple[str, OpenStreams] | None = None

    def end_when_revoked(self, credential_id: str, streams: OpenStreams) -> None:
        self._revocation = credential_id, streams

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        streaming = self._stream(scope, receive, send)
        if self._revocation is None:
            await streaming
            return
        credential_id, streams = self._revocation
        if not await streams.run_until_revoked(credential_id, streaming):
            await self._end_early(send)

    async def _stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        await super().__call__(scope, receive, send)

    async def _end_early(self, send: Send) -> None:
        """Sends nothing: the server closes the connection."""


class TurnStream(RevocableStream):
    """Clients detect truncation by the missing `[DONE]`, so this stream may end normally."""

    async def _end_early(self, send: Send) -> None:
        await send({"type": "http.response.body", "body": b"", "more_body": False})


class Heartbeat(NamedTuple):
    interval_s: float
    find_problem: Callable[[], StoreDown | None]
    """Why answers cannot be stored, and wait."""

    @classmethod
    def of(cls, settings: Settings, runner: Runner) -> "Heartbeat":
        return cls(settings.heartbeat_s, lambda: runner.store_problem)

    def encode(self, view: View) -> bytes:
        delay = describe_delay(self.find_problem())
        comment = encode_heartbeat(int(time.time() * 1000), delay.message if delay else "")
        return comment + view.encode_delay(delay) if delay else comment


def describe_delay(problem: StoreDown | None) -> StoreDelayed | None:
    match problem:
        case None:
            return None
        case DiskFull():
            sentence = "The server's disk is full. The answer waits until there is room."
        case DatabaseDamaged():
            sentence = "The server's database is damaged. The answer waits."
        case _:
            sentence = "The server cannot save anything right now. The answer waits."
    return StoreDelayed(problem.code, sentence)


def stream_turn(
    view: View,
    batches: AsyncGenerator[Sequence[Stamped], None],
    headers: dict[str, str],
    heartbeat: Heartbeat,
    opening: bytes = b"",
    *,
    has_ended: bool = False,
) -> TurnStream:
    """An empty batch sends a heartbeat, and so do batches that encode to nothing for its interval.
    `has_ended`: the end of the turn may lie before the first batch."""
    return TurnStream(
        _encode(view, batches, heartbeat, opening, has_ended),
        media_type="text/event-stream",
        headers=HEADERS | headers,
    )


async def _encode(
    view: View,
    batches: AsyncGenerator[Sequence[Stamped], None],
    heartbeat: Heartbeat,
    opening: bytes,
    has_ended: bool,
) -> AsyncGenerator[bytes, None]:
    if opening:
        yield opening
    silent_since = time.monotonic()
    async with aclosing(batches):
        async for batch in batches:
            has_ended = has_ended or any(is_end(stamped.event) for stamped in batch)
            for chunk in _encode_batch(view, batch):
                silent_since = time.monotonic()
                yield chunk
                if len(chunk) >= CHUNK_BYTES:
                    await asyncio.sleep(0)  # a reader far behind must not block the others
            if not batch or time.monotonic() - silent_since >= heartbeat.interval_s:
                silent_since = time.monotonic()
                yield heartbeat.encode(view)
    if has_ended:  # without the end the log broke off, and the reader has to resume
        yield DONE


def _encode_batch(view: View, batch: Sequence[Stamped]) -> Iterator[bytes]:
    if len(batch) > SMALL_BATCH:
        yield from _chunks(view.encode_chunks(batch))
    elif chunk := view.encode(batch):
        yield chunk


def _chunks(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Joins pieces into chunks of at most CHUNK_BYTES: a stalled reader holds one in memory."""
    chunk = bytearray()
    for piece in pieces:
        chunk += piece
        while len(chunk) >= CHUNK_BYTES:
            yield bytes(chunk[:CHUNK_BYTES])
            del chunk[:CHUNK_BYTES]
    if chunk:
        yield bytes(chunk)
