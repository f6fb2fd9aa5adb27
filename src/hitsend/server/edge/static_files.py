"""Static files of the page, and the gzipped copies that the build puts beside them."""

import mimetypes
import os
from pathlib import Path
from stat import S_ISREG

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from hitsend.server.edge.compression import accepts_gzip

TYPES = {
    ".js": "text/javascript",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}
"""Types that the system's table may miss or have wrong."""

NOT_MODIFIED_HEADERS = ("cache-control", "etag", "vary")


def file_response(request: Request, path: Path, cache: str) -> Response | None:
    """Returns None if there is no such file."""
    headers = {"cache-control": cache, "vary": "accept-encoding"}
    kind = TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0]
    gzipped = path.with_name(path.name + ".gz")
    if accepts_gzip(request) and (stat := _stat(gzipped)):
        path, headers["content-encoding"] = gzipped, "gzip"
    elif not (stat := _stat(path)):
        return None
    response = FileResponse(
        path, headers=headers, media_type=kind or "application/octet-stream", stat_result=stat
    )
    if _is_cached(request, response.headers):
        headers = {name: response.headers[name] for name in NOT_MODIFIED_HEADERS}
        return Response(status_code=304, headers=headers)
    return response


def _stat(path: Path) -> os.stat_result | None:
    try:
        stat = path.stat()
    except (OSError, ValueError):  # no such file, or an invalid name
        return None
    return stat if S_ISREG(stat.st_mode) else None


def _is_cached(request: Request, headers: MutableHeaders) -> bool:
    if cached := request.headers.get("if-none-match"):
        return headers["etag"] in [tag.strip().removeprefix("W/") for tag in cached.split(",")]
    return False
