"""The tool `web_search` against servers on this machine that speak each provider's API."""

import asyncio
import logging
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec
import pytest
from tests.unit.engine.fake_server import Handler, Request, serving, whole

from hitsend.egress import Egress, open_egress
from hitsend.errors import Refused, Unavailable
from hitsend.messages import CitedSource
from hitsend.settings import BadSetting, Settings
from hitsend.tools.citations import Citations
from hitsend.tools.hosted_tool import Call, CallResult, HostedTool
from hitsend.tools.web.build import build_web_tools

SOUR = "https://bread.example/sour"
PAGES = [
    ("Sourdough <strong>bread</strong> &amp; more", SOUR + "#top", "Flour, water."),
    ("No page", "javascript:alert(1)", "Do not open."),
    ("Rye", "https://rye.example/", None),
    ("Sourdough again", SOUR, "The same page."),
]
CALL = Call(call_id="c1", user_id="u1", turn_id="t1", conversation_id="v1")


def speak_searxng(query: Mapping[str, str]) -> Any:
    assert query["format"] == "json"
    results = [
        {"url": url, "title": title, "content": text, "engine": "x", "publishedDate": None}
        for title, url, text in PAGES
    ]
    results[0]["publishedDate"] = "2026-11-01T10:00:00"
    return {"query": query["q"], "number_of_results": 0, "results": results, "answers": []}


def speak_brave(query: Mapping[str, str]) -> Any:
    results = [
        {"title": title, "url": url, "description": text, "type": "search_result"}
        for title, url, text in PAGES
    ]
    results[0]["page_age"] = "2026-11-01T10:00:00"
    return {"type": "search", "query": {"original": query["q"]}, "web": {"results": results}}


def speak_plain(query: Mapping[str, str]) -> Any:
    results = [
        {"title": title, "url": url, "snippet": text, "date": "2026-11-01" if at == 0 else None}
        for at, (title, url, text) in enumerate(PAGES)
    ]
    return {"results": results}


def speak_bare_list(query: Mapping[str, str]) -> Any:
    return [
        {"title": title, "link": url, "description": text, "date": "2026-11-01" if at == 0 else ""}
        for at, (title, url, text) in enumerate(PAGES)
    ]


SPEAKERS = {"searxng": speak_searxng, "brave": speak_brave, "json": speak_plain}
KINDS = list(SPEAKERS)


def answer_with(speak: Any) -> Handler:
    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        query = {name: values[0] for name, values in parse_qs(urlsplit(request.path).query).items()}
        body = msgspec.json.encode(speak(query))
        writer.write(whole(body, Content_Type="application/json"))

    return answer


def always(response: bytes) -> Handler:
    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(response)
        await writer.drain()

    return answer


def settings_for(url: str, kind: Any = "searxng", key: str | None = "secret-key") -> Settings:
    return Settings(web_search=kind, web_search_url=url, web_search_key=key)


def build(settings: Settings) -> HostedTool:
    return next(iter(build_web_tools(settings, open_egress(settings), Citations())))


async def search(tool: HostedTool, call: Call = CALL, **arguments: object) -> CallResult:
    return await tool.run(call, msgspec.json.encode({"query": "bread"} | arguments).decode())


async def search_of(handler: Handler, kind: str = "searxng", **arguments: Any) -> CallResult:
    async with serving(handler) as server:
        return await search(build(settings_for(server.url, kind)), **arguments)


@pytest.mark.parametrize(("kind", "speak"), [*SPEAKERS.items(), ("json", speak_bare_list)])
async def test_results_are_numbered_with_their_pages(kind: str, speak: Any) -> None:
    result = await search_of(answer_with(speak), kind)
    assert result.output == (
        "[1] Sourdough bread & more (2026-11-01)\nhttps://bread.example/sour\nFlour, water.\n\n"
        "[2] Rye\nhttps://rye.example/"
    )
    assert result.sources == (
        CitedSource("Sourdough bread & more", "https://bread.example/sour", 1),
        CitedSource("Rye", "https://rye.example/", 2),
    )


