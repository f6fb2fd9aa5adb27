"""What a remote model thinks reaches callers of the API beside the answer, never in it."""

from collections.abc import AsyncIterator
from typing import Any

import openai
import pytest
from msgspec.structs import replace
from tests.server.world import World, open_world
from tests.unit.engine.fake_server import FakeServer, serving, sse
from tests.unit.engine.remote.fake_chat_server import CHAT, ChatServer, delta

from hitsend.engine import RemoteEngine
from hitsend.settings import Settings


@pytest.fixture
async def server() -> AsyncIterator[FakeServer]:
    chunks = [
        delta(reasoning_content="Six "),
        delta(reasoning="times seven."),
        delta(reasoning={"not": "text"}),
        delta(reasoning_content="", content="It is "),
        delta("42."),
        delta(finish="stop"),
    ]
    async with serving(ChatServer(sse(*chunks))) as server:
        yield server


@pytest.fixture
async def world(settings: Settings, server: FakeServer) -> AsyncIterator[World]:
    settings = replace(settings, engine_url=server.url, prewarm=False)
    async with open_world(settings, RemoteEngine(settings)) as world:
        yield world


@pytest.fixture
async def sdk(world: World) -> AsyncIterator[openai.AsyncOpenAI]:
    ada = await world.someone("ada")
    async with openai.AsyncOpenAI(
        base_url=f"{world.url}/v1", api_key=ada.key, max_retries=0
    ) as client:
        yield client


ASKED: Any = [{"role": "user", "content": "What is 6 * 7?"}]
LOOK: Any = {"type": "function", "function": {"name": "look"}}


@pytest.mark.parametrize("tools", [[], [LOOK]])
async def test_thoughts_are_streamed_beside_the_answer(
    sdk: openai.AsyncOpenAI, tools: list[Any]
) -> None:
    stream = await sdk.chat.completions.create(
        model="auto", messages=ASKED, stream=True, tools=tools
    )
    deltas = [chunk.choices[0].delta async for chunk in stream]
    thoughts = [getattr(one, "reasoning_content", None) or "" for one in deltas]
    assert "".join(thoughts) == "Six times seven."
    assert "".join(one.content or "" for one in deltas) == "It is 42."


async def test_a_whole_answer_has_its_thoughts(sdk: openai.AsyncOpenAI) -> None:
    made = await sdk.chat.completions.create(model="auto", messages=ASKED)
    said: Any = made.choices[0].message
    assert (said.content, said.reasoning_content) == ("It is 42.", "Six times seven.")


async def test_thoughts_that_the_caller_gives_back_are_sent_on(
    sdk: openai.AsyncOpenAI, server: FakeServer
) -> None:
    said = {"role": "assistant", "content": "42.", "reasoning_content": "Six times seven."}
    messages: Any = [*ASKED, said, {"role": "user", "content": "Sure?"}]
    await sdk.chat.completions.create(model="auto", messages=messages)
    assert server.requests_to(CHAT)[0].json["messages"] == messages


async def test_thoughts_are_no_part_of_an_answer_on_the_page(
    world: World, server: FakeServer
) -> None:
    bob = await world.someone("bob")
    told = await bob.send("What is 6 * 7?")
    assert told.text == "It is 42."
    assert told.answer
    await bob.send(
        "Sure?",
        conversation_id=told.conversation_id,
        parent_message_id=told.answer["id"],
    )
    asked = server.requests_to(CHAT)[-1].json["messages"]
    assert "times" not in str(asked)


QUESTION = "What is 6 * 7?"


async def test_the_page_gets_thoughts_as_they_come_and_finds_them_again(world: World) -> None:
    ada = await world.someone("ada")
    stream = await ada.send(QUESTION)
    assert stream.answer is not None
    assert stream.text == "It is 42."
    thought = stream.answer["metadata"]["thought"]
    assert thought["text"] == "Six times seven."
    assert 0 < thought["took_ms"] < 60_000
    stored = (await ada.conversation(stream.conversation_id))["mapping"][stream.answer["id"]]
    assert stored["message"]["metadata"]["thought"] == thought
    assert stored["message"]["content"]["parts"] == ["It is 42."]
    resumed = await ada.follow(stream.turn_id)
    assert resumed.answer is not None
    assert resumed.answer["metadata"]["thought"] == thought


async def test_no_model_reads_thoughts_again_and_no_search_finds_them(world: World) -> None:
    ada = await world.someone("ada")
    stream = await ada.send(QUESTION)
    assert stream.answer is not None
    place = {
        "conversation_id": stream.conversation_id,
        "parent_message_id": stream.answer["id"],
    }
    second = await ada.send("And 7 * 7?", **place)
    log = (await ada.http.get(f"/backend-api/turn/{second.turn_id}")).json()["events"]
    built = next(one["event"] for one in log if one["event"]["type"] == "ContextBuilt")
    [history] = [one for one in built["sections"] if one["source"] == "history"]
    assert history["num_chars"] == len(QUESTION) + len("It is 42.")
