"""Servers over HTTP: through the egress guard, within limits, and with a plain reason when not."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route
from tests.mcp_servers.everyday import build_server, serve
from tests.unit.tools.mcp.desk import Desk, open_desk

from hitsend.errors import Refused, Unavailable
from hitsend.store.mcp_rows import McpServer
from hitsend.tools.hosted_tool import FormReply
from hitsend.tools.mcp import ServerSecrets


@pytest.fixture
async def desk(tmp_path: Path, copy_database: Callable[[Path], Path]) -> AsyncGenerator[Desk]:
    async with open_desk(copy_database(tmp_path / "data")) as desk:
        yield desk


async def add_shared(desk: Desk, url: str, **changes: Any) -> McpServer:
    """As an administrator: then it may be on this machine."""
    return await desk.add("Web", url=url, owner_id=None, audience="everyone", **changes)


@asynccontextmanager
async def serving(
    handle: Callable[[dict[str, Any], Request], Response | None],
) -> AsyncGenerator[str]:
    """A server by hand, for protocol 2025-11-25: `handle` gets each call of a tool."""

    async def answer(request: Request) -> Response:
        if request.method != "POST":
            return Response(status_code=405)
        message = msgspec.json.decode(await request.body(), type=dict[str, Any])
        if "id" not in message:
            return Response(status_code=202)
        found = handle(message, request)
        return found or JSONResponse(reply(message))

    routes = [Route("/mcp", answer, methods=["GET", "POST", "DELETE"])]
    async with serve(Starlette(routes=routes)) as url:
        yield f"{url}/mcp"


def reply(message: dict[str, Any]) -> dict[str, Any]:
    base = {"jsonrpc": "2.0", "id": message["id"]}
    schema = {"type": "object", "properties": {}}
    results: dict[str, Any] = {
        "initialize": {
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "web", "version": "1"},
        },
        "tools/list": {"tools": [{"name": "go", "description": "Goes.", "inputSchema": schema}]},
        "tools/call": {"content": [{"type": "text", "text": "went"}]},
    }
    if message["method"] not in results:
        return base | {"error": {"code": -32601, "message": "Method not found"}}
    return base | {"result": results[message["method"]]}


@pytest.mark.parametrize("is_json", [True, False])
async def test_the_official_server_is_used_over_http(desk: Desk, *, is_json: bool) -> None:
    app = build_server().streamable_http_app(json_response=is_json)
    async with serve(app) as url:
        server = await add_shared(desk, f"{url}/mcp")
        status = await desk.host.connections.test(server, desk.user_id)
        assert (status.condition, status.version) == ("connected", "2026-07-28")
        assert (await desk.call("web_add", a=2, b=3)).output == "5"
        picture = await desk.call("web_draw")
        assert [(one.name, one.media_type) for one in picture.files] == [
            ("image 1.png", "image/png")
        ]
        assert (await desk.call("web_fail")).failed
        desk.reply = FormReply("accept", '{"size":"XL"}')
        assert (await desk.call("web_order")).output == "accept: XL"
        await desk.host.connections.close()


async def test_progress_is_reported_while_a_tool_runs(desk: Desk) -> None:
    async with serve(build_server().streamable_http_app()) as url:
        await desk.host.connections.test(await add_shared(desk, f"{url}/mcp"), desk.user_id)
        assert (await desk.call("web_count", to=2)).output == "counted to 2"
        assert desk.reported == ["at 1\n", "at 2\n"]
        await desk.host.connections.close()


async def test_resources_and_prompts_are_listed_and_read(desk: Desk) -> None:
    async with serve(build_server().streamable_http_app()) as url:
        server = await add_shared(desk, f"{url}/mcp")
        found = await desk.host.list_resources(server, desk.user_id)
        assert [str(one.uri) for one in found] == [
            "notes://today",
            "notes://keys",
            "notes://picture",
            "notes://long",
        ]
        read = await desk.host.read_resource(server, desk.user_id, "notes://today")
        assert read.startswith("Buy milk.")
        prompt, _ = await desk.host.list_prompts(server, desk.user_id)
        text = await desk.host.get_prompt(server, desk.user_id, prompt.name, {"name": "Bob"})
        assert text == "Write a greeting for Bob."
        with pytest.raises(Refused, match=r"This is no text \(image/png\)"):
            await desk.host.read_resource(server, desk.user_id, "notes://picture")
        with pytest.raises(Refused, match="250,000 characters"):
            await desk.host.read_resource(server, desk.user_id, "notes://long")
        with pytest.raises(Unavailable, match="Unknown resource"):
            await desk.host.read_resource(server, desk.user_id, "notes://none")
        await desk.host.connections.close()


async def test_stopping_a_call_reaches_the_server(desk: Desk) -> None:
    began = asyncio.Event()
    async with serve(build_server(began).streamable_http_app()) as url:
        await desk.host.connections.test(await add_shared(desk, f"{url}/mcp"), desk.user_id)
        call = asyncio.create_task(desk.call("web_hang"))
        await began.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert (await desk.call("web_add", a=1, b=1)).output == "2"
        await desk.host.connections.close()


async def test_a_person_cannot_reach_the_network_around_hitsend(desk: Desk) -> None:
    async with serving(lambda *_: None) as url:
        server = await desk.add("Web", url=url)
        status = await desk.host.connections.test(server, desk.user_id)
        assert status.condition == "failed"
        assert "127.0.0.1" not in status.problem or "not" in status.problem
        assert "cannot be reached" in status.problem


async def test_plain_http_is_refused_unless_allowed(
    tmp_path: Path, copy_database: Callable[[Path], Path]
) -> None:
    async with open_desk(copy_database(tmp_path / "data"), mcp_allow_http=False) as desk:
        with pytest.raises(Refused, match="https://"):
            desk.host.addresses.check("http://example.com/mcp")
        server = await add_shared(desk, "http://127.0.0.1:9/mcp")
        status = await desk.host.connections.test(server, desk.user_id)
        assert "https://" in status.problem


async def test_a_server_that_is_not_there_is_told(desk: Desk) -> None:
    server = await add_shared(desk, "http://127.0.0.1:9/mcp")
    status = await desk.host.connections.test(server, desk.user_id)
    assert status.problem == "Web cannot be reached: 127.0.0.1 cannot be reached."


@pytest.mark.parametrize(
    ("status", "said"),
    [(500, "error of its own (500)"), (429, "asked too often"), (403, "does not allow this")],
)
async def test_an_error_of_the_server_is_told_in_words(desk: Desk, status: int, said: str) -> None:
    def fail(message: dict[str, Any], request: Request) -> Response | None:
        is_call = message["method"] == "tools/call"
        return Response("<html>", status_code=status) if is_call else None

    async with serving(fail) as url:
        await desk.host.connections.test(await add_shared(desk, url), desk.user_id)
        with pytest.raises(Unavailable, match=said.replace("(", r"\(").replace(")", r"\)")):
            await desk.call("web_go")


async def test_a_connection_that_breaks_in_mid_call_is_told_and_opened_again(desk: Desk) -> None:
    num_calls = 0

    async def half(message: dict[str, Any]) -> AsyncIterator[bytes]:
        yield b'{"jsonrpc":"2.0","id":'
        raise ConnectionResetError

    def drop(message: dict[str, Any], request: Request) -> Response | None:
        nonlocal num_calls
        num_calls += message["method"] == "tools/call"
        is_first = message["method"] == "tools/call" and num_calls == 1
        return StreamingResponse(half(message), media_type="application/json") if is_first else None

    async with serving(drop) as url:
        await desk.host.connections.test(await add_shared(desk, url), desk.user_id)
        with pytest.raises(Unavailable, match="Web"):
            await desk.call("web_go")
        assert (await desk.call("web_go")).output == "went"


async def test_a_hundred_megabytes_are_not_read(desk: Desk) -> None:
    async def flood() -> AsyncIterator[bytes]:
        for _ in range(1_000):
            yield b"x" * 100_000

    def answer(message: dict[str, Any], request: Request) -> Response | None:
        is_call = message["method"] == "tools/call"
        return StreamingResponse(flood(), media_type="application/json") if is_call else None

    async with serving(answer) as url:
        await desk.host.connections.test(await add_shared(desk, url), desk.user_id)
        with pytest.raises(Unavailable, match="larger than 10,000,000 bytes"):
            await desk.call("web_go")


async def test_invalid_utf_8_and_other_content_are_told(desk: Desk) -> None:
    answers = iter(
        [
            Response(
                b'{"jsonrpc":"2.0","id":1,"result":"\xff\xfe"}', media_type="application/json"
            ),
            Response("hello", media_type="text/html"),
        ]
    )

    def answer(message: dict[str, Any], request: Request) -> Response | None:
        return next(answers) if message["method"] == "tools/call" else None

    async with serving(answer) as url:
        await desk.host.connections.test(await add_shared(desk, url), desk.user_id)
        for _ in range(2):
            with pytest.raises(Unavailable, match="Web"):
                await desk.call("web_go")


async def test_a_redirect_to_another_host_is_not_followed(desk: Desk) -> None:
    asked = asyncio.Event()

    def spy(message: dict[str, Any], request: Request) -> Response | None:
        asked.set()
        return None

    async with serving(spy) as elsewhere:

        def redirect(message: dict[str, Any], request: Request) -> Response | None:
            is_call = message["method"] == "tools/call"
            return RedirectResponse(elsewhere, status_code=307) if is_call else None

        async with serving(redirect) as url:
            await desk.host.connections.test(await add_shared(desk, url), desk.user_id)
            with pytest.raises(Unavailable, match="Redirect"):
                await desk.call("web_go")
        assert not asked.is_set()


async def test_headers_that_were_entered_are_sent_to_the_server_only(desk: Desk) -> None:
    seen: list[str | None] = []

    def note(message: dict[str, Any], request: Request) -> Response | None:
        seen.append(request.headers.get("x-key"))
        return None

    async with serving(note) as url:
        secrets = ServerSecrets(headers={"X-Key": "k-1"})
        await desk.host.connections.test(await add_shared(desk, url, secrets=secrets), desk.user_id)
        assert (await desk.call("web_go")).output == "went"
        assert set(seen) == {"k-1"}
        rows = await desk.store.mcp_servers.list(desk.user_id)
        assert b"k-1" not in (rows[0].sealed or b"")


async def test_a_slow_server_delays_only_its_own_calls(desk: Desk) -> None:
    release = asyncio.Event()

    async def wait() -> AsyncIterator[bytes]:
        await release.wait()
        yield b"{}"

    def hang(message: dict[str, Any], request: Request) -> Response | None:
        return StreamingResponse(wait(), media_type="application/json")

    async with serving(hang) as slow, serving(lambda *_: None) as quick:
        await desk.host.connections.test(await add_shared(desk, quick), desk.user_id)
        server = await add_shared(desk, slow)
        testing = asyncio.create_task(desk.host.connections.test(server, desk.user_id))
        async with asyncio.timeout(10):
            assert (await desk.call("web_go")).output == "went"
            assert list(await desk.tools()) == ["web_go"]
        release.set()
        await testing


async def test_a_connection_that_is_not_used_is_closed(
    tmp_path: Path, copy_database: Callable[[Path], Path]
) -> None:
    database = copy_database(tmp_path / "data")
    async with open_desk(database, mcp_idle_s=1e-6) as desk, serving(lambda *_: None) as url:
        server = await add_shared(desk, url)
        await desk.host.connections.test(server, desk.user_id)
        assert desk.host.connections.status(server, desk.user_id).condition == "connected"
        await desk.host.connections.close_idle()
        assert desk.host.connections.status(server, desk.user_id).condition == "unused"
        assert (await desk.call("web_go")).output == "went"


async def test_a_session_that_the_server_forgot_is_begun_again(desk: Desk) -> None:
    sessions: set[str] = set()

    def keep(message: dict[str, Any], request: Request) -> Response | None:
        if message["method"] == "initialize":
            sessions.add(name := f"s{len(sessions)}")
            return JSONResponse(reply(message), headers={"mcp-session-id": name})
        is_known = request.headers.get("mcp-session-id") in sessions
        return None if is_known or "list" in message["method"] else Response(status_code=404)

    async with serving(keep) as url:
        await desk.host.connections.test(await add_shared(desk, url), desk.user_id)
        sessions.clear()
        sessions.add("another")
        assert (await desk.call("web_go")).output == "went"
