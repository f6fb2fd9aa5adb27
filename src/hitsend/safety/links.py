"""Finds links and images that lead to other hosts, in Markdown and HTML, and reads addresses as a
browser does."""

import html
import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import unquote_plus

HAS_LINK = re.compile(r"//|www\.|\]\(|\]:|<[a-z]", re.IGNORECASE)
TITLE = r"(?:\s{1,3}(?:\"[^\"]{0,300}\"|'[^']{0,300}'|\([^()]{0,300}\)))?"
INLINE = re.compile(
    r"(?P<is_image>!?)\[[^\[\]]{0,1000}\]\(\s{0,3}"
    r"(?:<(?P<bracketed>[^<>\n]{1,8000})>|(?P<plain>(?:[^\s()<>]|\([^\s()<>]{0,500}\)){1,8000}))"
    rf"{TITLE}\s{{0,3}}\)?"
)
DEFINITION = re.compile(
    rf"^ {{0,3}}\[[^\[\]\n]{{1,300}}\]:\s{{0,3}}<?(?P<address>[^\s<>]{{1,8000}})>?{TITLE}",
    re.MULTILINE,
)
"""Of the address of links such as `[text][label]`."""
AUTOLINK = re.compile(r"<(?P<address>[A-Za-z][A-Za-z0-9+.-]{1,20}:[^<>\s]{1,8000})>")
TAG = re.compile(r"<(?P<name>[a-z][a-z0-9-]{0,30})\s[^<>]{1,8000}>?", re.IGNORECASE)
IN_TAG = re.compile(
    r"(?:[A-Za-z][A-Za-z0-9+.-]{1,20}:)?[/\\]{2}[^\s\"'<>()]{1,8000}|https?:[^\s\"'<>()]{1,8000}"
)
BARE = re.compile(
    r"(?<![A-Za-z0-9])(?:[A-Za-z][A-Za-z0-9+.-]{1,20}://|www\.)[^\s<>\"`]{1,8000}", re.IGNORECASE
)
AFTER_ADDRESS = ".,;:!?*_~'\"]}"
LINK_TAGS = frozenset({"a", "area", "form", "button"})
"""A browser waits for a click with these. Others it may load by itself."""

ESCAPE = re.compile(r"\\(?=[!-/:-@\[-`{-~])")
BEGINNING = re.compile(
    r"(?:https?|ftp|wss?):[/\\]*|[a-z][a-z0-9+.-]{1,20}:[/\\]{2,}|[/\\]{2,}|(?=www\.)",
    re.IGNORECASE,
)
"""Of an address with a host. Browsers take any number of slashes, in either direction."""


class Link(NamedTuple):
    start: int
    end: int
    address: str
    """As it is written."""
    is_image: bool
    """A browser may load it without a click."""


class Address(NamedTuple):
    host: str
    path: str
    query: str
    """And what comes after it. Percent signs are undone."""
    written: str


def find_links(text: str) -> Iterator[Link]:
    """Yields what may lead to another host. Those of a tag, and those within another, overlap."""
    if not HAS_LINK.search(text):
        return
    for match in INLINE.finditer(text):
        address = match["bracketed"] or match["plain"]
        yield Link(*match.span(), address, bool(match["is_image"]))
    for pattern in (DEFINITION, AUTOLINK):
        for match in pattern.finditer(text):
            yield Link(*match.span(), match["address"], is_image=False)
    for match in TAG.finditer(text):
        is_image = match["name"].lower() not in LINK_TAGS
        for address in IN_TAG.findall(html.unescape(match[0])):
            yield Link(*match.span(), address, is_image)
    for match in BARE.finditer(text):
        address = _without_end_of_sentence(match[0])
        yield Link(match.start(), match.start() + len(address), address, is_image=False)


def read_address(written: str) -> Address | None:
    """Returns None for what leads to no other host."""
    address = ESCAPE.sub("", html.unescape(written))
    address = re.sub(r"[\t\r\n]", "", address).strip()
    if (beginning := BEGINNING.match(address)) is None:
        return None
    rest = address[beginning.end() :].replace("\\", "/")
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    path, query = _cut_at_query(rest[len(authority) :])
    user, _, host = authority.rpartition("@")
    host = re.sub(r":[0-9]{0,5}$", "", unquote_plus(host)).strip(".").lower()
    return Address(host, _decode(path), _decode(f"{user} {query}".strip()), address)


def _cut_at_query(rest: str) -> tuple[str, str]:
    mark = re.search("[?#]", rest)
    return (rest, "") if mark is None else (rest[: mark.start()], rest[mark.end() :])


def _decode(part: str) -> str:
    """Twice: percent signs may be encoded too."""
    return unquote_plus(unquote_plus(part))


def _without_end_of_sentence(address: str) -> str:
    address = address.rstrip(AFTER_ADDRESS)
    while address.endswith(")") and address.count(")") > address.count("("):
        address = address[:-1].rstrip(AFTER_ADDRESS)
    return address
