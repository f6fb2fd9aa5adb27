"""Proxies in front: which are believed, and what they say of a call.

Anyone can write the headers by which a proxy tells who is calling and how. So they count only from
the addresses in `trusted_proxies`. A proxy that is set up by halves breaks little at once: a page
hears no news, or all callers share one limit. So the log says so, once.
"""

import logging
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from hitsend.server.people import is_own_origin

log = logging.getLogger(__name__)

SECURE = {"https": True, "wss": True, "http": False, "ws": False}
"""What X-Forwarded-Proto may say. Anything else is not heard."""

NOT_TRUSTED = (
    "A call from %s says on whose behalf it comes, and is not believed. If that is your proxy, set "
    "HITSEND_TRUSTED_PROXIES=%s: until then all who come through it share one limit, and count as "
    "if they came by HTTP. See docs/hosting.md."
)
NOT_SECURE = (
    "A page that was opened by HTTPS calls by HTTP, as far as the proxy in front says. It has to "
    "set X-Forwarded-Proto, and HITSEND_TRUSTED_PROXIES has to name it. See docs/hosting.md."
)
NOT_UPGRADED = (
    "A WebSocket arrived without `Upgrade`: the proxy in front has to pass it on. Until then pages "
    "hear no news. See docs/hosting.md."
)


class Proxies:
    """Those whose word counts."""

    def __init__(self, listed: Iterable[str]) -> None:
        self._networks = [ip_network(one) for one in listed]

    def trust(self, host: str) -> bool:
        address = _address(host) if self._networks else None
        return address is not None and any(address in network for network in self._networks)

    def caller(self, forwarded_for: str) -> str:
        """The last in the line whom none of them vouches for: what stands before it, the caller
        may have written. If all are proxies, the first of them is the caller."""
        line = [_without_port(one.strip()) for one in forwarded_for.split(",")]
        return next((host for host in reversed(line) if not self.trust(host)), line[0])


class Forwarded:
    """The app, and in front of it whoever passes calls on to it."""

    def __init__(self, app: ASGIApp, proxies: Proxies) -> None:
        self._app = app
        self._proxies = proxies
        self._said = set[str]()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        peer = scope["client"][0] if scope["client"] else ""
        if self._proxies.trust(peer):
            scope = self._believed(scope, headers)
        elif "x-forwarded-for" in headers or "x-forwarded-proto" in headers:
            self._say_once(NOT_TRUSTED, peer, peer)
        self._look_for_what_is_missing(scope, headers)
        await self._app(scope, receive, send)

    def _believed(self, scope: Scope, headers: Headers) -> Scope:
        heard: Scope = {}
        proto = headers.getlist("x-forwarded-proto")[-1:]
        if proto and (is_secure := SECURE.get(proto[0].strip().lower())) is not None:
            plain = "ws" if scope["type"] == "websocket" else "http"
            heard["scheme"] = plain + "s" * is_secure
        if caller := self._proxies.caller(",".join(headers.getlist("x-forwarded-for"))):
            heard["client"] = (caller, 0)
        return {**scope, **heard}

    def _look_for_what_is_missing(self, scope: Scope, headers: Headers) -> None:
        if scope["type"] != "http":
            return
        if "sec-websocket-key" in headers and "upgrade" not in headers:
            self._say_once(NOT_UPGRADED)
        origin, host = headers.get("origin", ""), headers.get("host", "")
        is_secure = origin.startswith("https://") and is_own_origin(origin, host)
        if is_secure and scope["scheme"] == "http":
            self._say_once(NOT_SECURE)

    def _say_once(self, sentence: str, *facts: str) -> None:
        if sentence not in self._said:
            self._said.add(sentence)
            log.warning(sentence, *facts)


def _address(host: str) -> IPv4Address | IPv6Address | None:
    """One that listens for both kinds sees IPv4 written as IPv6."""
    try:
        address = ip_address(host)
    except ValueError:
        return None
    return address.ipv4_mapped or address if isinstance(address, IPv6Address) else address


def _without_port(host: str) -> str:
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0] if host.count(":") == 1 else host
