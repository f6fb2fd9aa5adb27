"""The tool `read_page` against web servers on this machine."""

import asyncio
import gzip
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

import msgspec
import pytest
from tests.unit.engine.fake_server import FakeServer, Request, serving, whole

from hitsend.egress import Egress, open_egress, parse_trusted
from hitsend.errors import DestinationRefused, Refused, TooLarge, Unavailable
from hitsend.messages import CitedSource
from hitsend.settings import Settings
from hitsend.tools.citations import Citations
from hitsend.tools.hosted_tool import Call, CallResult, HostedTool
from hitsend.tools.web.build import build_web_tools, part_chars
from hitsend.tools.web.page_reader import PageReader
from hitsend.tools.web.read_page import PageFetcher, build_read_page, split_parts
from hitsend.tools.web.trail import Trails

CALL = Call(call_id="c1", user_id="u1", turn_id="t1", conversation_id="v1")
HTML = "text/html; charset=utf-8"
NO_ROBOTS = whole(b"", "404 Not Found")
STORY = "<p>" + "Rye bread needs time, water and patience. " * 10 + "</p>"
PAGE = f"""<!doctype html><html><head><title> Rye
 bread </title><script>alert(1)</script></head><body>
<nav><a href="/">Home</a> <a href="/other?a=1#x">Other</a></nav>
<div class="cookie-banner">We value your privacy. <button>Accept all</button></div>
<main><article><h1>Rye</h1>{STORY}<ul><li>one</li><li>two</li></ul>
<a href="https://far.example/x">far</a> <a href="mailto:a@b.example">mail</a></article></main>
<footer>Imprint</footer></body></html>"""


@asynccontextmanager
async def web(pages: Mapping[str, bytes]) -> AsyncGenerator[FakeServer]:
    """Serves these responses by path, and 404 for others."""

    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(pages.get(request.path, NO_ROBOTS))
        await writer.drain()

    async with serving(answer) as server:
        yield server


def tool_for(*servers: FakeServer, max_requests: int = 10, part: int = 20_000) -> HostedTool:
    trusted = [parse_trusted(server.url.removeprefix("http://")) for server in servers]
    fetcher = PageFetcher(Egress(trusted), PageReader())
    return build_read_page(fetcher, Trails(max_requests), Citations(), part)


async def read(tool: HostedTool, url: str, call: Call = CALL, **arguments: object) -> CallResult:
    return await tool.run(call, msgspec.json.encode({"url": url} | arguments).decode())


async def read_one(response: bytes) -> CallResult:
    async with web({"/": response}) as server:
        return await read(tool_for(server), server.url + "/")


def page(text: str, kind: str = HTML) -> bytes:
    return whole(text.encode(), Content_Type=kind)


async def test_the_text_of_a_page_is_told_without_what_surrounds_it() -> None:
    async with web({"/": page(PAGE)}) as server:
        result = await read(tool_for(server), server.url)
        url = f"{server.url}/"
    lines = result.output.splitlines()
    assert lines[:2] == ["[1] Rye bread", url]
    assert "Rye bread needs time, water and patience." in result.output
    assert "one" in result.output
    for other in ("alert", "Home", "privacy", "Accept", "Imprint", "<"):
        assert other not in result.output
    assert result.sources == (CitedSource("Rye bread", url, 1),)


async def test_links_are_listed_where_they_are_asked_for() -> None:
    async with web({"/": page(PAGE)}) as server:
        result = await read(tool_for(server), server.url, links=True)
        listed = result.output.partition("Links:\n")[2].splitlines()
        assert listed == [f"- Other: {server.url}/other?a=1", "- far: https://far.example/x"]
        assert "- far" not in (await read(tool_for(server), server.url)).output


async def test_a_long_page_is_read_in_parts_and_fetched_once() -> None:
    text = "".join(f"<p>Paragraph {n} of a long story about bread.</p>" for n in range(200))
    async with web({"/": page(text)}) as server:
        tool = tool_for(server, part=2_000, max_requests=1)
        first = await read(tool, server.url)
        second = await read(tool, server.url, part=2)
        assert "(Part 1 of " in first.output
        assert "Paragraph 0 " in first.output
        assert "Paragraph 0 " not in second.output
        assert len(second.output) < 2_300
        with pytest.raises(Refused, match=r"The page has \d+ parts"):
            await read(tool, server.url, part=99)
        assert len(server.requests_to("/")) == 1


