"""Search servers: SearXNG, Brave's API, and servers that answer in plain JSON.

Each is a way to ask and a way to read the answer. What comes back is written by strangers: only
short lines and web addresses are taken from it.
"""

import html
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import httpx2
import msgspec

from hitsend.egress import Egress, Limits, parse_url
from hitsend.errors import Refused, Unavailable
from hitsend.settings import BadSetting, Settings
from hitsend.tools.web.trail import parse_page_url

LIMITS = Limits(max_bytes=2_000_000, total_s=12.0, silence_s=8.0)
BRAVE_URL = "https://api.search.brave.com/res/v1/web/search"
MAX_TITLE_CHARS = 150
MAX_SNIPPET_CHARS = 300
MAX_DATE_CHARS = 30
MAX_URL_CHARS = 500
MAX_REASON_CHARS = 200
TAG = re.compile(r"<[^<>]{0,200}>")
CONTROL = re.compile(r"[\x00-\x1f\x7f\s]+")


class Found(msgspec.Struct, frozen=True):
    """A page that a search found."""

    title: str
    url: str
    snippet: str
    date: str = ""


class _SearxngResult(msgspec.Struct, frozen=True):
    url: str | None = None
    title: str | None = None
    content: str | None = None
    publishedDate: str | None = None


class _SearxngAnswer(msgspec.Struct, frozen=True):
    results: Sequence[_SearxngResult]


class _BraveResult(msgspec.Struct, frozen=True):
    url: str | None = None
    title: str | None = None
    description: str | None = None
    page_age: str | None = None


class _BraveWeb(msgspec.Struct, frozen=True):
    results: Sequence[_BraveResult] = ()


class _BraveAnswer(msgspec.Struct, frozen=True):
    type: str
    web: _BraveWeb | None = None


class _PlainResult(msgspec.Struct, frozen=True):
    url: str | None = None
    link: str | None = None
    title: str | None = None
    snippet: str | None = None
    content: str | None = None
    description: str | None = None
    date: str | None = None


class _PlainAnswer(msgspec.Struct, frozen=True):
    results: Sequence[_PlainResult]


class _Problem(msgspec.Struct, frozen=True):
    """What servers say of an error, in the places where they say it."""

    error: Any = None
    message: Any = None
    detail: Any = None


BuildRequest: TypeAlias = Callable[[str, int], tuple[httpx2.URL, Mapping[str, str]]]
"""Takes the query and the number of results, returns the URL and headers."""
ReadAnswer: TypeAlias = Callable[[bytes], Iterable[Found]]


class SearchProvider:
    def __init__(
        self, egress: Egress, host: str, build: BuildRequest, read: ReadAnswer, hint: str = ""
    ) -> None:
        self.host = host
        self._egress = egress
        self._build = build
        self._read = read
        self._hint = hint
        """What an administrator may have forgotten where it answers 403."""

    async def search(self, query: str, count: int) -> Sequence[Found]:
        """Raises Unavailable."""
        url, headers = self._build(query, count)
        try:
            response = await self._egress.get(
                url, {"Accept": "application/json", **headers}, limits=LIMITS
            )
        except Refused as error:  # the administrator's server is at fault, not the call
            raise Unavailable(
                f"The search server did not answer properly: {error.message}"
            ) from None
        self._check_status(response)
        try:
            return _tidy(self._read(response.content), count)
        except (msgspec.DecodeError, RecursionError):
            raise Unavailable("The search server's answer is not understood.") from None

    def _check_status(self, response: httpx2.Response) -> None:
        status = response.status_code
        if status == 200:
            return
        if status == 429:
            raise Unavailable("The search server takes no more requests for now. Try later.")
        if status in (401, 403):
            raise Unavailable(
                f"The search server does not let hitsend search ({status}). An administrator "
                f"can check its key{self._hint}."
            )
        raise Unavailable(f"The search server answered {status}{_read_reason(response.content)}.")


