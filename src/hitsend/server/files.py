"""Files of the page: sent as they are, or as the build has compressed them beside."""

import mimetypes
import os
from pathlib import Path
from stat import S_ISREG

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from hitsend.server.compression import takes_gzip

TYPES = {
    ".js": "text/javascript",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}
"""What the machine's own table might say otherwise, or not at all."""

KEPT = ("cache-control", "etag", "vary")
"""What an answer without a body still tells."""


def file_answer(request: Request, path: Path, cache: str) -> Response | None:
    """None where there is no such file."""
    headers = {"cache-control": cache, "vary": "accept-encoding"}
    kind = TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0]
    smaller = path.with_name(path.name + ".gz")
    if takes_gzip(request) and (stat := _stat(smaller)):
        path, headers["content-encoding"] = smaller, "gzip"
    elif not (stat := _stat(path)):
        return None
    response = FileResponse(
        path, headers=headers, media_type=kind or "application/octet-stream", stat_result=stat
    )
    if _has_it(request, response.headers):
        kept = {name: response.headers[name] for name in KEPT}
        return Response(status_code=304, headers=kept)
    return response


def _stat(path: Path) -> os.stat_result | None:
    try:
        stat = path.stat()
    except (OSError, ValueError):  # not there, or a name no file can have
        return None
    return stat if S_ISREG(stat.st_mode) else None


def _has_it(request: Request, headers: MutableHeaders) -> bool:
    """The browser's copy is the one we would send."""
    if known := request.headers.get("if-none-match"):
        return headers["etag"] in [tag.strip().removeprefix("W/") for tag in known.split(",")]
    return False
