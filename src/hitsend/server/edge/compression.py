"""Gzip for large JSON responses. Streams are never compressed: the compressor would buffer them."""

import asyncio
import gzip

from starlette.requests import Request
from starlette.responses import FileResponse, Response, StreamingResponse

MIN_BYTES = 32_768
"""Below this, compressing costs more than it saves."""
LEVEL = 5


def accepts_gzip(request: Request) -> bool:
    header = request.headers.get("accept-encoding", "").lower()
    accepted = dict(map(_parse_coding, header.split(",")))
    return accepted.get("gzip", accepted.get("*", False))


def _parse_coding(item: str) -> tuple[str, bool]:
    """Returns a coding and whether it is accepted, which it is not at quality 0."""
    name, _, quality = item.replace(" ", "").partition(";q=")
    return name, quality == "" or quality.strip("0.") != ""


async def compress(response: Response, request: Request) -> Response:
    """Compresses the response in place, if it is large and the client accepts that."""
    if isinstance(response, FileResponse | StreamingResponse) or not _is_large_json(response):
        return response
    response.headers.add_vary_header("accept-encoding")
    if accepts_gzip(request):
        # In a thread: a long conversation takes tens of milliseconds.
        response.body = await asyncio.to_thread(gzip.compress, response.body, LEVEL)
        response.headers["content-encoding"] = "gzip"
        response.headers["content-length"] = str(len(response.body))
    return response


def _is_large_json(response: Response) -> bool:
    return response.media_type == "application/json" and len(response.body) > MIN_BYTES
