"""An answer in the hands of a program: read in three ways, stopped, and left."""

import asyncio
import gc

import pytest
from tests.unit.client.fake import Held, Serve, answer, stream
from tests.unit.client.recorded import began, stored_answer, summary, whole

from hitsend.client import (
    Backoff,
    Client,
    EngineLost,
    Finished,
    HitsendError,
    Interrupted,
    StreamInvalid,
    TextAdded,
    Titled,
)

QUICK = Backoff(first_s=0.001, longest_s=0.002)
HALF = Held(stream(whole("hello")[:2500], is_cut=True))


async def test_an_answer_is_read_as_text(serve: Serve) -> None:
    fake = await serve(stream(whole("emoji")))
    async with asyncio.timeout(5), Client(fake.url, "hs-key", QUICK) as client:
        told = client.send("Say hello.")
        assert "".join([text async for text in told.text()]) == stored_answer("emoji")
        assert told.finished
        assert told.started


async def test_text_that_was_damaged_cannot_be_taken_back_and_is_an_error(serve: Serve) -> None:
    damaged = whole("hello").replace(b'"v":"', b'"v":"x', 1)
    fake = await serve(stream(damaged), stream(summary("hello", 99)))
    async with asyncio.timeout(5), Client(fake.url, "hs-key", QUICK) as client:
        with pytest.raises(StreamInvalid, match="damaged"):
            assert [text async for text in client.send("Say hello.").text()]


async def test_an_answer_is_had_whole(serve: Serve) -> None:
    fake = await serve(stream(whole("hello")))
    async with asyncio.timeout(5), Client(fake.url, "hs-key", QUICK) as client:
        finished = await client.send("Say hello.").whole()
    assert finished.text == stored_answer("hello")


async def test_nothing_is_sent_before_it_is_read(serve: Serve) -> None:
    fake = await serve()
    async with Client(fake.url, "hs-key", QUICK) as client:
        unread = client.send("Never mind.")
        await unread.stop()
        with pytest.raises(HitsendError, match="left before its end"):
            await unread.whole()
    assert fake.requests == []


@pytest.mark.parametrize(("name", "kind"), [("failed", EngineLost), ("interrupted", Interrupted)])
async def test_text_raises_what_became_of_an_answer_after_what_was_said(
    serve: Serve, name: str, kind: type[Exception]
) -> None:
    fake = await serve(stream(whole(name)), stream(whole(name)))
    async with asyncio.timeout(5), Client(fake.url, "hs-key", QUICK) as client:
        heard, texts = "", client.send("Say hello.").text()
        while len(heard) < len(stored_answer(name)):
            heard += await anext(texts)
        assert heard == stored_answer(name)
        with pytest.raises(kind):
            await anext(texts)
        with pytest.raises(kind):
            await client.send("Say hello.").whole()


async def test_updates_end_with_the_answer_and_a_late_title_is_waited_for_on_request(
    serve: Serve,
) -> None:
    early = whole("title").replace(b"data: [DONE]\n\n", b"")
    fake = await serve(Held(stream(early, is_cut=True)), stream(whole("title")))
    async with asyncio.timeout(5), Client(fake.url, "hs-key", QUICK) as client:
        updates = [update async for update in client.send("Say hello.")]
        assert isinstance(updates[-1], Finished)
        await fake.was_left.wait()
        updates = [update async for update in client.send("Say hello.", waits_for_title=True)]
        assert any(isinstance(update, Titled) for update in updates)


async def test_leaving_the_loop_hangs_up(serve: Serve) -> None:
    fake = await serve(HALF)
    async with asyncio.timeout(5), Client(fake.url, "hs-key", QUICK) as client:
        async for update in client.send("Say hello."):
            if isinstance(update, TextAdded):
                break
        gc.collect()
        await fake.was_left.wait()


async def test_leaving_the_text_hangs_up(serve: Serve) -> None:
    fake = await serve(HALF)
    async with asyncio.timeout(5), Client(fake.url, "hs-key", QUICK) as client:
        told = client.send("Say hello.")
        async for _ in told.text():
            break
        gc.collect()
        await fake.was_left.wait()


async def test_a_block_of_its_own_hangs_up_at_once(serve: Serve) -> None:
    fake = await serve(HALF)
    async with asyncio.timeout(5), Client(fake.url, "hs-key", QUICK) as client:
        async with client.send("Say hello.") as told:
            await anext(told)
        await fake.was_left.wait()


async def test_a_client_that_closes_hangs_up_on_what_was_not_read(serve: Serve) -> None:
    fake = await serve(HALF)
    async with asyncio.timeout(5):
        async with Client(fake.url, "hs-key", QUICK) as client:
            told = client.send("Say hello.")
            await anext(told)
        await fake.was_left.wait()
        assert told.finished is None


async def test_an_answer_that_is_being_read_ends_with_its_client(serve: Serve) -> None:
    fake = await serve(HALF)
    async with asyncio.timeout(5):
        async with Client(fake.url, "hs-key", QUICK) as client:
            told = client.send("Say hello.")
            await anext(told)
            reading = asyncio.ensure_future(told.whole())
            await asyncio.sleep(0)
            assert told.is_being_read
        with pytest.raises(HitsendError, match="closed"):
            await reading


async def test_stopping_names_the_turn(serve: Serve) -> None:
    fake = await serve(HALF, answer(200, {"success": True}))
    async with asyncio.timeout(5), Client(fake.url, "hs-key", QUICK) as client:
        told = client.send("Say hello.")
        await anext(told)
        await told.stop()
    turn = began("hello")
    assert fake.lines[1] == "POST /backend-api/stop_conversation"
    assert fake.body(1) == {
        "conversation_id": turn.conversation_id,
        "turn_exchange_id": turn.turn_id,
    }


async def test_stopping_what_was_not_accepted_waits_until_it_is_known(serve: Serve) -> None:
    fake = await serve(None)
    async with asyncio.timeout(5), Client(fake.url, "hs-key", Backoff(max_tries=1)) as client:
        told = client.send("Say hello.")
        reading = asyncio.ensure_future(told.whole())
        await asyncio.sleep(0)
        await told.stop()
        with pytest.raises(HitsendError):
            await reading
    assert len(fake.requests) == 1


async def test_stopping_what_has_ended_asks_nobody(serve: Serve) -> None:
    fake = await serve(stream(whole("hello")))
    async with asyncio.timeout(5), Client(fake.url, "hs-key", QUICK) as client:
        told = client.send("Say hello.")
        await told.whole()
        await told.stop()
    assert len(fake.requests) == 1
