"""The whole road with a real model: from Send over HTTP to the last word, stored."""

import json
import os
import signal
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import msgspec
import openai
import pytest
from tests.engine.asking import engine_processes
from tests.server.world import World

from hitsend.engine import Catalogue, LlamaEngine
from hitsend.engine.weights import Weights
from hitsend.server.app import open_house
from hitsend.server.serving import listening
from hitsend.settings import Settings

LONG = {"temperature": 0, "max_tokens": 800, "logit_bias": [[2, -100], [0, -100]]}
"""Without the two tokens the small model ends with."""


@pytest.fixture
def others() -> set[int]:
    """Model processes that are there already, of other tests."""
    return engine_processes()


@pytest.fixture
async def world(
    others: set[int], settings: Settings, catalogue: Catalogue, small: Weights, tmp_path: Path
) -> AsyncGenerator[World]:
    settings = msgspec.structs.replace(
        settings,
        data_dir=tmp_path,
        port=0,
        num_slots=2,
        num_window_tokens=2048,
        model_titles=False,  # naming a conversation takes a slot of two, and what was cached there
    )
    async with AsyncExitStack() as stack:
        house = await stack.enter_async_context(
            open_house(settings, LlamaEngine(settings, catalogue))
        )
        url = await stack.enter_async_context(listening(house))
        yield World(house, url, await stack.enter_async_context(AsyncExitStack()))


async def test_a_real_model_answers_and_what_it_read_before_is_cached(world: World) -> None:
    ada = await world.someone("ada")
    first = await ada.send("Name a colour.", sampling={"temperature": 0, "max_tokens": 20})
    assert first.text
    assert first.answer
    second = await ada.send(
        "And another one?",
        conversation_id=first.conversation_id,
        parent_message_id=first.answer["id"],
        sampling={"temperature": 0, "max_tokens": 20},
    )
    assert second.answer
    usage = second.answer["metadata"]["usage"]
    assert usage["num_cached_tokens"] > first.answer["metadata"]["usage"]["num_input_tokens"]
    assert usage["num_cached_tokens"] < usage["num_input_tokens"]
    stored = await ada.conversation(first.conversation_id)
    assert stored["mapping"][second.answer["id"]]["message"] == second.answer


async def test_a_real_model_goes_on_with_an_answer_that_was_cut_short(world: World) -> None:
    ada = await world.someone("ada")
    asked, greedy = "Why is the sky blue?", {"temperature": 0}
    whole = await ada.send(asked, sampling=greedy | {"max_tokens": 24})
    cut = await ada.send(asked, sampling=greedy | {"max_tokens": 9})
    assert cut.answer
    more = await ada.send(
        "",
        action="continue",
        messages=[],
        conversation_id=cut.conversation_id,
        parent_message_id=cut.answer["id"],
        sampling=greedy | {"max_tokens": 15},
    )
    assert cut.text + more.text == whole.text
    assert more.answer
    usage = more.answer["metadata"]["usage"]
    assert usage["num_cached_tokens"] > cut.answer["metadata"]["usage"]["num_input_tokens"]
    assert usage["num_cached_tokens"] >= usage["num_input_tokens"] - 2, "the very tokens it said"
    assert usage["first_word_ms"] > 0


async def test_a_killed_engine_is_told_at_once_and_the_next_message_is_answered(
    world: World, others: set[int]
) -> None:
    ada = await world.someone("ada")
    await ada.send("Hello", sampling={"max_tokens": 2})
    (process,) = engine_processes() - others
    partial = await ada.send("Tell me a long story.", sampling=LONG, until_chars=20)
    os.kill(process, signal.SIGKILL)
    whole = await ada.follow(partial.turn_id)
    assert whole.of_type("error")["error"]["code"] == "worker_lost"
    assert whole.text.startswith(partial.text)
    again = await ada.send("Still there?", sampling={"max_tokens": 5})
    assert again.of_type("message_stream_complete")["status"] == "finished_successfully"


async def test_an_answer_follows_a_schema_through_openais_sdk(world: World) -> None:
    ada = await world.someone("ada")
    schema: Any = {
        "type": "json_schema",
        "json_schema": {
            "name": "person",
            "schema": {
                "type": "object",
                "properties": {
                    "name": {"type": "string", "maxLength": 20},
                    "age": {"type": "integer"},
                },
                "required": ["name", "age"],
                "additionalProperties": False,
            },
        },
    }
    async with openai.AsyncOpenAI(base_url=f"{world.url}/v1", api_key=ada.key) as sdk:
        made = await sdk.chat.completions.create(
            model="auto",
            messages=[{"role": "user", "content": "Ada is 36 years old."}],
            response_format=schema,
            temperature=0,
            max_tokens=100,
        )
    person = json.loads(made.choices[0].message.content or "")
    assert set(person) == {"name", "age"}
    assert isinstance(person["age"], int)
