"""Sent twice, it happens once: however it is sent, and whatever happens in between."""

import asyncio
from contextlib import AsyncExitStack
from typing import Any
from uuid import uuid4

import httpx2
import pytest
from tests.server.pages import page_of
from tests.server.world import Heard, Someone, World, message

from hitsend.engine import ScriptedEngine
from hitsend.engine.script import Script
from hitsend.server.app import open_house
from hitsend.server.returning import MOST
from hitsend.server.serving import listening
from hitsend.settings import Settings

SEND = "/backend-api/f/conversation"
COMPLETE = "/v1/chat/completions"
REPLAYED = "idempotency-replayed"


async def sent(someone: Someone, body: dict[str, Any], key: str | None = None) -> Heard:
    headers = {} if key is None else {"idempotency-key": key}
    async with someone.http.stream("POST", SEND, json=body, headers=headers) as response:
        assert response.status_code == 200, await response.aread()
        return await Heard(response.headers).take(response)


async def refused(someone: Someone, body: dict[str, Any], key: str) -> httpx2.Response:
    return await someone.http.post(SEND, json=body, headers={"idempotency-key": key})


async def num_turns(someone: Someone) -> int:
    page = (await someone.http.get("/backend-api/conversations")).json()
    trees = [await someone.conversation(item["id"]) for item in page["items"]]
    messages = [node["message"] for tree in trees for node in tree["mapping"].values()]
    return sum(one is not None and one["author"]["role"] == "assistant" for one in messages)


def asked(text: str, **changes: Any) -> dict[str, Any]:
    return {"model": "auto", "messages": [{"role": "user", "content": text}]} | changes


async def completed(
    world: World, someone: Someone, body: dict[str, Any], key: str
) -> httpx2.Response:
    http = await world.browser()
    headers = {"authorization": f"Bearer {someone.key}", "idempotency-key": key}
    return await http.post(COMPLETE, json=body, headers=headers)


async def test_a_message_sent_again_while_it_is_answered_is_the_same_answer(world: World) -> None:
    ada = await world.someone("ada")
    body = message("!script tokens=40 pace=5ms")
    first = await ada.send("", until_chars=10, **body)
    again = await sent(ada, body)
    assert REPLAYED not in first.headers
    assert again.headers[REPLAYED] == "true"
    assert again.turn_id == first.turn_id
    assert again.is_done
    assert again.text.startswith(first.text)
    assert await num_turns(ada) == 1


async def test_a_message_sent_again_afterwards_is_replayed_byte_by_byte(world: World) -> None:
    ada = await world.someone("ada")
    body = message("!script\nOnce and for all.")
    first, again = await sent(ada, body), await sent(ada, body)
    assert again.headers[REPLAYED] == "true"
    assert again.messages == first.messages
    assert again.last_id == first.last_id
    assert again.of_type("message_stream_complete") == first.of_type("message_stream_complete")
    assert await num_turns(ada) == 1


async def test_it_is_not_replayed_over_and_over(world: World) -> None:
    ada, bob = await world.someone("ada"), await world.someone("bob")
    body = message("!script\nOnce.")
    await sent(ada, body)
    for _ in range(MOST):
        await world.house.returns.count(ada.user_id)
    assert (await ada.http.post(SEND, json=body)).status_code == 429
    await sent(bob, message("!script\nOnce."))
    await sent(ada, message("!script\nSomething else."))


@pytest.mark.parametrize("key", [None, "a-key-of-my-own!"])
async def test_twenty_at_once_are_one_turn_and_all_hear_all_of_it(
    world: World, key: str | None
) -> None:
    ada = await world.someone("ada")
    body = message("!script tokens=30 pace=2ms first=50ms")
    heard = await asyncio.gather(*(sent(ada, body, key) for _ in range(20)))
    assert len({one.turn_id for one in heard}) == 1
    assert len({one.text for one in heard}) == 1
    assert all(one.is_done for one in heard)
    assert sorted(one.headers.get(REPLAYED, "") for one in heard) == [""] + ["true"] * 19
    assert await num_turns(ada) == 1


async def test_twenty_completions_at_once_are_one_turn(world: World) -> None:
    ada = await world.someone("ada")
    body = asked("!script tokens=30 pace=2ms first=50ms")
    answers = await asyncio.gather(*(completed(world, ada, body, "k") for _ in range(20)))
    assert {one.status_code for one in answers} == {200}
    assert len({one.content for one in answers}) == 1
    assert sorted(one.headers.get(REPLAYED, "") for one in answers) == [""] + ["true"] * 19


async def test_the_same_key_for_something_else_is_refused(world: World) -> None:
    ada = await world.someone("ada")
    await sent(ada, message("!script\nthe one"), "mine")
    response = await refused(ada, message("!script\nthe other"), "mine")
    assert response.status_code == 422
    assert response.json()["error"]["code"] == "idempotency_key_reused"
    assert await num_turns(ada) == 1


async def test_the_same_message_with_other_words_is_refused(world: World) -> None:
    ada = await world.someone("ada")
    body = message("!script\nthe one")
    await sent(ada, body)
    body["messages"][0]["content"]["parts"] = ["!script\nthe other"]
    assert (await ada.http.post(SEND, json=body)).status_code == 422


async def test_the_same_message_under_another_key_is_the_same_turn(world: World) -> None:
    ada = await world.someone("ada")
    body = message("!script\nonce")
    first, again = await sent(ada, body, "one"), await sent(ada, body, "two")
    assert again.headers[REPLAYED] == "true"
    assert again.turn_id == first.turn_id
    assert (await refused(ada, body | {"model": "scripted"}, "three")).status_code == 409
    assert await num_turns(ada) == 1


