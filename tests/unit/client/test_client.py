"""The client against a server that breaks off, refuses, and asks for patience."""

import asyncio
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from tests.unit.client.fake import Held, Serve, answer, refusal, stream
from tests.unit.client.recorded import (
    began,
    rest,
    said,
    stored_answer,
    stored_messages,
    summary,
    whole,
)

from hitsend.client import (
    Answer,
    Backoff,
    Client,
    Disconnected,
    EngineDown,
    Finished,
    KeyReused,
    NotFound,
    QuotaSpent,
    Refused,
    Retrying,
    StreamInvalid,
    TextReplaced,
    TooFast,
    Unauthenticated,
    Unavailable,
    Update,
)
from hitsend.client.errors import retry_after_s

QUICK = Backoff(first_s=0.001, longest_s=0.002)
HELLO = began("hello")
RESUME = "POST /backend-api/f/conversation/resume"
EVENTS = f"GET /backend-api/f/conversation/{HELLO.turn_id}/events?after=0"
CONVERSATION = f"GET /backend-api/conversation/{HELLO.conversation_id}"


def cut_after(seq: int) -> bytes:
    """The stream up to the middle of the event that follows."""
    head, _, _ = whole("hello").partition(b"id:%d\n" % (seq + 1))
    return stream(head, is_cut=True)


def conversation(running: str | None = None, name: str = "hello", num_messages: int = 2) -> bytes:
    messages = stored_messages(name)[:num_messages]
    mapping = {
        message["id"]: {"id": message["id"], "parent": None, "children": [], "message": message}
        for message in messages
    }
    found = {
        "conversation_id": HELLO.conversation_id,
        "title": "Hello",
        "current_node": messages[-1]["id"],
        "mapping": mapping,
        "running": running and {"turn_exchange_id": running, "message_id": "m"},
    }
    return answer(200, found)


async def gathered(asked: Answer) -> list[Update]:
    async with asyncio.timeout(10), asked:
        return [update async for update in asked]


def without_retries(updates: list[Update]) -> list[Update]:
    return [update for update in updates if not isinstance(update, Retrying)]


async def test_a_dropped_connection_is_resumed_after_the_last_event(serve: Serve) -> None:
    fake = await serve(cut_after(9), None, stream(rest("hello", 9)))
    async with Client(fake.url, "hs-key", QUICK) as client:
        updates = await gathered(client.send("Say hello."))
    assert said(updates) == stored_answer("hello")
    assert fake.lines == ["POST /backend-api/f/conversation", RESUME, RESUME]
    assert fake.body(2) == {
        "conversation_id": HELLO.conversation_id,
        "turn_exchange_id": HELLO.turn_id,
        "offset": 9,
        "mode": None,
    }
    assert fake.header(2, "x-conduit-token") == "first"
    assert [one.num_tries for one in updates if isinstance(one, Retrying)] == [1, 2]


async def test_a_stream_resumed_twice_comes_back_with_the_newest_token(serve: Serve) -> None:
    opening = rest("hello", 9, "second").partition(b"id:")[0]
    fake = await serve(cut_after(9), stream(opening, is_cut=True), stream(rest("hello", 9)))
    async with Client(fake.url, "hs-key", QUICK) as client:
        updates = await gathered(client.send("Say hello."))
    assert said(updates) == stored_answer("hello")
    assert fake.header(2, "x-conduit-token") == "second"


async def test_a_stream_cut_before_its_first_word_is_followed_by_its_turn(serve: Serve) -> None:
    fake = await serve(stream(b"", is_cut=True), stream(rest("hello", 0)))
    async with Client(fake.url, "hs-key", QUICK) as client:
        updates = await gathered(client.send("Say hello."))
    assert said(updates) == stored_answer("hello")
    assert fake.lines[1] == EVENTS


async def test_a_token_that_has_expired_is_left_at_home(serve: Serve) -> None:
    fake = await serve(cut_after(9), refusal(401, "token_expired"), stream(rest("hello", 9)))
    async with Client(fake.url, "hs-key", QUICK) as client:
        updates = await gathered(client.send("Say hello."))
    assert said(updates) == stored_answer("hello")
    assert fake.header(2, "x-conduit-token") == "no-token"


async def test_a_reader_too_far_behind_is_given_a_summary(serve: Serve) -> None:
    fake = await serve(cut_after(9), stream(summary("hello", 12)))
    async with Client(fake.url, "hs-key", QUICK) as client:
        updates = await gathered(client.send("Say hello."))
    assert said(updates) == stored_answer("hello")


async def test_after_the_stream_is_gone_the_stored_answer_is_told(serve: Serve) -> None:
    gone = refusal(410, "persisted_final_available")
    fake = await serve(cut_after(9), gone, conversation())
    async with Client(fake.url, "hs-key", QUICK) as client:
        updates = await gathered(client.send("Say hello."))
    assert said(updates) == stored_answer("hello")
    assert isinstance(updates[-1], Finished)
    assert (updates[-1].status, updates[-1].text) == (
        "finished_successfully",
        stored_answer("hello"),
    )
    assert fake.lines[-1] == CONVERSATION


