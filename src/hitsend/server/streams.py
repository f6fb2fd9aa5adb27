"""A turn as a stream of bytes: follows the runner, and lets a view of the log encode it.

A reader that goes away ends its stream and nothing else: the turn belongs to the runner.
"""

import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Protocol

from starlette.responses import StreamingResponse

from hitsend.events import Stamped
from hitsend.wire.sse import heartbeat

HEADERS = {
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",  # nginx would otherwise collect the answer and send it whole
}


class View(Protocol):
    """One of the wire formats: events in, bytes out."""

    def encode(self, batch: Sequence[Stamped]) -> bytes: ...


def stream(
    view: View,
    batches: AsyncGenerator[Sequence[Stamped], None],
    headers: dict[str, str],
    opening: bytes = b"",
) -> StreamingResponse:
    return StreamingResponse(
        _encoded(view, batches, opening),
        media_type="text/event-stream",
        headers=HEADERS | headers,
    )


async def _encoded(
    view: View, batches: AsyncGenerator[Sequence[Stamped], None], opening: bytes
) -> AsyncGenerator[bytes, None]:
    if opening:
        yield opening
    async with aclosing(batches):
        async for batch in batches:
            frames = view.encode(batch) if batch else heartbeat(int(time.time() * 1000))
            if frames:
                yield frames
