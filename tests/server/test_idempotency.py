"""Idempotency: a repeated Send runs once, over any API and after any interruption."""

import asyncio
import sqlite3
from contextlib import AsyncExitStack, closing, suppress
from typing import Any
from uuid import uuid4

import httpx2
import pytest
from tests.server.pages import open_page
from tests.server.world import UNUSED_TLS, AnswerStream, Someone, World, message

from hitsend.engine import ScriptedEngine
from hitsend.engine.scripted.script import Script
from hitsend.errors import TooFast
from hitsend.server.app import open_app
from hitsend.server.limits.request_limits import MAX_RESUMES
from hitsend.server.serve import listen
from hitsend.settings import Settings

SEND = "/backend-api/f/conversation"
COMPLETE = "/v1/chat/completions"
REPLAYED = "idempotency-replayed"


async def send_raw(someone: Someone, body: dict[str, Any], key: str | None = None) -> AnswerStream:
    headers = {} if key is None else {"idempotency-key": key}
    async with someone.http.stream("POST", SEND, json=body, headers=headers) as response:
        assert response.status_code == 200, await response.aread()
        return await AnswerStream(response.headers).take(response)


async def refused(someone: Someone, body: dict[str, Any], key: str) -> httpx2.Response:
    return await someone.http.post(SEND, json=body, headers={"idempotency-key": key})


async def num_turns(someone: Someone) -> int:
    page = (await someone.http.get("/backend-api/conversations")).json()
    trees = [await someone.conversation(item["id"]) for item in page["items"]]
    messages = [node["message"] for tree in trees for node in tree["mapping"].values()]
    return sum(one is not None and one["author"]["role"] == "assistant" for one in messages)


def get_events(text: str, **changes: Any) -> dict[str, Any]:
    return {"model": "auto", "messages": [{"role": "user", "content": text}]} | changes


async def complete(
    world: World, someone: Someone, body: dict[str, Any], key: str
) -> httpx2.Response:
    http = await world.browser()
    headers = {"authorization": f"Bearer {someone.key}", "idempotency-key": key}
    return await http.post(COMPLETE, json=body, headers=headers)


async def test_a_repeated_send_joins_the_running_answer(world: World) -> None:
    ada = await world.someone("ada")
    body = message("!script tokens=40 pace=5ms")
    first = await ada.send("", until_chars=10, **body)
    again = await send_raw(ada, body)
    assert REPLAYED not in first.headers
    assert again.headers[REPLAYED] == "true"
    assert again.turn_id == first.turn_id
    assert again.is_done
    assert again.text.startswith(first.text)
    assert await num_turns(ada) == 1


async def test_a_repeated_send_replays_a_finished_answer_byte_by_byte(world: World) -> None:
    ada = await world.someone("ada")
    body = message("!script\nOnce and for all.")
    first, again = await send_raw(ada, body), await send_raw(ada, body)
    assert again.headers[REPLAYED] == "true"
    assert again.messages == first.messages
    assert again.last_id == first.last_id
    assert again.of_type("message_stream_complete") == first.of_type("message_stream_complete")
    assert await num_turns(ada) == 1


async def test_replays_are_rate_limited(world: World) -> None:
    ada, bob = await world.someone("ada"), await world.someone("bob")
    body = message("!script\nOnce.")
    await ada.send_to_afterword("", **body)
    with closing(sqlite3.connect(world.app.services.settings.database)) as database, database:
        database.execute("UPDATE turns SET finished_at = finished_at - 61")
    with suppress(TooFast):
        for _ in range(MAX_RESUMES):
            world.app.resume_limit.count(ada.user_id)
    assert (await ada.http.post(SEND, json=body)).status_code == 429
    await send_raw(bob, message("!script\nOnce."))
    await send_raw(ada, message("!script\nSomething else."))


@pytest.mark.parametrize("prompt", ["!script\nOnce.", "!script tokens=10 pace=300ms"])
async def test_two_hundred_concurrent_sends_all_get_the_answer_also_after_its_end(
    world: World, prompt: str
) -> None:
    ada = await world.someone("ada")
    body = message(prompt)
    limits = httpx2.Limits(max_connections=None)
    async with httpx2.AsyncClient(
        base_url=world.url, limits=limits, timeout=60, verify=UNUSED_TLS
    ) as http:
        http.headers["authorization"] = f"Bearer {ada.key}"
        many = Someone(http, ada.name, ada.user_id, ada.key)
        streams = await asyncio.gather(*(send_raw(many, body) for _ in range(200)))
        later = await asyncio.gather(*(send_raw(many, body) for _ in range(10)))
    assert len({stream.turn_id for stream in [*streams, *later]}) == 1
    assert len({stream.text for stream in [*streams, *later]}) == 1
    assert sum(REPLAYED not in stream.headers for stream in streams) == 1
    assert await num_turns(ada) == 1


