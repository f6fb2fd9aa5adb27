"""From Send to the last word over HTTP, as a browser sees it."""

import asyncio
import hashlib

import pytest
from tests.server.world import AnswerStream, Someone, World, message


async def test_a_message_is_answered_and_is_there_afterwards(world: World) -> None:
    ada = await world.someone("ada")
    stream = await ada.send("!script\nHello there, Ada.")
    assert stream.is_done
    assert stream.text == "Hello there, Ada."
    assert stream.answer
    assert stream.answer["status"] == "finished_successfully"

    stored = await ada.conversation(stream.conversation_id)
    messages = [node["message"] for node in stored["mapping"].values()]
    assert messages == stream.messages
    assert stored["current_node"] == stream.answer["id"]
    assert stored["running"] is None


async def test_the_end_proves_the_text_by_its_length_and_hash(world: World) -> None:
    ada = await world.someone("ada")
    stream = await ada.send("!script\nGrüße 👩‍🚀!")
    end = stream.of_type("message_stream_complete")
    assert end["status"] == "finished_successfully"
    assert end["messages"][-1] == {
        "id": stream.answer and stream.answer["id"],
        "chars": len("Grüße 👩‍🚀!"),
        "sha256": hashlib.sha256("Grüße 👩‍🚀!".encode()).hexdigest(),
    }


async def test_a_disconnect_does_not_end_the_turn(world: World) -> None:
    ada = await world.someone("ada")
    stream = await ada.send("!script tokens=60 pace=5ms", until_chars=20)
    rest = await ada.follow(stream.turn_id)
    assert rest.is_done
    assert rest.text.startswith(stream.text)
    stored = await ada.conversation(rest.conversation_id)
    assert stored["mapping"][stored["current_node"]]["message"]["content"]["parts"] == [rest.text]


async def test_following_from_an_event_gives_exactly_the_rest(world: World) -> None:
    ada = await world.someone("ada")
    stream = await ada.send("!script tokens=60 pace=5ms", until_chars=20)
    async with ada.http.stream(
        "GET",
        f"/backend-api/f/conversation/{stream.turn_id}/events",
        headers={"last-event-id": str(stream.last_id)},
    ) as response:
        await stream.take(response)
    whole = await ada.follow(stream.turn_id)
    assert stream.is_done
    assert stream.messages == whole.messages
    assert stream.of_type("stream_resumed")["conversation_id"] == whole.conversation_id


async def test_stopping_keeps_what_was_said(world: World) -> None:
    ada = await world.someone("ada")
    stream = await ada.send("!script tokens=100000 pace=5ms", until_chars=20)
    for _ in range(2):  # stopping is idempotent
        stopped = await ada.http.post(
            "/backend-api/stop_conversation",
            json={"conversation_id": stream.conversation_id, "turn_exchange_id": stream.turn_id},
        )
        assert stopped.json() == {"success": True}
    whole = await ada.follow(stream.turn_id)
    assert whole.answer
    assert whole.answer["status"] == "finished_partial_completion"
    assert whole.text.startswith(stream.text)
    assert whole.answer["metadata"]["usage"]["num_output_tokens"] > 0


async def test_when_the_engine_dies_the_turn_fails_and_its_text_is_kept(world: World) -> None:
    ada = await world.someone("ada")
    stream = await ada.send("!script tokens=100 die=10")
    assert stream.is_done
    assert stream.answer
    assert stream.answer["status"] == "failed"
    assert stream.text
    assert stream.of_type("error")["error"]["code"] == "worker_lost"
    assert stream.of_type("error")["error"]["retryable"] is True
    stored = await ada.conversation(stream.conversation_id)
    assert stored["mapping"][stream.answer["id"]]["message"] == stream.answer


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


async def test_events_are_numbered_without_gaps(world: World) -> None:
    ada = await world.someone("ada")
    stream = await ada.send("!script tokens=40 pace=1ms")
    log = (await ada.http.get(f"/backend-api/turn/{stream.turn_id}")).json()["events"]
    assert [entry["seq"] for entry in log] == list(range(1, len(log) + 1))
    assert [entry["at_ms"] for entry in log] == sorted(entry["at_ms"] for entry in log)
    assert stream.of_type("message_stream_complete")["last_seq"] == len(log)


