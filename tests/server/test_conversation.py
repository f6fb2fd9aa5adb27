"""From Send to the last word, over HTTP, as a browser sees it."""

import asyncio
import hashlib

import pytest
from tests.server.world import Heard, Someone, World, message


async def test_a_message_is_answered_and_is_there_afterwards(world: World) -> None:
    ada = await world.someone("ada")
    heard = await ada.send("!script\nHello there, Ada.")
    assert heard.is_done
    assert heard.text == "Hello there, Ada."
    assert heard.answer
    assert heard.answer["status"] == "finished_successfully"

    stored = await ada.conversation(heard.conversation_id)
    messages = [node["message"] for node in stored["mapping"].values()]
    assert messages == heard.messages
    assert stored["current_node"] == heard.answer["id"]
    assert stored["running"] is None


async def test_the_end_proves_the_text_by_its_length_and_hash(world: World) -> None:
    ada = await world.someone("ada")
    heard = await ada.send("!script\nGrüße 👩‍🚀!")
    end = heard.of_type("message_stream_complete")
    assert end["status"] == "finished_successfully"
    assert end["messages"][-1] == {
        "id": heard.answer and heard.answer["id"],
        "chars": len("Grüße 👩‍🚀!"),
        "sha256": hashlib.sha256("Grüße 👩‍🚀!".encode()).hexdigest(),
    }


async def test_leaving_does_not_end_the_turn(world: World) -> None:
    ada = await world.someone("ada")
    heard = await ada.send("!script tokens=60 pace=5ms", until_chars=20)
    rest = await ada.follow(heard.turn_id)
    assert rest.is_done
    assert rest.text.startswith(heard.text)
    stored = await ada.conversation(rest.conversation_id)
    assert stored["mapping"][stored["current_node"]]["message"]["content"]["parts"] == [rest.text]


async def test_following_from_a_number_gives_exactly_the_rest(world: World) -> None:
    ada = await world.someone("ada")
    heard = await ada.send("!script tokens=60 pace=5ms", until_chars=20)
    async with ada.http.stream(
        "GET",
        f"/backend-api/f/conversation/{heard.turn_id}/events",
        headers={"last-event-id": str(heard.last_id)},
    ) as response:
        await heard.take(response)
    whole = await ada.follow(heard.turn_id)
    assert heard.is_done
    assert heard.messages == whole.messages
    assert heard.of_type("stream_resumed")["conversation_id"] == whole.conversation_id


async def test_stopping_keeps_what_was_said(world: World) -> None:
    ada = await world.someone("ada")
    heard = await ada.send("!script tokens=100000 pace=5ms", until_chars=20)
    for _ in range(2):  # stopping twice does no harm
        stopped = await ada.http.post(
            "/backend-api/stop_conversation",
            json={"conversation_id": heard.conversation_id, "turn_exchange_id": heard.turn_id},
        )
        assert stopped.json() == {"success": True}
    whole = await ada.follow(heard.turn_id)
    assert whole.answer
    assert whole.answer["status"] == "finished_partial_completion"
    assert whole.text.startswith(heard.text)
    assert whole.answer["metadata"]["usage"]["num_output_tokens"] > 0


async def test_an_engine_that_dies_is_told_and_what_was_said_is_kept(world: World) -> None:
    ada = await world.someone("ada")
    heard = await ada.send("!script tokens=100 die=10")
    assert heard.is_done
    assert heard.answer
    assert heard.answer["status"] == "failed"
    assert heard.text
    assert heard.of_type("error")["error"]["code"] == "worker_lost"
    assert heard.of_type("error")["error"]["retryable"] is True
    stored = await ada.conversation(heard.conversation_id)
    assert stored["mapping"][heard.answer["id"]]["message"] == heard.answer


async def test_regenerating_and_editing_make_branches(world: World) -> None:
    ada = await world.someone("ada")
    first = await ada.send("!script\none")
    question = first.messages[0]["id"]
    conversation_id = first.conversation_id
    again = await ada.send(
        "", action="variant", messages=[], conversation_id=conversation_id,
        parent_message_id=question,
    )  # fmt: skip
    edited = await ada.send("!script\ntwo", conversation_id=conversation_id)
    tree = await ada.conversation(conversation_id)
    assert edited.answer
    assert again.answer
    assert first.answer
    assert tree["mapping"][question]["children"] == [first.answer["id"], again.answer["id"]]
    assert tree["current_node"] == edited.answer["id"]
    assert len([node for node in tree["mapping"].values() if node["parent"] is None]) == 2

    back = await ada.http.patch(
        f"/backend-api/conversation/{conversation_id}",
        json={"current_node": again.answer["id"]},
    )
    assert back.status_code == 200
    assert (await ada.conversation(conversation_id))["current_node"] == again.answer["id"]


async def test_a_second_message_sees_the_first(world: World) -> None:
    ada = await world.someone("ada")
    first = await ada.send("!script\none")
    assert first.answer
    second = await ada.send(
        "!script\ntwo",
        conversation_id=first.conversation_id,
        parent_message_id=first.answer["id"],
    )
    log = (await ada.http.get(f"/backend-api/turn/{second.turn_id}")).json()["events"]
    context = next(e["event"] for e in log if e["event"]["type"] == "ContextBuilt")
    assert [(s["source"], s["num_messages"]) for s in context["sections"]] == [
        ("system", 1),
        ("history", 2),
        ("user", 1),
    ]


