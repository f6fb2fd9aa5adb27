"""Cut off and come back: over either route, from anywhere, with nothing lost and nothing twice."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any
from uuid import uuid4

import httpx2
import msgspec
import pytest
from tests.server.world import Heard, Someone, World

from hitsend.engine import ScriptedEngine
from hitsend.server import passes
from hitsend.server.app import open_house
from hitsend.server.resuming import ResumePass
from hitsend.server.returning import MOST
from hitsend.server.serving import listening
from hitsend.settings import Settings

RESUME = "/backend-api/f/conversation/resume"


async def resumed(someone: Someone, heard: Heard, token: str | None = None, **body: Any) -> Heard:
    """Goes on with what was heard before."""
    asked = {"conversation_id": heard.conversation_id, "offset": heard.last_id} | body
    headers = {} if token is None else {"x-conduit-token": token}
    async with someone.http.stream("POST", RESUME, json=asked, headers=headers) as response:
        assert response.status_code == 200, await response.aread()
        return await heard.take(response)


async def refused(
    someone: Someone, token: str | None = None, **body: Any
) -> tuple[int, str, bytes]:
    headers = {} if token is None else {"x-conduit-token": token}
    response = await someone.http.post(RESUME, json=body, headers=headers)
    return response.status_code, response.json()["error"]["code"], response.content


async def cut_off(someone: Someone, num_tokens: int = 60) -> Heard:
    return await someone.send(f"!script tokens={num_tokens} pace=5ms", until_chars=20)


def token_of(heard: Heard) -> str:
    return str(heard.of_type("resume_conversation_token")["token"])


async def stored_text(someone: Someone, heard: Heard) -> str:
    tree = await someone.conversation(heard.conversation_id)
    return str(tree["mapping"][tree["current_node"]]["message"]["content"]["parts"][0])


async def test_the_token_comes_second_and_says_what_it_is_for(world: World) -> None:
    ada = await world.someone("ada")
    heard = await ada.send("!script\nhello")
    token = heard.typed[0]
    assert token["type"] == "resume_conversation_token"
    assert token["kind"] == "topic"
    assert token["token"] == heard.headers["x-conduit-token"]
    assert token["turn_exchange_id"] == heard.turn_id
    assert token["conversation_id"] == heard.conversation_id
    assert 7100 < token["expires_at"] - time.time() <= 7200


@pytest.mark.parametrize("has_token", [True, False])
async def test_a_stream_goes_on_where_it_was_cut(world: World, has_token: bool) -> None:
    ada = await world.someone("ada")
    heard = await cut_off(ada)
    had = heard.last_id
    await resumed(ada, heard, token_of(heard) if has_token else "no-token")
    assert heard.is_done
    opening = heard.of_type("stream_resumed")
    assert opening["from"] == had + 1
    assert opening["turn_exchange_id"] == heard.turn_id
    assert heard.text == await stored_text(ada, heard)
    fresh = [one for one in heard.typed if one["type"] == "resume_conversation_token"][1:]
    assert len(fresh) == 1


async def test_wherever_a_stream_is_cut_the_rest_comes_to_the_whole(world: World) -> None:
    ada = await world.someone("ada")
    whole = await ada.send("!script\nGrüße 👩‍🚀 to you, one and all.")
    frames = whole.raw.split(b"\n\n")
    for num_frames in range(1, len(frames) - 1):
        heard = Heard(whole.headers)
        cut = b"\n\n".join(frames[:num_frames]) + b"\n\nid: 9"
        await heard.take(httpx2.Response(200, stream=httpx2.ByteStream(cut)))
        path = f"/backend-api/f/conversation/{whole.turn_id}/events?after={heard.last_id}"
        async with ada.http.stream("GET", path) as response:
            await heard.take(response)
        assert heard.is_done
        assert heard.messages == whole.messages


@pytest.mark.parametrize("offset", [0, 7, 999_999_999])
@pytest.mark.parametrize("is_running", [True, False])
async def test_a_snapshot_stands_for_everything_before_it(
    world: World, offset: int, is_running: bool
) -> None:
    """Asked for, or because the reader has more than there is."""
    ada = await world.someone("ada")
    heard = await (cut_off(ada) if is_running else ada.send("!script tokens=30"))
    mode = {} if offset > 7 else {"mode": "compact"}
    again = Heard(heard.headers, typed=heard.typed[:2])
    await resumed(ada, again, offset=offset, turn_exchange_id=heard.turn_id, **mode)
    assert again.is_done
    assert again.of_type("stream_snapshot")["turn_exchange_id"] == heard.turn_id
    assert again.text == await stored_text(ada, heard)
    (proof,) = [one for one in again.typed if one["type"] == "message_stream_complete"]
    assert proof["messages"][-1]["chars"] == len(again.text)


async def test_the_newest_turn_is_meant_unless_another_is_named(world: World) -> None:
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
        heard = Heard(first.headers, typed=list(first.typed))
        await resumed(ada, heard, offset=0, **names)
        assert heard.typed[-1]["turn_exchange_id"] == expected
    heard = await resumed(ada, Heard(first.headers, typed=list(first.typed)), token_of(first))
    assert heard.text == "first"


async def test_what_ended_long_ago_is_in_the_conversation(settings: Settings) -> None:
    settings = msgspec.structs.replace(settings, resume_s=0.001)
    async with opened(settings) as world:
        ada = await world.someone("ada")
        heard = await ada.send("!script\nlong ago")
        await ada.http.get("/backend-api/me")
        status, code, _ = await refused(ada, conversation_id=heard.conversation_id)
        assert (status, code) == (410, "persisted_final_available")
        events = await ada.http.get(f"/backend-api/f/conversation/{heard.turn_id}/events")
        assert events.status_code == 410
        told = await ada.http.get(status_path(heard.conversation_id))
        assert told.json()["status"] == "NO_STREAM"
        eve = await world.someone("eve")
        assert (await refused(eve, conversation_id=heard.conversation_id))[0] == 404


async def test_others_hear_nothing_not_even_that_it_is_there(world: World) -> None:
    ada, eve = await world.someone("ada"), await world.someone("eve")
    heard = await cut_off(ada, 100_000)
    unknown, theirs = str(uuid4()), heard.conversation_id
    by_newest = [await refused(eve, conversation_id=one) for one in (theirs, unknown)]
    by_turn = [
        await refused(eve, conversation_id=theirs, turn_exchange_id=one)
        for one in (heard.turn_id, unknown)
    ]
    assert by_newest[0] == by_newest[1]
    assert by_turn[0] == by_turn[1]
    assert {by_newest[0][0], by_turn[0][0]} == {404}
    states = [await eve.http.get(status_path(one)) for one in (theirs, unknown)]
    assert [state.status_code for state in states] == [404, 404]
    assert states[0].content == states[1].content
    status, code, _ = await refused(eve, token_of(heard), conversation_id=theirs)
    assert (status, code) == (401, "token_invalid")


def claims(world: World, someone: Someone, heard: Heard, **changes: Any) -> str:
    honest = ResumePass(
        user_id=someone.user_id,
        expires_at=time.time() + 60,
        conversation_id=heard.conversation_id,
        turn_id=heard.turn_id,
        epoch=world.house.services.store.turns.epoch,
    )
    return passes.sign(world.house.secret, msgspec.structs.replace(honest, **changes))


async def test_a_token_is_for_one_person_one_turn_and_one_start(world: World) -> None:
    ada, eve = await world.someone("ada"), await world.someone("eve")
    heard = await ada.send("!script\nhello")
    other = await ada.send("!script\nsomething else")
    expected = [
        (claims(world, ada, heard, expires_at=time.time() - 1), "token_expired"),
        (claims(world, ada, heard, user_id=eve.user_id), "token_invalid"),
        (claims(world, ada, heard, epoch=999), "token_invalid"),
        (claims(world, ada, heard, conversation_id=other.conversation_id), "token_invalid"),
        (token_of(heard)[:-2] + "xx", "token_invalid"),
        (token_of(heard) + "x" * 10_000, "token_invalid"),
        ("rubbish", "token_invalid"),
        ("", "token_invalid"),
    ]
    for token, code in expected:
        told = await refused(ada, token, conversation_id=heard.conversation_id)
        assert told[:2] == (401, code)
    named = {"conversation_id": heard.conversation_id, "turn_exchange_id": heard.turn_id}
    assert (await refused(ada, token_of(other), **named))[:2] == (401, "token_invalid")
    elsewhere = await refused(ada, token_of(other), conversation_id=heard.conversation_id)
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
async def test_what_is_not_a_resume_is_refused(world: World, body: dict[str, Any]) -> None:
    ada = await world.someone("ada")
    response = await ada.http.post(RESUME, json=body)
    assert response.status_code == 400
    assert response.json()["error"]["message"]


@pytest.mark.parametrize("last_id", ["-1", "x", "1.5", "9" * 10, "１"])
async def test_a_last_event_id_is_the_number_of_an_event(world: World, last_id: str) -> None:
    ada = await world.someone("ada")
    heard = await ada.send("!script\nhello")
    path = f"/backend-api/f/conversation/{heard.turn_id}/events"
    told = await ada.http.get(path, headers={b"last-event-id": last_id.encode()})
    assert told.status_code == 400


async def test_a_thousand_resumes_are_too_many_and_slow_nobody_else(world: World) -> None:
    ada, bob = await world.someone("ada"), await world.someone("bob")
    heard = await ada.send("!script\nhello")
    path = f"/backend-api/f/conversation/{heard.turn_id}/events"
    for _ in range(MOST - 5):
        await world.house.returns.count(ada.user_id)

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


async def test_the_status_tells_what_can_be_streamed(world: World) -> None:
    ada = await world.someone("ada")
    heard = await cut_off(ada, 100_000)
    running = (await ada.http.get(status_path(heard.conversation_id))).json()
    assert running["status"] == "IS_STREAMING"
    assert running["topic_id"] == f"conversation-turn-{heard.turn_id}"
    assert running["first_seq"] == 1
    assert running["last_seq"] >= heard.last_id
    await ada.http.post(
        "/backend-api/stop_conversation", json={"conversation_id": heard.conversation_id}
    )
    ended = (await ada.http.get(status_path(heard.conversation_id))).json()
    assert ended["status"] == "IS_COMPLETE"
    assert ended["turn_exchange_id"] == heard.turn_id
    assert (await ada.follow(heard.turn_id)).last_id == ended["last_seq"]


async def test_after_a_restart_the_old_token_reads_what_became_of_the_turn(
    settings: Settings,
) -> None:
    async with AsyncExitStack() as clients:
        async with open_house(settings, ScriptedEngine()) as house, listening(house) as url:
            ada = await World(house, url, clients).someone("ada")
            heard = await cut_off(ada, 100_000)
        async with open_house(settings, ScriptedEngine()) as house, listening(house) as url:
            ada.http.base_url = httpx2.URL(url)
            await resumed(ada, heard, token_of(heard))
    assert heard.is_done
    end = heard.of_type("message_stream_complete")
    assert end["status"] == "interrupted"
    assert end["messages"][-1]["chars"] == len(heard.text)


@asynccontextmanager
async def opened(settings: Settings) -> AsyncGenerator[World]:
    async with AsyncExitStack() as stack:
        house = await stack.enter_async_context(open_house(settings, ScriptedEngine()))
        url = await stack.enter_async_context(listening(house))
        yield World(house, url, await stack.enter_async_context(AsyncExitStack()))
