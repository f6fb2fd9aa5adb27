"""Decoding policies, over both APIs."""

from typing import Any

import httpx2
import pytest
from msgspec.structs import replace
from tests.server.world import Someone, World, message, open_world

from hitsend.engine import ModelFacts, ScriptedEngine
from hitsend.settings import Settings

BEAM = {"policy": "beam"}


async def complete(ada: Someone, text: str, **fields: Any) -> httpx2.Response:
    body = {"model": "auto", "messages": [{"role": "user", "content": text}]} | fields
    return await ada.http.post(
        "/v1/chat/completions", json=body, headers={"authorization": f"Bearer {ada.key}"}
    )


@pytest.mark.parametrize("policy", ["sample", "greedy", "beam"])
async def test_a_message_is_answered_under_every_policy(world: World, policy: str) -> None:
    ada = await world.someone("ada")
    stream = await ada.send("!script\nTo be, or not to be.", sampling={"policy": policy})
    assert stream.is_done
    assert stream.text == "To be, or not to be."


@pytest.mark.parametrize("policy", ["sample", "greedy", "beam"])
async def test_a_completion_is_made_under_every_policy(world: World, policy: str) -> None:
    ada = await world.someone("ada")
    made = await complete(ada, "!script\nTo be.", decoding={"policy": policy})
    assert made.json()["choices"][0]["message"]["content"] == "To be."


async def test_the_cost_of_a_beam_search_is_recorded(world: World) -> None:
    ada = await world.someone("ada")
    stream = await ada.send("!script\nOne two three.", sampling=BEAM | {"num_beams": 3})
    assert stream.answer
    usage = stream.answer["metadata"]["usage"]
    assert usage["num_searched_tokens"] >= usage["num_output_tokens"] > 0
    turn = (await ada.http.get(f"/backend-api/turn/{stream.turn_id}")).json()
    assert turn["events"][0]["event"]["sampling"]["num_beams"] == 3


async def test_the_uncertainty_of_an_answer_is_recorded(world: World) -> None:
    ada = await world.someone("ada")
    stream = await ada.send("!script\nOne two three.", sampling={"top_logprobs": 3})
    assert stream.answer
    usage = stream.answer["metadata"]["usage"]
    assert usage["entropy"] > 0
    assert usage["surprisal"] > 0
    assert usage["is_truncated"] is False


class Sized(ScriptedEngine):
    def __init__(self, num_bytes: int) -> None:
        super().__init__()
        self._num_bytes = num_bytes

    async def resolve(self, name: str) -> ModelFacts:
        return replace(await super().resolve(name), num_bytes=self._num_bytes)


@pytest.mark.parametrize(("num_bytes", "is_recorded"), [(10**9, True), (10**8, False)])
async def test_a_model_with_free_probabilities_records_uncertainty_by_default(
    settings: Settings, num_bytes: int, is_recorded: bool
) -> None:
    async with open_world(settings, Sized(num_bytes)) as world:
        stream = await (await world.someone("ada")).send("!script\nOne two three.")
    assert stream.answer
    assert ("entropy" in stream.answer["metadata"]["usage"]) is is_recorded


async def test_an_answer_cut_by_length_is_recorded_as_such(world: World) -> None:
    ada = await world.someone("ada")
    stream = await ada.send("!script tokens=50", sampling={"max_tokens": 3})
    assert stream.answer
    assert stream.answer["metadata"]["usage"]["is_truncated"] is True


@pytest.mark.parametrize(
    ("sampling", "told"),
    [
        ({"policy": "greedy", "temperature": 1}, "leave out `temperature`"),
        (BEAM | {"json_schema": "{}"}, "leave out `json_schema`"),
        (BEAM | {"max_tokens": 513}, "at most 512"),
        (BEAM | {"num_beams": 9}, "num_beams"),
        ({"policy": "guess"}, "policy"),
    ],
)
async def test_a_contradiction_is_refused_and_says_what_to_do(
    world: World, sampling: dict[str, Any], told: str
) -> None:
    ada = await world.someone("ada")
    body = message("Hello", sampling=sampling)
    response = await ada.http.post("/backend-api/f/conversation", json=body)
    assert response.status_code == 400
    assert told in response.json()["detail"]


@pytest.mark.parametrize(
    "fields",
    [
        {"response_format": {"type": "json_object"}},
        {"temperature": 0.5},
        {"max_tokens": 600},
        {
            "tools": [{"type": "function", "function": {"name": "weather"}}],
            "tool_choice": "required",
        },
    ],
)
async def test_a_completion_with_contradicting_options_is_refused(
    world: World, fields: dict[str, Any]
) -> None:
    ada = await world.someone("ada")
    response = await complete(ada, "Hello", decoding=BEAM, **fields)
    assert response.status_code == 400


async def set_sampling(ada: Someone, prompt: str, **sampling: Any) -> httpx2.Response:
    return await ada.http.put(f"/backend-api/admin/prompts/{prompt}", json={"sampling": sampling})


async def send_and_get_sampling(ada: Someone, **sampling: Any) -> dict[str, Any]:
    """Returns the sampling that the engine got."""
    stream = await ada.send("hello", sampling=sampling)
    turn = (await ada.http.get(f"/backend-api/turn/{stream.turn_id}")).json()
    found: dict[str, Any] = turn["events"][0]["event"]["sampling"]
    return found


@pytest.mark.parametrize("policy", ["sample", "greedy", "beam"])
async def test_the_sampling_of_the_user_overrides_the_administrators(
    world: World, policy: str
) -> None:
    ada = await world.someone("ada", "admin")
    await set_sampling(ada, "system", policy="greedy" if policy == "beam" else "beam", stop=["x"])
    said = await send_and_get_sampling(ada, policy=policy, stop=[])
    assert (said["policy"], said["stop"]) == (policy, [])
    assert (await send_and_get_sampling(ada))["stop"] == ["x"]


async def test_a_prompt_that_is_only_a_note_has_no_decoding(world: World) -> None:
    ada = await world.someone("ada", "admin")
    lines = (await ada.http.get("/backend-api/admin/prompts")).json()["items"]
    for line in lines:
        status = (await set_sampling(ada, line["name"], temperature=0.3)).status_code
        assert status == (204 if line["is_decoded"] else 400), line["name"]
    decoded = {line["name"] for line in lines if line["is_decoded"]}
    sided = {"title", "summary", "summary_of_summaries", "memory_suggestion", "suggestion"}
    assert decoded == {"system", "safety_judge"} | sided


async def test_stopping_a_beam_search_frees_its_slots(world: World) -> None:
    ada = await world.someone("ada")
    engine = world.app.services.engine
    stream = await ada.send(
        "!script tokens=400 pace=20ms\nword ", sampling=BEAM | {"num_beams": 2}, until_chars=5
    )
    assert engine.status().num_busy_slots == 1
    await ada.http.post(
        "/backend-api/stop_conversation",
        json={"conversation_id": stream.conversation_id, "turn_exchange_id": stream.turn_id},
    )
    whole = await ada.follow(stream.turn_id)
    assert whole.answer
    assert whole.answer["status"] == "finished_partial_completion"
    assert engine.status().num_busy_slots == 0
