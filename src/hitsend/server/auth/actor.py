"""Describes the caller of a request for the audit log: user, credential, address, browser."""

import re

from starlette.requests import Request

from hitsend.server.auth.identify import Identity
from hitsend.server.edge.forwarded_headers import client_address
from hitsend.store import Actor

BROWSERS = {"Edg": "Edge", "OPR": "Opera", "Firefox": "Firefox", "FxiOS": "Firefox"} | {
    "Chrome": "Chrome",
    "CriOS": "Chrome",
    "Safari": "Safari",
}
"""By the product token that only they send, those first that also send another's."""
FIRST_PRODUCT = re.compile(r"[\w.+ -]{1,40}", re.ASCII)


def actor_of(request: Request, caller: Identity | None) -> Actor:
    return Actor(
        via="api" if caller and caller.key_id else "page",
        user_id=caller.user.id if caller else None,
        address=client_address(request),
        session_id=caller.session.id if caller and caller.session else None,
        key_id=caller.key_id if caller else None,
        agent=agent_family(request.headers.get("user-agent", "")),
    )


def agent_family(user_agent: str) -> str:
    """Returns a browser's name, or else the name of the program, such as `curl`."""
    products = {product.partition("/")[0] for product in user_agent.split()}
    for token, browser in BROWSERS.items():
        if token in products:
            return browser
    named = FIRST_PRODUCT.match(user_agent.partition("/")[0])
    return named[0].strip() if named else ""
