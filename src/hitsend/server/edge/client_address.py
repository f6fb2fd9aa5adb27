"""The client's address, as limits count it.

An IPv6 client owns its whole /64, which therefore counts as one address. IPv4 addresses written as
IPv6, also by a NAT64 gateway, count as IPv4. Trusted proxies were resolved before (see `proxies`).
"""

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

from starlette.requests import Request

UNKNOWN = ""
NUM_HOST_BITS = 64
NAT64 = IPv6Network("64:ff9b::/96")
"""Addresses that end in an IPv4 address: see RFC 6052."""


def client_address(request: Request) -> str:
    return network_of(request.client.host) if request.client else UNKNOWN


def network_of(host: str) -> str:
    """Returns an IPv4 address as it is, and the /64 of an IPv6 address. Everything else is UNKNOWN,
    and so counts as one client."""
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
