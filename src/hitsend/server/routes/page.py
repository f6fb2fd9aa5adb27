"""The web page: static files built from web/."""

from pathlib import Path

from starlette.responses import Response

from hitsend.errors import NotFound, Unavailable
from hitsend.server.call import Access, Call, endpoint
from hitsend.server.edge.static_files import file_response

STATIC = Path(__file__).parents[1] / "static"
IMMUTABLE = "public, max-age=31536000, immutable"
ONE_DAY = "public, max-age=86400"
REVALIDATE = "no-cache"


@endpoint("GET", "/", Access.ANYONE)
async def serve_page(call: Call) -> Response:
    """Serve the page."""
    return _index(call)


@endpoint("GET", "/c/{conversation_id}", Access.ANYONE)
async def serve_conversation_page(call: Call) -> Response:
    """Serve the page for a conversation."""
    return _index(call)


@endpoint("GET", "/invite/{token}", Access.ANYONE)
async def serve_invite_page(call: Call) -> Response:
    """Serve the page for an invitation."""
    return _index(call)


@endpoint("GET", "/tokens", Access.ANYONE)
async def serve_tokens_page(call: Call) -> Response:
    """Serve the page for the tokenizer."""
    return _index(call)


@endpoint("GET", "/oauth/callback", Access.ANYONE)
async def serve_sign_in_page(call: Call) -> Response:
    """Serve the page to which the sign-in of an MCP server sends people back."""
    return _index(call)


@endpoint("GET", "/share/{share_id}", Access.ANYONE)
async def serve_share_page(call: Call) -> Response:
    """Serve the page for a shared conversation."""
    response = _index(call)
    response.headers["x-robots-tag"] = "noindex"
    return response


@endpoint("GET", "/assets/{name}", Access.ANYONE)
async def serve_asset(call: Call) -> Response:
    """Serve a file of the page. Its name contains a hash of its content."""
    return _file(call, STATIC / "assets", call.path_param("name"), IMMUTABLE)


@endpoint("GET", "/icons/{name}", Access.ANYONE)
async def serve_icon(call: Call) -> Response:
    """Serve an icon of the installed page."""
    return _file(call, STATIC / "icons", call.path_param("name"), ONE_DAY)


@endpoint("GET", "/manifest.webmanifest", Access.ANYONE)
async def serve_manifest(call: Call) -> Response:
    """Serve the web app manifest, with which browsers install the page."""
    return _file(call, STATIC, "manifest.webmanifest", REVALIDATE)


@endpoint("GET", "/sw.js", Access.ANYONE)
async def serve_service_worker(call: Call) -> Response:
    """Serve the service worker, which keeps the page's shell for use offline."""
    return _file(call, STATIC, "sw.js", REVALIDATE)


def _file(call: Call, folder: Path, name: str, cache: str) -> Response:
    path = folder / name
    found = file_response(call.request, path, cache) if path.parent == folder else None
    if found is None:
        raise NotFound("There is no such file.")
    return found


def _index(call: Call) -> Response:
    found = file_response(call.request, STATIC / "index.html", REVALIDATE)
    if found is None:
        raise Unavailable("The page has not been built. Run `make run`, or install a wheel.")
    return found
