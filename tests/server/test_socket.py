"""The WebSocket: turns are followed, sent and stopped over it, and it carries news."""

import asyncio
import socket
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from uuid import uuid4

import msgspec
from tests.server.pages import (
    Follower,
    Page,
    open_page,
    open_socket,
    open_world_with_limits,
    socket_url,
)
from tests.server.world import Someone, World, message
from websockets.exceptions import ConnectionClosed

from hitsend.server.turns.socket.limits import SocketClose, SocketLimits
from hitsend.server.turns.socket.open_sockets import OpenSockets
from hitsend.server.turns.socket.transport import MAX_OUT_BYTES
from hitsend.settings import Settings
from hitsend.wire.socket import WindowSize

TOPIC = "conversation-turn-"
SLOW = "!script tokens=100000 pace=2ms"
BODIES: list[object] = [
    {},
    [],
    None,
    {"action": "dance"},
    message(" "),
    message("x", unknown=1),
]
LONG = ("x" * 999 + " ") * 40


async def stored(someone: Someone, conversation_id: str) -> str:
    tree = await someone.conversation(conversation_id)
    last = tree["mapping"][tree["current_node"]]["message"]
    return str(last["content"]["parts"][0])


async def test_a_turn_is_followed_from_the_beginning_to_the_end(world: World) -> None:
    ada = await world.someone("ada")
    stream = await ada.send("!script\nhello over there")
    async with open_page(ada) as page:
        follower = await page.read(await page.follow(TOPIC + stream.turn_id))
    assert follower.messages == stream.messages
    assert follower.of_type("message_stream_complete") == stream.of_type("message_stream_complete")


async def test_a_reply_is_short_unless_its_first_item_is_long(world: World) -> None:
    ada = await world.someone("ada")
    stream = await ada.send("!script tokens=3\n" + LONG)  # in the log twice
    async with open_page(ada) as page:
        reply = await page.request_reply("subscribe", topic_id=TOPIC + stream.turn_id)
        assert len(msgspec.json.encode(reply)) < MAX_OUT_BYTES
        follower = Follower(TOPIC + stream.turn_id)
        for frame in reply["catchups"]:
            await page.deliver(follower, frame)
        await page.read(follower)
    assert follower.messages == stream.messages


async def test_missed_items_come_with_the_reply_and_the_rest_follows(
    settings: Settings,
) -> None:
    async with open_world_with_limits(settings, SocketLimits(catchup_bytes=1500)) as world:
        ada = await world.someone("ada")
        stream = await ada.send("!script tokens=7000 batch=10")
        async with open_page(ada) as page:
            follower = await page.follow(TOPIC + stream.turn_id)
            assert 0 < follower.last < stream.last_id
            await page.read(follower)
        assert follower.text == stream.text


async def test_one_socket_follows_many_turns_and_many_sockets_follow_one(world: World) -> None:
    ada = await world.someone("ada")
    async with open_page(ada) as here, open_page(ada) as there:
        turns = [await start_turn(here, f"!script tokens={30 + i} pace=2ms") for i in range(3)]
        followers = [await here.follow(turn["topic_id"]) for turn in turns]
        same = await there.follow(turns[0]["topic_id"])
        await asyncio.gather(read_all(here, followers), there.read(same))
    for turn, follower in zip(turns, followers, strict=True):
        assert follower.text == await stored(ada, turn["conversation_id"])
    assert same.text == followers[0].text


async def read_all(page: Page, followers: list[Follower]) -> None:
    by_topic = {follower.topic_id: follower for follower in followers}
    while not all(follower.is_complete for follower in followers):
        frame = await page.next("message")
        await page.deliver(by_topic[frame["topic_id"]], frame)


async def start_turn(page: Page, text: str) -> dict[str, str]:
    started: dict[str, str] = await page.request_reply(
        "send", client_msg_id=str(uuid4()), body=message(text)
    )
    return started