def test_parts_hold_every_word_once() -> None:
    text = " ".join(str(number) for number in range(5_000)) + "\n\n" + "x" * 3_000
    parts = split_parts(text, 700)
    assert all(0 < len(part) <= 700 for part in parts)
    assert "".join("".join(parts).split()) == "".join(text.split())
    assert split_parts("", 10) == [""]


@pytest.mark.parametrize(
    ("num_tokens", "num_chars"), [(256, 1_000), (8192, 2_472), (1_048_576, 20_000)]
)
def test_a_part_is_as_long_as_the_model_can_read(num_tokens: int, num_chars: int) -> None:
    assert part_chars(Settings(num_window_tokens=num_tokens)) == num_chars


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ("Größe: 5 €", "text/html; charset=utf-8"),
        ("Größe: 5 €", "text/html; charset=iso-8859-1"),
        ("Größe: 5 €", 'text/html; charset="WINDOWS-1252"'),
        ("<meta charset=windows-1252>Größe: 5 €", "text/html"),
        ("\ufeffGröße: 5 €", "text/html; charset=windows-1252"),
        ("\ufeffGröße: 5 €", "text/plain"),
        ("Größe: 5 €", "text/plain; charset=utf-16"),
        ("Größe: 5 €", "text/plain; charset=nonsense"),
        ("Größe: 5 €", "text/plain; charset=zlib"),
        ("日本語 Größe", "text/html; charset=utf-8"),
    ],
)
async def test_text_is_read_in_its_encoding(content: str, kind: str) -> None:
    charset = kind.partition("charset=")[2].strip('"').lower()
    encoding = {"utf-16": "utf-16", "windows-1252": "cp1252", "iso-8859-1": "cp1252"}.get(
        charset, "cp1252" if "windows-1252" in content else "utf-8"
    )
    if content.startswith("\ufeff"):
        encoding = "utf-8"
    response = whole(content.encode(encoding), Content_Type=kind)
    assert "Größe" in (await read_one(response)).output


@pytest.mark.parametrize(
    ("body", "kind", "expected"),
    [
        (b"plain <b>text</b>", "text/plain", "plain <b>text</b>"),
        (b'{"a": [1, 2]}', "application/json", '{"a": [1, 2]}'),
        (b"<feed/>", "application/atom+xml", "<feed/>"),
        (b"# Title", "text/markdown", "# Title"),
        (b"<p>no type</p>", "", "no type"),
        (b"no type", "", "no type"),
    ],
)
async def test_other_text_is_told_as_it_is(body: bytes, kind: str, expected: str) -> None:
    headers = {"Content_Type": kind} if kind else {}
    result = await read_one(whole(body, "200 OK", **headers))
    assert result.output.endswith(f"\n{expected}")


@pytest.mark.parametrize(
    ("response", "problem"),
    [
        (whole(b"%PDF", Content_Type="application/pdf"), "no page but application/pdf"),
        (whole(b"\x89PNG", Content_Type="image/png"), "no page but image/png"),
        (whole(b"a\0b"), "no page but application/octet-stream"),
        (whole(b"x", Content_Type="a/\x1b" + "b" * 99), "no page but"),
        (page("<div id=app></div><script>draw()</script>"), "without running its scripts"),
        (page(""), "without running its scripts"),
        (page("x", "text/html") + b"", None),
        (whole(b"", "404 Not Found"), "answered 404, not with a page"),
        (whole(b"gone", "500 Internal Server Error"), "answered 500, not with a page"),
        (whole(b"", "302 Found", Location="/"), "redirects too many times"),
        (whole(b"x" * 10_000_001, Content_Type=HTML), "larger than 10,000,000 bytes"),
        (whole(gzip.compress(b"x" * 10_000_001), Content_Encoding="gzip"), "larger than"),
    ],
)
async def test_what_cannot_be_read_is_told_in_a_sentence(
    response: bytes, problem: str | None
) -> None:
    if problem is None:
        assert (await read_one(response)).output.endswith("\nx")
        return
    with pytest.raises((Refused, Unavailable, TooLarge)) as failed:
        await read_one(response)
    assert problem in failed.value.message
    assert failed.value.message.isprintable()


