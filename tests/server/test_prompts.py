"""Prompts: an administrator changes them, and models get the active version."""

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace
from tests.server.world import Someone, World, open_world

from hitsend.engine import Prompt, ScriptedEngine
from hitsend.messages import FREE, AnswerRules, Message, Tool
from hitsend.prompts import shipped_prompts
from hitsend.settings import Settings
from hitsend.store import COMMAND_LINE

PROMPTS = "/backend-api/admin/prompts"
EXPERIMENTS = "/backend-api/admin/experiments"
SHIPPED = shipped_prompts()["system"].version
NUM_PEOPLE = 30
"""Enough users for both versions to get some by chance."""
PIRATE = "{{ instructions }} Speak like a pirate."


class RecordingEngine(ScriptedEngine):
    """Records its prompts."""

    def __init__(self) -> None:
        super().__init__()
        self.prompts: list[str] = []

    async def encode(
        self,
        model: str,
        messages: Sequence[Message],
        tools: Sequence[Tool] = (),
        rules: AnswerRules = FREE,
    ) -> Prompt:
        self.prompts.append(messages[0].text)
        return await super().encode(model, messages, tools, rules)


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return replace(settings, prewarm=False, instructions="Be brief.", safety_instructions=False)


async def write_version(ada: Someone, template: str = PIRATE, prompt: str = "system") -> int:
    url = f"{PROMPTS}/{prompt}/versions"
    response = await ada.http.post(url, json={"template": template, "note": "a try"})
    assert response.status_code == 201, response.text
    return int(response.json()["version"])


async def set_version(ada: Someone, prompt: str = "system", **choice: Any) -> None:
    response = await ada.http.put(f"{PROMPTS}/{prompt}", json=choice)
    assert response.status_code == 204, response.text


async def line(ada: Someone, name: str = "system") -> dict[str, Any]:
    items = (await ada.http.get(PROMPTS)).json()["items"]
    found: dict[str, Any] = next(item for item in items if item["name"] == name)
    return found


async def test_a_version_is_used_only_while_it_is_active(
    settings: Settings,
) -> None:
    engine = RecordingEngine()
    async with open_world(settings, engine) as world:
        ada = await world.someone("ada", "admin")
        version = await write_version(ada)
        assert version == 1001
        await ada.send("one")
        await set_version(ada, version=version)
        stream = await ada.send("two")
        await set_version(ada, version=None)
        await ada.send("three")
        assert engine.prompts == ["Be brief.", "Be brief. Speak like a pirate.", "Be brief."]
        assert stream.answer is not None
        used = stream.answer["metadata"]["seen"]["prompts"]
        assert used == [{"name": "system", "version": 1001}]


async def test_the_list_has_every_version_and_the_active_one(world: World) -> None:
    ada = await world.someone("ada", "admin")
    await write_version(ada)
    version = await write_version(ada, "{{ instructions }}!")
    await set_version(ada, version=version, sampling={"temperature": 0.2})
    system = await line(ada)
    assert [(one["version"], one["created_by"]) for one in system["versions"]] == [
        (1002, "ada"),
        (1001, "ada"),
    ]
    assert system["active"] == 1002
    assert system["sampling"]["temperature"] == 0.2
    assert system["shipped"]["version"] == shipped_prompts()["system"].version
    assert {slot["name"] for slot in system["slots"]} >= {"instructions"}
    assert len((await ada.http.get(PROMPTS)).json()["items"]) == len(shipped_prompts())


@pytest.mark.parametrize(
    ("template", "problem"),
    [
        ("{{ instructions }}\n{{ nothing }}", "Line 2: there is no slot `nothing`."),
        ("{{ instructions", "Line 1: "),
        ("{{ instructions }}\n=== user\nHi.", "It is part of a message"),
        ("Hello.", "The template never shows `instructions`."),
        ("{{ instructions }} sk-" + "a" * 30, "There is an API key in the template. Remove it."),
    ],
)
@pytest.mark.parametrize("route", ["versions", "try"])
async def test_a_template_that_cannot_be_rendered_is_refused_with_the_reason(
    world: World, template: str, problem: str, route: str
) -> None:
    ada = await world.someone("ada", "admin")
    refused = await ada.http.post(f"{PROMPTS}/system/{route}", json={"template": template})
    assert refused.status_code == 400
    assert refused.json()["error"]["message"].startswith(problem)
    assert refused.json()["error"]["param"] == "template"


