"""Resuming a stream, over both routes and from any event, without loss or repetition."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any
from uuid import uuid4

import httpx2
import msgspec
import pytest
from tests.server.world import AnswerStream, Someone, World

from hitsend.engine import ScriptedEngine
from hitsend.server.app import open_app
from hitsend.server.auth import signed_tokens
from hitsend.server.limits.request_limits import MAX_RESUMES
from hitsend.server.serve import listen
from hitsend.server.turns.resume import ResumeClaims
from hitsend.settings import Settings

RESUME = "/backend-api/f/conversation/resume"


async def resume(
    someone: Someone, stream: AnswerStream, token: str | None = None, **body: Any
) -> AnswerStream:
    """Continues the stream."""
    asked = {"conversation_id": stream.conversation_id, "offset": stream.last_id} | body
    headers = {} if token is None else {"x-conduit-token": token}
    async with someone.http.stream("POST", RESUME, json=asked, headers=headers) as response:
        assert response.status_code == 200, await response.aread()
        return await stream.take(response)


async def refused(someone: Someone, token: str | None = None, **body: Any) -> tuple[int, str, str]:
    headers = {} if token is None else {"x-conduit-token": token}
    response = await someone.http.post(RESUME, json=body, headers=headers)
    error = response.json()["error"]
    return response.status_code, error["code"], error["message"]


async def send_and_disconnect(someone: Someone, num_tokens: int = 60) -> AnswerStream:
    return await someone.send(f"!script tokens={num_tokens} pace=5ms", until_chars=20)


def token_of(stream: AnswerStream) -> str:
    return str(stream.of_type("resume_conversation_token")["token"])


async def stored_text(someone: Someone, stream: AnswerStream) -> str:
    tree = await someone.conversation(stream.conversation_id)
    return str(tree["mapping"][tree["current_node"]]["message"]["content"]["parts"][0])


async def test_the_resume_token_is_the_second_event(world: World) -> None:
    ada = await world.someone("ada")
    stream = await ada.send("!script\nhello")
    token = stream.typed[0]
    assert token["type"] == "resume_conversation_token"
    assert token["kind"] == "topic"
    assert token["token"] == stream.headers["x-conduit-token"]
    assert token["turn_exchange_id"] == stream.turn_id
    assert token["conversation_id"] == stream.conversation_id
    assert 7100 < token["expires_at"] - time.time() <= 7200


@pytest.mark.parametrize("has_token", [True, False])
async def test_a_stream_resumes_where_it_was_cut(world: World, has_token: bool) -> None:
    ada = await world.someone("ada")
    stream = await send_and_disconnect(ada)
    had = stream.last_id
    await resume(ada, stream, token_of(stream) if has_token else "no-token")
    assert stream.is_done
    opening = stream.of_type("stream_resumed")
    assert opening["from"] == had + 1
    assert opening["turn_exchange_id"] == stream.turn_id
    assert stream.text == await stored_text(ada, stream)
    fresh = [one for one in stream.typed if one["type"] == "resume_conversation_token"][1:]
    assert len(fresh) == 1


async def test_a_stream_cut_anywhere_resumes_to_the_whole_answer(world: World) -> None:
    ada = await world.someone("ada")
    whole = await ada.send("!script\nGrüße 👩‍🚀 to you, one and all.")
    frames = whole.raw.split(b"\n\n")
    for num_frames in range(1, len(frames) - 1):
        stream = AnswerStream(whole.headers)
        cut = b"\n\n".join(frames[:num_frames]) + b"\n\nid: 9"
        await stream.take(httpx2.Response(200, stream=httpx2.ByteStream(cut)))
        path = f"/backend-api/f/conversation/{whole.turn_id}/events?after={stream.last_id}"
        async with ada.http.stream("GET", path) as response:
            await stream.take(response)
        assert stream.is_done
        assert stream.messages == whole.messages


@pytest.mark.parametrize("offset", [0, 7, 999_999_999])
@pytest.mark.parametrize("is_running", [True, False])
async def test_a_snapshot_stands_for_everything_before_it(
    world: World, offset: int, is_running: bool
) -> None:
    """Requested, or because the reader is ahead of the log."""
    ada = await world.someone("ada")
    stream = await (send_and_disconnect(ada) if is_running else ada.send("!script tokens=30"))
    mode = {} if offset > 7 else {"mode": "compact"}
    again = AnswerStream(stream.headers, typed=stream.typed[:2])
    await resume(ada, again, offset=offset, turn_exchange_id=stream.turn_id, **mode)
    assert again.is_done
    assert again.of_type("stream_snapshot")["turn_exchange_id"] == stream.turn_id
    assert again.text == await stored_text(ada, stream)
    (proof,) = [one for one in again.typed if one["type"] == "message_stream_complete"]
    assert proof["messages"][-1]["chars"] == len(again.text)


async def test_resume_takes_the_newest_turn_by_default(world: World) -> None:
    ada = await world.someone("ada")
    first = await ada.send("!script\nfirst")
    assert first.answer
    follow_up = {
        "conversation_id": first.conversation_id,
        "parent_message_id": first.answer["id"],
    }
    second = await ada.send("!script\nsecond", **follow_up)
    for names, expected in (
        ({}, second.turn_id),
        ({"turn_exchange_id": first.turn_id}, first.turn_id),
    ):
        stream = AnswerStream(first.headers, typed=list(first.typed))
        await resume(ada, stream, offset=0, **names)
        assert stream.typed[-1]["turn_exchange_id"] == expected
    stream = await resume(
        ada, AnswerStream(first.headers, typed=list(first.typed)), token_of(first)
    )
    assert stream.text == "first"


async def test_a_turn_that_ended_long_ago_cannot_be_resumed(settings: Settings) -> None:
    settings = msgspec.structs.replace(settings, resume_s=0.001)
    async with opening_of(settings) as world:
        ada = await world.someone("ada")
        stream = await ada.send("!script\nlong ago")
        await ada.http.get("/backend-api/me")
        status, code, _ = await refused(ada, conversation_id=stream.conversation_id)
        assert (status, code) == (410, "persisted_final_available")
        events = await ada.http.get(f"/backend-api/f/conversation/{stream.turn_id}/events")
        assert events.status_code == 410
        response = await ada.http.get(status_path(stream.conversation_id))
        assert response.json()["status"] == "NO_STREAM"
        eve = await world.someone("eve")
        assert (await refused(eve, conversation_id=stream.conversation_id))[0] == 404


async def test_another_users_turn_is_not_found(world: World) -> None:
    ada, eve = await world.someone("ada"), await world.someone("eve")
    stream = await send_and_disconnect(ada, 100_000)
    unknown, theirs = str(uuid4()), stream.conversation_id
    by_newest = [await refused(eve, conversation_id=one) for one in (theirs, unknown)]
    by_turn = [
        await refused(eve, conversation_id=theirs, turn_exchange_id=one)
        for one in (stream.turn_id, unknown)
    ]
    assert by_newest[0] == by_newest[1]
    assert by_turn[0] == by_turn[1]
    assert {by_newest[0][0], by_turn[0][0]} == {404}
    states = [await eve.http.get(status_path(one)) for one in (theirs, unknown)]
    assert [state.status_code for state in states] == [404, 404]
    assert states[0].json()["error"] == states[1].json()["error"]
    status, code, _ = await refused(eve, token_of(stream), conversation_id=theirs)
    assert (status, code) == (401, "token_invalid")


def claims(world: World, someone: Someone, stream: AnswerStream, **changes: Any) -> str:
    honest = ResumeClaims(
        user_id=someone.user_id,
        expires_at=time.time() + 60,
        conversation_id=stream.conversation_id,
        turn_id=stream.turn_id,
        epoch=world.app.services.store.turns.epoch,
    )
    return signed_tokens.sign(world.app.secret, msgspec.structs.replace(honest, **changes))


async def test_a_resume_token_is_bound_to_user_turn_and_epoch(world: World) -> None:
    ada, eve = await world.someone("ada"), await world.someone("eve")
    stream = await ada.send("!script\nhello")
    other = await ada.send("!script\nsomething else")
    expected = [
        (claims(world, ada, stream, expires_at=time.time() - 1), "token_expired"),
        (claims(world, ada, stream, user_id=eve.user_id), "token_invalid"),
        (claims(world, ada, stream, epoch=999), "token_invalid"),
        (claims(world, ada, stream, conversation_id=other.conversation_id), "token_invalid"),
        (token_of(stream)[:-2] + "xx", "token_invalid"),
        (token_of(stream) + "x" * 10_000, "token_invalid"),
        ("rubbish", "token_invalid"),
        ("", "token_invalid"),
    ]
    for token, code in expected:
        response = await refused(ada, token, conversation_id=stream.conversation_id)
        assert response[:2] == (401, code)
    named = {"conversation_id": stream.conversation_id, "turn_exchange_id": stream.turn_id}
    assert (await refused(ada, token_of(other), **named))[:2] == (401, "token_invalid")
    elsewhere = await refused(ada, token_of(other), conversation_id=stream.conversation_id)
    assert elsewhere[0] == 404


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"conversation_id": ""},
        {"conversation_id": 7},
        {"conversation_id": "x" * 65},
        {"conversation_id": "c", "offset": -1},
        {"conversation_id": "c", "offset": 10**30},
        {"conversation_id": "c", "offset": "7"},
        {"conversation_id": "c", "offset": 1.5},
        {"conversation_id": "c", "mode": "everything"},
        {"conversation_id": "c", "turn_exchange_id": ""},
        {"conversation_id": "c", "unknown": 1},
    ],
)
async def test_an_invalid_resume_is_refused(world: World, body: dict[str, Any]) -> None:
    ada = await world.someone("ada")
    response = await ada.http.post(RESUME, json=body)
    assert response.status_code == 400
    assert response.json()["error"]["message"]


@pytest.mark.parametrize("last_id", ["-1", "x", "1.5", "9" * 10, "１"])
async def test_a_last_event_id_is_the_number_of_an_event(world: World, last_id: str) -> None:
    ada = await world.someone("ada")
    stream = await ada.send("!script\nhello")
    path = f"/backend-api/f/conversation/{stream.turn_id}/events"
    response = await ada.http.get(path, headers={b"last-event-id": last_id.encode()})
    assert response.status_code == 400


async def test_resumes_are_limited_per_user(world: World) -> None:
    ada, bob = await world.someone("ada"), await world.someone("bob")
    stream = await ada.send("!script\nhello")
    path = f"/backend-api/f/conversation/{stream.turn_id}/events"
    for _ in range(MAX_RESUMES - 5):
        world.app.resume_limit.count(ada.user_id)

    async def again() -> httpx2.Response:
        return await ada.http.get(path)

    storm = [asyncio.create_task(again()) for _ in range(20)]
    assert (await bob.send("!script\nunharmed")).text == "unharmed"
    answers = await asyncio.gather(*storm)
    too_fast = [one for one in answers if one.status_code == 429]
    assert {one.status_code for one in answers} == {200, 429}
    assert all(one.headers["retry-after"] == "1" for one in too_fast)


def status_path(conversation_id: str) -> str:
    return f"/backend-api/conversation/{conversation_id}/stream_status"


async def test_the_stream_status_tells_what_can_be_resumed(world: World) -> None:
    ada = await world.someone("ada")
    stream = await send_and_disconnect(ada, 100_000)
    running = (await ada.http.get(status_path(stream.conversation_id))).json()
    assert running["status"] == "IS_STREAMING"
    assert running["topic_id"] == f"conversation-turn-{stream.turn_id}"
    assert running["first_seq"] == 1
    assert running["last_seq"] >= stream.last_id
    await ada.http.post(
        "/backend-api/stop_conversation", json={"conversation_id": stream.conversation_id}
    )
    ended = (await ada.http.get(status_path(stream.conversation_id))).json()
    assert ended["status"] == "IS_COMPLETE"
    assert ended["turn_exchange_id"] == stream.turn_id
    assert (await ada.follow(stream.turn_id)).last_id == ended["last_seq"]


async def test_after_a_restart_an_old_token_resumes_the_interrupted_turn(
    settings: Settings,
) -> None:
    async with AsyncExitStack() as clients:
        async with open_app(settings, ScriptedEngine()) as app, listen(app) as url:
            ada = await World(app, url, clients).someone("ada")
            stream = await send_and_disconnect(ada, 100_000)
        async with open_app(settings, ScriptedEngine()) as app, listen(app) as url:
            ada.http.base_url = httpx2.URL(url)
            await resume(ada, stream, token_of(stream))
    assert stream.is_done
    end = stream.of_type("message_stream_complete")
    assert end["status"] == "interrupted"
    assert end["messages"][-1]["chars"] == len(stream.text)


@asynccontextmanager
async def opening_of(settings: Settings) -> AsyncGenerator[World]:
    async with AsyncExitStack() as stack:
        app = await stack.enter_async_context(open_app(settings, ScriptedEngine()))
        url = await stack.enter_async_context(listen(app))
        yield World(app, url, await stack.enter_async_context(AsyncExitStack()))