def build_provider(settings: Settings, egress: Egress) -> SearchProvider | None:
    """Returns None where no search server is set. Raises BadSetting."""
    kind, key = settings.web_search, settings.web_search_key
    if kind == "off":
        if settings.web_search_url is not None or key is not None:
            raise BadSetting("`web_search_url` and `web_search_key` need `web_search` as well.")
        return None
    if kind == "brave" and key is None:
        raise BadSetting("`web_search` is `brave`, which needs `web_search_key`.")
    base = _read_url(settings.web_search_url or (BRAVE_URL if kind == "brave" else None), kind)
    bearer = {"Authorization": f"Bearer {key}"} if key else {}

    def ask_searxng(query: str, count: int) -> tuple[httpx2.URL, Mapping[str, str]]:
        path = base.path.rstrip("/").removesuffix("/search")
        wanted = {"q": query, "format": "json"}
        return base.copy_with(path=f"{path}/search", params=wanted), bearer

    def ask_brave(query: str, count: int) -> tuple[httpx2.URL, Mapping[str, str]]:
        url = base.copy_with(params={"q": query, "count": str(count), "text_decorations": "false"})
        return url, {"X-Subscription-Token": key or ""}

    def ask_plain(query: str, count: int) -> tuple[httpx2.URL, Mapping[str, str]]:
        return base.copy_merge_params({"q": query, "count": str(count)}), bearer

    ways: Mapping[str, tuple[BuildRequest, ReadAnswer, str]] = {
        "searxng": (ask_searxng, _read_searxng, ", and that SearXNG's settings allow `json`"),
        "brave": (ask_brave, _read_brave, ""),
        "json": (ask_plain, _read_plain, ""),
    }
    return SearchProvider(egress.trusting(base), base.host, *ways[kind])


def _read_url(text: str | None, kind: str) -> httpx2.URL:
    if text is None:
        raise BadSetting(f"`web_search` is `{kind}`, which needs `web_search_url`.")
    try:
        return parse_url(text)
    except Refused as error:
        raise BadSetting(f"`web_search_url` is wrong: {error.message}") from None


def _read_searxng(body: bytes) -> Iterable[Found]:
    for one in msgspec.json.decode(body, type=_SearxngAnswer).results:
        yield _found(one.title, one.url, one.content, one.publishedDate)


def _read_brave(body: bytes) -> Iterable[Found]:
    web = msgspec.json.decode(body, type=_BraveAnswer).web
    for one in web.results if web else ():
        yield _found(one.title, one.url, one.description, one.page_age)


def _read_plain(body: bytes) -> Iterable[Found]:
    kind = Sequence[_PlainResult] | _PlainAnswer
    decoded = msgspec.json.decode(body, type=kind)
    for one in decoded.results if isinstance(decoded, _PlainAnswer) else decoded:
        snippet = one.snippet or one.content or one.description
        yield _found(one.title, one.url or one.link, snippet, one.date)


def _found(title: str | None, url: str | None, snippet: str | None, date: str | None) -> Found:
    return Found(
        title=clean_line(title, MAX_TITLE_CHARS),
        url=url or "",
        snippet=clean_line(snippet, MAX_SNIPPET_CHARS),
        date=clean_line(date, MAX_DATE_CHARS).partition("T")[0],
    )


def _tidy(found: Iterable[Found], count: int) -> Sequence[Found]:
    """Returns the first ones that are web pages, each once."""
    pages = dict[str, Found]()
    for one in found:
        if (url := _clean_url(one.url)) and url not in pages:
            pages[url] = msgspec.structs.replace(one, url=url, title=one.title or url)
            if len(pages) == count:
                break
    return tuple(pages.values())


def _clean_url(text: str) -> str:
    try:
        url = str(parse_page_url(text)) if len(text) <= MAX_URL_CHARS else ""
    except Refused:
        return ""
    return url if url.isprintable() else ""


def clean_line(text: str | None, max_chars: int) -> str:
    """Returns one line, without markup and control characters."""
    plain = html.unescape(TAG.sub("", (text or "")[: 4 * max_chars]))
    line = "".join(char for char in CONTROL.sub(" ", plain) if char.isprintable()).strip()
    return line if len(line) <= max_chars else line[: max_chars - 1].rstrip() + "…"


def _read_reason(body: bytes) -> str:
    try:
        problem = msgspec.json.decode(body, type=_Problem)
    except (msgspec.DecodeError, RecursionError):
        return ""
    said = problem.message or problem.error or problem.detail
    if isinstance(said, dict):
        said = said.get("detail") or said.get("message")
    if not isinstance(said, str):
        return ""
    return f": {clean_line(said, MAX_REASON_CHARS).rstrip('.')}"
