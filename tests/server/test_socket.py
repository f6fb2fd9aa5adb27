"""The WebSocket: turns followed, sent, stopped and told of over one line."""

import asyncio
import socket
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from uuid import uuid4

import msgspec
from tests.server.pages import Follower, Page, address, hasty, line_to, page_of
from tests.server.world import Someone, World, message
from websockets.exceptions import ConnectionClosed

from hitsend.server.socket.line import MAX_OUT_BYTES
from hitsend.server.socket.rules import Hangup, Rules
from hitsend.server.socket.sockets import Sockets
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
    heard = await ada.send("!script\nhello over there")
    async with page_of(ada) as page:
        follower = await page.read(await page.follow(TOPIC + heard.turn_id))
    assert follower.messages == heard.messages
    assert follower.of_type("message_stream_complete") == heard.of_type("message_stream_complete")


async def test_a_reply_is_short_unless_its_first_item_is_long(world: World) -> None:
    ada = await world.someone("ada")
    heard = await ada.send("!script tokens=3\n" + LONG)  # which is told twice, once as its answer
    async with page_of(ada) as page:
        reply = await page.asked("subscribe", topic_id=TOPIC + heard.turn_id)
        assert len(msgspec.json.encode(reply)) < MAX_OUT_BYTES
        follower = Follower(TOPIC + heard.turn_id)
        for frame in reply["catchups"]:
            await page.give(follower, frame)
        await page.read(follower)
    assert follower.messages == heard.messages


async def test_what_was_missed_comes_with_the_reply_and_the_rest_after_it(
    settings: Settings,
) -> None:
    async with hasty(settings, Rules(catchup_bytes=1500)) as world:
        ada = await world.someone("ada")
        heard = await ada.send("!script tokens=7000 batch=10")
        async with page_of(ada) as page:
            follower = await page.follow(TOPIC + heard.turn_id)
            assert 0 < follower.last < heard.last_id
            await page.read(follower)
        assert follower.text == heard.text


async def test_one_line_carries_many_turns_and_many_lines_carry_one(world: World) -> None:
    ada = await world.someone("ada")
    async with page_of(ada) as here, page_of(ada) as there:
        turns = [await begun(here, f"!script tokens={30 + i} pace=2ms") for i in range(3)]
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
        await page.give(by_topic[frame["topic_id"]], frame)


async def begun(page: Page, text: str) -> dict[str, str]:
    started: dict[str, str] = await page.asked(
        "send", client_msg_id=str(uuid4()), body=message(text)
    )
    return started


async def test_a_page_that_lost_its_line_goes_on_where_it_was(world: World) -> None:
    ada = await world.someone("ada")
    async with page_of(ada) as page:
        turn = await begun(page, "!script tokens=200 pace=1ms")
        follower = await page.read(await page.follow(turn["topic_id"]), until_chars=20)
    async with page_of(ada) as page:
        reply = await page.asked("subscribe", topic_id=follower.topic_id, offset=str(follower.last))
        assert reply["topic_id"] == follower.topic_id
        assert reply["first_seq"] == 1
        assert reply["last_seq"] >= follower.last
        assert reply["carry"]["p"] == "/message/content/parts/0"
        for frame in reply["catchups"]:
            await page.give(follower, frame)
        await page.read(follower)
    assert follower.num_snapshots == 0
    assert follower.text == await stored(ada, turn["conversation_id"])


async def test_from_now_on_means_nothing_of_before(world: World) -> None:
    ada = await world.someone("ada")
    async with page_of(ada) as page:
        turn = await begun(page, SLOW)
        await page.read(await page.follow(turn["topic_id"]), until_chars=20)
        reply = await page.asked("subscribe", topic_id=turn["topic_id"], offset="$")
        assert reply["catchups"] == []
        frame = await page.next("message")
        while frame["seq"] <= reply["last_seq"]:  # was on its way
            frame = await page.next("message")
        assert frame["seq"] - frame["n"] == reply["last_seq"]


async def test_a_snapshot_stands_for_everything_before_it(world: World) -> None:
    ada = await world.someone("ada")
    heard = await ada.send("!script\nhello in one go")
    async with page_of(ada) as page:
        for offset, mode in (("0", "compact"), ("999999999999999", None)):
            follower = Follower(TOPIC + heard.turn_id)
            reply = await page.asked(
                "subscribe", topic_id=follower.topic_id, offset=offset, mode=mode
            )
            assert reply["catchups"] == []
            await page.read(follower)
            assert follower.num_snapshots == 1
            assert follower.messages == heard.messages


