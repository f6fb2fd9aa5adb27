"""The WebSocket and those who mean it no good: every refusal is clear, and tells nothing."""

import asyncio
import time
from typing import cast

import httpx2
import msgspec
import pytest
from starlette.applications import Starlette
from starlette.types import Message, Scope
from tests.server.pages import address, hasty, line_to, page_of
from tests.server.world import World, message
from uvicorn.config import Config
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.server import ServerState
from websockets.exceptions import ConnectionClosed, InvalidStatus

from hitsend.server.app import build_app
from hitsend.server.passes import sign
from hitsend.server.people import Person
from hitsend.server.resuming import ResumePass
from hitsend.server.returning import MOST
from hitsend.server.socket.line import MAX_PIECES, Line
from hitsend.server.socket.rules import Rules
from hitsend.server.socket.tickets import MAX_EACH, TICKET_S, Tickets
from hitsend.settings import Settings
from hitsend.store import User
from hitsend.wire.socket import PROTOCOL

TOPIC = "conversation-turn-"
NOWHERE = TOPIC + "00000000-0000-4000-8000-000000000000"
MASK = bytes(4)
EMPTY_TEXT, EMPTY_PIECE = b"\x01\x80" + MASK, b"\x00\x80" + MASK
PING = b"\x89\xfd" + MASK + bytes(125)


async def refusal(url: str, **options: object) -> tuple[int, str]:
    """How a handshake was refused."""
    with pytest.raises(InvalidStatus) as refused:
        async with line_to(url, **options):
            raise AssertionError("it was let in")
    response = refused.value.response
    return response.status_code, str(msgspec.json.decode(response.body)["error"]["code"])


async def test_a_page_of_another_origin_is_not_let_in(world: World) -> None:
    ada = await world.someone("ada")
    url = await address(ada)
    for origin in ("https://elsewhere.example", "null", world.url + "0"):
        assert await refusal(url, origin=origin) == (403, "not_allowed")
    async with line_to(url, origin=world.url) as page:  # and the ticket was not spent
        assert (await page.ask("connect"))["ok"] is True


async def test_under_another_name_nobody_is_let_in(world: World) -> None:
    ada = await world.someone("ada")
    url = (await address(ada)).replace("127.0.0.1", "elsewhere.example")
    here = {"host": "127.0.0.1", "port": httpx2.URL(world.url).port}
    assert await refusal(url, **here) == (403, "not_allowed")


@pytest.mark.parametrize("protocols", [None, ["hitsend.v2"], ["chat", "json"]])
async def test_who_speaks_another_protocol_is_told_ours(
    world: World, protocols: list[str] | None
) -> None:
    url = await address(await world.someone("ada"))
    assert await refusal(url, subprotocols=protocols) == (400, "invalid_request")


async def test_there_is_no_other_socket(world: World) -> None:
    with pytest.raises(InvalidStatus) as refused:
        async with line_to(world.url.replace("http", "ws") + "/backend-api/me"):
            raise AssertionError("it was let in")
    assert refused.value.response.status_code == 403


async def test_a_ticket_holds_once(world: World) -> None:
    url = await address(await world.someone("ada"))
    async with line_to(url) as page:
        await page.asked("connect")
        async with line_to(url) as again:
            assert await again.closed() == 4401
        await page.asked("unsubscribe", topic_id="still here")


@pytest.mark.parametrize("query", ["", "?ticket=", "?ticket=hs-wrong", "?ticket=" + "x" * 4000])
async def test_a_ticket_nobody_gave_out_does_not_hold(world: World, query: str) -> None:
    url = await address(await world.someone("ada"))
    async with line_to(url.partition("?")[0] + query) as page:
        assert await page.closed() == 4401


async def test_a_ticket_is_not_kept_by_anyone(world: World) -> None:
    ada = await world.someone("ada")
    answer = await ada.http.get("/backend-api/celsius/ws/user")
    assert answer.headers["cache-control"] == "no-store"
    assert 0 < answer.json()["expires_at"] - time.time() <= TICKET_S


def test_tickets_are_void_after_a_minute_and_few_at_a_time() -> None:
    now = 1000.0
    tickets = Tickets(lambda: now)
    ada, eve = someone("ada"), someone("eve")
    hers = tickets.issue(eve)
    theirs = [tickets.issue(ada).token for _ in range(MAX_EACH + 2)]
    assert [tickets.redeem(token) for token in theirs] == [None, None, *[ada] * MAX_EACH]
    assert tickets.redeem(theirs[-1]) is None
    late = tickets.issue(ada)
    now += TICKET_S
    assert tickets.redeem(late.token) is None
    tickets.issue(ada)
    assert tickets.redeem(hers.token) is None


def someone(name: str) -> Person:
    return Person(User(name, name, "member"), None, f"key of {name}")


