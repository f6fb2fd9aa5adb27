"""Errors as answers: the same body everywhere, and OpenAI's shape alone on /v1."""

import math

import msgspec
from starlette.responses import Response

from hitsend.errors import HitsendError, TooFast, Unauthenticated, Unavailable
from hitsend.server.calls import answer
from hitsend.server.rates import rate_headers
from hitsend.wire.problem import problem

RETRY_AFTER_S = 1.0
"""When to come back, where nobody knows better."""


def failure(error: HitsendError, path: str) -> Response:
    body = {"error": msgspec.to_builtins(problem(error))}
    if not path.startswith("/v1/"):
        body["detail"] = error.message
    return answer(body, error.status, _headers(error))


def _headers(error: HitsendError) -> dict[str, str]:
    if isinstance(error, Unavailable | TooFast):
        seconds = error.retry_after_s or RETRY_AFTER_S
        rates = rate_headers(error.allowances) if isinstance(error, TooFast) else {}
        return rates | {
            "retry-after": str(math.ceil(seconds)),
            "retry-after-ms": str(math.ceil(seconds * 1000)),
        }
    if isinstance(error, Unauthenticated):
        return {"www-authenticate": "Bearer"}
    return {}
