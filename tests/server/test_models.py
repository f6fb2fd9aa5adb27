"""Models over HTTP: list, speed, download, remove."""

import asyncio
from typing import Any

import pytest
from tests.server.world import Someone, World

MODELS = "/backend-api/models"
SMALL = f"{MODELS}/scripted-small"


async def models_of(who: Someone) -> dict[str, Any]:
    listed: dict[str, Any] = (await who.http.get(MODELS)).json()
    return listed


async def wait_for_download(who: Someone) -> list[int]:
    """Returns the statuses of a download until it ended."""
    seen: list[int] = []
    async with asyncio.timeout(20):
        while downloads := (await who.http.get("/backend-api/status")).json()["downloads"]:
            seen.append(downloads[0]["num_done_bytes"])
    return seen


async def test_a_model_lists_its_strengths_and_its_speed(
    world: World,
) -> None:
    ada = await world.someone("ada")
    (model,) = (await models_of(ada))["models"]
    assert model["num_tokens_per_s"] is None
    assert model["good_at"] == ["short_answers", "tools"]


async def test_a_downloaded_model_can_be_used_and_removed(world: World) -> None:
    ada = await world.someone("ada", "admin")
    (offer,) = (await models_of(ada))["offers"]
    assert (offer["name"], offer["is_here"]) == ("scripted-small", False)
    assert (await ada.http.post(f"{SMALL}/pull")).status_code == 202
    assert (await ada.http.post(f"{SMALL}/pull")).status_code == 202
    progress = await wait_for_download(ada)
    assert progress == sorted(progress)
    assert progress[-1] < offer["num_bytes"]

    listed = await models_of(ada)
    assert [model["name"] for model in listed["models"]] == ["scripted", "scripted-small"]
    assert listed["offers"][0]["is_here"]
    assert listed["default_model"] == "scripted"
    assert (await ada.http.post(f"{SMALL}/pull")).status_code == 409
    stream = await ada.send("!script\nfrom the small one", model="scripted-small")
    assert stream.answer
    assert stream.answer["metadata"]["model_slug"] == "scripted-small"

    assert (await ada.http.delete(SMALL)).status_code == 204
    assert len((await models_of(ada))["models"]) == 1
    assert (await ada.http.delete(SMALL)).status_code == 404


async def test_a_download_can_be_cancelled(world: World) -> None:
    ada = await world.someone("ada", "admin")
    await ada.http.post(f"{SMALL}/pull")
    assert (await ada.http.delete(SMALL)).status_code == 204
    assert (await ada.http.get("/backend-api/status")).json()["downloads"] == []


async def test_the_default_model_cannot_be_removed_and_unknown_ones_are_not_found(
    world: World,
) -> None:
    ada = await world.someone("ada", "admin")
    refused = await ada.http.delete(f"{MODELS}/scripted")
    assert refused.status_code == 409
    assert "is the default model" in refused.json()["error"]["message"]
    assert (await ada.http.post(f"{MODELS}/unheard-of/pull")).status_code == 404
    assert (await ada.http.delete(f"{MODELS}/unheard-of")).status_code == 404


@pytest.mark.parametrize("name", ["owner/repo/file.gguf", "owner%2Frepo%2Ffile.gguf"])
async def test_a_name_from_a_hub_may_hold_slashes(world: World, name: str) -> None:
    ada = await world.someone("ada", "admin")
    for answer in (
        await ada.http.post(f"{MODELS}/{name}/pull"),
        await ada.http.delete(f"{MODELS}/{name}"),
    ):
        assert answer.status_code == 404
        assert "owner/repo/file.gguf" in answer.json()["error"]["message"]


async def test_the_rules_are_read_from_the_settings(world: World) -> None:
    ada = await world.someone("ada")
    rules = (await ada.http.get("/backend-api/rules")).json()
    settings = world.app.services.settings
    assert rules == {name: getattr(settings, name) for name in rules}
    assert set(rules) == {
        "instructions",
        "max_message_chars",
        "max_answer_tokens",
        "num_window_tokens",
        "max_import_bytes",
        "session_days",
        "allow_sharing",
    }