async def test_who_is_signed_out_is_thrown_out(world: World) -> None:
    ada = await world.someone("ada")
    async with page_of(ada) as page:
        assert (await ada.http.post("/backend-api/accounts/sign-out")).status_code == 204
        assert await page.closed() == 4401


async def test_with_a_ticket_whose_session_is_over_nothing_is_heard(world: World) -> None:
    ada = await world.someone("ada")
    url = await address(ada)
    assert (await ada.http.post("/backend-api/accounts/sign-out")).status_code == 204
    async with line_to(url) as page:
        with pytest.raises(ConnectionClosed):
            await page.ask("connect")
        assert page.line.close_code == 4401
        assert not page.unread


async def test_a_ticket_goes_with_the_key_it_was_asked_for_with(world: World) -> None:
    ada = await world.someone("ada")
    program = await world.browser()
    program.headers["authorization"] = f"Bearer {ada.key}"
    url = (await program.get("/backend-api/celsius/ws/user")).json()["websocket_url"]
    accounts = world.house.services.store.accounts
    await accounts.revoke_key((await accounts.keys(ada.user_id))[0].id, ada.user_id)
    async with line_to(url) as page:
        assert await page.closed() == 4401


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
async def test_what_is_no_command_ends_the_line(world: World, frame: str | bytes) -> None:
    async with page_of(await world.someone("ada")) as page:
        await page.line.send(frame)
        assert await page.closed() == 4400


@pytest.mark.parametrize("kind", ["subscribe", "unsubscribe", "stop"])
async def test_nothing_comes_before_connect(world: World, kind: str) -> None:
    async with line_to(await address(await world.someone("ada"))) as page:
        await page.tell_unheard(kind, topic_id=NOWHERE)
        assert await page.closed() == 4400


async def test_what_is_too_big_ends_the_line(world: World) -> None:
    async with page_of(await world.someone("ada")) as page:
        await page.tell_unheard("send", client_msg_id="m", body=message("x" * 1_048_576))
        assert await page.closed() == 4413


async def test_a_body_is_no_larger_than_over_http(settings: Settings) -> None:
    small = msgspec.structs.replace(settings, max_body_bytes=2000)
    async with hasty(small) as world, page_of(await world.someone("ada")) as page:
        refused = await page.ask("send", client_msg_id="m", body=message("x" * 2000))
        assert refused["error"]["code"] == "too_large"


async def test_too_many_commands_at_once_are_no_frame(world: World) -> None:
    async with page_of(await world.someone("ada")) as page:
        await page.tell_all(*[{"command": {"type": "pong"}}] * 256)
        await page.asked("unsubscribe", topic_id="still here")
        await page.tell_all(*[{"command": {"type": "pong"}}] * 257)
        assert await page.closed() == 4400


async def test_a_message_in_too_many_pieces_ends_the_line(world: World) -> None:
    async with page_of(await world.someone("ada")) as page:
        page.line.transport.write(EMPTY_TEXT + EMPTY_PIECE * (2 * MAX_PIECES))
        assert await page.closed() == 4413


async def test_who_pings_and_does_not_read_is_cut_off(world: World) -> None:
    ada = await world.someone("ada")
    async with page_of(ada) as page:
        page.line.transport.pause_reading()
        for _ in range(16):
            page.line.transport.write(PING * 8192)
        async with asyncio.timeout(20):
            while world.house.sockets.num_open:
                await ada.http.get("/healthz")
        page.line.transport.abort()


async def test_after_a_mistake_in_the_framing_nobody_is_there() -> None:
    line = Line(Config(Starlette(), log_config=None), ServerState(), {})
    line.handshake_complete = line.close_sent = True
    with pytest.raises(ClientDisconnected):
        await line.send({"type": "websocket.send", "text": "too late"})