async def test_a_turn_of_long_ago_is_told_from_its_conversation(serve: Serve) -> None:
    log = {"events": [{"event": {"conversation_id": HELLO.conversation_id}}]}
    gone = refusal(410, "persisted_final_available")
    fake = await serve(gone, answer(200, log), conversation())
    async with Client(fake.url, "hs-key", QUICK) as client:
        finished = await client.follow(HELLO.turn_id).whole()
    assert finished.text == stored_answer("hello")


@pytest.mark.parametrize(("num_messages", "kept"), [(2, True), (1, False)])
async def test_a_failure_of_long_ago_is_told_with_what_was_said(
    serve: Serve, num_messages: int, kept: bool
) -> None:
    turn, gone = began("failed"), refusal(410, "persisted_final_available")
    log = {"events": [{"event": {"conversation_id": turn.conversation_id}}]}
    fake = await serve(gone, answer(200, log), conversation(None, "failed", num_messages))
    async with Client(fake.url, "hs-key", QUICK) as client:
        updates = await gathered(client.follow(turn.turn_id))
    assert isinstance(updates[-1], Finished)
    assert updates[-1].status == "failed"
    assert updates[-1].failure
    assert said(updates) == (stored_answer("failed") if kept else "")


async def test_a_server_that_takes_no_token_and_not_none_is_not_asked_for_ever(
    serve: Serve,
) -> None:
    fake = await serve(cut_after(9), *[refusal(401, "token_invalid")] * 2)
    async with Client(fake.url, "hs-key", QUICK) as client:
        with pytest.raises(Refused, match="token_invalid"):
            await gathered(client.send("Say hello."))


async def test_a_proxy_that_cannot_reach_the_server_is_asked_again(serve: Serve) -> None:
    page = b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 6\r\n\r\n<html>"
    me = answer(200, {"user": {"id": "u", "name": "ada", "role": "member"}})
    fake = await serve(page, me)
    async with Client(fake.url, "hs-key", QUICK) as client:
        assert (await client.me()).user.name == "ada"


async def test_another_answer_brings_no_new_message(serve: Serve) -> None:
    fake = await serve(stream(whole("variant"), name="variant"))
    async with Client(fake.url, "hs-key", QUICK) as client:
        updates = await gathered(client.answer_again("c", "m"))
    assert said(updates) == stored_answer("variant")
    assert fake.body(0)["action"] == "variant"
    assert "messages" not in fake.body(0)


async def test_damaged_text_is_set_right_by_a_summary(serve: Serve) -> None:
    damaged = whole("hello").replace(b'"v":"', b'"v":"x', 1)
    fake = await serve(stream(damaged), stream(summary("hello", 99)))
    async with Client(fake.url, "hs-key", QUICK) as client:
        updates = await gathered(client.send("Say hello."))
    assert said(updates) == stored_answer("hello")
    assert [type(one) for one in updates].count(TextReplaced) == 1
    assert fake.body(1)["mode"] == "compact"


async def test_text_that_stays_damaged_is_set_right_by_the_stored_message(serve: Serve) -> None:
    damaged = whole("hello").replace(b'"v":"', b'"v":"x', 1)
    lies = summary("hello", 99).replace(b'"parts":["', b'"parts":["x')
    fake = await serve(stream(damaged), stream(lies), stream(lies), conversation())
    async with Client(fake.url, "hs-key", QUICK) as client:
        updates = await gathered(client.send("Say hello."))
    assert said(updates) == stored_answer("hello")
    assert isinstance(updates[-1], Finished)


async def test_text_that_is_damaged_and_not_stored_yet_is_an_error(serve: Serve) -> None:
    damaged = whole("hello").replace(b'"v":"', b'"v":"x', 1)
    lies = summary("hello", 99).replace(b'"parts":["', b'"parts":["x')
    fake = await serve(stream(damaged), stream(lies), stream(lies), conversation(HELLO.turn_id))
    async with Client(fake.url, "hs-key", QUICK) as client:
        with pytest.raises(StreamInvalid):
            await gathered(client.send("Say hello."))


async def test_a_stream_that_ends_without_saying_so_was_cut(serve: Serve) -> None:
    body = whole("hello").replace(b"data: [DONE]\n\n", b"")
    fake = await serve(stream(body), stream(rest("hello", 14)))
    async with Client(fake.url, "hs-key", QUICK) as client:
        updates = await gathered(client.send("Say hello.", waits_for_title=True))
    assert [type(update) for update in updates].count(Finished) == 1
    assert len(fake.requests) == 2


async def test_a_silent_connection_is_given_up_and_resumed(serve: Serve) -> None:
    fake = await serve(Held(cut_after(9)), stream(rest("hello", 9)))
    async with Client(fake.url, "hs-key", QUICK, silence_s=0.05) as client:
        updates = await gathered(client.send("Say hello."))
    assert said(updates) == stored_answer("hello")


