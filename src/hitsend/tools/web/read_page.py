"""The tool `read_page`: fetches a web page, where robots.txt lets it, and tells its text."""

import re
from collections.abc import Sequence
from email.message import Message as Headers
from typing import Annotated

import httpx2
import msgspec
from cachetools import LRUCache
from msgspec import Meta

from hitsend.egress import Egress, Limits
from hitsend.errors import Refused, Unavailable
from hitsend.messages import CitedSource
from hitsend.tools.citations import Citations
from hitsend.tools.hosted_tool import Call, CallResult, HostedTool, hosted_tool
from hitsend.tools.web.page_reader import Link, PageReader, PageText
from hitsend.tools.web.robots import Robots
from hitsend.tools.web.trail import Trail, Trails, parse_page_url

LIMITS = Limits(max_bytes=10_000_000, total_s=20.0, silence_s=8.0)
TIMEOUT_S = 40.0
"""For the fetch, and for the page to be read by a process that may have to wait for another."""
USER_AGENT = "hitsend (reads single pages for people; robots.txt: hitsend)"
ACCEPT = "text/html, application/xhtml+xml, text/plain;q=0.9, application/json;q=0.8, */*;q=0.1"
MAX_KEPT_CHARS = 4_000_000
"""Of pages that were read, so that their next part need not be fetched."""
MAX_LINKS_SHOWN = 40

HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})
TEXT_TYPES = re.compile(
    r"text/[\w.+-]+|application/(json|xml|javascript|yaml|x-yaml|toml|[\w.-]+\+(json|xml))"
)
SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://")

Address = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=2_000,
        description="The URL, or the number of a search result.",
    ),
]
Part = Annotated[int, Meta(ge=1, le=1_000, description="Long pages are read in parts.")]
Links = Annotated[bool, Meta(description="Whether to list the links of the page.")]


class Page(msgspec.Struct, frozen=True):
    url: str
    """After redirects."""
    content: PageText

    @property
    def num_chars(self) -> int:
        links = sum(len(link.words) + len(link.url) for link in self.content.links)
        return len(self.content.text) + links + 500


class PageFetcher:
    """Fetches pages and finds their text."""

    def __init__(self, egress: Egress, reader: PageReader) -> None:
        self._egress = egress
        self._reader = reader
        self._robots = Robots(egress, USER_AGENT)

    async def fetch(self, url: httpx2.URL) -> Page:
        """Raises Refused and Unavailable."""
        response = await self._egress.get(
            url,
            {"User-Agent": USER_AGENT, "Accept": ACCEPT},
            limits=LIMITS,
            follows_redirects=True,
            check_request=lambda request: self._robots.check(request.url),
        )
        final = parse_page_url(str(response.url))
        if response.status_code != 200:
            raise Unavailable(f"{final.host} answered {response.status_code}, not with a page.")
        kind, charset = _read_content_type(response)
        text = await self._reader.read(
            str(final), response.content, is_html=kind in HTML_TYPES, charset=charset
        )
        if not text.text:
            raise Refused(
                "The page has no text that can be read without running its scripts.", param="url"
            )
        return Page(str(final), text)


def build_read_page(
    fetcher: PageFetcher, trails: Trails, citations: Citations, part_chars: int
) -> HostedTool:
    kept = LRUCache[tuple[str, str, str], Page](MAX_KEPT_CHARS, lambda page: page.num_chars)

    async def open_page(call: Call, trail: Trail, url: httpx2.URL) -> Page:
        place = *call.answer_key, str(url)
        page = kept.get(place)
        if page is None:
            trail.count_request()
            page = await fetcher.fetch(url)
            if page.num_chars <= MAX_KEPT_CHARS:
                kept[place] = page
        return page

    @hosted_tool("web", is_untrusted=True, timeout_s=TIMEOUT_S)
    async def read_page(
        call: Call, *, url: Address, part: Part = 1, links: Links = False
    ) -> CallResult:
        """Reads a web page. Cite what you use by its number, such as [1].
        "Summarise https://example.com/post for me." url=https://example.com/post
        Also: "What does the page https://example.com/prices say?"
        Also: "Open this link and tell me what it is about"
        """
        trail = trails.of(call)
        wanted = find_url(url, call, citations)
        check_origin(wanted, call, trail)
        page = await open_page(call, trail, wanted)
        trail.list_url(page.url)
        for link in page.content.links:
            trail.list_url(link.url)
        return _write_page(page, citations.number(call, page.url), part, links, part_chars)

    return read_page


