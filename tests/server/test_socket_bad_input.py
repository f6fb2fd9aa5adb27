"""The WebSocket and malicious clients: refusals are clear and leak nothing."""

import asyncio
import time
from typing import cast

import httpx2
import msgspec
import pytest
from starlette.applications import Starlette
from starlette.types import Message, Scope
from tests.server.pages import open_page, open_socket, open_world_with_limits, socket_url
from tests.server.world import World, message
from uvicorn.config import Config
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.server import ServerState
from websockets.exceptions import ConnectionClosed, InvalidStatus

from hitsend.server.auth.identify import Identity
from hitsend.server.auth.signed_tokens import sign
from hitsend.server.dispatch import build_asgi_app
from hitsend.server.limits.request_limits import MAX_RESUMES
from hitsend.server.turns.resume import ResumeClaims
from hitsend.server.turns.socket.limits import SocketLimits
from hitsend.server.turns.socket.tickets import MAX_PER_USER, TICKET_S, Tickets
from hitsend.server.turns.socket.transport import MAX_FRAGMENTS, SocketProtocol
from hitsend.settings import Settings
from hitsend.store import User
from hitsend.wire.socket import PROTOCOL

TOPIC = "conversation-turn-"
NOWHERE = TOPIC + "00000000-0000-4000-8000-000000000000"
MASK = bytes(4)
EMPTY_TEXT, EMPTY_PIECE = b"\x01\x80" + MASK, b"\x00\x80" + MASK
PING = b"\x89\xfd" + MASK + bytes(125)


async def refused_handshake(url: str, **options: object) -> tuple[int, str]:
    """Returns how a handshake was refused."""
    with pytest.raises(InvalidStatus) as refused:
        async with open_socket(url, **options):
            raise AssertionError("it was let in")
    response = refused.value.response
    return response.status_code, str(msgspec.json.decode(response.body)["error"]["code"])


async def test_a_socket_from_another_origin_is_refused(world: World) -> None:
    ada = await world.someone("ada")
    url = await socket_url(ada)
    for origin in ("https://elsewhere.example", "null", world.url + "0"):
        assert await refused_handshake(url, origin=origin) == (403, "not_allowed")
    async with open_socket(url, origin=world.url) as page:  # the ticket is still valid
        assert (await page.request("connect"))["ok"] is True


async def test_a_socket_for_a_foreign_host_is_refused(world: World) -> None:
    ada = await world.someone("ada")
    url = (await socket_url(ada)).replace("127.0.0.1", "elsewhere.example")
    here = {"host": "127.0.0.1", "port": httpx2.URL(world.url).port}
    assert await refused_handshake(url, **here) == (403, "not_allowed")


@pytest.mark.parametrize("protocols", [None, ["hitsend.v2"], ["chat", "json"]])
async def test_another_subprotocol_is_refused_and_ours_is_named(
    world: World, protocols: list[str] | None
) -> None:
    url = await socket_url(await world.someone("ada"))
    assert await refused_handshake(url, subprotocols=protocols) == (400, "invalid_request")


async def test_no_other_path_accepts_a_socket(world: World) -> None:
    with pytest.raises(InvalidStatus) as refused:
        async with open_socket(world.url.replace("http", "ws") + "/backend-api/me"):
            raise AssertionError("it was let in")
    assert refused.value.response.status_code == 403


async def test_a_ticket_is_valid_once(world: World) -> None:
    url = await socket_url(await world.someone("ada"))
    async with open_socket(url) as page:
        await page.request_reply("connect")
        async with open_socket(url) as again:
            assert await again.wait_closed() == 4401
        await page.request_reply("unsubscribe", topic_id="still here")


@pytest.mark.parametrize("query", ["", "?ticket=", "?ticket=hs-wrong", "?ticket=" + "x" * 4000])
async def test_an_unknown_ticket_is_refused(world: World, query: str) -> None:
    url = await socket_url(await world.someone("ada"))
    async with open_socket(url.partition("?")[0] + query) as page:
        assert await page.wait_closed() == 4401


async def test_a_ticket_is_not_cached(world: World) -> None:
    ada = await world.someone("ada")
    answer = await ada.http.get("/backend-api/celsius/ws/user")
    assert answer.headers["cache-control"] == "no-store"
    assert 0 < answer.json()["expires_at"] - time.time() <= TICKET_S