@pytest.mark.parametrize("key", [None, "a-key-of-my-own!"])
async def test_twenty_concurrent_sends_are_one_turn_and_all_get_the_answer(
    world: World, key: str | None
) -> None:
    ada = await world.someone("ada")
    body = message("!script tokens=30 pace=2ms first=50ms")
    stream = await asyncio.gather(*(send_raw(ada, body, key) for _ in range(20)))
    assert len({one.turn_id for one in stream}) == 1
    assert len({one.text for one in stream}) == 1
    assert all(one.is_done for one in stream)
    assert sorted(one.headers.get(REPLAYED, "") for one in stream) == [""] + ["true"] * 19
    assert await num_turns(ada) == 1


async def test_twenty_concurrent_completions_are_one_turn(world: World) -> None:
    ada = await world.someone("ada")
    body = get_events("!script tokens=30 pace=2ms first=50ms")
    answers = await asyncio.gather(*(complete(world, ada, body, "k") for _ in range(20)))
    assert {one.status_code for one in answers} == {200}
    assert len({one.content for one in answers}) == 1
    assert sorted(one.headers.get(REPLAYED, "") for one in answers) == [""] + ["true"] * 19


async def test_the_same_key_for_something_else_is_refused(world: World) -> None:
    ada = await world.someone("ada")
    await send_raw(ada, message("!script\nthe one"), "mine")
    response = await refused(ada, message("!script\nthe other"), "mine")
    assert response.status_code == 422
    assert response.json()["error"]["code"] == "idempotency_key_reused"
    assert await num_turns(ada) == 1


async def test_the_same_message_id_with_another_text_is_refused(world: World) -> None:
    ada = await world.someone("ada")
    body = message("!script\nthe one")
    await send_raw(ada, body)
    body["messages"][0]["content"]["parts"] = ["!script\nthe other"]
    assert (await ada.http.post(SEND, json=body)).status_code == 422


async def test_the_same_message_under_another_key_is_the_same_turn(world: World) -> None:
    ada = await world.someone("ada")
    body = message("!script\nonce")
    first, again = await send_raw(ada, body, "one"), await send_raw(ada, body, "two")
    assert again.headers[REPLAYED] == "true"
    assert again.turn_id == first.turn_id
    assert (await refused(ada, body | {"model": "scripted"}, "three")).status_code == 409
    assert await num_turns(ada) == 1


async def test_socket_and_http_share_message_ids(
    world: World,
) -> None:
    ada = await world.someone("ada")
    here, there = message("!script\none"), message("!script\ntwo")
    async with open_page(ada) as page:
        first = await page.request_reply("send", client_msg_id="a", body=here)
        again = await send_raw(ada, here)
        assert again.headers[REPLAYED] == "true"
        assert again.turn_id == first["turn_exchange_id"]
        whole = await send_raw(ada, there)
        known = await page.request_reply("send", client_msg_id="b", body=there)
    assert known["duplicate"] is True
    assert known["turn_exchange_id"] == whole.turn_id
    assert await num_turns(ada) == 2


async def test_concurrent_sends_over_socket_and_http_are_one_turn(world: World) -> None:
    ada = await world.someone("ada")
    async with open_page(ada) as page:
        for number in range(5):
            body = message("!script\nonce")
            reply, stream = await asyncio.gather(
                page.request_reply("send", client_msg_id=str(number), body=body),
                send_raw(ada, body),
            )
            assert reply["turn_exchange_id"] == stream.turn_id
            assert reply["duplicate"] is (REPLAYED not in stream.headers)
            assert stream.text == "once"
    assert await num_turns(ada) == 5


async def test_idempotency_keys_are_separate_per_user_and_api(world: World) -> None:
    ada, eve = await world.someone("ada"), await world.someone("eve")
    first = await send_raw(ada, message("!script\nmine"), "k")
    other = await send_raw(eve, message("!script\nhers"), "k")
    whole = await complete(world, ada, get_events("!script\nan API call"), "k")
    assert REPLAYED not in other.headers
    assert REPLAYED not in whole.headers
    assert (first.text, other.text) == ("mine", "hers")
    assert whole.json()["choices"][0]["message"]["content"] == "an API call"


async def test_a_variant_is_created_once_per_key(world: World) -> None:
    ada = await world.someone("ada")
    first = await ada.send("!script\nonce")
    body = message("") | {
        "action": "variant",
        "messages": [],
        "conversation_id": first.conversation_id,
        "parent_message_id": first.messages[0]["id"],
    }
    one, two = await asyncio.gather(send_raw(ada, body, "again"), send_raw(ada, body, "again"))
    assert one.turn_id == two.turn_id
    assert await num_turns(ada) == 2