def find_url(text: str, call: Call, citations: Citations) -> httpx2.URL:
    """Takes `example.org` for a URL and `2` or `[2]` for a source, as small models write them."""
    text = text.strip()
    number = text.strip("[] ")
    if number.isascii() and number.isdigit() and len(number) < 4:
        listed = citations.find(call, int(number))
        if listed is None:
            raise Refused(f"There is no search result {number}. Give a URL.", param="url")
        text = listed
    elif not SCHEME.match(text):
        text = f"https://{text}"
    return parse_page_url(text)


def check_origin(url: httpx2.URL, call: Call, trail: Trail) -> None:
    """Refuses an address that the model made up after it read what strangers wrote: they may have
    told it to put into the address what it knows of the person."""
    if not call.has_read_strangers or trail.is_listed(str(url)):
        return
    bare = SCHEME.sub("", str(url)).rstrip("/")
    if bare not in call.written:
        raise Refused(
            "After reading pages, only addresses can be opened that the person wrote, or that a "
            "search or a page listed. Search for it, or ask the person for the address.",
            param="url",
        )


def _read_content_type(response: httpx2.Response) -> tuple[str, str]:
    """Returns the type, and the charset where one is named. Raises Refused for what is no text."""
    headers = Headers()
    headers["Content-Type"] = response.headers.get("Content-Type", "")
    kind = headers.get_content_type() if headers["Content-Type"] else _guess_type(response.content)
    if kind not in HTML_TYPES and not TEXT_TYPES.fullmatch(kind):
        shown = kind if kind.isprintable() and len(kind) <= 80 else "something else"
        raise Refused(f"This is no page but {shown}, which cannot be read.", param="url")
    charset = headers.get_param("charset")
    return kind, charset if isinstance(charset, str) and len(charset) <= 40 else ""


def _guess_type(content: bytes) -> str:
    if b"\0" in content[:1024]:
        return "application/octet-stream"
    return "text/html" if content.lstrip()[:1] == b"<" else "text/plain"


def _write_page(page: Page, number: int, part: int, has_links: bool, part_chars: int) -> CallResult:
    parts = split_parts(page.content.text, part_chars)
    if part > len(parts):
        raise Refused(f"The page has {len(parts)} parts.", param="part")
    title = page.content.title or page.url
    lines = [f"[{number}] {title}", page.url, "", parts[part - 1]]
    if part < len(parts):
        lines += ["", f"(Part {part} of {len(parts)}. The next is part={part + 1}.)"]
    elif page.content.is_cut:
        lines += ["", "(The page goes on. The rest is too long to be read.)"]
    if has_links:
        lines += ["", *_write_links(page.content.links)]
    return CallResult("\n".join(lines), sources=(CitedSource(title, page.url, number),))


def _write_links(links: Sequence[Link]) -> list[str]:
    if not links:
        return ["The page has no links."]
    shown = [f"- {link.words}: {link.url}" for link in links[:MAX_LINKS_SHOWN]]
    return ["Links:", *shown]


def split_parts(text: str, num_chars: int) -> list[str]:
    """Splits at the end of a paragraph, line or word where there is one near."""
    parts, start = list[str](), 0
    while len(text) - start > num_chars:
        end = start + num_chars
        for mark in ("\n\n", "\n", ". ", " "):
            found = text.rfind(mark, start + num_chars // 2, end)
            if found > 0:
                end = found + len(mark)
                break
        parts.append(text[start:end].strip())
        start = end
    rest = text[start:].strip()
    return [*parts, rest] if rest or not parts else parts
