"""Lets someone create the first account who is at this machine, or has the setup token.

The token is printed when the server starts. It is also needed on this machine where a proxy may
stand in front, because then every visitor seems to be on this machine, and where the database was
lost: then its administrators are other people than the next visitor.
"""

import hmac
from ipaddress import IPv6Address, ip_address

from starlette.requests import Request

from hitsend.errors import NotAllowed
from hitsend.server.app import App
from hitsend.server.edge.allowed_hosts import LOCAL_NAMES
from hitsend.server.edge.forwarded_headers import client_address
from hitsend.settings import Settings
from hitsend.store.first_account import SetupState

PROXY_HEADERS = frozenset(
    {"forwarded", "via", "x-real-ip", "x-client-ip", "true-client-ip", "cf-connecting-ip"}
)
PROXY_PREFIX = "x-forwarded-"


def needs_setup_token(request: Request, app: App, setup: SetupState) -> bool:
    return setup.is_database_lost or not _is_from_this_machine(request, app.services.settings)


async def check_setup_token(request: Request, app: App, given: str) -> None:
    """Raises NotAllowed for a wrong token."""
    with app.sign_in_throttle.begin(client_address(request), None) as attempt:
        token = await app.services.store.first_account.token()
        if not hmac.compare_digest(given.encode(errors="surrogatepass"), token.encode()):
            attempt.record_failure()
            raise NotAllowed(
                "This needs the setup token, which hitsend printed when it started. To see it "
                "again, run `hitsend admin setup-link` on the server.",
                param="setup_token",
            )


def describe_setup(setup: SetupState, database: str, link: str) -> str:
    """Returns what to tell whoever starts a server without accounts."""
    if setup.is_database_lost:
        return (
            f"There were accounts here, but the database {database} is missing or empty.\n"
            "Stop hitsend and restore a backup of it. To begin anew instead, make the "
            f"administrator's account with this link:\n{link}"
        )
    return (
        "There is no account yet. Open the page on this machine to make the administrator's, or "
        "use this link from elsewhere,\nwith the server's own name in it. It works once; keep it "
        f"to yourself:\n{link}"
    )


def _is_from_this_machine(request: Request, settings: Settings) -> bool:
    """False where a proxy may stand in front. Some add no header; nginx speaks HTTP/1.0 by default,
    and browsers do not. A foreign name for this machine is an attack (DNS rebinding)."""
    is_proxied = (
        bool(settings.trusted_proxies)
        or request.scope.get("http_version") == "1.0"
        or any(name in PROXY_HEADERS or name.startswith(PROXY_PREFIX) for name in request.headers)
    )
    is_local = request.client is not None and _is_loopback(request.client.host)
    return is_local and not is_proxied and request.url.hostname in LOCAL_NAMES


def _is_loopback(host: str) -> bool:
    try:
        address = ip_address(host)
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return (mapped or address).is_loopback