async def test_a_page_resumes_after_its_socket_was_lost(world: World) -> None:
    ada = await world.someone("ada")
    async with open_page(ada) as page:
        turn = await start_turn(page, "!script tokens=200 pace=1ms")
        follower = await page.read(await page.follow(turn["topic_id"]), until_chars=20)
    async with open_page(ada) as page:
        reply = await page.request_reply(
            "subscribe", topic_id=follower.topic_id, offset=str(follower.last)
        )
        assert reply["topic_id"] == follower.topic_id
        assert reply["first_seq"] == 1
        assert reply["last_seq"] >= follower.last
        assert reply["carry"]["p"] == "/message/content/parts/0"
        for frame in reply["catchups"]:
            await page.deliver(follower, frame)
        await page.read(follower)
    assert follower.num_snapshots == 0
    assert follower.text == await stored(ada, turn["conversation_id"])


async def test_the_offset_dollar_skips_earlier_events(world: World) -> None:
    ada = await world.someone("ada")
    async with open_page(ada) as page:
        turn = await start_turn(page, SLOW)
        await page.read(await page.follow(turn["topic_id"]), until_chars=20)
        reply = await page.request_reply("subscribe", topic_id=turn["topic_id"], offset="$")
        assert reply["catchups"] == []
        frame = await page.next("message")
        while frame["seq"] <= reply["last_seq"]:  # sent before
            frame = await page.next("message")
        assert frame["seq"] - frame["n"] == reply["last_seq"]


async def test_a_snapshot_stands_for_everything_before_it(world: World) -> None:
    ada = await world.someone("ada")
    stream = await ada.send("!script\nhello in one go")
    async with open_page(ada) as page:
        for offset, mode in (("0", "compact"), ("999999999999999", None)):
            follower = Follower(TOPIC + stream.turn_id)
            reply = await page.request_reply(
                "subscribe", topic_id=follower.topic_id, offset=offset, mode=mode
            )
            assert reply["catchups"] == []
            await page.read(follower)
            assert follower.num_snapshots == 1
            assert follower.messages == stream.messages


async def test_lost_messages_are_resent_byte_by_byte(world: World) -> None:
    ada = await world.someone("ada")
    stream = await ada.send("!script\nonce more, please")
    async with open_page(ada) as page:
        topic_id = TOPIC + stream.turn_id
        first, *_ = (await page.request_reply("subscribe", topic_id=topic_id))["catchups"]
        covered = {"from": first["seq"] - first["n"] + 1, "to": first["seq"]}
        await page.send_command("nack", topic_id=topic_id, reason="gap", **covered)
        again = await page.next("message")
        assert again == first | {"redelivery": True}


async def test_messages_no_longer_kept_are_replaced_by_a_snapshot(world: World) -> None:
    ada = await world.someone("ada")
    stream = await ada.send("!script\nshown")
    async with open_page(ada) as page:
        follower = await page.read(await page.follow(TOPIC + stream.turn_id))
        for reason in ("hash", "apply", "decode", "gap"):
            before = follower.num_snapshots
            await page.send_command(
                "nack", topic_id=follower.topic_id, reason=reason, **{"from": 1, "to": 2}
            )
            frame = await page.next("snapshot")
            await page.deliver(follower, frame)
            assert follower.num_snapshots == before + 1
            assert follower.text == "shown"


async def test_a_window_that_is_full_stops_its_topic_and_no_other(settings: Settings) -> None:
    async with open_world_with_limits(
        settings, SocketLimits(window=WindowSize(items=2), catchup_bytes=1)
    ) as world:
        ada = await world.someone("ada")
        one, two = await ada.send("!script\none"), await ada.send("!script\ntwo")
        async with open_page(ada) as page:
            held = Follower(TOPIC + one.turn_id)
            reply = await page.request_reply("subscribe", topic_id=held.topic_id)
            pushed = [*reply["catchups"], await page.next("message")]
            other = await page.read(await page.follow(TOPIC + two.turn_id))
            assert held.topic_id not in {frame.get("topic_id") for frame in page.unread}
            for frame in pushed:
                await page.deliver(held, frame)
            await page.read(held)
    assert (held.text, other.text) == ("one", "two")


async def test_a_page_that_acks_nothing_is_disconnected(settings: Settings) -> None:
    async with open_world_with_limits(settings, SocketLimits(ack_s=0.1, check_s=0.05)) as world:
        ada = await world.someone("ada")
        stream = await ada.send("!script\nanyone?")
        async with open_page(ada) as page:
            await page.request_reply("subscribe", topic_id=TOPIC + stream.turn_id)
            assert await page.wait_closed() == 4408


