"""The log helps to find bugs and contains no text of users. A client that leaves is no ERROR."""

import asyncio
import json
import socket
import struct
from pathlib import Path

import httpx2
import pytest
from tests.faults.process import Served, key_in, message, serve_process
from tests.server.pages import open_socket

SEND = "/backend-api/f/conversation"
ENDLESS = "!script tokens=100000 pace=2ms"
HANDSHAKE = (
    b"GET /backend-api/celsius/ws/connect HTTP/1.1\r\nhost: localhost\r\n"
    b"upgrade: websocket\r\nconnection: upgrade\r\n\r\n"
)
AS_JSON = {"HITSEND_LOG_FORMAT": "json"}


@pytest.mark.parametrize("log_format", ["text", "json"])
@pytest.mark.parametrize("level", ["debug", "info"])
async def test_the_log_contains_no_text_of_users(
    tmp_path: Path, log_format: str, level: str
) -> None:
    key = await key_in(tmp_path, "name-canary")
    settings = {"HITSEND_LOG_FORMAT": log_format}
    async with (
        serve_process(tmp_path, settings, log_level=level) as served,
        httpx2.AsyncClient(base_url=served.url, headers={"authorization": f"Bearer {key}"}) as http,
    ):
        for text in ("!script\nanswer-canary", "!script tokens=9 die=3\ndying-canary"):
            assert (await http.post(SEND, json=message(text))).status_code == 200
        unknown = await http.post(SEND, json=message("hi") | {"model": "model-canary"})
        assert unknown.status_code == 404
        signing_in = {"name": "who-canary", "password": "password-canary"}
        await http.post("/backend-api/accounts/sign-in", json=signing_in)
        await http.get("/backend-api/conversations?q=search-canary")
        for path in ("/path-canary", "/invite/token-canary", "/backend-api/share/share-canary"):
            await http.get(path, headers={"cookie": "hitsend_session=cookie-canary"})
    log = served.log.read_text()
    assert "POST /backend-api/f/conversation 404" in log
    assert "canary" not in log
    assert key not in log


async def send_and_leave(served: Served, sent: bytes) -> None:
    """Ends the connection without reading anything."""
    url = httpx2.URL(served.url)
    _, writer = await asyncio.open_connection(url.host, url.port)
    writer.write(sent)
    writer.close()
    await writer.wait_closed()


async def read_a_little_and_leave(served: Served, sent: bytes) -> None:
    """Resets the connection in the middle of the response."""
    url = httpx2.URL(served.url)
    reader, writer = await asyncio.open_connection(url.host, url.port)
    writer.write(sent)
    assert await reader.read(1)
    raw = writer.get_extra_info("socket")
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def request_head(path: str, key: str, num_bytes: int) -> bytes:
    return (
        f"POST {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {key}\r\n"
        f"content-type: application/json\r\ncontent-length: {num_bytes}\r\n\r\n"
    ).encode()


async def test_a_client_that_hangs_up_is_no_error(tmp_path: Path) -> None:
    key = await key_in(tmp_path)
    api_call = {"model": "auto", "messages": [{"role": "user", "content": ENDLESS}]}
    bodies = {
        SEND: message(ENDLESS),
        "/v1/chat/completions": api_call,
        "/v1/chat/completions?streamed": api_call | {"stream": True},
    }
    async with serve_process(tmp_path, AS_JSON) as served, served.as_user(key) as http:
        for path, value in bodies.items():
            body = json.dumps(value).encode()
            head = request_head(path, key, len(body))
            for sent in (b"P", head[:20], head, head + body[:9], head + body):
                await send_and_leave(served, sent)
            if path != "/v1/chat/completions":
                await read_a_little_and_leave(served, head + body)
        for number in range(2):
            ticket = (await http.get("/backend-api/celsius/ws/user")).json()["websocket_url"]
            async with open_socket(ticket) as page:
                await page.request_reply("connect")
                sending = message(ENDLESS)
                ids = {"client_msg_id": f"m{number}"}
                started = await page.request_reply("send", **ids, body=sending)
                await page.send_request("subscribe", topic_id=started["topic_id"])
                page.socket.transport.abort()
        await send_and_leave(served, HANDSHAKE)
        assert (await http.get("/backend-api/me")).status_code == 200
    lines = [json.loads(line) for line in served.log.read_text().splitlines()]
    assert {200, 499} <= {line.get("status") for line in lines}
    assert [line for line in lines if line["level"] in ("error", "critical")] == []
