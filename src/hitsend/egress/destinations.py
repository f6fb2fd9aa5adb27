"""Allows requests to web servers on the public internet, and to hosts that an administrator trusts.
A name is resolved once, and the connection goes to an address that was checked: it does not matter
what the name resolves to a moment later."""

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import TypeAlias

import httpx2
import msgspec

from hitsend.egress.addresses import Address, is_own, is_public
from hitsend.errors import DestinationRefused, Refused, Unavailable

WEB_PORTS = frozenset({80, 443})
HOST = re.compile(r"(?=.{1,253}\.?$)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*\.?", re.ASCII)
NUMBER = re.compile(r"\d+|0x[0-9a-f]*", re.ASCII)

Resolve: TypeAlias = Callable[[str, int], Awaitable[Sequence[str]]]
"""Returns the addresses of a name."""

THREADS = ThreadPoolExecutor(max_workers=8, thread_name_prefix="resolver")
"""Only for names: a name server that never answers must not hold up other work."""


class Trusted(msgspec.Struct, frozen=True):
    """A host or a network that an administrator trusts."""

    target: str | IPv4Network | IPv6Network
    ports: frozenset[int]

    def covers(self, host: str, address: Address, port: int) -> bool:
        if port not in self.ports:
            return False
        return host == self.target if isinstance(self.target, str) else address in self.target


def parse_trusted(text: str) -> Trusted:
    """Reads `wiki.lan`, `10.2.0.0/16` or `[fd00::1]:8443`. Raises ValueError."""
    if (network := _read_network(text)) is not None:
        return Trusted(network, WEB_PORTS)
    target, colon, port = text.rpartition(":")
    if not colon:
        target, port = text, ""
    elif not port.isascii() or not port.isdigit() or not 0 < int(port) < 65_536:
        raise ValueError(f"{text} has no valid port")
    ports = frozenset({int(port)}) if port else WEB_PORTS
    if (network := _read_network(target)) is not None:
        return Trusted(network, ports)
    host = target.lower().rstrip(".")
    if not HOST.fullmatch(host) or NUMBER.fullmatch(host.rpartition(".")[2]):
        raise ValueError(f"{text} is neither a host nor a network")
    return Trusted(host, ports)


def trust_origin(url: httpx2.URL) -> Trusted:
    """Trusts the host and port of a URL that an administrator chose."""
    return parse_trusted(f"{_bracket(_host(url))}:{url.port or _default_port(url)}")


def parse_url(text: str) -> httpx2.URL:
    """Reads the URL of a web page. Raises Refused."""
    try:
        url = httpx2.URL(text.strip())
    except (httpx2.InvalidURL, UnicodeError):
        raise Refused("This is no valid URL.", param="url") from None
    check_form(url)
    return url


def check_form(url: httpx2.URL) -> None:
    """Refuses what is no plain `http` or `https` URL of a host, before anything is resolved."""
    if url.scheme not in ("http", "https"):
        raise DestinationRefused("Only http and https URLs can be opened.", param="url")
    if url.userinfo:
        raise DestinationRefused("A URL with a user name or password is not opened.", param="url")
    host = _host(url)
    if _read_address(host) is None and (
        not HOST.fullmatch(host) or NUMBER.fullmatch(host.rstrip(".").rpartition(".")[2])
    ):
        # The system's resolver would read 0x7f.1, 017700000001 and 2130706433 as addresses.
        raise DestinationRefused("The URL has no valid host name.", param="url")


class Destinations:
    def __init__(self, trusted: Sequence[Trusted], ports: frozenset[int], resolve: Resolve) -> None:
        self._trusted = trusted
        self._ports = ports
        self._resolve = resolve

    async def resolve(self, host: str, port: int) -> list[Address]:
        """Returns the addresses of the host. Raises DestinationRefused if one of them may not be
        connected to, or not on this port."""
        literal = _read_address(host)
        addresses = [literal] if literal else await self._look_up(host, port)
        name = host.lower().rstrip(".")
        for address in addresses:
            self._check(name, address, port)
        return addresses

    async def _look_up(self, host: str, port: int) -> list[Address]:
        try:
            found = [ip_address(address) for address in await self._resolve(host, port)]
        except (OSError, ValueError):
            found = []
        if not found:
            raise Unavailable(f"No address is known for {host}.")
        return list(dict.fromkeys(found))

    def _check(self, host: str, address: Address, port: int) -> None:
        if any(one.covers(host, address, port) for one in self._trusted):
            return
        if port not in self._ports:
            raise DestinationRefused(f"Port {port} is not opened.", param="url")
        if not is_public(address) or is_own(address):
            raise DestinationRefused(
                f"{host} is not on the public internet. An administrator can allow it "
                "(HITSEND_TRUSTED_DESTINATIONS).",
                param="url",
            )


async def resolve_name(host: str, port: int) -> list[str]:
    """Asks the system's resolver."""
    name = host.encode("ascii")  # as bytes: Python would apply IDNA 2003 to a str
    found = await asyncio.get_running_loop().run_in_executor(
        THREADS, lambda: socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)
    )
    return [str(where[0]) for *_, where in found]


def _host(url: httpx2.URL) -> str:
    """Returns the host as sent: lower case, IDNA-encoded, an IPv6 address without brackets."""
    return url.raw_host.decode("ascii")


def _bracket(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _default_port(url: httpx2.URL) -> int:
    return 443 if url.scheme == "https" else 80


def _read_address(host: str) -> Address | None:
    try:
        return None if "%" in host else ip_address(host)  # no interface of this machine
    except ValueError:
        return None


def _read_network(text: str) -> IPv4Network | IPv6Network | None:
    try:
        return ip_network(text[1:-1] if text.startswith("[") and text.endswith("]") else text)
    except ValueError:
        return None