async def test_a_client_without_v1_gets_whole_messages(world: World) -> None:
    ada = await world.someone("ada")
    async with ada.http.stream(
        "POST",
        "/backend-api/f/conversation",
        json=message("!script\nplain words", supported_encodings=[]),
    ) as response:
        stream = await AnswerStream(response.headers).take(response)
    assert stream.is_done
    assert stream.typed[-1]["message"]["content"]["parts"] == ["plain words"]
    assert stream.typed[-1]["message"]["status"] == "finished_successfully"


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


async def test_deleting_a_conversation_stops_its_answer(world: World) -> None:
    ada = await world.someone("ada")
    stream = await ada.send("!script tokens=100000 pace=5ms", until_chars=10)
    path = f"/backend-api/conversation/{stream.conversation_id}"
    assert (await ada.http.delete(path)).status_code == 204
    assert (await ada.http.get(path)).status_code == 404


async def test_a_turn_cut_by_a_restart_is_closed_with_its_text_kept(world: World) -> None:
    ada = await world.someone("ada")
    stream = await ada.send("!script tokens=100000 pace=5ms", until_chars=30)
    await world.app.runner.close()
    whole = await ada.follow(stream.turn_id)
    assert whole.is_done
    assert whole.of_type("message_stream_complete")["status"] == "interrupted"
    assert whole.text.startswith(stream.text)
    refused = await ada.http.post("/backend-api/f/conversation", json=message("more"))
    assert refused.status_code == 503
    assert refused.headers["retry-after"] == "2"


async def test_concurrent_users_each_get_their_own_answer(world: World) -> None:
    people: list[Someone] = [await world.someone(f"p{i}") for i in range(5)]
    stream = await asyncio.gather(
        *(who.send(f"!script pace=1ms\nanswer for {who.name}, and only them") for who in people)
    )
    assert [h.text for h in stream] == [f"answer for {p.name}, and only them" for p in people]


@pytest.mark.parametrize("after", [0, 1, 10**8])
async def test_a_finished_turn_can_be_read_from_anywhere(world: World, after: int) -> None:
    ada = await world.someone("ada")
    stream = await ada.send("!script\nall of it")
    again = AnswerStream(stream.headers, decoder=stream.decoder)
    async with ada.http.stream(
        "GET", f"/backend-api/f/conversation/{stream.turn_id}/events?after={after}"
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


async def test_the_stream_and_the_log_name_the_request_the_trace_and_the_region(
    world: World,
) -> None:
    ada = await world.someone("ada")
    path, headers = "/backend-api/f/conversation", {"x-oai-turn-trace-id": "trace-7"}
    async with ada.http.stream("POST", path, json=message("Hi"), headers=headers) as response:
        request_id = response.headers["x-request-id"]
        stream = AnswerStream(response.headers)
        await stream.take(response)
    metadata = stream.of_type("server_ste_metadata")["metadata"]
    named = {name: metadata[name] for name in ("request_id", "turn_trace_id", "cluster_region")}
    assert named == {
        "request_id": request_id,
        "turn_trace_id": "trace-7",
        "cluster_region": "local",
    }
    log = (await ada.http.get(f"/backend-api/turn/{stream.turn_id}")).json()["events"]
    started = log[0]["event"]
    assert {name: started[name] for name in named} == named


async def test_a_trace_id_that_is_no_id_is_replaced(world: World) -> None:
    ada = await world.someone("ada")
    path, headers = "/backend-api/f/conversation", {"x-oai-turn-trace-id": "<script>"}
    async with ada.http.stream("POST", path, json=message("Hi"), headers=headers) as response:
        stream = AnswerStream(response.headers)
        await stream.take(response)
    assert len(stream.of_type("server_ste_metadata")["metadata"]["turn_trace_id"]) == 36


async def test_a_feature_that_does_not_exist_is_refused_by_name(world: World) -> None:
    ada = await world.someone("ada")
    body = message("Hi", system_hints=["search"])
    response = await ada.http.post("/backend-api/f/conversation", json=body)
    assert response.status_code == 400
    error = response.json()["error"]
    assert error["param"] == "system_hints"
    assert "'search'" in error["message"]
