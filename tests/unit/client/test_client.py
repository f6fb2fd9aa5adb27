"""The client against a server that breaks off, refuses, and asks for patience."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitsend import events
from hitsend.client import Backoff, Client, Delayed, Finished, Started, TextAdded, Titled, Update
from hitsend.client.reader import Reader
from hitsend.errors import EngineDown, NotFound, TooFast, Unauthenticated, Unavailable
from hitsend.wire.sse import DONE
from hitsend.wire.v1 import V1View

Serve = Callable[..., Awaitable[Any]]

TURNS = Path(__file__).parents[2] / "turns"
NAMES = sorted(path.stem for path in TURNS.glob("*.sse"))
TURN_ID = "5f0c8a52-7d0e-4a59-9d3b-1f6f2a7c9e01"
QUICK = Backoff(first_s=0.001, longest_s=0.002)


def stream(body: bytes, *, is_cut: bool = False) -> bytes:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
    head += b"x-turn-exchange-id: %b\r\ntransfer-encoding: chunked\r\n\r\n" % TURN_ID.encode()
    return head + b"%x\r\n%b\r\n" % (len(body), body) + (b"" if is_cut else b"0\r\n\r\n")


def answer(status: int, body: object, *headers: bytes) -> bytes:
    data = msgspec.json.encode(body)
    lines = [b"HTTP/1.1 %d X" % status, b"content-length: %d" % len(data), *headers]
    return b"\r\n".join(lines) + b"\r\n\r\n" + data


def refusal(status: int, code: str, *headers: bytes) -> bytes:
    return answer(status, {"error": {"message": f"It is {code}.", "code": code}}, *headers)


def recorded(name: str) -> bytes:
    return (TURNS / f"{name}.sse").read_bytes()


def rest(name: str, after: int) -> bytes:
    """What the server sends to a reader that has seen everything up to `after`."""
    log = (TURNS / f"{name}.jsonl").read_bytes().splitlines()
    stamped = [msgspec.json.decode(line, type=events.Stamped) for line in log]
    view = V1View()
    return view.resume(stamped[:after]) + view.encode(stamped[after:]) + DONE


async def gathered(updates: AsyncGenerator[Update, None]) -> list[Update]:
    async with asyncio.timeout(10), aclosing(updates):
        return [update async for update in updates]


def said(updates: Sequence[Update]) -> str:
    return "".join(update.text for update in updates if isinstance(update, TextAdded))


def read(reader: Reader, body: bytes) -> list[Update]:
    return list(reader.feed(body))


def stored_answer(name: str) -> str:
    found = msgspec.json.decode((TURNS / f"{name}.json").read_bytes())
    answers = [m for m in found["messages"] if m["author"]["role"] == "assistant"]
    return "".join("".join(m["content"]["parts"]) for m in answers)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_heard_is_what_is_stored(name: str) -> None:
    updates = read(Reader(), recorded(name))
    assert isinstance(updates[0], Started)
    assert isinstance(updates[-1], Finished)
    assert said(updates) == stored_answer(name)


@pytest.mark.parametrize("name", NAMES)
@given(cuts=st.lists(st.floats(0, 1), max_size=4))
def test_a_stream_cut_anywhere_and_followed_again_says_every_word_once(
    name: str, cuts: list[float]
) -> None:
    reader, body, heard = Reader(), recorded(name), list[Update]()
    for cut in cuts:
        heard += read(reader, body[: int(cut * len(body))])
        reader.reconnect()
        body = rest(name, reader.last_seq)
    heard += read(reader, body)
    assert reader.is_done
    assert said(heard) == stored_answer(name)
    assert [type(update) for update in heard].count(Finished) == 1
    assert [type(update) for update in heard].count(Started) == 1


async def test_a_dropped_connection_is_followed_from_the_last_event(serve: Serve) -> None:
    body = recorded("hello")
    head, _, _ = body.partition(b"id: 10\n")
    fake = await serve(stream(head, is_cut=True), None, stream(rest("hello", 9)))
    async with Client(fake.url, "hs-key", QUICK) as client:
        updates = await gathered(client.send("Say hello."))
    assert said(updates) == stored_answer("hello")
    assert fake.lines[0] == "POST /backend-api/f/conversation"
    assert fake.lines[1:] == [f"GET /backend-api/f/conversation/{TURN_ID}/events?after=9"] * 2


async def test_a_stream_that_ends_without_saying_so_was_cut(serve: Serve) -> None:
    body = recorded("hello").replace(b"data: [DONE]\n\n", b"")
    fake = await serve(stream(body), stream(rest("hello", 14)))
    async with Client(fake.url, "hs-key", QUICK) as client:
        updates = await gathered(client.send("Say hello."))
    assert [type(update) for update in updates].count(Finished) == 1
    assert len(fake.requests) == 2


async def test_following_gives_up_after_twelve_tries_that_brought_nothing(serve: Serve) -> None:
    fake = await serve(stream(recorded("hello")[:40], is_cut=True), *[None] * 20)
    async with Client(fake.url, "hs-key", QUICK) as client:
        with pytest.raises(Unavailable, match="no connection"):
            await gathered(client.send("Say hello."))
    assert len(fake.requests) == 12


async def test_a_message_whose_arrival_is_unsure_is_not_sent_twice(serve: Serve) -> None:
    fake = await serve(None, stream(recorded("hello")))
    async with Client(fake.url, "hs-key", QUICK) as client:
        with pytest.raises(Unavailable):
            await gathered(client.send("Say hello."))
    assert len(fake.requests) == 1


async def test_a_busy_server_is_asked_again_when_it_says(serve: Serve) -> None:
    busy = refusal(429, "rate_limit_exceeded", b"retry-after-ms: 5", b"retry-after: 1")
    fake = await serve(
        busy, refusal(503, "engine_down", b"retry-after: 0"), stream(recorded("hello"))
    )
    async with Client(fake.url, "hs-key", QUICK) as client:
        updates = await gathered(client.send("Say hello."))
    assert said(updates) == stored_answer("hello")


async def test_a_server_that_asks_for_an_hour_is_not_waited_for(serve: Serve) -> None:
    fake = await serve(refusal(429, "rate_limit_exceeded", b"retry-after: 3600"))
    async with Client(fake.url, "hs-key", QUICK) as client:
        with pytest.raises(TooFast) as caught:
            await client.me()
    assert caught.value.retry_after_s == 3600


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (401, "unauthenticated", Unauthenticated),
        (404, "not_found", NotFound),
        (503, "engine_down", EngineDown),
    ],
)
async def test_errors_come_out_as_what_they_were(
    serve: Serve, status: int, code: str, kind: type[Exception]
) -> None:
    fake = await serve(refusal(status, code))
    async with Client(fake.url, "hs-key", Backoff(max_tries=1)) as client:
        with pytest.raises(kind, match=f"It is {code}."):
            await client.me()


async def test_an_answer_of_somebody_else_is_told_apart(serve: Serve) -> None:
    fake = await serve(answer(200, {"welcome": "to my router"}))
    async with Client(fake.url, "hs-key", QUICK) as client:
        with pytest.raises(Exception, match="does not answer as hitsend does"):
            await client.me()


async def test_nobody_there_is_an_error_that_names_the_address() -> None:
    async with Client("http://127.0.0.1:9", "hs-key", Backoff(max_tries=1)) as client:
        with pytest.raises(Unavailable, match="http://127.0.0.1:9"):
            await client.models()


def test_a_title_is_told() -> None:
    assert any(isinstance(update, Titled) for update in read(Reader(), recorded("title")))


def test_a_failed_turn_says_why_and_keeps_what_was_said() -> None:
    finished = read(Reader(), recorded("failed"))[-1]
    assert isinstance(finished, Finished)
    assert finished.failure is not None
    assert finished.failure.code == "worker_lost"
    assert finished.text == stored_answer("failed")


def test_text_that_is_not_what_the_server_stored_is_an_error() -> None:
    damaged = recorded("hello").replace(b'"v":"', b'"v":"x', 1)
    with pytest.raises(Exception, match="not what the server has stored"):
        read(Reader(), damaged)


def test_a_wait_is_told_as_it_came() -> None:
    delays = [one for one in read(Reader(), recorded("delayed")) if isinstance(one, Delayed)]
    assert delays == [Delayed("loading", 0), Delayed("queue", 2), Delayed("queue", 1)]


async def test_to_go_on_names_the_answer_and_says_nothing_new(serve: Serve) -> None:
    fake = await serve(stream(recorded("continued")))
    async with Client(fake.url, "hs-key", QUICK) as client:
        updates = await gathered(client.go_on("c", "m"))
    assert said(updates) == "half past ten."
    sent = msgspec.json.decode(fake.requests[0].partition(b"\r\n\r\n")[2])
    assert (sent["action"], sent["messages"], sent["parent_message_id"]) == ("continue", [], "m")
