"""The page: built files from web/, served as they are."""

from pathlib import Path

from starlette.responses import Response

from hitsend.errors import NotFound, Unavailable
from hitsend.server.calls import Access, Call, endpoint
from hitsend.server.files import file_answer

STATIC = Path(__file__).parents[1] / "static"
NEVER_CHANGES = "public, max-age=31536000, immutable"
FOR_A_DAY = "public, max-age=86400"
ASK_AGAIN = "no-cache"


@endpoint("GET", "/", Access.ANYONE)
async def page(call: Call) -> Response:
    """The page."""
    return _index(call)


@endpoint("GET", "/c/{conversation_id}", Access.ANYONE)
async def page_of_conversation(call: Call) -> Response:
    """The page, opened at a conversation."""
    return _index(call)


@endpoint("GET", "/invite/{token}", Access.ANYONE)
async def page_of_invite(call: Call) -> Response:
    """The page, opened with an invitation."""
    return _index(call)


@endpoint("GET", "/tokens", Access.ANYONE)
async def page_of_tokens(call: Call) -> Response:
    """The page, opened where text becomes tokens."""
    return _index(call)


@endpoint("GET", "/share/{share_id}", Access.ANYONE)
async def page_of_share(call: Call) -> Response:
    """The page, opened at what somebody shares."""
    response = _index(call)
    response.headers["x-robots-tag"] = "noindex"
    return response


@endpoint("GET", "/assets/{name}", Access.ANYONE)
async def asset(call: Call) -> Response:
    """A file of the page. Its name holds a hash of what is in it, so it never changes."""
    return _file(call, STATIC / "assets", call.path("name"), NEVER_CHANGES)


@endpoint("GET", "/icons/{name}", Access.ANYONE)
async def icon(call: Call) -> Response:
    """An icon, for a browser that installs the page as an app."""
    return _file(call, STATIC / "icons", call.path("name"), FOR_A_DAY)


@endpoint("GET", "/manifest.webmanifest", Access.ANYONE)
async def manifest(call: Call) -> Response:
    """What a browser needs to know to install the page as an app."""
    return _file(call, STATIC, "manifest.webmanifest", ASK_AGAIN)


@endpoint("GET", "/sw.js", Access.ANYONE)
async def service_worker(call: Call) -> Response:
    """What keeps the page's shell for times without a connection."""
    return _file(call, STATIC, "sw.js", ASK_AGAIN)


def _file(call: Call, folder: Path, name: str, cache: str) -> Response:
    path = folder / name
    found = file_answer(call.request, path, cache) if path.parent == folder else None
    if found is None:
        raise NotFound("There is no such file.")
    return found


def _index(call: Call) -> Response:
    found = file_answer(call.request, STATIC / "index.html", ASK_AGAIN)
    if found is None:
        raise Unavailable("The page has not been built. Run `make run`, or install a wheel.")
    return found
