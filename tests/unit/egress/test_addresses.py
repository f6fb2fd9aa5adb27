from ipaddress import ip_address

import pytest

from hitsend.egress.addresses import is_own, is_public


@pytest.mark.parametrize(
    "address",
    [
        "1.1.1.1",
        "8.8.8.8",
        "100.63.255.255",
        "100.128.0.1",
        "172.15.0.1",
        "172.32.0.1",
        "223.255.1.1",
    ]
    + ["2606:4700:4700::1111", "2a00:1450:4001::1", "2001:200::1", "64:ff9b::8.8.8.8"],
)
def test_addresses_of_the_internet_are_public(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize(
    "address",
    [
        "10.1.2.3",
        "127.0.0.1",
        "0.0.0.0",
        "169.254.169.254",
        "100.64.0.1",
        "192.168.1.1",
        "172.20.0.1",
    ]
    + ["192.0.0.192", "168.63.129.16", "224.0.0.1", "255.255.255.255", "198.18.0.1", "203.0.113.9"]
    + ["::", "::1", "::ffff:8.8.8.8", "::8.8.8.8", "64:ff9b::10.0.0.1", "64:ff9b:1::8.8.8.8"]
    + [
        "2002:808:808::1",
        "2001::1",
        "2001:db8::1",
        "fe80::1",
        "fd00:ec2::254",
        "ff02::1",
        "fec0::1",
    ],
)
def test_private_special_and_translated_addresses_are_not(address: str) -> None:
    assert not is_public(ip_address(address))


def test_an_address_of_this_machine_is_known_to_be_its_own() -> None:
    assert is_own(ip_address("127.0.0.1"))
    assert not is_own(ip_address("203.0.113.1"))