async def test_a_message_that_came_over_the_socket_is_known_over_http_and_back(
    world: World,
) -> None:
    ada = await world.someone("ada")
    here, there = message("!script\none"), message("!script\ntwo")
    async with page_of(ada) as page:
        first = await page.asked("send", client_msg_id="a", body=here)
        again = await sent(ada, here)
        assert again.headers[REPLAYED] == "true"
        assert again.turn_id == first["turn_exchange_id"]
        whole = await sent(ada, there)
        known = await page.asked("send", client_msg_id="b", body=there)
    assert known["duplicate"] is True
    assert known["turn_exchange_id"] == whole.turn_id
    assert await num_turns(ada) == 2


async def test_over_the_socket_and_over_http_at_once_it_is_one_turn(world: World) -> None:
    ada = await world.someone("ada")
    async with page_of(ada) as page:
        for number in range(5):
            body = message("!script\nonce")
            told, heard = await asyncio.gather(
                page.asked("send", client_msg_id=str(number), body=body), sent(ada, body)
            )
            assert told["turn_exchange_id"] == heard.turn_id
            assert told["duplicate"] is (REPLAYED not in heard.headers)
            assert heard.text == "once"
    assert await num_turns(ada) == 5


async def test_a_key_is_its_owners_and_its_surfaces(world: World) -> None:
    ada, eve = await world.someone("ada"), await world.someone("eve")
    first = await sent(ada, message("!script\nmine"), "k")
    other = await sent(eve, message("!script\nhers"), "k")
    whole = await completed(world, ada, asked("!script\nan API call"), "k")
    assert REPLAYED not in other.headers
    assert REPLAYED not in whole.headers
    assert (first.text, other.text) == ("mine", "hers")
    assert whole.json()["choices"][0]["message"]["content"] == "an API call"


async def test_another_answer_is_asked_for_once_under_one_key(world: World) -> None:
    ada = await world.someone("ada")
    first = await ada.send("!script\nonce")
    body = message("") | {
        "action": "variant",
        "messages": [],
        "conversation_id": first.conversation_id,
        "parent_message_id": first.messages[0]["id"],
    }
    one, two = await asyncio.gather(sent(ada, body, "again"), sent(ada, body, "again"))
    assert one.turn_id == two.turn_id
    assert await num_turns(ada) == 2


@pytest.mark.parametrize("key", ["", "a b", "x" * 256, "ümlaut", "tab\there"])
async def test_a_key_is_short_visible_ascii(world: World, key: str) -> None:
    ada = await world.someone("ada")
    for path, body in ((SEND, message("hello")), (COMPLETE, asked("hello"))):
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


async def test_across_a_restart_it_is_the_same_turn(settings: Settings) -> None:
    body, call = message("!script\nbefore the restart"), asked("!script\nalso before")
    async with AsyncExitStack() as clients:
        async with open_house(settings, ScriptedEngine()) as house, listening(house) as url:
            world = World(house, url, clients)
            ada = await world.someone("ada")
            first, whole = await sent(ada, body), await completed(world, ada, call, "k")
        async with open_house(settings, ScriptedEngine()) as house, listening(house) as url:
            world, ada.http.base_url = World(house, url, clients), httpx2.URL(url)
            again = await sent(ada, body)
            repeated = await completed(world, ada, call, "k")
            assert await num_turns(ada) == 1
    assert again.headers[REPLAYED] == "true"
    assert again.turn_id == first.turn_id
    assert again.messages == first.messages
    assert repeated.headers[REPLAYED] == "true"
    assert repeated.content == whole.content


async def test_a_completion_with_a_key_goes_on_when_its_reader_leaves(world: World) -> None:
    ada, http = await world.someone("ada"), await world.browser()
    headers = {"authorization": f"Bearer {ada.key}", "idempotency-key": str(uuid4())}
    body = asked("!script tokens=60 pace=5ms")
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


async def test_what_was_refused_can_be_sent_again(world: World) -> None:
    ada = await world.someone("ada")
    body = message("!script\nwell") | {"model": "no-such-model"}
    assert (await ada.http.post(SEND, json=body)).status_code == 404
    heard = await sent(ada, body | {"model": "auto"})
    assert REPLAYED not in heard.headers
    assert heard.text == "well"


async def test_what_was_deleted_is_not_replayed(world: World) -> None:
    ada = await world.someone("ada")
    body = message("!script\ngone")
    first = await sent(ada, body)
    path = f"/backend-api/conversation/{first.conversation_id}"
    assert (await ada.http.delete(path)).status_code in (200, 204)
    again = await sent(ada, body)
    assert REPLAYED not in again.headers
    assert again.turn_id != first.turn_id


async def test_a_completion_that_came_to_nothing_is_begun_again_under_its_key(
    settings: Settings,
) -> None:
    engine = ScriptedEngine([Script("one two three", num_until_death=2), Script("all of it")])
    async with (
        asyncio.timeout(20),
        open_house(settings, engine) as house,
        listening(house) as url,
        AsyncExitStack() as stack,
    ):
        world = World(house, url, stack)
        ada = await world.someone("ada")
        first, second, third = [await completed(world, ada, asked("go on"), "k") for _ in range(3)]
    assert first.status_code == 503
    assert second.json()["choices"][0]["message"]["content"] == "all of it"
    assert REPLAYED not in second.headers
    assert third.content == second.content
    assert third.headers[REPLAYED] == "true"


async def test_a_message_whose_answer_failed_stays_with_its_turn(world: World) -> None:
    ada = await world.someone("ada")
    body = message("!script tokens=10 die=2")
    first, again = await sent(ada, body), await sent(ada, body)
    assert again.headers[REPLAYED] == "true"
    assert again.turn_id == first.turn_id
