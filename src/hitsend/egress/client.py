"""Clients that reach allowed destinations only, and one fetch with all its limits and errors."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence

import httpx2
import msgspec

from hitsend.egress.destinations import (
    WEB_PORTS,
    Destinations,
    Resolve,
    Trusted,
    parse_trusted,
    resolve_name,
    trust_origin,
)
from hitsend.egress.transport import GuardedTransport
from hitsend.errors import Refused, Unavailable
from hitsend.settings import BadSetting, Settings, split_list

CONNECT_TIMEOUT_S = 5.0


class Limits(msgspec.Struct, frozen=True):
    max_bytes: int | None = 5_000_000
    """Longest body, both as sent and as unpacked."""
    total_s: float = 15.0
    silence_s: float = 8.0
    max_redirects: int = 5


LIMITS = Limits()

CheckRequest = Callable[[httpx2.Request], Awaitable[None]]


class Egress:
    """Trusted destinations are connected to wherever they are, all others on `ports` if they are
    on the public internet."""

    def __init__(
        self,
        trusted: Sequence[Trusted] = (),
        ports: frozenset[int] = WEB_PORTS,
        resolve: Resolve = resolve_name,
    ) -> None:
        self._trusted = trusted
        self._ports = ports
        self._resolve = resolve
        self._destinations = Destinations(trusted, ports, resolve)
        self._tls: ssl.SSLContext | None = None

    def trusting(self, url: httpx2.URL) -> "Egress":
        """Returns one that may also connect to the host and port of a URL that an administrator
        chose."""
        return Egress([*self._trusted, trust_origin(url)], self._ports, self._resolve)

    def client(self, limits: Limits = LIMITS) -> httpx2.AsyncClient:
        """Returns a client with its own connections and cookies: use one for each person and
        purpose. Besides httpx2's errors it raises Refused and Unavailable."""
        return httpx2.AsyncClient(
            transport=self.transport(limits.max_bytes),
            timeout=httpx2.Timeout(limits.silence_s, connect=CONNECT_TIMEOUT_S),
            max_redirects=limits.max_redirects,
            trust_env=False,
        )

    def transport(self, max_bytes: int | None) -> GuardedTransport:
        """Returns what a client sends its requests through, for clients that wrap it."""
        if self._tls is None:
            self._tls = httpx2.create_ssl_context()
        return GuardedTransport(self._destinations, self._tls, max_bytes)

    async def get(
        self,
        url: httpx2.URL,
        headers: Mapping[str, str],
        *,
        limits: Limits = LIMITS,
        follows_redirects: bool = False,
        check_request: CheckRequest | None = None,
    ) -> httpx2.Response:
        """Fetches a URL. `check_request` is called before each request, redirected ones too.

        Raises Refused for a destination that is not allowed or an answer that is too large,
        Unavailable if no proper answer comes.
        """
        try:
            async with asyncio.timeout(limits.total_s), self.client(limits) as client:
                if check_request is not None:
                    client.event_hooks["request"].append(check_request)
                return await client.get(url, headers=headers, follow_redirects=follows_redirects)
        except (TimeoutError, httpx2.TimeoutException):
            raise Unavailable(f"{url.host} took too long to answer.") from None
        except httpx2.TooManyRedirects:
            raise Unavailable(f"{url.host} redirects too many times.") from None
        except httpx2.InvalidURL:
            raise Refused("This is no valid URL.", param="url") from None
        except httpx2.HTTPError as error:
            raise Unavailable(describe_failure(url.host, error)) from None


def open_egress(settings: Settings) -> Egress:
    """Raises BadSetting."""
    try:
        return Egress([parse_trusted(one) for one in split_list(settings.trusted_destinations)])
    except ValueError as error:
        raise BadSetting(f"`trusted_destinations` is wrong: {error}.") from None


def describe_failure(host: str, error: httpx2.HTTPError) -> str:
    """Says why no proper answer came."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            return f"{host} has no certificate that this server trusts."
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, httpx2.ConnectError):
        return f"{host} cannot be reached."
    return f"{host} did not answer properly."