async def test_numbers_go_on_within_an_answer_and_begin_anew_with_the_next() -> None:
    async with serving(answer_with(speak_searxng)) as server:
        tool = build(settings_for(server.url))
        await search(tool, count=1)
        again = await search(tool)
        assert [one.number for one in again.sources] == [1, 2]
        other = await search(tool, msgspec.structs.replace(CALL, turn_id="t2"), count=1)
        assert [one.number for one in other.sources] == [1]


def sent_query(request: Request) -> dict[str, list[str]]:
    return parse_qs(urlsplit(request.path).query)


@pytest.mark.parametrize(
    ("kind", "path", "header", "value"),
    [
        ("searxng", "/search", "authorization", "Bearer secret-key"),
        ("brave", "/", "x-subscription-token", "secret-key"),
        ("json", "/", "authorization", "Bearer secret-key"),
    ],
)
async def test_the_key_is_sent_in_a_header_and_never_logged(
    kind: str, path: str, header: str, value: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with serving(answer_with(SPEAKERS[kind])) as server:
        await search(build(settings_for(server.url, kind)), query="a&format=html#x", count=3)
        [request] = server.requests
    assert urlsplit(request.path).path == path
    assert sent_query(request)["q"] == ["a&format=html#x"]
    assert request.headers[header] == value
    assert "secret-key" not in request.path
    assert "secret-key" not in caplog.text


@pytest.mark.parametrize("path", ["/searx", "/searx/", "/searx/search"])
async def test_a_path_in_front_of_searxng_is_kept(path: str) -> None:
    async with serving(answer_with(speak_searxng)) as server:
        await search(build(settings_for(server.url + path)))
        assert urlsplit(server.requests[0].path).path == "/searx/search"


async def test_parameters_of_a_plain_server_are_kept() -> None:
    async with serving(answer_with(speak_plain)) as server:
        await search(build(settings_for(server.url + "/find?lang=de", "json")))
        assert sent_query(server.requests[0]) == {"lang": ["de"], "q": ["bread"], "count": ["5"]}


def test_brave_is_asked_at_its_own_address() -> None:
    settings = Settings(web_search="brave", web_search_key="k")
    names = [tool.name for tool in build_web_tools(settings, Egress(), Citations())]
    assert names == ["web_search", "read_page"]


PROBLEM = msgspec.json.encode({"error": {"detail": "Too long a query.\n\x07"}})


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("response", "problem"),
    [
        (whole(b"", "500 Internal Server Error"), "answered 500."),
        (whole(PROBLEM, "422 Unprocessable Entity"), "answered 422: Too long a query."),
        (whole(PROBLEM, "429 Too Many Requests"), "takes no more requests for now"),
        (whole(b"", "401 Unauthorized"), "An administrator can check its key"),
        (whole(b"", "403 Forbidden"), "An administrator can check its key"),
        (whole(b"", "302 Found", Location="http://127.0.0.1:1/"), "answered 302."),
        (whole(b"<html>no json"), "is not understood"),
        (whole(b"[" * 50_000), "is not understood"),
        (whole(b'{"results": 5, "type": 6}'), "is not understood"),
        (whole(b'{"results": [5], "type": "x", "web": {"results": [7]}}'), "is not understood"),
        (whole(b"\xff\xfe\x00"), "is not understood"),
        (whole(b" " * 2_000_001), "did not answer properly"),
        (b"SMTP ready\r\n", "did not answer properly"),
        (b"", "did not answer properly"),
    ],
)
async def test_a_server_that_fails_is_told_in_a_sentence(
    kind: str, response: bytes, problem: str
) -> None:
    with pytest.raises(Unavailable) as failed:
        await search_of(always(response), kind)
    assert problem in failed.value.message
    assert "secret-key" not in failed.value.message


