import time

import pytest

from hitsend.tools.web.robots import parse_robots


@pytest.mark.parametrize(
    ("text", "path", "is_allowed"),
    [
        ("", "/", True),
        ("User-agent: *\nDisallow:", "/x", True),
        ("User-agent: *\nDisallow: /", "/", False),
        ("user-AGENT:*\ndisallow:/a # why", "/abc", False),
        ("User-agent: *\nDisallow: /a", "/b", True),
        ("User-agent: other\nDisallow: /", "/", True),
        ("User-agent: hitsend\nAllow: /\n\nUser-agent: *\nDisallow: /", "/x", True),
        ("User-agent: HitSend/2.0\nDisallow: /", "/x", False),
        ("User-agent: a\nUser-agent: hitsend\nDisallow: /", "/x", False),
        ("User-agent: hitsend\nDisallow: /a\nUser-agent: hitsend\nDisallow: /b", "/b", False),
        ("User-agent: *\nDisallow: /a\nAllow: /a/b", "/a/b/c", True),
        ("User-agent: *\nAllow: /a/b\nDisallow: /a", "/a/x", False),
        ("User-agent: *\nAllow: /same\nDisallow: /same", "/same", True),
        ("User-agent: *\nDisallow: /*.pdf$", "/x/y.pdf", False),
        ("User-agent: *\nDisallow: /*.pdf$", "/x/y.pdf?z", True),
        ("User-agent: *\nDisallow: /a*b*c", "/a-b-c", False),
        ("User-agent: *\nDisallow: /a*b*c", "/a-c-b", True),
        ("User-agent: *\nDisallow: /*?", "/x?y=1", False),
        ("User-agent: *\nDisallow: /x$", "/x", False),
        ("User-agent: *\nDisallow: /x$", "/xy", True),
        ("User-agent: *\nDisallow: /ab*ab$", "/ab", True),
        ("User-agent: *\nDisallow: /%7Eada", "/~ada/", False),
        ("User-agent: *\nDisallow: /é", "/%C3%A9", False),
        ("User-agent: *\nDisallow: /a%2fb", "/a%2Fb", False),
        ("User-agent: *\nDisallow: /a%2fb", "/a/b", True),
        ("\ufeffUser-agent: *\r\nSitemap: x\r\nCrawl-delay: 9\r\nDisallow: /", "/", False),
        ("Disallow: /\nUser-agent: *\nAllow: /", "/", True),
        ("<html>not found</html>", "/", True),
        ("User-agent\nDisallow /", "/", True),
    ],
)
def test_rules_are_those_of_rfc_9309(text: str, path: str, is_allowed: bool) -> None:
    assert parse_robots(text).allow(path) is is_allowed


def test_hostile_rules_take_a_bounded_time() -> None:
    pattern = "/" + "*a" * 5_000 + "b"
    text = "User-agent: *\n" + f"Disallow: {pattern}\n" * 50
    began = time.perf_counter()
    assert parse_robots(text).allow("/" + "a" * 20_000)
    assert time.perf_counter() - began < 5
