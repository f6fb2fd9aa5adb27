"""The whole journey with a real model: from Send over HTTP to the stored answer."""

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
from tests.engine.answer import engine_processes
from tests.server.world import World

from hitsend.engine import Catalogue, LlamaEngine
from hitsend.engine.models.weights import Weights
from hitsend.server.app import open_app
from hitsend.server.serve import listen
from hitsend.settings import Settings

LONG = {"temperature": 0, "max_tokens": 800, "logit_bias": [[2, -100], [0, -100]]}
"""Bans the two tokens that end an answer of the small model."""


@pytest.fixture
def others() -> set[int]:
    """The model processes of other tests."""
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
        model_titles=False,  # a title takes one of the two slots, and its cache
    )
    async with AsyncExitStack() as stack:
        app = await stack.enter_async_context(open_app(settings, LlamaEngine(settings, catalogue)))
        url = await stack.enter_async_context(listen(app))
        yield World(app, url, await stack.enter_async_context(AsyncExitStack()))


async def test_a_real_model_answers_and_reuses_the_cached_prefix(world: World) -> None:
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


async def test_a_real_model_continues_a_partial_answer(world: World) -> None:
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


async def test_a_killed_engine_is_reported_at_once_and_the_next_message_is_answered(
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


async def test_a_turn_records_how_its_tokens_were_drawn(world: World, small: Weights) -> None:
    ada = await world.someone("ada")
    drawn = {"temperature": 1.2, "max_tokens": 12}
    await ada.send("Name a colour.", sampling=drawn)  # a prompt read anew is computed otherwise
    first = await ada.send("Name a colour.", sampling=drawn)
    log = (await ada.http.get(f"/backend-api/turn/{first.turn_id}")).json()["events"]
    started = log[0]["event"]
    assert started["weights_sha256"] == small.sha256
    sampling = {name: value for name, value in started["sampling"].items() if value is not None}
    assert sampling.keys() >= {"temperature", "top_p", "top_k", "min_p", "repeat_penalty", "seed"}
    again = await ada.send("Name a colour.", sampling=drawn | {"seed": sampling["seed"]})
    assert again.text == first.text