async def test_a_template_can_be_tried_and_nothing_is_stored(world: World) -> None:
    ada = await world.someone("ada", "admin")
    body = {"template": "Name it.\n=== user\n{{ question }}", "values": {"question": "{{ 7 }}?"}}
    tried = await ada.http.post(f"{PROMPTS}/title/try", json=body)
    assert tried.json()["messages"] == [
        {"role": "system", "text": "Name it."},
        {"role": "user", "text": "{{ 7 }}?"},
    ]
    assert (await line(ada, "title"))["versions"] == []


async def test_a_missing_version_cannot_be_activated(world: World) -> None:
    ada = await world.someone("ada", "admin")
    for prompt, version in (("nothing", 1), ("system", 1001), ("system", 7)):
        answer = await ada.http.put(f"{PROMPTS}/{prompt}", json={"version": version})
        assert answer.status_code == 404


async def test_a_version_that_cannot_be_rendered_is_not_active(world: World) -> None:
    """After an upgrade, a version may name slots that no longer exist."""
    ada = await world.someone("ada", "admin")
    store = world.app.services.store
    gone = await store.prompts.add("system", "{{ instructions }}{{ once }}", "", COMMAND_LINE)
    fitting = await write_version(ada)
    await store.prompts.choose("system", COMMAND_LINE, version=gone)
    system = await line(ada)
    assert system["active"] == SHIPPED
    assert system["misfits"] == {str(gone): "Line 1: there is no slot `once`."}
    again = await ada.http.put(f"{PROMPTS}/system", json={"version": gone})
    compared = {"prompt": "system", "versions": [fitting, gone]}
    for refused in (again, await ada.http.post(EXPERIMENTS, json=compared)):
        assert refused.status_code == 400
        assert "there is no slot `once`" in refused.text
    await set_version(ada, version=fitting)
    assert (await line(ada))["misfits"] == {}


@pytest.mark.parametrize("version", [0, -(2**63) - 1, 2**63, 10**30])
async def test_a_number_that_is_no_version_is_refused(world: World, version: int) -> None:
    ada = await world.someone("ada", "admin")
    refused = await ada.http.put(f"{PROMPTS}/system", json={"version": version})
    assert refused.status_code == 400


async def test_the_sampling_of_a_prompt_is_a_default_that_users_override(
    settings: Settings,
) -> None:
    async with open_world(settings, ScriptedEngine()) as world:
        ada = await world.someone("ada", "admin")
        await set_version(ada, sampling={"temperature": 0.3, "top_p": 0.5, "max_tokens": 40})
        assert await sampling_of(ada) == (0.3, 0.5, "sample", 40)
        assert await sampling_of(ada, temperature=1.0) == (1.0, 0.5, "sample", 40)
        assert await sampling_of(ada, policy="greedy") == (None, 0.5, "greedy", 40)
        await set_version(ada, sampling={"policy": "beam", "max_tokens": 20})
        assert (await sampling_of(ada, temperature=1.0))[2] == "sample"
        await set_version(ada, sampling=None)
        assert await sampling_of(ada) == (None, None, "sample", settings.max_answer_tokens)


async def sampling_of(ada: Someone, **body: Any) -> tuple[float | None, float | None, str, int]:
    stream = await ada.send("hello", sampling=body)
    turn = await ada.http.get(f"/backend-api/turn/{stream.turn_id}")
    sampling = turn.json()["events"][0]["event"]["sampling"]
    return (
        sampling["temperature"],
        sampling["top_p"],
        sampling["policy"],
        sampling["max_tokens"],
    )


async def experiment(ada: Someone, *versions: int) -> dict[str, Any]:
    response = await ada.http.post(EXPERIMENTS, json={"prompt": "system", "versions": versions})
    assert response.status_code == 201, response.text
    made: dict[str, Any] = response.json()
    return made


async def test_in_an_experiment_each_user_keeps_one_version(settings: Settings) -> None:
    engine = RecordingEngine()
    async with open_world(settings, engine) as world:
        ada = await world.someone("ada", "admin")
        started = await experiment(ada, SHIPPED, await write_version(ada))
        people = [await world.someone(f"person {number}") for number in range(NUM_PEOPLE)]
        for person in people:
            engine.prompts.clear()
            await person.send("one")
            await person.send("two")
            assert len(set(engine.prompts)) == 1
        seen = await ada.http.get(f"{EXPERIMENTS}/{started['id']}")
        variants = seen.json()["outcome"]["variants"]
        assert sum(variant["num_people"] for variant in variants) == NUM_PEOPLE
        assert sum(variant["num_turns"] for variant in variants) == 2 * NUM_PEOPLE
        assert all(variant["num_people"] > 0 for variant in variants)
        assert variants[0]["means"]["answer_tokens"]["value"] > 0