HOSTILE = {
    "deep": b"<div>" * 1_000_000,
    "deep text": b"<div><p>x" * 100_000,
    "entities": b"&lt;" * 2_400_000,
    "links": b"<a href=/x>y</a>" * 500_000,
    "formats": b"<b>" * 300_000 + b"x",
    "tables": b"<table><tr><td>" * 200_000 + b"x",
    "attributes": b"<p " + b"a=b " * 2_000_000 + b">x",
    "comment": b"<!--" + b"-" * 9_000_000,
    "zeros": b"<p>\0" * 1_000_000,
    "charset": b"<meta charset=" + b"x" * 5_000_000,
    "tag": b"<" * 9_000_000,
}


@pytest.mark.parametrize("name", HOSTILE)
async def test_a_hostile_page_is_read_or_refused_in_a_bounded_time(name: str) -> None:
    """A second page is read meanwhile, and the loop goes on."""
    reader = PageReader(time_s=4.0)
    async with asyncio.timeout(60):
        hostile = asyncio.create_task(
            reader.read("http://x.example/", HOSTILE[name], is_html=True, charset="")
        )
        usual = await reader.read("http://x.example/", b"<p>Hello", is_html=True, charset="")
        assert usual.text == "Hello"
        await asyncio.wait({hostile})
    if (error := hostile.exception()) is None:
        assert len(hostile.result().text) <= 200_000
        assert len(hostile.result().links) <= 200
    else:
        assert isinstance(error, Refused)
        assert "too large or too deeply nested" in error.message


async def test_stopping_ends_the_process_that_reads() -> None:
    reader = PageReader()
    reading = [
        asyncio.create_task(
            reader.read("http://x.example/", HOSTILE["deep"], is_html=True, charset="")
        )
        for _ in range(4)
    ]
    await asyncio.sleep(0)
    for task in reading:
        task.cancel()
    await asyncio.wait(reading)
    assert all(task.cancelled() for task in reading)
    async with asyncio.timeout(30):
        usual = await reader.read("http://x.example/", b"<p>Hello", is_html=True, charset="")
    assert usual.text == "Hello"


# robots.txt


def robots(text: str) -> bytes:
    return whole(text.encode(), Content_Type="text/plain")


async def test_a_page_that_robots_may_not_read_is_not_asked_for() -> None:
    rules = "User-agent: *\nDisallow: /private\n\nUser-agent: other\nDisallow: /"
    pages = {"/robots.txt": robots(rules), "/private/x": page("secret"), "/open": page("Hello")}
    async with web(pages) as server:
        tool = tool_for(server)
        with pytest.raises(Refused, match="does not want programs to read this page"):
            await read(tool, server.url + "/private/x")
        assert "Hello" in (await read(tool, server.url + "/open")).output
        assert [one.path for one in server.requests] == ["/robots.txt", "/open"]
        assert all("hitsend" in one.headers["user-agent"] for one in server.requests)


async def test_a_redirect_is_held_to_the_robots_of_where_it_leads() -> None:
    pages = {"/robots.txt": robots("User-agent: hitsend\nDisallow: /"), "/x": page("secret")}
    async with web(pages) as far:
        leads = whole(b"", "302 Found", Location=f"{far.url}/x")
        async with web({"/": leads}) as near:
            with pytest.raises(Refused, match="does not want programs"):
                await read(tool_for(near, far), near.url)
            assert [one.path for one in far.requests] == ["/robots.txt"]


@pytest.mark.parametrize("status", ["500 Internal Server Error", "503 Down", "429 Too Many"])
async def test_a_host_that_cannot_say_what_it_wants_is_not_read(status: str) -> None:
    async with web({"/robots.txt": whole(b"", status), "/": page("Hello")}) as server:
        with pytest.raises(Unavailable, match=r"when it was asked for robots\.txt"):
            await read(tool_for(server), server.url)
        assert server.requests_to("/") == []