async def test_a_bug_is_logged_and_said(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    broken = Rules(max_topics=cast(int, "many"))
    async with hasty(settings, broken) as world, page_of(await world.someone("ada")) as page:
        await page.tell_unheard("subscribe", topic_id=NOWHERE)
        assert await page.closed() == 1011
    assert "WS /backend-api/celsius/ws/connect failed" in caplog.messages


async def test_who_talks_too_fast_is_cut_off(settings: Settings) -> None:
    slow = Rules(points_per_s=0.0, max_points=100.0)
    async with hasty(settings, slow) as world, page_of(await world.someone("ada")) as page:
        for _ in range(10):
            await page.tell_unheard("unsubscribe", topic_id=NOWHERE)
        assert await page.closed() == 4429


async def test_words_out_of_place_do_no_harm(world: World) -> None:
    ada = await world.someone("ada")
    heard = await ada.send("!script\nunharmed")
    async with page_of(ada) as page:
        topic_id = TOPIC + heard.turn_id
        await page.tell("ack", topic_id=topic_id, seq=2**53 - 1)
        await page.tell("nack", topic_id=topic_id, reason="hash", **{"from": 9, "to": 1})
        await page.tell("unsubscribe", topic_id=topic_id)
        await page.tell("pong")
        follower = await page.follow(topic_id)
        await page.tell("ack", topic_id=topic_id, seq=2**53 - 1)
        await page.read(follower)
        await page.tell("nack", topic_id=topic_id, reason="gap", **{"from": 9, "to": 1})
        await page.give(follower, await page.next("snapshot"))
    assert follower.text == "unharmed"


async def test_a_topic_that_is_not_yours_and_one_that_is_not_there_are_alike(world: World) -> None:
    ada, eve = await world.someone("ada"), await world.someone("eve")
    heard = await ada.send("!script tokens=10000 pace=5ms", until_chars=5)
    async with page_of(eve) as page:
        for token in (None, "forged.token"):
            for kind in ("subscribe", "stop"):
                brought = {"token": token} if token and kind == "subscribe" else {}
                hers = await page.ask(kind, topic_id=TOPIC + heard.turn_id, **brought)
                none = await page.ask(kind, topic_id=NOWHERE, **brought)
                assert told(hers) == told(none)
        for topic_id in (heard.turn_id, TOPIC, "conversation-turn"):
            refused = await page.ask("subscribe", topic_id=topic_id)
            assert refused["error"]["code"] == "not_found"
        assert not [frame for frame in page.unread if frame["type"] != "ping"]
    tree = await ada.conversation(heard.conversation_id)
    assert tree["running"]["turn_exchange_id"] == heard.turn_id


def told(frame: dict[str, object]) -> object:
    reply = frame.get("reply")
    return frame.get("error") or (sorted(reply) if isinstance(reply, dict) else reply)


async def test_a_token_that_does_not_hold_ends_the_try_and_not_the_line(world: World) -> None:
    ada, eve = await world.someone("ada"), await world.someone("eve")
    heard, other = await ada.send("!script\nmine"), await ada.send("!script\nmine too")
    topic_id, right = TOPIC + heard.turn_id, heard.of_type("resume_conversation_token")["token"]
    wrong = other.of_type("resume_conversation_token")["token"]
    hers = (await eve.send("!script\nhers")).of_type("resume_conversation_token")["token"]
    async with page_of(ada) as page:
        for token in ("", "x", right[:-1], right + "x", wrong, hers):
            refused = await page.ask("subscribe", topic_id=topic_id, token=token)
            assert refused["error"]["code"] == "token_invalid"
        old = ResumePass(
            user_id=ada.user_id,
            conversation_id=heard.conversation_id,
            turn_id=heard.turn_id,
            epoch=world.house.services.store.turns.epoch,
            expires_at=time.time() - 1,
        )
        token = sign(world.house.secret, old)
        refused = await page.ask("subscribe", topic_id=topic_id, token=token)
        assert refused["error"]["code"] == "token_expired"
        follower = await page.read(await page.follow(topic_id, token=right))
        assert follower.text == "mine"


async def test_who_forges_tokens_has_to_work_before_they_send(world: World) -> None:
    ada = await world.someone("ada")
    topic_id = TOPIC + (await ada.send("!script\nmine")).turn_id
    async with page_of(ada) as page:
        for _ in range(12):
            await page.ask("subscribe", topic_id=topic_id, token="forged")
        refused = await page.ask("send", client_msg_id="m", body=message("let me in"))
    assert refused["error"]["code"] == "proof_of_work_required"


async def test_who_comes_back_a_thousand_times_a_second_is_slowed_down(world: World) -> None:
    ada = await world.someone("ada")
    heard = await ada.send("!script\nagain?")
    for _ in range(MOST - 2):
        await world.house.returns.count(ada.user_id)
    async with page_of(ada) as here, page_of(ada) as there:
        for page in (here, there):
            await page.asked("subscribe", topic_id=TOPIC + heard.turn_id)
        refused = await here.ask("subscribe", topic_id=TOPIC + heard.turn_id)
    assert refused["error"]["code"] == "rate_limit_exceeded"
    assert refused["error"]["retryable"] is True
    assert refused["error"]["retry_after_ms"] > 0


async def test_a_socket_asked_for_without_upgrading_is_not_there(world: World) -> None:
    ada = await world.someone("ada")
    answer: httpx2.Response = await ada.http.get("/backend-api/celsius/ws/connect")
    assert answer.status_code == 404


async def test_who_leaves_during_the_handshake_is_no_failure_of_ours(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    url = httpx2.URL(await address(await world.someone("ada")))
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

    await build_app(world.house)(scope, receive, send)
    assert not caplog.records
