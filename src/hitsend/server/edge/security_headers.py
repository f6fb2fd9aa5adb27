"""The headers of every response: its request id, who may keep it, and the Content-Security-Policy
and other protections of documents."""

from starlette.responses import Response

from hitsend.server.turns.stream import TurnStream
from hitsend.settings import Settings

NO_SNIFF = (b"x-content-type-options", b"nosniff")
NO_STORE = (b"cache-control", b"no-store")
DOCUMENT_HEADERS = (
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        b"connect-src 'self'; font-src 'self'; manifest-src 'self'; base-uri 'none'; "
        b"form-action 'none'; frame-ancestors 'none'",
    ),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
    (b"referrer-policy", b"no-referrer"),
)


class SecurityHeaders:
    def __init__(self, settings: Settings) -> None:
        self._every_time = [NO_SNIFF]
        if settings.tls_cert and settings.hsts_s:  # a proxy with TLS sends its own
            value = f"max-age={settings.hsts_s}".encode()
            self._every_time.append((b"strict-transport-security", value))

    def add(self, response: Response, request_id: str) -> Response:
        headers = response.raw_headers
        headers.append((b"x-request-id", request_id.encode()))
        headers += self._every_time
        # Only the files of the page say otherwise: no browser or proxy may keep anything else.
        if not any(name == NO_STORE[0] for name, _ in headers):
            headers.append(NO_STORE)
        # A stream is never shown as a document, so it goes without the headers for documents.
        if not isinstance(response, TurnStream):
            headers += DOCUMENT_HEADERS
        return response