async def test_an_endless_robots_file_is_given_up() -> None:
    pages = {"/robots.txt": robots("x" * 600_001), "/": page("Hello")}
    async with web(pages) as server:
        with pytest.raises(Unavailable, match=r"The robots\.txt of 127\.0\.0\.1 is too large"):
            await read(tool_for(server), server.url)


# The guard


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest/meta-data/",
        "http://127.0.0.1:1/",
        "http://localhost/",
        "http://[::1]/",
        "http://2130706433/",
        "http://user:word@127.0.0.1/",
        "file:///etc/passwd",
        "ftp://example.com/",
        "127.0.0.1",
        "http://0.0.0.0/",
    ],
)
async def test_nothing_beyond_the_public_internet_is_read(url: str) -> None:
    with pytest.raises((DestinationRefused, Unavailable)):
        await read(tool_for(), url)


async def test_a_page_cannot_lead_into_the_network_of_the_server() -> None:
    async with web({"/": page("secret")}) as inner:
        pages = {"/": whole(b"", "302 Found", Location=inner.url)}
        async with web(pages) as outer:
            with pytest.raises(DestinationRefused):
                await read(tool_for(outer), outer.url)
        assert inner.requests == []


STRANGE = msgspec.structs.replace(CALL, has_read_strangers=True)


async def test_after_reading_strangers_only_listed_addresses_are_opened() -> None:
    """Else a page could have the model put what it knows of the person into an address."""
    pages = {"/": page(PAGE), "/other?a=1": page("Other page"), "/steal?name=Ada": page("Thanks")}
    async with web(pages) as server:
        tool = tool_for(server)
        await read(tool, server.url)
        assert "Other page" in (await read(tool, server.url + "/other?a=1", STRANGE)).output
        with pytest.raises(Refused, match="only addresses can be opened that the person wrote"):
            await read(tool, server.url + "/steal?name=Ada", STRANGE)
        assert server.requests_to("/steal?name=Ada") == []
        bare = server.url.removeprefix("http://")
        asked = msgspec.structs.replace(STRANGE, written=f"See {bare}/steal?name=Ada please")
        assert "Thanks" in (await read(tool, server.url + "/steal?name=Ada", asked)).output


async def test_what_one_person_found_opens_nothing_for_another() -> None:
    async with web({"/": page(PAGE), "/other?a=1": page("Other page")}) as server:
        tool = tool_for(server)
        await read(tool, server.url)
        eve = msgspec.structs.replace(STRANGE, user_id="u2")
        with pytest.raises(Refused, match="only addresses"):
            await read(tool, server.url + "/other?a=1", eve)


async def test_a_later_answer_may_open_what_an_earlier_one_found() -> None:
    async with web({"/": page(PAGE), "/other?a=1": page("Other page")}) as server:
        tool = tool_for(server)
        await read(tool, server.url)
        later = msgspec.structs.replace(STRANGE, turn_id="t2")
        assert "Other page" in (await read(tool, server.url + "/other?a=1", later)).output


async def test_a_source_is_opened_by_its_number() -> None:
    async with web({"/": page(PAGE)}) as server:
        tool = tool_for(server)
        await read(tool, server.url)
        assert (await read(tool, "[1]")).output.startswith("[1] Rye bread")
        with pytest.raises(Refused, match="There is no search result 7"):
            await read(tool, "7")


async def test_an_answer_reads_a_limited_number_of_pages() -> None:
    async with web({"/": page("Hello"), "/2": page("Two"), "/3": page("Three")}) as server:
        tool = tool_for(server, max_requests=2)
        await read(tool, server.url)
        await read(tool, server.url + "/2")
        with pytest.raises(Refused, match="has used its 2 requests"):
            await read(tool, server.url + "/3")


def test_pages_may_be_read_without_a_search_server() -> None:
    settings = Settings(web_pages="on")
    [tool] = build_web_tools(settings, open_egress(settings), Citations())
    assert (tool.name, tool.feature, tool.is_untrusted, tool.effect) == (
        *("read_page", "web", True),
        "reads",
    )