async def test_what_happened_is_numbered_without_gaps(world: World) -> None:
    ada = await world.someone("ada")
    heard = await ada.send("!script tokens=40 pace=1ms")
    log = (await ada.http.get(f"/backend-api/turn/{heard.turn_id}")).json()["events"]
    assert [entry["seq"] for entry in log] == list(range(1, len(log) + 1))
    assert [entry["at_ms"] for entry in log] == sorted(entry["at_ms"] for entry in log)
    assert heard.of_type("message_stream_complete")["last_seq"] == len(log)


async def test_a_client_without_v1_gets_whole_messages(world: World) -> None:
    ada = await world.someone("ada")
    async with ada.http.stream(
        "POST",
        "/backend-api/f/conversation",
        json=message("!script\nplain words", supported_encodings=[]),
    ) as response:
        heard = await Heard(response.headers).take(response)
    assert heard.is_done
    assert heard.typed[-1]["message"]["content"]["parts"] == ["plain words"]
    assert heard.typed[-1]["message"]["status"] == "finished_successfully"


async def test_conversations_are_listed_searched_renamed_and_deleted(world: World) -> None:
    ada = await world.someone("ada")
    first = await ada.send("!script\nabout gardens")
    second = await ada.send("!script\nabout trains")
    listed = (await ada.http.get("/backend-api/conversations")).json()
    assert [item["id"] for item in listed["items"]] == [
        second.conversation_id,
        first.conversation_id,
    ]
    found = (await ada.http.get("/backend-api/conversations", params={"q": "gardens"})).json()
    assert [item["id"] for item in found["items"]] == [first.conversation_id]
    assert "\x02gardens\x03" in found["items"][0]["snippet"]

    path = f"/backend-api/conversation/{first.conversation_id}"
    assert (await ada.http.patch(path, json={"title": "Roses"})).status_code == 200
    assert (await ada.conversation(first.conversation_id))["title"] == "Roses"
    assert (await ada.http.delete(path)).status_code == 204
    assert (await ada.http.get(path)).status_code == 404
    assert (await ada.http.get(f"/backend-api/turn/{first.turn_id}")).status_code == 404


async def test_deleting_a_conversation_ends_its_answer(world: World) -> None:
    ada = await world.someone("ada")
    heard = await ada.send("!script tokens=100000 pace=5ms", until_chars=10)
    path = f"/backend-api/conversation/{heard.conversation_id}"
    assert (await ada.http.delete(path)).status_code == 204
    assert (await ada.http.get(path)).status_code == 404


async def test_a_turn_cut_by_a_restart_is_closed_with_its_text_kept(world: World) -> None:
    ada = await world.someone("ada")
    heard = await ada.send("!script tokens=100000 pace=5ms", until_chars=30)
    await world.house.runner.close()
    whole = await ada.follow(heard.turn_id)
    assert whole.is_done
    assert whole.of_type("message_stream_complete")["status"] == "interrupted"
    assert whole.text.startswith(heard.text)
    refused = await ada.http.post("/backend-api/f/conversation", json=message("more"))
    assert refused.status_code == 503
    assert refused.headers["retry-after"] == "2"


async def test_many_people_at_once_each_hear_their_own_answer(world: World) -> None:
    people: list[Someone] = [await world.someone(f"p{i}") for i in range(5)]
    heard = await asyncio.gather(
        *(who.send(f"!script pace=1ms\nanswer for {who.name}, and only them") for who in people)
    )
    assert [h.text for h in heard] == [f"answer for {p.name}, and only them" for p in people]


@pytest.mark.parametrize("after", [0, 1, 10**8])
async def test_a_finished_turn_can_be_read_from_anywhere(world: World, after: int) -> None:
    ada = await world.someone("ada")
    heard = await ada.send("!script\nall of it")
    again = Heard(heard.headers, decoder=heard.decoder)
    async with ada.http.stream(
        "GET", f"/backend-api/f/conversation/{heard.turn_id}/events?after={after}"
    ) as response:
        await again.take(response)
    assert again.is_done


async def test_a_first_message_sent_twice_makes_one_conversation(world: World) -> None:
    ada = await world.someone("ada")
    body = message("!script\nonce")
    first = await ada.http.post("/backend-api/f/conversation", json=body)
    again = await ada.http.post("/backend-api/f/conversation", json=body)
    assert (first.status_code, again.status_code) == (200, 200)
    assert (await ada.http.get("/backend-api/conversations")).json()["total"] == 1


async def test_archived_conversations_have_a_list_of_their_own(world: World) -> None:
    ada = await world.someone("ada")
    kept, put_away = await ada.send("!script\nkept"), await ada.send("!script\nput away")
    path = f"/backend-api/conversation/{put_away.conversation_id}"
    await ada.http.patch(path, json={"is_archived": True})

    async def listed(query: str) -> list[str]:
        page = await ada.http.get(f"/backend-api/conversations{query}")
        return [item["id"] for item in page.json()["items"]]

    assert await listed("") == [kept.conversation_id]
    assert await listed("?is_archived=true") == [put_away.conversation_id]
