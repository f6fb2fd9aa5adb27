"""The id of a request: in its response (`x-request-id`), in its error, in its log lines and in the
record of its turn. A trusted proxy may choose it."""

import re
from uuid import uuid4

from starlette.types import Scope

REQUEST_ID = "hitsend.request_id"
"""Where the scope holds it."""
WELL_FORMED = re.compile(r"[0-9A-Za-z-]{8,64}")


def is_request_id(text: str) -> bool:
    return WELL_FORMED.fullmatch(text) is not None


def request_id_of(scope: Scope) -> str:
    """Returns the request's id, and gives it one if it has none."""
    if REQUEST_ID not in scope:
        scope[REQUEST_ID] = str(uuid4())
    return str(scope[REQUEST_ID])
