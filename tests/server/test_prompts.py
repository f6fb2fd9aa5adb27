"""An administrator changes prompts: what is chosen is what the model is told, and only that."""

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace
from tests.server.world import Someone, World, world_of

from hitsend.engine import Prompt, ScriptedEngine
from hitsend.messages import Message, Tool
from hitsend.prompts import shipped
from hitsend.settings import Settings

PROMPTS = "/backend-api/admin/prompts"
EXPERIMENTS = "/backend-api/admin/experiments"
SHIPPED = shipped()["system"].version
NUM_PEOPLE = 30
"""So many that chance gives each of two versions some."""
PIRATE = "{{ instructions }} Speak like a pirate."


class Listening(ScriptedEngine):
    """Remembers what it was told."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[str] = []

    async def encode(
        self, model: str, messages: Sequence[Message], tools: Sequence[Tool] = ()
    ) -> Prompt:
        self.told.append(messages[0].text)
        return await super().encode(model, messages, tools)


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return replace(settings, prewarm=False, instructions="Be brief.")


async def written(ada: Someone, template: str = PIRATE, prompt: str = "system") -> int:
    url = f"{PROMPTS}/{prompt}/versions"
    response = await ada.http.post(url, json={"template": template, "note": "a try"})
    assert response.status_code == 201, response.text
    return int(response.json()["version"])


async def chosen(ada: Someone, prompt: str = "system", **choice: Any) -> None:
    response = await ada.http.put(f"{PROMPTS}/{prompt}", json=choice)
    assert response.status_code == 204, response.text


async def line(ada: Someone, name: str = "system") -> dict[str, Any]:
    items = (await ada.http.get(PROMPTS)).json()["items"]
    found: dict[str, Any] = next(item for item in items if item["name"] == name)
    return found


async def test_a_version_is_told_once_it_is_chosen_and_no_more_once_it_is_not(
    settings: Settings,
) -> None:
    engine = Listening()
    async with world_of(settings, engine) as world:
        ada = await world.someone("ada", "admin")
        version = await written(ada)
        assert version == 1001
        await ada.send("one")
        await chosen(ada, version=version)
        heard = await ada.send("two")
        await chosen(ada, version=None)
        await ada.send("three")
        assert engine.told == ["Be brief.", "Be brief. Speak like a pirate.", "Be brief."]
        assert heard.answer is not None
        used = heard.answer["metadata"]["seen"]["prompts"]
        assert used == [{"name": "system", "version": 1001}]


async def test_the_list_tells_every_version_and_which_one_holds(world: World) -> None:
    ada = await world.someone("ada", "admin")
    await written(ada)
    version = await written(ada, "{{ instructions }}!")
    await chosen(ada, version=version, sampling={"temperature": 0.2})
    system = await line(ada)
    assert [(one["version"], one["created_by"]) for one in system["versions"]] == [
        (1002, "ada"),
        (1001, "ada"),
    ]
    assert system["active"] == 1002
    assert system["sampling"]["temperature"] == 0.2
    assert system["shipped"]["version"] == shipped()["system"].version
    assert {slot["name"] for slot in system["slots"]} >= {"instructions"}
    assert len((await ada.http.get(PROMPTS)).json()["items"]) == len(shipped())


@pytest.mark.parametrize(
    ("template", "problem"),
    [
        ("{{ instructions }}\n{{ nothing }}", "Line 2: there is no slot `nothing`."),
        ("{{ instructions", "Line 1: "),
        ("{{ instructions }}\n=== user\nHi.", "It is part of a message"),
        ("Hello.", "The template never shows `instructions`."),
        ("{{ instructions }} sk-" + "a" * 30, "There is an API key in the template. Take it out."),
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


async def test_a_template_can_be_tried_and_nothing_is_kept(world: World) -> None:
    ada = await world.someone("ada", "admin")
    body = {"template": "Name it.\n=== user\n{{ question }}", "values": {"question": "{{ 7 }}?"}}
    tried = await ada.http.post(f"{PROMPTS}/title/try", json=body)
    assert tried.json()["messages"] == [
        {"role": "system", "text": "Name it."},
        {"role": "user", "text": "{{ 7 }}?"},
    ]
    assert (await line(ada, "title"))["versions"] == []


async def test_what_is_not_there_cannot_be_chosen(world: World) -> None:
    ada = await world.someone("ada", "admin")
    for prompt, version in (("nothing", 1), ("system", 1001), ("system", 7)):
        answer = await ada.http.put(f"{PROMPTS}/{prompt}", json={"version": version})
        assert answer.status_code == 404


async def test_a_version_that_no_longer_fits_is_neither_told_nor_said_to_be(world: World) -> None:
    """As after an upgrade: it was written for slots that are gone."""
    ada = await world.someone("ada", "admin")
    store = world.house.services.store
    gone = await store.prompts.add("system", "{{ instructions }}{{ once }}", "", ada.user_id)
    fitting = await written(ada)
    await store.prompts.choose("system", ada.user_id, version=gone)
    system = await line(ada)
    assert system["active"] == SHIPPED
    assert system["misfits"] == {str(gone): "Line 1: there is no slot `once`."}
    again = await ada.http.put(f"{PROMPTS}/system", json={"version": gone})
    compared = {"prompt": "system", "versions": [fitting, gone]}
    for refused in (again, await ada.http.post(EXPERIMENTS, json=compared)):
        assert refused.status_code == 400
        assert "there is no slot `once`" in refused.text
    await chosen(ada, version=fitting)
    assert (await line(ada))["misfits"] == {}


@pytest.mark.parametrize("version", [0, -(2**63) - 1, 2**63, 10**30])
async def test_a_number_that_is_no_version_is_refused(world: World, version: int) -> None:
    ada = await world.someone("ada", "admin")
    refused = await ada.http.put(f"{PROMPTS}/system", json={"version": version})
    assert refused.status_code == 400


async def test_decoding_of_chats_is_a_default_and_the_person_wins(settings: Settings) -> None:
    async with world_of(settings, ScriptedEngine()) as world:
        ada = await world.someone("ada", "admin")
        await chosen(ada, sampling={"temperature": 0.3, "top_p": 0.5, "max_tokens": 40})
        assert await decoded(ada) == (0.3, 0.5, "sample", 40)
        assert await decoded(ada, temperature=1.0) == (1.0, 0.5, "sample", 40)
        assert await decoded(ada, policy="greedy") == (None, 0.5, "greedy", 40)
        await chosen(ada, sampling={"policy": "beam", "max_tokens": 20})
        assert (await decoded(ada, temperature=1.0))[2] == "sample"
        await chosen(ada, sampling=None)
        assert await decoded(ada) == (None, None, "sample", settings.max_answer_tokens)


async def decoded(ada: Someone, **asked: Any) -> tuple[float | None, float | None, str, int]:
    heard = await ada.send("hello", sampling=asked)
    turn = await ada.http.get(f"/backend-api/turn/{heard.turn_id}")
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


async def test_in_an_experiment_each_person_stays_with_one_version(settings: Settings) -> None:
    engine = Listening()
    async with world_of(settings, engine) as world:
        ada = await world.someone("ada", "admin")
        started = await experiment(ada, SHIPPED, await written(ada))
        people = [await world.someone(f"person {number}") for number in range(NUM_PEOPLE)]
        for person in people:
            engine.told.clear()
            await person.send("one")
            await person.send("two")
            assert len(set(engine.told)) == 1
        seen = await ada.http.get(f"{EXPERIMENTS}/{started['id']}")
        variants = seen.json()["outcome"]["variants"]
        assert sum(variant["num_people"] for variant in variants) == NUM_PEOPLE
        assert sum(variant["num_turns"] for variant in variants) == 2 * NUM_PEOPLE
        assert all(variant["num_people"] > 0 for variant in variants)
        assert variants[0]["means"]["answer_tokens"]["value"] > 0


async def test_what_people_think_of_an_answer_counts_for_its_version(world: World) -> None:
    ada = await world.someone("ada", "admin")
    started = await experiment(ada, SHIPPED, await written(ada))
    heard = await ada.send("!script\nI'm sorry, but I can't do that.")
    assert heard.answer is not None
    where = f"/backend-api/conversation/{heard.conversation_id}/messages/{heard.answer['id']}"
    rated = await ada.http.put(f"{where}/feedback", json={"rating": "down"})
    assert rated.is_success
    seen = (await ada.http.get(f"{EXPERIMENTS}/{started['id']}")).json()["outcome"]
    counted = [variant for variant in seen["variants"] if variant["num_turns"]]
    assert [(one["num_down"], one["num_declined"]) for one in counted] == [(1, 1)]
    assert seen["differences"] == []


async def test_the_winner_of_an_experiment_holds_for_everyone(world: World) -> None:
    ada = await world.someone("ada", "admin")
    version = await written(ada)
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


async def test_what_came_with_another_hitsend_cannot_win(world: World) -> None:
    ada = await world.someone("ada", "admin")
    experiments, before = world.house.services.store.experiments, SHIPPED + 7
    started = await experiments.start("system", (before, await written(ada)), ada.user_id)
    lost = await ada.http.post(f"{EXPERIMENTS}/{started.id}/end", json={"winner": before})
    assert lost.status_code == 404
    ended = await ada.http.post(f"{EXPERIMENTS}/{started.id}/end", json={"winner": None})
    assert ended.json()["winner"] is None


async def test_one_experiment_at_a_time_and_nothing_is_chosen_meanwhile(world: World) -> None:
    ada = await world.someone("ada", "admin")
    version = await written(ada)
    await experiment(ada, SHIPPED, version)
    second = {"prompt": "system", "versions": [SHIPPED, version]}
    assert (await ada.http.post(EXPERIMENTS, json=second)).status_code == 409
    assert (await ada.http.put(f"{PROMPTS}/system", json={"version": version})).status_code == 409
    await chosen(ada, sampling={"temperature": 0.1})


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
async def test_what_cannot_be_compared_is_refused(
    world: World, prompt: str, versions: list[int], status: int
) -> None:
    ada = await world.someone("ada", "admin")
    asked = {"prompt": prompt, "versions": versions}
    assert (await ada.http.post(EXPERIMENTS, json=asked)).status_code == status


async def test_every_change_is_in_the_audit_log_and_no_text_is(world: World) -> None:
    ada = await world.someone("ada", "admin")
    version = await written(ada)
    await chosen(ada, version=version)
    await chosen(ada, sampling={"temperature": 0.1})
    started = await experiment(ada, SHIPPED, version)
    await ada.http.post(f"{EXPERIMENTS}/{started['id']}/end", json={"winner": SHIPPED})
    log = await ada.http.get("/backend-api/admin/audit")
    assert [(one["name"], one["action"], one["subject"]) for one in log.json()["items"]] == [
        ("ada", "experiment.ended", "system"),
        ("ada", "experiment.started", "system"),
        ("ada", "prompt.decoding", "system"),
        ("ada", "prompt.activated", "system"),
        ("ada", "prompt.written", "system"),
    ]
    assert "pirate" not in log.text
    first, *_, last = log.json()["items"]
    assert first["detail"] == {"experiment": started["id"], "winner": str(SHIPPED)}
    older = await ada.http.get(f"/backend-api/admin/audit?before={last['position'] + 1}&limit=5")
    assert older.json()["items"] == [last]


async def test_a_deleted_conversation_no_longer_counts(world: World) -> None:
    ada = await world.someone("ada", "admin")
    started = await experiment(ada, SHIPPED, await written(ada))
    heard = await ada.send("hello")
    store = world.house.services.store
    assert len(await store.experiments.trials(started["id"])) == 1
    await store.conversations.delete(heard.conversation_id, ada.user_id)
    assert await store.experiments.trials(started["id"]) == []
