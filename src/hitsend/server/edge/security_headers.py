"""The headers of every response: its request id, and the Content-Security-Policy and other
protections of documents."""

from starlette.responses import Response

from hitsend.server.turns.stream import TurnStream

NO_SNIFF = (b"x-content-type-options", b"nosniff")
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


def add_headers(response: Response, request_id: str) -> Response:
    headers = response.raw_headers
    headers.append((b"x-request-id", request_id.encode()))
    headers.append(NO_SNIFF)
    # A stream is never shown as a document, so it goes without the headers for documents.
    if not isinstance(response, TurnStream):
        headers.extend(DOCUMENT_HEADERS)
    return response
