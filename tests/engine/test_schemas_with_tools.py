"""Schemas and tools through OpenAI's SDK, on the default model: the schema binds the text, never a
call, and its answer does not run away in whitespace."""

import asyncio
import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import openai
import pytest
import pytest_asyncio
from tests.server.world import open_world

from hitsend.engine import Catalogue, LlamaEngine
from hitsend.settings import Settings

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(600)]

LIMIT_S = 300
TIMER: Any = {
    "type": "function",
    "function": {
        "name": "set_timer",
        "description": "Starts a timer.",
        "parameters": {
            "type": "object",
            "properties": {"minutes": {"type": "integer"}},
            "required": ["minutes"],
            "additionalProperties": False,
        },
        "strict": True,
    },
}


def named(name: str, properties: dict[str, Any], **more: Any) -> Any:
    """A response format: all properties are required, and no others allowed."""
    schema = {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }
    return {
        "type": "json_schema",
        "json_schema": {"name": name, "strict": True, "schema": schema | more},
    }


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def sdk(
    catalogue: Catalogue, tmp_path_factory: pytest.TempPathFactory
) -> AsyncGenerator[openai.AsyncOpenAI]:
    await catalogue.pull(catalogue.default)
    folder: Path = tmp_path_factory.mktemp("schemas")
    settings = Settings(
        data_dir=folder,
        port=0,
        model=catalogue.default,
        num_slots=1,
        num_window_tokens=2048,
        engine_wait_s=120.0,
        embeddings="off",
    )
    async with open_world(settings, LlamaEngine(settings, catalogue)) as world:
        ada = await world.someone("ada")
        async with openai.AsyncOpenAI(
            base_url=f"{world.url}/v1", api_key=ada.key, timeout=LIMIT_S, max_retries=0
        ) as client:
            yield client


async def ask(sdk: openai.AsyncOpenAI, *messages: Any, **more: Any) -> Any:
    async with asyncio.timeout(LIMIT_S):
        made = await sdk.chat.completions.create(
            model="auto", messages=[*messages], temperature=0, max_tokens=200, **more
        )
    return made.choices[0]


def says(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


async def test_with_a_schema_the_model_can_still_call_a_tool(sdk: openai.AsyncOpenAI) -> None:
    report = named("report", {"minutes": {"type": "integer"}, "is_set": {"type": "boolean"}})
    asked = says("Set a timer for 12 minutes, please.")
    choice = await ask(sdk, asked, tools=[TIMER], response_format=report)
    assert choice.finish_reason == "tool_calls"
    (call,) = choice.message.tool_calls
    assert (call.function.name, json.loads(call.function.arguments)) == (
        "set_timer",
        {"minutes": 12},
    )
    result = {"role": "tool", "tool_call_id": call.id, "content": "The timer is set: 12 minutes."}
    said = await ask(
        sdk,
        asked,
        choice.message.model_dump(exclude_none=True),
        result,
        tools=[TIMER],
        response_format=report,
    )
    assert (said.finish_reason, said.message.tool_calls) == ("stop", None)
    assert json.loads(said.message.content).keys() == {"minutes", "is_set"}


async def test_an_answer_under_a_schema_ends_without_a_run_of_whitespace(
    sdk: openai.AsyncOpenAI,
) -> None:
    review = named(
        "review",
        {
            "mood": {"type": "string", "enum": ["good", "bad", "mixed"]},
            "stars": {"type": "integer", "minimum": 1, "maximum": 5},
            "place": {"anyOf": [{"$ref": "#/$defs/Place"}, {"type": "null"}]},
        },
        **{
            "$defs": {
                "Place": {
                    "type": "object",
                    "properties": {"city": {"type": "string", "maxLength": 30}},
                    "required": ["city"],
                    "additionalProperties": False,
                }
            }
        },
    )
    for text in ("The soup in Rome was wonderful.", "It was fine, the coffee was cold though."):
        choice = await ask(sdk, says(f"Rate this review: {text}"), response_format=review)
        assert choice.finish_reason == "stop", choice.message.content
        found = json.loads(choice.message.content)
        assert found["mood"] in ("good", "bad", "mixed")
        assert 1 <= found["stars"] <= 5
        assert " " * 30 not in choice.message.content
