"""The page: built files from web/, served as they are."""

from pathlib import Path

from starlette.responses import FileResponse, Response

from hitsend.errors import NotFound, Unavailable
from hitsend.server.calls import Access, Call, endpoint

STATIC = Path(__file__).parents[1] / "static"
NEVER_CHANGES = {"cache-control": "public, max-age=31536000, immutable"}
ASK_AGAIN = {"cache-control": "no-cache"}


@endpoint("GET", "/", Access.ANYONE)
async def page(call: Call) -> Response:
    """The page."""
    return _index()


@endpoint("GET", "/c/{conversation_id}", Access.ANYONE)
async def page_of_conversation(call: Call) -> Response:
    """The page, opened at a conversation."""
    return _index()


@endpoint("GET", "/invite/{token}", Access.ANYONE)
async def page_of_invite(call: Call) -> Response:
    """The page, opened with an invitation."""
    return _index()


@endpoint("GET", "/assets/{name}", Access.ANYONE)
async def asset(call: Call) -> Response:
    """A file of the page. Its name holds a hash of what is in it, so it never changes."""
    path = STATIC / "assets" / call.path("name")
    if path.parent != STATIC / "assets" or not _is_file(path):
        raise NotFound("There is no such file.")
    return FileResponse(path, headers=NEVER_CHANGES)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name no file can have: too long, say
        return False


def _index() -> Response:
    path = STATIC / "index.html"
    if not path.is_file():
        raise Unavailable("The page has not been built. Run `make run`, or install a wheel.")
    return FileResponse(path, headers=ASK_AGAIN)