def test_tickets_expire_after_a_minute_and_are_limited_per_user() -> None:
    now = 1000.0
    tickets = Tickets(lambda: now)
    ada, eve = someone("ada"), someone("eve")
    hers = tickets.issue(eve)
    theirs = [tickets.issue(ada).token for _ in range(MAX_PER_USER + 2)]
    assert [tickets.redeem(token) for token in theirs] == [None, None, *[ada] * MAX_PER_USER]
    assert tickets.redeem(theirs[-1]) is None
    late = tickets.issue(ada)
    now += TICKET_S
    assert tickets.redeem(late.token) is None
    tickets.issue(ada)
    assert tickets.redeem(hers.token) is None


def someone(name: str) -> Identity:
    return Identity(User(name, name, "member"), None, f"key of {name}")


async def test_signing_out_closes_the_socket(world: World) -> None:
    ada = await world.someone("ada")
    async with open_page(ada) as page:
        assert (await ada.http.post("/backend-api/accounts/sign-out")).status_code == 204
        assert await page.wait_closed() == 4401


async def test_a_ticket_of_a_revoked_session_is_refused(world: World) -> None:
    ada = await world.someone("ada")
    url = await socket_url(ada)
    assert (await ada.http.post("/backend-api/accounts/sign-out")).status_code == 204
    async with open_socket(url) as page:
        with pytest.raises(ConnectionClosed):
            await page.request("connect")
        assert page.socket.close_code == 4401
        assert not page.unread


async def test_a_ticket_of_a_revoked_key_is_refused(world: World) -> None:
    ada = await world.someone("ada")
    program = await world.browser()
    program.headers["authorization"] = f"Bearer {ada.key}"
    url = (await program.get("/backend-api/celsius/ws/user")).json()["websocket_url"]
    accounts = world.app.services.store.accounts
    await accounts.revoke_key((await accounts.list_keys(ada.user_id))[0].id, ada.user_id)
    async with open_socket(url) as page:
        assert await page.wait_closed() == 4401


FRAMES = [
    "",
    "x",
    "{}",
    "null",
    "7",
    '"connect"',
    "[" * 100_000,
    "[7]",
    '{"id":2}',
    '{"id":2,"command":{}}',
    '{"id":2,"command":{"type":"dance"}}',
    '{"id":2,"command":{"type":"connect"}}',
    '{"id":-1,"command":{"type":"stop","topic_id":"t"}}',
    '{"id":2.5,"command":{"type":"stop","topic_id":"t"}}',
    '{"command":{"type":"stop","topic_id":"t"}}',
    '{"id":2,"command":{"type":"stop"}}',
    '{"id":2,"command":{"type":"stop","topic_id":7}}',
    '{"id":2,"command":{"type":"subscribe","topic_id":"t","offset":5}}',
    '{"id":2,"command":{"type":"subscribe","topic_id":"t","offset":"-5"}}',
    '{"id":2,"command":{"type":"subscribe","topic_id":"t","offset":"1e9"}}',
    '{"id":2,"command":{"type":"subscribe","topic_id":"t","offset":"9999999999999999"}}',
    '{"id":2,"command":{"type":"subscribe","topic_id":"t","offset":"٣"}}',
    '{"id":2,"command":{"type":"subscribe","topic_id":"t","offset":"5\\n"}}',
    '{"id":2,"command":{"type":"subscribe","topic_id":"t","more":1}}',
    '{"command":{"type":"ack","topic_id":"t","seq":-1}}',
    '{"command":{"type":"ack","topic_id":"t","seq":1e400}}',
    '{"command":{"type":"ack","topic_id":"t","seq":18446744073709551617}}',
    '{"command":{"type":"nack","topic_id":"t","from":1,"to":2,"reason":"boredom"}}',
    '{"id":2,"command":{"type":"send","client_msg_id":"","body":{}}}',
    '{"id":2,"command":{"type":"send","client_msg_id":"a b","body":{}}}',
    b"{}",
]


@pytest.mark.parametrize("frame", FRAMES, ids=range(len(FRAMES)))
async def test_an_invalid_command_closes_the_socket(world: World, frame: str | bytes) -> None:
    async with open_page(await world.someone("ada")) as page:
        await page.socket.send(frame)
        assert await page.wait_closed() == 4400