async def test_a_silent_page_is_disconnected_and_one_that_answers_pings_is_not(
    settings: Settings,
) -> None:
    async with open_world_with_limits(
        settings, SocketLimits(ping_s=0.05, silence_s=1.5, check_s=0.02)
    ) as world:
        ada = await world.someone("ada")
        async with open_page(ada) as alive, open_page(ada) as dead:
            closing = asyncio.create_task(dead.wait_closed())
            while not closing.done():
                ping = await alive.next("ping")
                await alive.send_command("pong", t=ping["t"])
            assert await closing == 4408
            await alive.request_reply("unsubscribe", topic_id="nothing")


async def test_a_page_that_does_not_read_is_dropped_but_its_turn_continues(
    settings: Settings,
) -> None:
    async with open_world_with_limits(settings, SocketLimits(stuck_s=0.3)) as world:
        ada = await world.someone("ada")
        long = await ada.send("!script\n" + LONG)
        async with open_page(ada) as page:
            running = await start_turn(page, "!script tokens=50 pace=10ms")
            await page.request_reply("subscribe", topic_id=TOPIC + long.turn_id)
            page.socket.transport.pause_reading()
            plug = page.socket.transport.get_extra_info("socket")
            plug.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            with suppress(ConnectionClosed):
                for _ in range(75):
                    everything = {"reason": "gap", "from": 1, "to": long.last_id}
                    await page.send_command("nack", topic_id=TOPIC + long.turn_id, **everything)
            async with asyncio.timeout(20):
                while world.app.sockets.num_open:
                    await ada.http.get("/healthz")
            page.socket.transport.abort()
        followed = await ada.follow(running["turn_exchange_id"])
    assert followed.of_type("message_stream_complete")["status"] == "finished_successfully"


async def test_long_messages_are_split_into_bounded_frames(world: World) -> None:
    ada = await world.someone("ada")
    stream = await ada.send("!script tokens=3\n" + LONG.replace("x", '"'))
    async with open_page(ada) as page:
        await page.send_request("subscribe", topic_id=TOPIC + stream.turn_id)
        pieces: list[bytes] = []
        while len(pieces) < 2:  # until a long one
            pieces = [piece async for piece in page.socket.recv_streaming(decode=False)]
    assert {len(piece) for piece in pieces[:-1]} == {MAX_OUT_BYTES}
    assert len(pieces[-1]) <= MAX_OUT_BYTES


async def test_a_repeated_send_command_is_one_turn(world: World) -> None:
    ada = await world.someone("ada")
    body, sent = message("!script\nonce"), {"client_msg_id": "m-1"}
    async with open_page(ada) as page:
        first = await page.request_reply("send", body=body, **sent)
        assert first["topic_id"] == TOPIC + first["turn_exchange_id"]
        assert first["duplicate"] is False
        follower = await page.read(await page.follow(first["topic_id"]))
    async with open_page(ada) as page:
        assert await page.request_reply("send", body=body, **sent) == first | {"duplicate": True}
        other = await page.request("send", body=message("!script\nanother"), **sent)
        assert other["error"]["code"] == "idempotency_key_reused"
        assert other["error"]["retryable"] is False
    assert follower.text == await stored(ada, first["conversation_id"]) == "once"


async def test_concurrent_send_commands_of_one_message_are_one_turn(world: World) -> None:
    ada = await world.someone("ada")
    body = message("!script\nonce")
    async with open_page(ada) as here, open_page(ada) as there:
        started = await asyncio.gather(
            *(page.request_reply("send", client_msg_id="m-1", body=body) for page in (here, there))
        )
    assert len({one["turn_exchange_id"] for one in started}) == 1
    assert sorted(one["duplicate"] for one in started) == [False, True]