async def test_resuming_gives_up_after_twelve_tries_that_brought_nothing(serve: Serve) -> None:
    fake = await serve(stream(whole("hello")[:40], is_cut=True), *[None] * 20)
    async with Client(fake.url, "hs-key", QUICK) as client:
        with pytest.raises(Disconnected, match="no connection"):
            await gathered(client.send("Say hello."))
    assert len(fake.requests) == 12


async def test_a_message_whose_answer_never_came_is_sent_again_as_the_same(serve: Serve) -> None:
    fake = await serve(None, None, stream(whole("hello")))
    async with Client(fake.url, "hs-key", QUICK) as client:
        updates = await gathered(client.send("Say hello."))
    assert said(updates) == stored_answer("hello")
    keys = {fake.header(number, "idempotency-key") for number in range(3)}
    assert len(keys) == 1
    assert None not in keys
    assert fake.body(0) == fake.body(1) == fake.body(2)


async def test_the_same_words_under_the_same_key_are_the_same_message(serve: Serve) -> None:
    fake = await serve(*[stream(whole("hello"))] * 3)
    async with Client(fake.url, "hs-key", QUICK) as client:
        for key in ("order-17", "order-17", None):
            await gathered(client.send("Say hello.", key=key))
    assert fake.header(0, "idempotency-key") == "order-17"
    assert fake.body(0) == fake.body(1)
    assert fake.body(0) != fake.body(2)


async def test_a_busy_server_is_asked_again_when_it_says(serve: Serve) -> None:
    busy = refusal(429, "rate_limit_exceeded", b"retry-after-ms: 5", b"retry-after: 1")
    down = refusal(503, "engine_down", b"retry-after: 0")
    fake = await serve(busy, down, stream(whole("hello")))
    async with Client(fake.url, "hs-key", QUICK) as client:
        updates = await gathered(client.send("Say hello."))
    assert said(updates) == stored_answer("hello")
    waits = [one for one in updates if isinstance(one, Retrying)]
    assert [one.problem for one in waits] == ["It is rate_limit_exceeded.", "It is engine_down."]
    assert 0.005 <= waits[0].delay_s < 0.006


async def test_a_server_that_asks_for_an_hour_is_not_waited_for(serve: Serve) -> None:
    fake = await serve(refusal(429, "quota_exceeded", b"retry-after: 3600"))
    async with Client(fake.url, "hs-key", QUICK) as client:
        with pytest.raises(QuotaSpent) as caught:
            await client.me()
    assert caught.value.retry_after_s == 3600
    assert isinstance(caught.value, TooFast)


def test_a_date_to_come_back_at_is_understood() -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    assert 80 < (retry_after_s({"retry-after": date}) or 0) <= 90
    assert retry_after_s({"retry-after": "Mon, 01 Jan 2024 00:00:00 GMT"}) == 0
    assert retry_after_s({"retry-after": "soon"}) is None


def test_each_wait_is_longer_than_the_last_up_to_a_limit_and_no_two_are_the_same() -> None:
    backoff = Backoff(max_tries=20)
    waits = [backoff.delay_s(number) or 0 for number in range(1, 20)]
    assert all(0.125 * 2**n <= wait <= 0.25 * 2**n for n, wait in enumerate(waits[:5]))
    assert max(waits) <= 8
    assert len(set(waits)) == len(waits)
    assert backoff.delay_s(20) is None


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (401, "unauthenticated", Unauthenticated),
        (404, "not_found", NotFound),
        (422, "idempotency_key_reused", KeyReused),
        (503, "engine_down", EngineDown),
    ],
)
async def test_errors_come_out_as_what_they_were(
    serve: Serve, status: int, code: str, kind: type[Exception]
) -> None:
    fake = await serve(refusal(status, code), refusal(status, code))
    async with Client(fake.url, "hs-key", Backoff(max_tries=1)) as client:
        with pytest.raises(kind, match=f"It is {code}."):
            await client.me()
        with pytest.raises(kind, match=f"It is {code}."):
            await client.send("Say hello.").whole()


async def test_an_answer_of_somebody_else_is_told_apart(serve: Serve) -> None:
    fake = await serve(answer(200, {"welcome": "to my router"}), stream(b"data: welcome\n\n"))
    async with Client(fake.url, "hs-key", QUICK) as client:
        with pytest.raises(Exception, match="does not answer as hitsend does"):
            await client.me()
        with pytest.raises(StreamInvalid, match="sent an invalid stream"):
            await client.send("Say hello.").whole()


async def test_nobody_there_is_an_error_that_names_the_address() -> None:
    async with Client("http://127.0.0.1:9", "hs-key", Backoff(max_tries=1)) as client:
        with pytest.raises(Unavailable, match="http://127.0.0.1:9"):
            await client.models()


async def test_to_go_on_names_the_answer_and_says_nothing_new(serve: Serve) -> None:
    fake = await serve(stream(whole("continued"), name="continued"))
    async with Client(fake.url, "hs-key", QUICK) as client:
        updates = await gathered(client.continue_answer("c", "m"))
    assert said(without_retries(updates)) == "half past ten."
    sent = fake.body(0)
    assert (sent["action"], sent["parent_message_id"]) == ("continue", "m")
    assert "messages" not in sent
    assert fake.header(0, "idempotency-key")