@pytest.mark.parametrize("kind", ["subscribe", "unsubscribe", "stop"])
async def test_commands_before_connect_close_the_socket(world: World, kind: str) -> None:
    async with open_socket(await socket_url(await world.someone("ada"))) as page:
        await page.send_request(kind, topic_id=NOWHERE)
        assert await page.wait_closed() == 4400


async def test_an_oversized_message_closes_the_socket(world: World) -> None:
    async with open_page(await world.someone("ada")) as page:
        await page.send_request("send", client_msg_id="m", body=message("x" * 1_048_576))
        assert await page.wait_closed() == 4413


async def test_a_body_is_no_larger_than_over_http(settings: Settings) -> None:
    small = msgspec.structs.replace(settings, max_body_bytes=2000)
    async with (
        open_world_with_limits(small) as world,
        open_page(await world.someone("ada")) as page,
    ):
        refused = await page.request("send", client_msg_id="m", body=message("x" * 2000))
        assert refused["error"]["code"] == "too_large"


async def test_a_frame_with_too_many_commands_is_invalid(world: World) -> None:
    async with open_page(await world.someone("ada")) as page:
        await page.send_batch(*[{"command": {"type": "pong"}}] * 256)
        await page.request_reply("unsubscribe", topic_id="still here")
        await page.send_batch(*[{"command": {"type": "pong"}}] * 257)
        assert await page.wait_closed() == 4400


async def test_a_message_with_too_many_fragments_closes_the_socket(world: World) -> None:
    async with open_page(await world.someone("ada")) as page:
        page.socket.transport.write(EMPTY_TEXT + EMPTY_PIECE * (2 * MAX_FRAGMENTS))
        assert await page.wait_closed() == 4413


async def test_a_client_that_pings_without_reading_is_disconnected(world: World) -> None:
    ada = await world.someone("ada")
    async with open_page(ada) as page:
        page.socket.transport.pause_reading()
        for _ in range(16):
            page.socket.transport.write(PING * 8192)
        async with asyncio.timeout(20):
            while world.app.sockets.num_open:
                await ada.http.get("/healthz")
        page.socket.transport.abort()


async def test_after_a_protocol_error_sending_raises_disconnected() -> None:
    line = SocketProtocol(Config(Starlette(), log_config=None), ServerState(), {})
    line.handshake_complete = line.close_sent = True
    with pytest.raises(ClientDisconnected):
        await line.send({"type": "websocket.send", "text": "too late"})


