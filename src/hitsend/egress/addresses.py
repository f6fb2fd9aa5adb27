"""Tells whether an address is on the public internet.

The table is our own, because `ipaddress.is_global` differs between versions of Python.
"""

import socket
from ipaddress import IPv4Address, IPv6Address, ip_network
from typing import TypeAlias

Address: TypeAlias = IPv4Address | IPv6Address

NOT_PUBLIC_V4 = [
    ip_network(network)
    for network in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # shared by the customers of a provider; metadata of Alibaba Cloud
        "127.0.0.0/8",  # loopback
        "168.63.129.16/32",  # the host of a virtual machine in Azure
        "169.254.0.0/16",  # link-local; metadata of most clouds
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocols; metadata of Oracle Cloud
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # AS112
        "192.52.193.0/24",  # multicast tunnels
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",  # private
        "192.175.48.0/24",  # AS112
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, broadcast
    )
]
ALLOCATED_V6 = ip_network("2000::/3")
"""All that is allocated. Private, link-local, multicast and IPv4-mapped addresses lie outside."""
NOT_PUBLIC_V6 = [
    ip_network(network)
    for network in (
        "2001::/23",  # protocols, Teredo included
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4
        "2620:4f:8000::/48",  # AS112
        "3fff::/20",  # documentation
    )
]
NAT64 = ip_network("64:ff9b::/96")
"""The last 32 bits are an IPv4 address. Where only IPv6 is spoken, most names resolve to these."""


def is_public(address: Address) -> bool:
    if isinstance(address, IPv4Address):
        return not any(address in network for network in NOT_PUBLIC_V4)
    if address in NAT64:
        return is_public(IPv4Address(int(address) & 0xFFFF_FFFF))
    return address in ALLOCATED_V6 and not any(address in network for network in NOT_PUBLIC_V6)


def is_own(address: Address) -> bool:
    """Whether a connection to the address would end at this machine: then it could reach services
    that a firewall hides from others. Sends nothing."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((str(address), 9))
            name: str = probe.getsockname()[0]
    except OSError:  # no route
        return False
    return name == str(address)
