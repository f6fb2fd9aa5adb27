"""Where a call comes from, as far as limits tell callers apart.

Whoever has one IPv6 address has all of its network: 2^64 of them. So that counts as one. Where an
IPv4 address is written as IPv6, also by a gateway between the two, it counts as itself.
It knows no proxies: those that are trusted were heard before (see `proxies`).
"""

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

from starlette.requests import Request

UNKNOWN = ""
NUM_HOST_BITS = 64
NAT64 = IPv6Network("64:ff9b::/96")
"""What ends in an IPv4 address: see RFC 6052."""


def address_of(request: Request) -> str:
    return network_of(request.client.host) if request.client else UNKNOWN


def network_of(host: str) -> str:
    """An IPv4 address, or the network of an IPv6 one. Whatever is neither counts together."""
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