async def test_what_got_lost_is_said_again_byte_by_byte(world: World) -> None:
    ada = await world.someone("ada")
    heard = await ada.send("!script\nonce more, please")
    async with page_of(ada) as page:
        topic_id = TOPIC + heard.turn_id
        first, *_ = (await page.asked("subscribe", topic_id=topic_id))["catchups"]
        covered = {"from": first["seq"] - first["n"] + 1, "to": first["seq"]}
        await page.tell("nack", topic_id=topic_id, reason="gap", **covered)
        again = await page.next("message")
        assert again == first | {"redelivery": True}


async def test_what_cannot_be_said_again_is_shown(world: World) -> None:
    ada = await world.someone("ada")
    heard = await ada.send("!script\nshown")
    async with page_of(ada) as page:
        follower = await page.read(await page.follow(TOPIC + heard.turn_id))
        for reason in ("hash", "apply", "decode", "gap"):
            before = follower.num_snapshots
            await page.tell(
                "nack", topic_id=follower.topic_id, reason=reason, **{"from": 1, "to": 2}
            )
            frame = await page.next("snapshot")
            await page.give(follower, frame)
            assert follower.num_snapshots == before + 1
            assert follower.text == "shown"


async def test_a_window_that_is_full_stops_its_topic_and_no_other(settings: Settings) -> None:
    async with hasty(settings, Rules(window=WindowSize(items=2), catchup_bytes=1)) as world:
        ada = await world.someone("ada")
        one, two = await ada.send("!script\none"), await ada.send("!script\ntwo")
        async with page_of(ada) as page:
            held = Follower(TOPIC + one.turn_id)
            reply = await page.asked("subscribe", topic_id=held.topic_id)
            pushed = [*reply["catchups"], await page.next("message")]
            other = await page.read(await page.follow(TOPIC + two.turn_id))
            assert held.topic_id not in {frame.get("topic_id") for frame in page.unread}
            for frame in pushed:
                await page.give(held, frame)
            await page.read(held)
    assert (held.text, other.text) == ("one", "two")


async def test_a_page_that_acknowledges_nothing_is_left(settings: Settings) -> None:
    async with hasty(settings, Rules(ack_s=0.1, look_s=0.05)) as world:
        ada = await world.someone("ada")
        heard = await ada.send("!script\nanyone?")
        async with page_of(ada) as page:
            await page.asked("subscribe", topic_id=TOPIC + heard.turn_id)
            assert await page.closed() == 4408


async def test_a_page_that_says_nothing_is_left_and_one_that_answers_is_not(
    settings: Settings,
) -> None:
    async with hasty(settings, Rules(ping_s=0.05, silence_s=1.5, look_s=0.02)) as world:
        ada = await world.someone("ada")
        async with page_of(ada) as alive, page_of(ada) as dead:
            closing = asyncio.create_task(dead.closed())
            while not closing.done():
                ping = await alive.next("ping")
                await alive.tell("pong", t=ping["t"])
            assert await closing == 4408
            await alive.asked("unsubscribe", topic_id="nothing")


async def test_a_page_that_does_not_read_is_dropped_and_its_turn_is_not(
    settings: Settings,
) -> None:
    async with hasty(settings, Rules(stuck_s=0.3)) as world:
        ada = await world.someone("ada")
        long = await ada.send("!script\n" + LONG)
        async with page_of(ada) as page:
            running = await begun(page, "!script tokens=50 pace=10ms")
            await page.asked("subscribe", topic_id=TOPIC + long.turn_id)
            page.line.transport.pause_reading()
            plug = page.line.transport.get_extra_info("socket")
            plug.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            with suppress(ConnectionClosed):
                for _ in range(75):
                    everything = {"reason": "gap", "from": 1, "to": long.last_id}
                    await page.tell("nack", topic_id=TOPIC + long.turn_id, **everything)
            async with asyncio.timeout(20):
                while world.house.sockets.num_open:
                    await ada.http.get("/healthz")
            page.line.transport.abort()
        followed = await ada.follow(running["turn_exchange_id"])
    assert followed.of_type("message_stream_complete")["status"] == "finished_successfully"


async def test_what_is_long_leaves_in_frames_of_a_bounded_size(world: World) -> None:
    ada = await world.someone("ada")
    heard = await ada.send("!script tokens=3\n" + LONG.replace("x", '"'))
    async with page_of(ada) as page:
        await page.tell_unheard("subscribe", topic_id=TOPIC + heard.turn_id)
        pieces: list[bytes] = []
        while len(pieces) < 2:  # the first that is long
            pieces = [piece async for piece in page.line.recv_streaming(decode=False)]
    assert {len(piece) for piece in pieces[:-1]} == {MAX_OUT_BYTES}
    assert len(pieces[-1]) <= MAX_OUT_BYTES