async def test_a_refused_send_gets_a_nack_and_the_socket_stays_open(world: World) -> None:
    ada = await world.someone("ada")
    async with open_page(ada) as page:
        for body in BODIES:
            refused = await page.request("send", client_msg_id=str(uuid4()), body=body)
            assert refused["type"] == "nack"
            assert refused["error"]["code"] == "invalid_request"
        lost = await page.request(
            "send", client_msg_id="m", body=message("x", conversation_id=str(uuid4()))
        )
        assert lost["error"]["code"] == "not_found"
        assert (await start_turn(page, "!script\nfine"))["topic_id"]


async def test_an_answer_can_be_stopped_over_the_socket(world: World) -> None:
    ada = await world.someone("ada")
    async with open_page(ada) as page:
        turn = await start_turn(page, SLOW)
        follower = await page.read(await page.follow(turn["topic_id"]), until_chars=10)
        await page.request_reply("stop", topic_id=turn["topic_id"])
        await page.read(follower)
    complete = follower.of_type("message_stream_complete")
    assert complete["status"] == "finished_partial_completion"
    assert follower.text == await stored(ada, turn["conversation_id"])


async def test_every_command_is_answered_even_if_others_follow_at_once(world: World) -> None:
    ada = await world.someone("ada")
    topic_id = TOPIC + (await ada.send("!script\nanswered")).turn_id
    subscribe = {"type": "subscribe", "topic_id": topic_id}
    nack = {"type": "nack", "topic_id": topic_id, "reason": "hash", "from": 1, "to": 2}
    async with open_page(ada) as page:
        unsubscribe = {"type": "unsubscribe", "topic_id": topic_id}
        await page.send_batch({"id": 10, "command": subscribe}, {"id": 11, "command": unsubscribe})
        left, reply = await page.next("nack"), await page.next("reply")
        assert (left["id"], left["error"]["code"], reply["id"]) == (10, "conflict", 11)
        await page.send_batch({"id": 12, "command": subscribe}, {"id": 13, "command": subscribe})
        left, reply = await page.next("nack"), await page.next("reply")
        assert (left["id"], left["error"]["code"], reply["id"]) == (12, "conflict", 13)
        await page.request_reply("unsubscribe", topic_id=topic_id)
        await page.send_batch({"id": 14, "command": subscribe}, {"command": nack})
        reply = await page.next("reply")
        assert reply["id"] == 14
        assert reply["reply"]["catchups"]


async def test_a_nack_names_its_topic(world: World) -> None:
    ada = await world.someone("ada")
    stream = await ada.send("!script\nsoon gone")
    async with open_page(ada) as page:
        follower = await page.read(await page.follow(TOPIC + stream.turn_id))
        await ada.http.delete(f"/backend-api/conversation/{stream.conversation_id}")
        lost = {"reason": "hash", "from": 1, "to": 2}
        await page.send_command("nack", topic_id=follower.topic_id, **lost)
        refused = await page.next("nack")
    assert (refused["id"], refused["topic_id"]) == (None, follower.topic_id)
    assert refused["error"]["code"] == "not_found"


async def test_an_unsubscribed_topic_sends_nothing(world: World) -> None:
    ada = await world.someone("ada")
    async with open_page(ada) as page:
        turn = await start_turn(page, SLOW)
        await page.read(await page.follow(turn["topic_id"]), until_chars=10)
        await page.request_reply("unsubscribe", topic_id=turn["topic_id"])
        page.unread.clear()
        await page.request_reply("stop", topic_id=turn["topic_id"])
        assert (await page.next("news", "message"))["news"]["type"] == "turn_ended"


async def test_every_page_gets_news_of_its_users_turns(world: World) -> None:
    ada, eve = await world.someone("ada"), await world.someone("eve")
    stream = await ada.send(SLOW, until_chars=5)
    ids = {
        "conversation_id": stream.conversation_id,
        "turn_exchange_id": stream.turn_id,
        "topic_id": TOPIC + stream.turn_id,
    }
    async with open_page(ada) as page, open_page(eve) as hers:
        assert (await page.next("news"))["news"] == {"type": "turn_began", **ids}
        await ada.http.post(
            "/backend-api/stop_conversation", json={"conversation_id": stream.conversation_id}
        )
        assert (await page.next("news"))["news"] == {"type": "turn_ended", **ids}
        await start_turn(page, "!script\na fresh one")
        kinds = {(await page.next("news"))["news"]["type"] for _ in range(3)}
        assert kinds == {"turn_began", "title_changed", "turn_ended"}
        await hers.request_reply("unsubscribe", topic_id="nothing")
        assert not hers.unread


