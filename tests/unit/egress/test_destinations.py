import pytest

from hitsend.egress import open_egress, parse_trusted
from hitsend.egress.destinations import resolve_name
from hitsend.settings import BadSetting, Settings


@pytest.mark.parametrize(
    ("text", "target", "ports"),
    [
        ("wiki.lan", "wiki.lan", {80, 443}),
        ("Wiki.LAN.:8080", "wiki.lan", {8080}),
        ("10.2.0.0/16", "10.2.0.0/16", {80, 443}),
        ("10.2.0.1:8080", "10.2.0.1/32", {8080}),
        ("fd00::/8", "fd00::/8", {80, 443}),
        ("[fd00::1]:8443", "fd00::1/128", {8443}),
        ("[fd00::/8]:8443", "fd00::/8", {8443}),
    ],
)
def test_an_administrator_trusts_hosts_and_networks(
    text: str, target: str, ports: set[int]
) -> None:
    trusted = parse_trusted(text)
    assert (str(trusted.target), set(trusted.ports)) == (target, ports)


@pytest.mark.parametrize(
    "text",
    ["", ":80", "wiki.lan:", "wiki.lan:0", "wiki.lan:99999", "wiki.lan:http", "http://wiki.lan"]
    + ["wiki lan", "10.2.0.1/16", "10.2.0.0/33", "0x7f.1", "2130706433", "*", "a" * 64, "[::1"],
)
def test_what_is_neither_host_nor_network_cannot_be_trusted(text: str) -> None:
    with pytest.raises(ValueError, match="neither a host nor a network|no valid port"):
        parse_trusted(text)


def test_a_wrong_entry_of_the_setting_is_named() -> None:
    with pytest.raises(BadSetting, match=r"`trusted_destinations` is wrong: 10\.0\.0\.0/33 "):
        open_egress(Settings(trusted_destinations="wiki.lan, 10.0.0.0/33"))


async def test_names_are_asked_of_the_system() -> None:
    assert set(await resolve_name("localhost", 80)) <= {"127.0.0.1", "::1"}
