"""The decoding policies, through both doors."""

from typing import Any

import httpx2
import pytest
from msgspec.structs import replace
from tests.server.world import Someone, World, message, world_of

from hitsend.engine import ModelFacts, ScriptedEngine
from hitsend.settings import Settings

BEAM = {"policy": "beam"}


async def completed(ada: Someone, text: str, **fields: Any) -> httpx2.Response:
    body = {"model": "auto", "messages": [{"role": "user", "content": text}]} | fields
    return await ada.http.post(
        "/v1/chat/completions", json=body, headers={"authorization": f"Bearer {ada.key}"}
    )


@pytest.mark.parametrize("policy", ["sample", "greedy", "beam"])
async def test_a_message_is_answered_under_every_policy(world: World, policy: str) -> None:
    ada = await world.someone("ada")
    heard = await ada.send("!script\nTo be, or not to be.", sampling={"policy": policy})
    assert heard.is_done
    assert heard.text == "To be, or not to be."


@pytest.mark.parametrize("policy", ["sample", "greedy", "beam"])
async def test_a_completion_is_made_under_every_policy(world: World, policy: str) -> None:
    ada = await world.someone("ada")
    made = await completed(ada, "!script\nTo be.", decoding={"policy": policy})
    assert made.json()["choices"][0]["message"]["content"] == "To be."


async def test_what_a_search_cost_is_recorded_with_the_turn(world: World) -> None:
    ada = await world.someone("ada")
    heard = await ada.send("!script\nOne two three.", sampling=BEAM | {"num_beams": 3})
    assert heard.answer
    usage = heard.answer["metadata"]["usage"]
    assert usage["num_searched_tokens"] >= usage["num_output_tokens"] > 0
    turn = (await ada.http.get(f"/backend-api/turn/{heard.turn_id}")).json()
    assert turn["events"][0]["event"]["sampling"]["num_beams"] == 3


async def test_how_sure_the_model_was_is_recorded_with_the_turn(world: World) -> None:
    ada = await world.someone("ada")
    heard = await ada.send("!script\nOne two three.", sampling={"top_logprobs": 3})
    assert heard.answer
    usage = heard.answer["metadata"]["usage"]
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
async def test_a_model_that_is_no_slower_for_it_tells_how_sure_it_was_unasked(
    settings: Settings, num_bytes: int, is_recorded: bool
) -> None:
    async with world_of(settings, Sized(num_bytes)) as world:
        heard = await (await world.someone("ada")).send("!script\nOne two three.")
    assert heard.answer
    assert ("entropy" in heard.answer["metadata"]["usage"]) is is_recorded


async def test_an_answer_that_ended_for_lack_of_room_is_recorded_as_such(world: World) -> None:
    ada = await world.someone("ada")
    heard = await ada.send("!script tokens=50", sampling={"max_tokens": 3})
    assert heard.answer
    assert heard.answer["metadata"]["usage"]["is_truncated"] is True


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
async def test_a_completion_cannot_be_searched_and_bound_otherwise(
    world: World, fields: dict[str, Any]
) -> None:
    ada = await world.someone("ada")
    response = await completed(ada, "Hello", decoding=BEAM, **fields)
    assert response.status_code == 400


async def chosen(ada: Someone, prompt: str, **sampling: Any) -> httpx2.Response:
    return await ada.http.put(f"/backend-api/admin/prompts/{prompt}", json={"sampling": sampling})


async def asked(ada: Someone, **sampling: Any) -> dict[str, Any]:
    """What the engine was asked for."""
    heard = await ada.send("hello", sampling=sampling)
    turn = (await ada.http.get(f"/backend-api/turn/{heard.turn_id}")).json()
    found: dict[str, Any] = turn["events"][0]["event"]["sampling"]
    return found


@pytest.mark.parametrize("policy", ["sample", "greedy", "beam"])
async def test_the_policy_a_person_says_wins_over_the_administrators(
    world: World, policy: str
) -> None:
    ada = await world.someone("ada", "admin")
    await chosen(ada, "system", policy="greedy" if policy == "beam" else "beam", stop=["x"])
    said = await asked(ada, policy=policy, stop=[])
    assert (said["policy"], said["stop"]) == (policy, [])
    assert (await asked(ada))["stop"] == ["x"]


async def test_a_prompt_that_is_only_a_note_has_no_decoding(world: World) -> None:
    ada = await world.someone("ada", "admin")
    lines = (await ada.http.get("/backend-api/admin/prompts")).json()["items"]
    for line in lines:
        status = (await chosen(ada, line["name"], temperature=0.3)).status_code
        assert status == (204 if line["is_decoded"] else 400), line["name"]
    decoded = {line["name"] for line in lines if line["is_decoded"]}
    sided = {"title", "summary", "summary_of_summaries", "memory_suggestion", "suggestion"}
    assert decoded == {"system"} | sided


async def test_stopping_a_search_frees_its_place(world: World) -> None:
    ada = await world.someone("ada")
    engine = world.house.services.engine
    heard = await ada.send(
        "!script tokens=400 pace=20ms\nword ", sampling=BEAM | {"num_beams": 2}, until_chars=5
    )
    assert engine.status().num_busy_slots == 1
    await ada.http.post(
        "/backend-api/stop_conversation",
        json={"conversation_id": heard.conversation_id, "turn_exchange_id": heard.turn_id},
    )
    whole = await ada.follow(heard.turn_id)
    assert whole.answer
    assert whole.answer["status"] == "finished_partial_completion"
    assert engine.status().num_busy_slots == 0