async def test_every_page_gets_news_of_a_renamed_conversation(world: World) -> None:
    ada, eve = await world.someone("ada"), await world.someone("eve")
    path = f"/backend-api/conversation/{(await ada.send('!script')).conversation_id}"
    async with open_page(ada) as page, open_page(eve) as hers:
        assert not (await eve.http.patch(path, json={"title": "Hers"})).is_success
        assert (await ada.http.patch(path, json={"is_pinned": True})).is_success
        assert (await ada.http.patch(path, json={"title": "Mine"})).is_success
        assert (await page.next("news"))["news"] == {
            "type": "title_changed",
            "conversation_id": path.rpartition("/")[2],
            "title": "Mine",
        }
        await hers.request_reply("unsubscribe", topic_id="nothing")
        assert not hers.unread


async def test_a_replaced_socket_is_closed(world: World) -> None:
    ada, eve = await world.someone("ada"), await world.someone("eve")
    async with open_page(ada) as old, open_page(eve) as hers:
        async with open_socket(await socket_url(ada)) as new:
            await new.request_reply("connect", last_connection=old.connection_id)
            assert await old.wait_closed() == 4409
        async with open_socket(await socket_url(ada)) as new:
            await new.request_reply("connect", last_connection=hers.connection_id)
            await hers.request_reply("unsubscribe", topic_id="still here")


def test_a_socket_that_ends_late_unregisters_only_itself() -> None:
    sockets = OpenSockets()
    old, new, newest = FakeSocket("old"), FakeSocket("new"), FakeSocket("newest")
    with ExitStack() as olds:
        olds.enter_context(sockets.register("ada", old))
        with sockets.register("ada", new):
            sockets.supersede("ada", "old")
        with sockets.register("ada", newest):
            olds.close()
            assert sockets.num_open == 1
            sockets.supersede("ada", "newest")
            assert newest.is_closing
    assert sockets.num_open == 0


@dataclass
class FakeSocket:
    connection_id: str
    is_closing: bool = False

    def request_close(self, _: SocketClose) -> None:
        self.is_closing = True

    async def drain(self) -> None:
        raise AssertionError("nobody asked for that")


async def test_with_too_many_sockets_the_oldest_is_closed(settings: Settings) -> None:
    async with open_world_with_limits(settings, SocketLimits(max_sockets=2)) as world:
        ada, eve = await world.someone("ada"), await world.someone("eve")
        async with (
            open_page(ada) as first,
            open_page(ada) as second,
            open_page(eve),
            open_page(ada),
        ):
            assert await first.wait_closed() == 4409
            await second.request_reply("unsubscribe", topic_id="still here")


async def test_with_too_many_topics_ended_ones_are_evicted(settings: Settings) -> None:
    async with open_world_with_limits(settings, SocketLimits(max_topics=1)) as world:
        ada = await world.someone("ada")
        stream = await ada.send("!script\nshort")
        async with open_page(ada) as page:
            await page.read(await page.follow(TOPIC + stream.turn_id))
            await page.request_reply(
                "unsubscribe", topic_id="so that the last word has been acknowledged"
            )
            turn = await start_turn(page, SLOW)
            await page.read(await page.follow(turn["topic_id"]), until_chars=5)
            refused = await page.request("subscribe", topic_id=TOPIC + stream.turn_id)
            assert refused["error"]["code"] == "conflict"


async def test_a_stopping_server_sends_everything_before_it_closes_sockets(
    settings: Settings,
) -> None:
    async with open_world_with_limits(settings) as world:
        ada = await world.someone("ada")
        async with open_page(ada) as page:
            turn = await start_turn(page, SLOW)
            follower = await page.read(await page.follow(turn["topic_id"]), until_chars=10)
            await world.app.runner.close()
            leaving = asyncio.create_task(world.app.sockets.close())
            await page.read(follower)
            assert await page.wait_closed() == 1012
            await leaving
    assert follower.of_type("message_stream_complete")["status"] == "interrupted"
