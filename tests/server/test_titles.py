"""The title a conversation gets by itself: from the first words, then perhaps a better one."""

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace
from tests.server.world import Heard, Someone, world_of

from hitsend.engine import GaveWay, Prompt, ScriptedEngine
from hitsend.engine.script import Script
from hitsend.messages import Sampling
from hitsend.settings import Settings

QUESTION = "Can you help me to understand why bread rises, and what else I could use than yeast?"
WORDS = "Can you help me to understand why bread rises, and what…"


async def titles(person: Someone, heard: Heard) -> list[tuple[str, int]]:
    log = (await person.http.get(f"/backend-api/turn/{heard.turn_id}")).json()["events"]
    events = [one["event"] for one in log]
    return [(e["title"], e["revision"]) for e in events if e["type"] == "TitleChosen"]


async def shown(person: Someone, heard: Heard) -> str:
    return str((await person.conversation(heard.conversation_id))["title"])


def said_aside(*texts: str) -> ScriptedEngine:
    return ScriptedEngine(asides=[Script(text) for text in texts])


async def test_after_the_answer_comes_a_better_title(settings: Settings) -> None:
    async with world_of(settings, said_aside('Title: "Why bread rises".\nMore.')) as world:
        ada = await world.someone("ada")
        heard = await ada.send(QUESTION)
        assert await titles(ada, heard) == [(WORDS, 1), ("Why bread rises", 2)]
        assert await shown(ada, heard) == "Why bread rises"
        log = (await ada.http.get(f"/backend-api/turn/{heard.turn_id}")).json()["events"]
        assert [one["event"]["type"] for one in log[-2:]] == ["TurnFinished", "TitleChosen"]


@pytest.mark.parametrize(
    "written",
    [
        "",
        "Yes, you can use baking powder",
        "Segmentation faults in C",
        "Bread rises because yeast makes gas that bread holds.",
        "bread " * 20,
    ],
)
async def test_a_title_that_is_worse_than_the_words_is_not_taken(
    settings: Settings, written: str
) -> None:
    async with world_of(settings, said_aside(written)) as world:
        ada = await world.someone("ada")
        heard = await ada.send(QUESTION)
        assert await titles(ada, heard) == [(WORDS, 1)]


class Unasked(ScriptedEngine):
    """Has to be asked for no title."""

    async def aside(self, prompt: Prompt, sampling: Sampling, *, can_wait: bool = True) -> str:
        raise AssertionError("it was asked")


async def test_no_title_is_looked_for_where_there_is_no_use(settings: Settings) -> None:
    async with world_of(settings, Unasked()) as world:
        ada = await world.someone("ada")
        short = await ada.send("why does bread rise?")
        assert short.answer
        await ada.send(
            QUESTION,
            conversation_id=short.conversation_id,
            parent_message_id=short.answer["id"],
        )
        key = {"authorization": f"Bearer {ada.key}"}
        body: dict[str, Any] = {
            "model": "auto",
            "messages": [{"role": "user", "content": QUESTION}],
        }
        program = await world.browser()
        completion = await program.post("/v1/chat/completions", json=body, headers=key)
        assert completion.status_code == 200
        assert await shown(ada, short) == "why does bread rise?"


async def test_a_setting_keeps_the_first_words(settings: Settings) -> None:
    async with world_of(replace(settings, model_titles=False), Unasked()) as world:
        ada = await world.someone("ada")
        assert await titles(ada, await ada.send(QUESTION)) == [(WORDS, 1)]


async def test_an_answer_that_broke_off_gets_no_other_title(
    settings: Settings,
) -> None:
    engine = Unasked(answers=[Script("one two three", num_until_death=2)])
    async with world_of(settings, engine) as world:
        ada = await world.someone("ada")
        assert await titles(ada, await ada.send(QUESTION)) == [(WORDS, 1)]


class OutOfTime(ScriptedEngine):
    """Never has time for a title."""

    async def aside(self, prompt: Prompt, sampling: Sampling, *, can_wait: bool = True) -> str:
        raise GaveWay


async def test_trouble_with_the_title_is_no_trouble_of_the_turn(settings: Settings) -> None:
    async with world_of(settings, OutOfTime()) as world:
        ada = await world.someone("ada")
        heard = await ada.send(QUESTION)
        assert heard.is_done
        assert heard.of_type("message_stream_complete")
        assert await titles(ada, heard) == [(WORDS, 1)]
    async with world_of(settings, ScriptedEngine(asides=[Script(is_down=True)])) as world:
        eve = await world.someone("eve")
        assert await titles(eve, await eve.send(QUESTION)) == [(WORDS, 1)]


async def rename(person: Someone, heard: Heard) -> None:
    path = f"/backend-api/conversation/{heard.conversation_id}"
    assert (await person.http.patch(path, json={"title": "Mine"})).is_success


class Waiting(ScriptedEngine):
    """Says the title when it is let."""

    def __init__(self, answers: list[Script]) -> None:
        super().__init__(answers)
        self.is_asked, self.may_say = asyncio.Event(), asyncio.Event()

    async def aside(self, prompt: Prompt, sampling: Sampling, *, can_wait: bool = True) -> str:
        self.is_asked.set()
        await self.may_say.wait()
        return "Why bread rises"


@pytest.mark.parametrize("is_streaming", [True, False])
async def test_a_title_the_person_wrote_is_never_overwritten(
    settings: Settings, is_streaming: bool
) -> None:
    engine = Waiting([Script("word " * 40, pace_s=0.005)])
    async with world_of(settings, engine) as world:
        ada = await world.someone("ada")
        heard = await ada.send(QUESTION, until_chars=5)
        if not is_streaming:
            await engine.is_asked.wait()
        await rename(ada, heard)
        engine.may_say.set()
        rest = await ada.follow(heard.turn_id)
        assert rest.is_done
        assert await titles(ada, heard) == [(WORDS, 1)]
        assert await shown(ada, heard) == "Mine"


async def test_stopping_a_turn_that_has_ended_only_ends_the_search_for_a_title(
    settings: Settings,
) -> None:
    engine = Waiting([Script("all of it")])
    async with world_of(settings, engine) as world:
        ada = await world.someone("ada")
        heard = await ada.send(QUESTION, until_chars=5)
        await engine.is_asked.wait()
        await ada.http.post(
            "/backend-api/stop_conversation", json={"conversation_id": heard.conversation_id}
        )
        tree = await ada.conversation(heard.conversation_id)
        answer = tree["mapping"][tree["current_node"]]["message"]
        assert answer["content"]["parts"] == ["all of it"]
        assert answer["status"] == "finished_successfully"
        assert await titles(ada, heard) == [(WORDS, 1)]