async def test_a_bug_is_logged_and_closes_the_socket(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    broken = SocketLimits(max_topics=cast(int, "many"))
    async with (
        open_world_with_limits(settings, broken) as world,
        open_page(await world.someone("ada")) as page,
    ):
        await page.send_request("subscribe", topic_id=NOWHERE)
        assert await page.wait_closed() == 1011
    assert "WS /backend-api/celsius/ws/connect failed" in caplog.messages


async def test_too_many_commands_close_the_socket(settings: Settings) -> None:
    slow = SocketLimits(tokens_per_s=0.0, max_tokens=100.0)
    async with (
        open_world_with_limits(settings, slow) as world,
        open_page(await world.someone("ada")) as page,
    ):
        for _ in range(10):
            await page.send_request("unsubscribe", topic_id=NOWHERE)
        assert await page.wait_closed() == 4429


async def test_unexpected_acks_and_nacks_are_ignored(world: World) -> None:
    ada = await world.someone("ada")
    stream = await ada.send("!script\nunharmed")
    async with open_page(ada) as page:
        topic_id = TOPIC + stream.turn_id
        await page.send_command("ack", topic_id=topic_id, seq=2**53 - 1)
        await page.send_command("nack", topic_id=topic_id, reason="hash", **{"from": 9, "to": 1})
        await page.send_command("unsubscribe", topic_id=topic_id)
        await page.send_command("pong")
        follower = await page.follow(topic_id)
        await page.send_command("ack", topic_id=topic_id, seq=2**53 - 1)
        await page.read(follower)
        await page.send_command("nack", topic_id=topic_id, reason="gap", **{"from": 9, "to": 1})
        await page.deliver(follower, await page.next("snapshot"))
    assert follower.text == "unharmed"


async def test_anothers_and_a_missing_topic_get_the_same_response(world: World) -> None:
    ada, eve = await world.someone("ada"), await world.someone("eve")
    stream = await ada.send("!script tokens=10000 pace=5ms", until_chars=5)
    async with open_page(eve) as page:
        for token in (None, "forged.token"):
            for kind in ("subscribe", "stop"):
                brought = {"token": token} if token and kind == "subscribe" else {}
                hers = await page.request(kind, topic_id=TOPIC + stream.turn_id, **brought)
                none = await page.request(kind, topic_id=NOWHERE, **brought)
                assert open_and_read(hers) == open_and_read(none)
        for topic_id in (stream.turn_id, TOPIC, "conversation-turn"):
            refused = await page.request("subscribe", topic_id=topic_id)
            assert refused["error"]["code"] == "not_found"
        assert not [frame for frame in page.unread if frame["type"] != "ping"]
    tree = await ada.conversation(stream.conversation_id)
    assert tree["running"]["turn_exchange_id"] == stream.turn_id


def open_and_read(frame: dict[str, object]) -> object:
    reply = frame.get("reply")
    return frame.get("error") or (sorted(reply) if isinstance(reply, dict) else reply)


async def test_an_invalid_resume_token_is_refused_and_the_socket_stays_open(world: World) -> None:
    ada, eve = await world.someone("ada"), await world.someone("eve")
    stream, other = await ada.send("!script\nmine"), await ada.send("!script\nmine too")
    topic_id, right = TOPIC + stream.turn_id, stream.of_type("resume_conversation_token")["token"]
    wrong = other.of_type("resume_conversation_token")["token"]
    hers = (await eve.send("!script\nhers")).of_type("resume_conversation_token")["token"]
    async with open_page(ada) as page:
        for token in ("", "x", right[:-1], right + "x", wrong, hers):
            refused = await page.request("subscribe", topic_id=topic_id, token=token)
            assert refused["error"]["code"] == "token_invalid"
        old = ResumeClaims(
            user_id=ada.user_id,
            conversation_id=stream.conversation_id,
            turn_id=stream.turn_id,
            epoch=world.app.services.store.turns.epoch,
            expires_at=time.time() - 1,
        )
        token = sign(world.app.secret, old)
        refused = await page.request("subscribe", topic_id=topic_id, token=token)
        assert refused["error"]["code"] == "token_expired"
        follower = await page.read(await page.follow(topic_id, token=right))
        assert follower.text == "mine"


async def test_forged_resume_tokens_lead_to_proof_of_work(world: World) -> None:
    ada = await world.someone("ada")
    topic_id = TOPIC + (await ada.send("!script\nmine")).turn_id
    async with open_page(ada) as page:
        for _ in range(12):
            await page.request("subscribe", topic_id=topic_id, token="forged")
        refused = await page.request("send", client_msg_id="m", body=message("let me in"))
    assert refused["error"]["code"] == "proof_of_work_required"


async def test_too_many_subscriptions_per_second_are_refused(world: World) -> None:
    ada = await world.someone("ada")
    stream = await ada.send("!script\nagain?")
    for _ in range(MAX_RESUMES - 2):
        world.app.resume_limit.count(ada.user_id)
    async with open_page(ada) as here, open_page(ada) as there:
        for page in (here, there):
            await page.request_reply("subscribe", topic_id=TOPIC + stream.turn_id)
        refused = await here.request("subscribe", topic_id=TOPIC + stream.turn_id)
    assert refused["error"]["code"] == "rate_limit_exceeded"
    assert refused["error"]["retryable"] is True
    assert refused["error"]["retry_after_ms"] > 0


async def test_the_socket_path_without_upgrade_is_not_found(world: World) -> None:
    ada = await world.someone("ada")
    answer: httpx2.Response = await ada.http.get("/backend-api/celsius/ws/connect")
    assert answer.status_code == 404


async def test_a_disconnect_during_the_handshake_is_not_logged_as_a_bug(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    url = httpx2.URL(await socket_url(await world.someone("ada")))
    scope: Scope = {
        "type": "websocket",
        "scheme": "ws",
        "path": url.path,
        "query_string": url.query,
        "headers": [(b"host", url.netloc), (b"origin", world.url.encode())],
        "subprotocols": [PROTOCOL],
    }

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    async def send(_: Message) -> None:
        raise ClientDisconnected

    await build_asgi_app(world.app)(scope, receive, send)
    assert not caplog.records