async def test_ratings_count_for_the_version_of_their_answer(world: World) -> None:
    ada = await world.someone("ada", "admin")
    started = await experiment(ada, SHIPPED, await write_version(ada))
    stream = await ada.send("!script\nI'm sorry, but I can't do that.")
    assert stream.answer is not None
    where = f"/backend-api/conversation/{stream.conversation_id}/messages/{stream.answer['id']}"
    rated = await ada.http.put(f"{where}/feedback", json={"rating": "down"})
    assert rated.is_success
    seen = (await ada.http.get(f"{EXPERIMENTS}/{started['id']}")).json()["outcome"]
    counted = [variant for variant in seen["variants"] if variant["num_turns"]]
    assert [(one["num_down"], one["num_declined"]) for one in counted] == [(1, 1)]
    assert seen["differences"] == []


async def test_the_winner_of_an_experiment_becomes_active(world: World) -> None:
    ada = await world.someone("ada", "admin")
    version = await write_version(ada)
    started = await experiment(ada, SHIPPED, version)
    assert (await line(ada))["experiment"]["id"] == started["id"]
    wrong = await ada.http.post(f"{EXPERIMENTS}/{started['id']}/end", json={"winner": 7})
    assert wrong.status_code == 400
    ended = await ada.http.post(f"{EXPERIMENTS}/{started['id']}/end", json={"winner": version})
    assert ended.json()["winner"] == version
    assert (await line(ada))["active"] == version
    assert (await line(ada))["experiment"] is None
    again = await ada.http.post(f"{EXPERIMENTS}/{started['id']}/end", json={})
    assert again.status_code == 409
    assert [one["id"] for one in (await ada.http.get(EXPERIMENTS)).json()["items"]] == [
        started["id"]
    ]


async def test_a_shipped_version_of_another_release_cannot_win(world: World) -> None:
    ada = await world.someone("ada", "admin")
    experiments, before = world.app.services.store.experiments, SHIPPED + 7
    started = await experiments.start("system", (before, await write_version(ada)), COMMAND_LINE)
    lost = await ada.http.post(f"{EXPERIMENTS}/{started.id}/end", json={"winner": before})
    assert lost.status_code == 404
    ended = await ada.http.post(f"{EXPERIMENTS}/{started.id}/end", json={"winner": None})
    assert ended.json()["winner"] is None


async def test_a_prompt_has_one_experiment_and_cannot_be_changed_meanwhile(world: World) -> None:
    ada = await world.someone("ada", "admin")
    version = await write_version(ada)
    await experiment(ada, SHIPPED, version)
    second = {"prompt": "system", "versions": [SHIPPED, version]}
    assert (await ada.http.post(EXPERIMENTS, json=second)).status_code == 409
    assert (await ada.http.put(f"{PROMPTS}/system", json={"version": version})).status_code == 409
    await set_version(ada, sampling={"temperature": 0.1})


@pytest.mark.parametrize(
    ("prompt", "versions", "status"),
    [
        ("nothing", [1, 1001], 404),
        ("title", [1, 1001], 400),
        ("system", [SHIPPED], 400),
        ("system", [SHIPPED, SHIPPED], 400),
        ("system", [SHIPPED, 1001], 404),
        ("system", [SHIPPED, SHIPPED + 1], 404),
        ("system", [SHIPPED, 2**64], 400),
    ],
)
async def test_an_invalid_experiment_is_refused(
    world: World, prompt: str, versions: list[int], status: int
) -> None:
    ada = await world.someone("ada", "admin")
    body = {"prompt": prompt, "versions": versions}
    assert (await ada.http.post(EXPERIMENTS, json=body)).status_code == status


async def test_a_deleted_conversation_no_longer_counts(world: World) -> None:
    ada = await world.someone("ada", "admin")
    started = await experiment(ada, SHIPPED, await write_version(ada))
    stream = await ada.send("hello")
    store = world.app.services.store
    assert len(await store.experiments.trials(started["id"])) == 1
    await store.conversations.delete(stream.conversation_id, ada.user_id)
    assert await store.experiments.trials(started["id"]) == []
