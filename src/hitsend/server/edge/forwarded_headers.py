"""Reads headers of trusted proxies (`X-Forwarded-For`, `X-Forwarded-Proto`, `X-Request-Id`), and
returns the client's address, by which limits count.

Anyone can send these headers, so they count only from the addresses in `trusted_proxies`. A proxy
that is half configured breaks things that are hard to notice: pages get no news, or all clients
share one limit. So each such mistake is logged once.
"""

import logging
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from hitsend.server.auth.identify import is_same_origin
from hitsend.server.edge.request_id import REQUEST_ID, is_request_id

log = logging.getLogger(__name__)

UNKNOWN = ""
NUM_HOST_BITS = 64
NAT64 = IPv6Network("64:ff9b::/96")
"""Addresses that end in an IPv4 address: see RFC 6052."""

IS_SECURE = {"https": True, "wss": True, "http": False, "ws": False}
"""The values of X-Forwarded-Proto. Others are ignored."""

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


def client_address(request: Request) -> str:
    return network_of(request.client.host) if request.client else UNKNOWN


def network_of(host: str) -> str:
    """Returns an IPv4 address as it is, also where it is written as IPv6, and the /64 of an IPv6
    address, because a client owns its whole /64. Everything else is UNKNOWN: one client."""
    try:
        address = ip_address(host)
    except ValueError:
        return UNKNOWN
    if not isinstance(address, IPv6Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    if address in NAT64:
        return str(IPv4Address(address.packed[-4:]))
    return f"{IPv6Address(int(address) >> NUM_HOST_BITS << NUM_HOST_BITS)}/{128 - NUM_HOST_BITS}"


class TrustedProxies:
    def __init__(self, networks: Iterable[str]) -> None:
        self._networks = [ip_network(network) for network in networks]

    def is_trusted(self, host: str) -> bool:
        address = _parse_address(host) if self._networks else None
        return address is not None and any(address in network for network in self._networks)

    def find_client(self, forwarded_for: str) -> str:
        """Returns the last address that is not a trusted proxy: the client may have forged those
        before it. If all are proxies, the first one is the client."""
        hosts = [_without_port(host.strip()) for host in forwarded_for.split(",")]
        return next((host for host in reversed(hosts) if not self.is_trusted(host)), hosts[0])


class ForwardedHeaders:
    """Middleware that applies the headers of trusted proxies to the scope."""

    def __init__(self, app: ASGIApp, proxies: TrustedProxies) -> None:
        self._app = app
        self._proxies = proxies
        self._warned = set[str]()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        peer = scope["client"][0] if scope["client"] else ""
        if self._proxies.is_trusted(peer):
            scope = self._apply(scope, headers)
        elif "x-forwarded-for" in headers or "x-forwarded-proto" in headers:
            self._warn_once(NOT_TRUSTED, peer, peer)
        self._warn_of_mistakes(scope, headers)
        await self._app(scope, receive, send)

    def _apply(self, scope: Scope, headers: Headers) -> Scope:
        forwarded: Scope = {}
        proto = headers.getlist("x-forwarded-proto")[-1:]
        if proto and (is_secure := IS_SECURE.get(proto[0].strip().lower())) is not None:
            plain = "ws" if scope["type"] == "websocket" else "http"
            forwarded["scheme"] = plain + "s" * is_secure
        if client := self._proxies.find_client(",".join(headers.getlist("x-forwarded-for"))):
            forwarded["client"] = (client, 0)
        if is_request_id(request_id := headers.get("x-request-id", "")):
            forwarded[REQUEST_ID] = request_id
        return {**scope, **forwarded}

    def _warn_of_mistakes(self, scope: Scope, headers: Headers) -> None:
        if scope["type"] != "http":
            return
        if "sec-websocket-key" in headers and "upgrade" not in headers:
            self._warn_once(NOT_UPGRADED)
        origin, host = headers.get("origin", ""), headers.get("host", "")
        is_secure = origin.startswith("https://") and is_same_origin(origin, host)
        if is_secure and scope["scheme"] == "http":
            self._warn_once(NOT_SECURE)

    def _warn_once(self, sentence: str, *facts: str) -> None:
        if sentence not in self._warned:
            self._warned.add(sentence)
            log.warning(sentence, *facts)


def _parse_address(host: str) -> IPv4Address | IPv6Address | None:
    """A dual-stack listener sees IPv4 clients as mapped IPv6 addresses."""
    try:
        address = ip_address(host)
    except ValueError:
        return None
    return address.ipv4_mapped or address if isinstance(address, IPv6Address) else address


def _without_port(host: str) -> str:
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0] if host.count(":") == 1 else host