async def test_a_message_that_is_sent_twice_is_one_turn(world: World) -> None:
    ada = await world.someone("ada")
    body, sent = message("!script\nonce"), {"client_msg_id": "m-1"}
    async with page_of(ada) as page:
        first = await page.asked("send", body=body, **sent)
        assert first["topic_id"] == TOPIC + first["turn_exchange_id"]
        assert first["duplicate"] is False
        follower = await page.read(await page.follow(first["topic_id"]))
    async with page_of(ada) as page:
        assert await page.asked("send", body=body, **sent) == first | {"duplicate": True}
        other = await page.ask("send", body=message("!script\nanother"), **sent)
        assert other["error"]["code"] == "idempotency_key_reused"
        assert other["error"]["retryable"] is False
    assert follower.text == await stored(ada, first["conversation_id"]) == "once"


async def test_many_at_once_of_the_same_message_are_one_turn(world: World) -> None:
    ada = await world.someone("ada")
    body = message("!script\nonce")
    async with page_of(ada) as here, page_of(ada) as there:
        started = await asyncio.gather(
            *(page.asked("send", client_msg_id="m-1", body=body) for page in (here, there))
        )
    assert len({one["turn_exchange_id"] for one in started}) == 1
    assert sorted(one["duplicate"] for one in started) == [False, True]


async def test_a_send_that_is_refused_says_why_and_the_line_stays(world: World) -> None:
    ada = await world.someone("ada")
    async with page_of(ada) as page:
        for body in BODIES:
            refused = await page.ask("send", client_msg_id=str(uuid4()), body=body)
            assert refused["type"] == "nack"
            assert refused["error"]["code"] == "invalid_request"
        lost = await page.ask(
            "send", client_msg_id="m", body=message("x", conversation_id=str(uuid4()))
        )
        assert lost["error"]["code"] == "not_found"
        assert (await begun(page, "!script\nfine"))["topic_id"]


async def test_an_answer_is_stopped_over_the_line(world: World) -> None:
    ada = await world.someone("ada")
    async with page_of(ada) as page:
        turn = await begun(page, SLOW)
        follower = await page.read(await page.follow(turn["topic_id"]), until_chars=10)
        await page.asked("stop", topic_id=turn["topic_id"])
        await page.read(follower)
    complete = follower.of_type("message_stream_complete")
    assert complete["status"] == "finished_partial_completion"
    assert follower.text == await stored(ada, turn["conversation_id"])


async def test_every_command_is_answered_whatever_comes_right_after_it(world: World) -> None:
    ada = await world.someone("ada")
    topic_id = TOPIC + (await ada.send("!script\nanswered")).turn_id
    subscribe = {"type": "subscribe", "topic_id": topic_id}
    nack = {"type": "nack", "topic_id": topic_id, "reason": "hash", "from": 1, "to": 2}
    async with page_of(ada) as page:
        unsubscribe = {"type": "unsubscribe", "topic_id": topic_id}
        await page.tell_all({"id": 10, "command": subscribe}, {"id": 11, "command": unsubscribe})
        left, reply = await page.next("nack"), await page.next("reply")
        assert (left["id"], left["error"]["code"], reply["id"]) == (10, "conflict", 11)
        await page.tell_all({"id": 12, "command": subscribe}, {"id": 13, "command": subscribe})
        left, reply = await page.next("nack"), await page.next("reply")
        assert (left["id"], left["error"]["code"], reply["id"]) == (12, "conflict", 13)
        await page.asked("unsubscribe", topic_id=topic_id)
        await page.tell_all({"id": 14, "command": subscribe}, {"command": nack})
        reply = await page.next("reply")
        assert reply["id"] == 14
        assert reply["reply"]["catchups"]


async def test_a_topic_that_cannot_go_on_is_named(world: World) -> None:
    ada = await world.someone("ada")
    heard = await ada.send("!script\nsoon gone")
    async with page_of(ada) as page:
        follower = await page.read(await page.follow(TOPIC + heard.turn_id))
        await ada.http.delete(f"/backend-api/conversation/{heard.conversation_id}")
        lost = {"reason": "hash", "from": 1, "to": 2}
        await page.tell("nack", topic_id=follower.topic_id, **lost)
        refused = await page.next("nack")
    assert (refused["id"], refused["topic_id"]) == (None, follower.topic_id)
    assert refused["error"]["code"] == "not_found"


async def test_a_topic_that_is_left_is_silent(world: World) -> None:
    ada = await world.someone("ada")
    async with page_of(ada) as page:
        turn = await begun(page, SLOW)
        await page.read(await page.follow(turn["topic_id"]), until_chars=10)
        await page.asked("unsubscribe", topic_id=turn["topic_id"])
        page.unread.clear()
        await page.asked("stop", topic_id=turn["topic_id"])
        assert (await page.next("news", "message"))["news"]["type"] == "turn_ended"