@pytest.mark.parametrize("key", ["", "a b", "x" * 256, "ümlaut", "tab\there"])
async def test_an_idempotency_key_is_short_visible_ascii(world: World, key: str) -> None:
    ada = await world.someone("ada")
    for path, body in ((SEND, message("hello")), (COMPLETE, get_events("hello"))):
        response = await ada.http.post(
            path,
            json=body,
            headers={
                b"idempotency-key": key.encode(),
                b"authorization": f"Bearer {ada.key}".encode(),
            },
        )
        assert response.status_code == 400
        assert response.json()["error"]["param"] == "Idempotency-Key"


async def test_a_repeated_send_after_a_restart_is_the_same_turn(settings: Settings) -> None:
    body, call = message("!script\nbefore the restart"), get_events("!script\nalso before")
    async with AsyncExitStack() as clients:
        async with open_app(settings, ScriptedEngine()) as app, listen(app) as url:
            world = World(app, url, clients)
            ada = await world.someone("ada")
            first, whole = await send_raw(ada, body), await complete(world, ada, call, "k")
        async with open_app(settings, ScriptedEngine()) as app, listen(app) as url:
            world, ada.http.base_url = World(app, url, clients), httpx2.URL(url)
            again = await send_raw(ada, body)
            repeated = await complete(world, ada, call, "k")
            assert await num_turns(ada) == 1
    assert again.headers[REPLAYED] == "true"
    assert again.turn_id == first.turn_id
    assert again.messages == first.messages
    assert repeated.headers[REPLAYED] == "true"
    assert repeated.content == whole.content


async def test_a_completion_with_a_key_continues_after_a_disconnect(world: World) -> None:
    ada, http = await world.someone("ada"), await world.browser()
    headers = {"authorization": f"Bearer {ada.key}", "idempotency-key": str(uuid4())}
    body = get_events("!script tokens=60 pace=5ms")
    async with http.stream(
        "POST", COMPLETE, json=body | {"stream": True}, headers=headers
    ) as response:
        async for _ in response.aiter_raw():
            break
    whole = await http.post(COMPLETE, json=body, headers=headers)
    assert whole.headers[REPLAYED] == "true"
    assert whole.json()["choices"][0]["finish_reason"] == "stop"
    assert whole.json()["usage"]["completion_tokens"] == 60
    streamed = await http.post(COMPLETE, json=body | {"stream": True}, headers=headers)
    assert streamed.headers[REPLAYED] == "true"
    assert streamed.text.endswith("data: [DONE]\n\n")


async def test_a_refused_send_can_be_repeated(world: World) -> None:
    ada = await world.someone("ada")
    body = message("!script\nwell") | {"model": "no-such-model"}
    assert (await ada.http.post(SEND, json=body)).status_code == 404
    stream = await send_raw(ada, body | {"model": "auto"})
    assert REPLAYED not in stream.headers
    assert stream.text == "well"


async def test_a_deleted_turn_is_not_replayed(world: World) -> None:
    ada = await world.someone("ada")
    body = message("!script\ngone")
    first = await send_raw(ada, body)
    path = f"/backend-api/conversation/{first.conversation_id}"
    assert (await ada.http.delete(path)).status_code in (200, 204)
    again = await send_raw(ada, body)
    assert REPLAYED not in again.headers
    assert again.turn_id != first.turn_id


async def test_a_failed_completion_starts_again_under_its_key(
    settings: Settings,
) -> None:
    engine = ScriptedEngine([Script("one two three", num_until_death=2), Script("all of it")])
    async with (
        asyncio.timeout(20),
        open_app(settings, engine) as app,
        listen(app) as url,
        AsyncExitStack() as stack,
    ):
        world = World(app, url, stack)
        ada = await world.someone("ada")
        first, second, third = [
            await complete(world, ada, get_events("go on"), "k") for _ in range(3)
        ]
    assert first.status_code == 503
    assert second.json()["choices"][0]["message"]["content"] == "all of it"
    assert REPLAYED not in second.headers
    assert third.content == second.content
    assert third.headers[REPLAYED] == "true"


async def test_a_message_whose_answer_failed_keeps_its_turn(world: World) -> None:
    ada = await world.someone("ada")
    body = message("!script tokens=10 die=2")
    first, again = await send_raw(ada, body), await send_raw(ada, body)
    assert again.headers[REPLAYED] == "true"
    assert again.turn_id == first.turn_id
