"""Answers made smaller on the way, for those who can read them so. Never a stream: its words
would wait for one another.
"""

import asyncio
import gzip

from starlette.requests import Request
from starlette.responses import FileResponse, Response, StreamingResponse

LEAST_BYTES = 32_768
"""Below this it costs more than it saves."""
LEVEL = 5


def takes_gzip(request: Request) -> bool:
    offers = dict(map(_offer, request.headers.get("accept-encoding", "").lower().split(",")))
    return offers.get("gzip", offers.get("*", False))


def _offer(offer: str) -> tuple[str, bool]:
    """A way to compress, and whether it is taken: not when its quality is nought."""
    name, _, quality = offer.replace(" ", "").partition(";q=")
    return name, quality == "" or quality.strip("0.") != ""


async def compressed(response: Response, request: Request) -> Response:
    """The same answer, its body compressed where that is worth it."""
    if isinstance(response, FileResponse | StreamingResponse) or not _is_large_json(response):
        return response
    response.headers.add_vary_header("accept-encoding")
    if takes_gzip(request):
        # Away from the event loop: a long conversation takes some hundredths of a second.
        response.body = await asyncio.to_thread(gzip.compress, response.body, LEVEL)
        response.headers["content-encoding"] = "gzip"
        response.headers["content-length"] = str(len(response.body))
    return response


def _is_large_json(response: Response) -> bool:
    return response.media_type == "application/json" and len(response.body) > LEAST_BYTES
