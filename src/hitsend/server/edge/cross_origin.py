"""Pages of other origins that may call `/v1`: those in `HITSEND_CORS_ORIGINS`, by default none.

A browser lets a page of another origin read a response only if the response names that origin, and
first asks with OPTIONS whether it may send an API key. Only `/v1` answers so: it takes API keys and
no cookies, so a page gets nothing there that its own key would not give it.
"""

from starlette.requests import HTTPConnection
from starlette.responses import Response

from hitsend.errors import NotAllowed
from hitsend.server.auth.identify import MAX_QUOTED_CHARS
from hitsend.settings import Settings, split_list

ROOT = "/v1/"
MAX_AGE_S = 600
EXPOSED = (
    "x-request-id, retry-after, retry-after-ms, idempotency-replayed, "
    "x-ratelimit-limit-requests, x-ratelimit-remaining-requests, x-ratelimit-reset-requests, "
    "x-ratelimit-limit-tokens, x-ratelimit-remaining-tokens, x-ratelimit-reset-tokens"
)


class CrossOrigin:
    def __init__(self, settings: Settings) -> None:
        self._origins = frozenset(split_list(settings.cors_origins.lower()))

    def add_headers(self, request: HTTPConnection, response: Response) -> None:
        """Lets the page that asked read the response, if its origin is allowed."""
        if not self._origins or not request.url.path.startswith(ROOT):
            return
        response.headers.add_vary_header("Origin")
        if self._allows(request):
            response.headers["access-control-allow-origin"] = request.headers["origin"]
            response.headers["access-control-expose-headers"] = EXPOSED

    def answer_preflight(self, request: HTTPConnection) -> Response:
        """Answers whether the page may send such a request. Raises NotAllowed."""
        if not self._allows(request):
            origin = request.headers.get("origin", "")[:MAX_QUOTED_CHARS]
            raise NotAllowed(
                f"Pages of {origin or 'no origin'} may not call this. See HITSEND_CORS_ORIGINS."
            )
        wanted = request.headers.get("access-control-request-headers", "")
        allowed = {
            "access-control-allow-methods": "GET, POST",
            "access-control-max-age": str(MAX_AGE_S),
        }
        return Response(
            status_code=204,
            headers=allowed | ({"access-control-allow-headers": wanted} if wanted else {}),
        )

    def _allows(self, request: HTTPConnection) -> bool:
        return request.headers.get("origin", "").lower() in self._origins
