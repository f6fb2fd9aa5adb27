"""Continuing an answer that was cut short, as a message below it."""

from typing import Any

import pytest
from tests.server.world import AnswerStream, Someone, World, message

STORY = "Once upon a time there was a lighthouse keeper who counted waves."
WRITE = "/backend-api/f/conversation"


async def continue_answer(
    who: Someone, stream: AnswerStream, conversation_id: str, **changes: Any
) -> AnswerStream:
    assert stream.answer
    return await who.send(
        "",
        action="continue",
        messages=[],
        conversation_id=conversation_id,
        parent_message_id=stream.answer["id"],
        **changes,
    )


async def refused(who: Someone, stream: AnswerStream, parent_id: str) -> dict[str, Any]:
    body = message(
        "",
        action="continue",
        messages=[],
        conversation_id=stream.conversation_id,
        parent_message_id=parent_id,
    )
    response = await who.http.post(WRITE, json=body)
    assert response.status_code == 400, response.text
    problem: dict[str, Any] = response.json()["error"]
    return problem


async def stop(who: Someone, stream: AnswerStream) -> AnswerStream:
    await who.http.post(
        "/backend-api/stop_conversation", json={"conversation_id": stream.conversation_id}
    )
    return await who.follow(stream.turn_id)


async def event_of(who: Someone, stream: AnswerStream, kind: str) -> dict[str, Any]:
    log = (await who.http.get(f"/backend-api/turn/{stream.turn_id}")).json()["events"]
    event: dict[str, Any] = next(e["event"] for e in log if e["event"]["type"] == kind)
    return event


@pytest.mark.parametrize("num_tokens", [1, 3, 7])
async def test_an_answer_cut_by_length_continues_word_for_word(
    world: World, num_tokens: int
) -> None:
    ada = await world.someone("ada")
    cut = await ada.send(f"!script\n{STORY}", sampling={"max_tokens": num_tokens})
    assert cut.answer
    assert cut.answer["metadata"]["finish_details"]["reason"] == "length"
    more = await continue_answer(ada, cut, cut.conversation_id)
    assert cut.text + more.text == STORY
    assert more.answer
    assert more.answer["metadata"]["parent_id"] == cut.answer["id"]
    stored = await ada.conversation(cut.conversation_id)
    assert stored["current_node"] == more.answer["id"]
    assert stored["mapping"][cut.answer["id"]]["children"] == [more.answer["id"]]
    assert stored["mapping"][more.answer["id"]]["message"] == more.answer


async def test_a_stopped_answer_can_be_continued(world: World) -> None:
    ada = await world.someone("ada")
    stream = await ada.send(f"!script hang=4\n{STORY}", until_chars=10)
    cut = await stop(ada, stream)
    assert 10 <= len(cut.text) < len(STORY)
    assert cut.text + (await continue_answer(ada, cut, cut.conversation_id)).text == STORY


async def test_an_answer_whose_engine_died_can_be_continued(world: World) -> None:
    ada = await world.someone("ada")
    cut = await ada.send(f"!script die=4\n{STORY}")
    assert cut.text + (await continue_answer(ada, cut, cut.conversation_id)).text == STORY


async def test_an_answer_can_be_continued_again_and_again(world: World) -> None:
    ada = await world.someone("ada")
    stream = await ada.send(f"!script\n{STORY}", sampling={"max_tokens": 2})
    conversation_id, whole = stream.conversation_id, stream.text
    while stream.answer and stream.answer["metadata"]["finish_details"]["reason"] == "length":
        stream = await continue_answer(ada, stream, conversation_id, sampling={"max_tokens": 2})
        whole += stream.text
    assert whole == STORY


async def test_the_model_sees_continued_turns_as_one_answer(world: World) -> None:
    ada = await world.someone("ada")
    cut = await ada.send(f"!script\n{STORY}", sampling={"max_tokens": 3})
    more = await continue_answer(ada, cut, cut.conversation_id)
    _, asked, begun = (await event_of(ada, more, "ContextBuilt"))["sections"]
    assert (asked["source"], asked["num_chars"]) == ("user", len(f"!script\n{STORY}"))
    assert (begun["source"], begun["num_chars"]) == ("answer", len(cut.text))
    spans = (await event_of(ada, more, "PromptEncoded"))["spans"]
    assert spans[-1] == ["answer", 2, begun["num_tokens"]] == ["answer", 2, 3]
    assert more.answer
    after = await ada.send(
        "!script\nYes.",
        conversation_id=cut.conversation_id,
        parent_message_id=more.answer["id"],
    )
    history = (await event_of(ada, after, "ContextBuilt"))["sections"][1]
    num_chars = len(f"!script\n{STORY}") + len(STORY)
    assert (history["source"], history["num_messages"]) == ("history", 2)
    assert history["num_chars"] == num_chars


async def test_only_an_answer_that_was_cut_short_can_be_continued(world: World) -> None:
    ada = await world.someone("ada")
    whole = await ada.send("!script\nDone.")
    assert whole.answer
    for parent in (whole.answer["id"], whole.messages[0]["id"]):
        problem = await refused(ada, whole, parent)
        assert problem["message"] == "Only an answer that was cut short can be continued."
        assert problem["param"] == "parent_message_id"
    assert "Say which" in (await refused(ada, whole, "client-created-root"))["message"]


async def test_an_empty_answer_cannot_be_continued(world: World) -> None:
    ada = await world.someone("ada")
    silent = await ada.send("!script die=0\nnever said")
    assert silent.answer
    assert not silent.text
    problem = await refused(ada, silent, silent.answer["id"])
    assert "before its first word" in problem["message"]


async def test_an_api_call_that_ends_with_the_assistants_words_gets_an_answer_of_its_own(
    world: World,
) -> None:
    ada = await world.someone("ada")
    program = await world.browser()
    program.headers["authorization"] = f"Bearer {ada.key}"
    said = [
        {"role": "user", "content": f"!script\n{STORY}"},
        {"role": "assistant", "content": STORY[:17]},
    ]
    response = await program.post("/v1/chat/completions", json={"model": "auto", "messages": said})
    assert response.json()["choices"][0]["message"]["content"] == STORY