async def test_every_page_hears_what_becomes_of_ones_turns(world: World) -> None:
    ada, eve = await world.someone("ada"), await world.someone("eve")
    heard = await ada.send(SLOW, until_chars=5)
    ids = {
        "conversation_id": heard.conversation_id,
        "turn_exchange_id": heard.turn_id,
        "topic_id": TOPIC + heard.turn_id,
    }
    async with page_of(ada) as page, page_of(eve) as hers:
        assert (await page.next("news"))["news"] == {"type": "turn_began", **ids}
        await ada.http.post(
            "/backend-api/stop_conversation", json={"conversation_id": heard.conversation_id}
        )
        assert (await page.next("news"))["news"] == {"type": "turn_ended", **ids}
        await begun(page, "!script\na fresh one")
        kinds = {(await page.next("news"))["news"]["type"] for _ in range(3)}
        assert kinds == {"turn_began", "title_changed", "turn_ended"}
        await hers.asked("unsubscribe", topic_id="nothing")
        assert not hers.unread


async def test_every_page_hears_that_a_conversation_was_renamed(world: World) -> None:
    ada, eve = await world.someone("ada"), await world.someone("eve")
    path = f"/backend-api/conversation/{(await ada.send('!script')).conversation_id}"
    async with page_of(ada) as page, page_of(eve) as hers:
        assert not (await eve.http.patch(path, json={"title": "Hers"})).is_success
        assert (await ada.http.patch(path, json={"is_pinned": True})).is_success
        assert (await ada.http.patch(path, json={"title": "Mine"})).is_success
        assert (await page.next("news"))["news"] == {
            "type": "title_changed",
            "conversation_id": path.rpartition("/")[2],
            "title": "Mine",
        }
        await hers.asked("unsubscribe", topic_id="nothing")
        assert not hers.unread


async def test_an_old_line_makes_way_for_the_one_that_replaces_it(world: World) -> None:
    ada, eve = await world.someone("ada"), await world.someone("eve")
    async with page_of(ada) as old, page_of(eve) as hers:
        async with line_to(await address(ada)) as new:
            await new.asked("connect", last_connection=old.connection_id)
            assert await old.closed() == 4409
        async with line_to(await address(ada)) as new:
            await new.asked("connect", last_connection=hers.connection_id)
            await hers.asked("unsubscribe", topic_id="still here")


def test_a_line_that_ends_late_is_the_only_one_that_is_forgotten() -> None:
    sockets = Sockets()
    old, new, newest = Plug("old"), Plug("new"), Plug("newest")
    with ExitStack() as olds:
        olds.enter_context(sockets.joined("ada", old))
        with sockets.joined("ada", new):
            sockets.supersede("ada", "old")
        with sockets.joined("ada", newest):
            olds.close()
            assert sockets.num_open == 1
            sockets.supersede("ada", "newest")
            assert newest.is_told
    assert sockets.num_open == 0


@dataclass
class Plug:
    connection_id: str
    is_told: bool = False

    def hang_up(self, _: Hangup) -> None:
        self.is_told = True

    async def leave(self) -> None:
        raise AssertionError("nobody asked for that")


async def test_with_too_many_lines_the_oldest_is_closed(settings: Settings) -> None:
    async with hasty(settings, Rules(max_sockets=2)) as world:
        ada, eve = await world.someone("ada"), await world.someone("eve")
        async with page_of(ada) as first, page_of(ada) as second, page_of(eve), page_of(ada):
            assert await first.closed() == 4409
            await second.asked("unsubscribe", topic_id="still here")


async def test_with_too_many_topics_those_that_are_over_make_room(settings: Settings) -> None:
    async with hasty(settings, Rules(max_topics=1)) as world:
        ada = await world.someone("ada")
        heard = await ada.send("!script\nshort")
        async with page_of(ada) as page:
            await page.read(await page.follow(TOPIC + heard.turn_id))
            await page.asked("unsubscribe", topic_id="so that the last word has been acknowledged")
            turn = await begun(page, SLOW)
            await page.read(await page.follow(turn["topic_id"]), until_chars=5)
            refused = await page.ask("subscribe", topic_id=TOPIC + heard.turn_id)
            assert refused["error"]["code"] == "conflict"


async def test_when_the_server_stops_everything_is_told_first(settings: Settings) -> None:
    async with hasty(settings) as world:
        ada = await world.someone("ada")
        async with page_of(ada) as page:
            turn = await begun(page, SLOW)
            follower = await page.read(await page.follow(turn["topic_id"]), until_chars=10)
            await world.house.runner.close()
            leaving = asyncio.create_task(world.house.sockets.close())
            await page.read(follower)
            assert await page.closed() == 1012
            await leaving
    assert follower.of_type("message_stream_complete")["status"] == "interrupted"