async def test_a_server_that_never_answers_is_given_up_with_the_call() -> None:
    was_asked = asyncio.Event()

    async def wait(request: Request, writer: asyncio.StreamWriter) -> None:
        was_asked.set()
        await asyncio.Event().wait()

    async with serving(wait) as server:
        searching = asyncio.create_task(search(build(settings_for(server.url))))
        async with asyncio.timeout(10):
            await was_asked.wait()
        searching.cancel()
        await asyncio.wait({searching})
        async with asyncio.timeout(10):
            await server.client_left.wait()
    assert searching.cancelled()


async def test_a_flood_of_results_becomes_a_few_short_lines() -> None:
    flood = {
        "results": [
            {
                "url": f"https://{n}.example",
                "title": "t" * 2_000,
                "content": "c\n\x1b" * 2_000,
            }
            for n in range(70)
        ]
    }
    result = await search_of(answer_with(lambda query: flood), count=10)
    assert len(result.sources) == 10
    assert len(result.output) < 5_500
    assert "\x1b" not in result.output


async def test_nothing_found_is_said() -> None:
    result = await search_of(answer_with(lambda query: {"results": []}))
    assert result.output == "127.0.0.1 found nothing. Try other words."


async def test_an_answer_makes_a_limited_number_of_requests() -> None:
    async with serving(answer_with(speak_searxng)) as server:
        settings = msgspec.structs.replace(settings_for(server.url), web_requests=2)
        tool = build(settings)
        await search(tool)
        await search(tool)
        with pytest.raises(Refused, match="has used its 2 requests"):
            await search(tool)
        await search(tool, msgspec.structs.replace(CALL, turn_id="t2"))
        assert len(server.requests) == 3


async def test_only_the_search_server_is_trusted_and_pages_on_it_are_not_read() -> None:
    async with serving(answer_with(speak_searxng)) as server:
        settings = settings_for(server.url)
        _, read_page = build_web_tools(settings, open_egress(settings), Citations())
        with pytest.raises(Refused, match="Port|public internet"):
            await read_page.run(CALL, msgspec.json.encode({"url": server.url}).decode())
        assert server.requests == []


def test_there_are_no_tools_until_an_administrator_names_a_server() -> None:
    assert list(build_web_tools(Settings(), Egress(), Citations())) == []
    assert list(build_web_tools(Settings(web_pages="auto"), Egress(), Citations())) == []


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        (Settings(web_pages="on"), ["read_page"]),
        (settings_for("https://searx.example"), ["web_search", "read_page"]),
        (
            msgspec.structs.replace(settings_for("https://searx.example"), web_pages="off"),
            ["web_search"],
        ),
    ],
)
def test_searching_and_reading_are_turned_on_apart(settings: Settings, names: list[str]) -> None:
    assert [tool.name for tool in build_web_tools(settings, Egress(), Citations())] == names


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        (Settings(web_search="searxng"), "needs `web_search_url`"),
        (Settings(web_search="json"), "needs `web_search_url`"),
        (Settings(web_search="brave"), "needs `web_search_key`"),
        (Settings(web_search_url="https://searx.example"), "need `web_search`"),
        (Settings(web_search_key="k"), "need `web_search`"),
        (settings_for("file:///etc/passwd"), "`web_search_url` is wrong: Only http"),
        (settings_for("searx"), "`web_search_url` is wrong"),
    ],
)
def test_wrong_settings_stop_the_start(settings: Settings, problem: str) -> None:
    with pytest.raises(BadSetting, match=problem):
        list(build_web_tools(settings, Egress(), Citations()))


async def test_the_search_server_learns_nothing_but_the_question() -> None:
    async with serving(answer_with(speak_searxng)) as server:
        await search(build(settings_for(server.url)))
        [request] = server.requests
    assert request.path == "/search?q=bread&format=json"
    assert set(request.headers) == {
        *("host", "accept", "accept-encoding", "connection", "user-agent", "authorization")
    }
