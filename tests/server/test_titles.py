"""Titles: first from the message, then perhaps a generated one."""

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace
from tests.server.world import AnswerStream, Someone, World, open_world

from hitsend.engine import Preempted, Prompt, ScriptedEngine
from hitsend.engine.scripted.script import Script
from hitsend.messages import Sampling
from hitsend.settings import Settings

QUESTION = "Can you help me to understand why bread rises, and what else I could use than yeast?"
WORDS = "Can you help me to understand why bread rises, and what…"


async def events(world: World, person: Someone, stream: AnswerStream) -> list[dict[str, Any]]:
    """Waits for the afterword, in which a title may come."""
    if turn := world.app.runner.find(stream.turn_id, person.user_id):
        await turn.until_closed()
    log = (await person.http.get(f"/backend-api/turn/{stream.turn_id}")).json()["events"]
    return [one["event"] for one in log]


async def titles(world: World, person: Someone, stream: AnswerStream) -> list[tuple[str, int]]:
    log = await events(world, person, stream)
    return [(e["title"], e["revision"]) for e in log if e["type"] == "TitleChosen"]


async def title_of(person: Someone, stream: AnswerStream) -> str:
    return str((await person.conversation(stream.conversation_id))["title"])


def idle_engine(*texts: str) -> ScriptedEngine:
    return ScriptedEngine(idle_answers=[Script(text) for text in texts])


async def test_after_the_answer_comes_a_better_title(settings: Settings) -> None:
    async with open_world(settings, idle_engine('Title: "Why bread rises".\nMore.')) as world:
        ada = await world.someone("ada")
        stream = await ada.send(QUESTION)
        assert await titles(world, ada, stream) == [(WORDS, 1), ("Why bread rises", 2)]
        assert await title_of(ada, stream) == "Why bread rises"
        log = await events(world, ada, stream)
        assert [one["type"] for one in log[-2:]] == ["TurnFinished", "TitleChosen"]


async def test_where_the_engine_has_room_the_title_comes_while_the_answer_is_read(
    settings: Settings,
) -> None:
    answer = Script("Yeast makes gas. " * 20, pace_s=0.005)
    engine = ScriptedEngine([answer], idle_answers=[Script("Why bread rises")], has_room=True)
    async with open_world(settings, engine) as world:
        ada = await world.someone("ada")
        stream = await ada.send(QUESTION)
        log = await events(world, ada, stream)
        kinds = [one["type"] for one in log]
        place = kinds.index("TitleChosen", kinds.index("AnswerStarted"))
        assert "TextArrived" in kinds[:place]
        assert "TextArrived" in kinds[place:]
        assert await title_of(ada, stream) == "Why bread rises"


async def test_a_title_is_checked_again_when_the_whole_answer_is_known(settings: Settings) -> None:
    answer = Script("It rises. " * 10 + "Use sourdough.", pace_s=0.005)
    engine = ScriptedEngine([answer], idle_answers=[Script("Sourdough bread")], has_room=True)
    async with open_world(settings, engine) as world:
        ada = await world.someone("ada")
        stream = await ada.send(QUESTION)
        assert await titles(world, ada, stream) == [(WORDS, 1), ("Sourdough bread", 2)]
        kinds = [one["type"] for one in await events(world, ada, stream)]
        assert kinds[-2:] == ["TurnFinished", "TitleChosen"]


async def test_a_stream_is_done_before_its_title(settings: Settings) -> None:
    engine = PausableTitle([Script("all of it")])
    async with open_world(settings, engine) as world:
        ada = await world.someone("ada")
        stream = await ada.send(QUESTION)
        assert stream.is_done
        assert (await ada.follow(stream.turn_id)).is_done
        engine.may_say.set()
        assert await titles(world, ada, stream) == [(WORDS, 1), ("Why bread rises", 2)]
        assert await title_of(ada, stream) == "Why bread rises"


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
async def test_a_bad_generated_title_is_not_used(settings: Settings, written: str) -> None:
    async with open_world(settings, idle_engine(written)) as world:
        ada = await world.someone("ada")
        stream = await ada.send(QUESTION)
        assert await titles(world, ada, stream) == [(WORDS, 1)]


class NoTitles(ScriptedEngine):
    """Fails if it is asked for a title."""

    async def generate_when_idle(
        self, prompt: Prompt, sampling: Sampling, *, can_wait: bool = True
    ) -> str:
        raise AssertionError("it was asked")


async def test_no_title_is_generated_where_none_is_needed(settings: Settings) -> None:
    async with open_world(settings, NoTitles()) as world:
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
        assert await title_of(ada, short) == "why does bread rise?"


async def test_a_setting_turns_generated_titles_off(settings: Settings) -> None:
    async with open_world(replace(settings, model_titles=False), NoTitles()) as world:
        ada = await world.someone("ada")
        assert await titles(world, ada, await ada.send(QUESTION)) == [(WORDS, 1)]


async def test_a_failed_answer_gets_no_generated_title(
    settings: Settings,
) -> None:
    engine = NoTitles(answers=[Script("one two three", num_until_death=2)])
    async with open_world(settings, engine) as world:
        ada = await world.someone("ada")
        assert await titles(world, ada, await ada.send(QUESTION)) == [(WORDS, 1)]


class AlwaysPreempted(ScriptedEngine):
    """Always preempts titles."""

    async def generate_when_idle(
        self, prompt: Prompt, sampling: Sampling, *, can_wait: bool = True
    ) -> str:
        raise Preempted


async def test_a_failed_title_does_not_fail_the_turn(settings: Settings) -> None:
    async with open_world(settings, AlwaysPreempted()) as world:
        ada = await world.someone("ada")
        stream = await ada.send(QUESTION)
        assert stream.is_done
        assert stream.of_type("message_stream_complete")
        assert await titles(world, ada, stream) == [(WORDS, 1)]
    async with open_world(settings, ScriptedEngine(idle_answers=[Script(is_down=True)])) as world:
        eve = await world.someone("eve")
        assert await titles(world, eve, await eve.send(QUESTION)) == [(WORDS, 1)]


async def rename(person: Someone, stream: AnswerStream) -> None:
    path = f"/backend-api/conversation/{stream.conversation_id}"
    assert (await person.http.patch(path, json={"title": "Mine"})).is_success


class PausableTitle(ScriptedEngine):
    """Returns the title when it may."""

    def __init__(self, answers: list[Script]) -> None:
        super().__init__(answers)
        self.is_asked, self.may_say = asyncio.Event(), asyncio.Event()

    async def generate_when_idle(
        self, prompt: Prompt, sampling: Sampling, *, can_wait: bool = True
    ) -> str:
        self.is_asked.set()
        await self.may_say.wait()
        return "Why bread rises"


@pytest.mark.parametrize("is_streaming", [True, False])
async def test_a_title_set_by_the_user_is_never_overwritten(
    settings: Settings, is_streaming: bool
) -> None:
    engine = PausableTitle([Script("word " * 40, pace_s=0.005)])
    async with open_world(settings, engine) as world:
        ada = await world.someone("ada")
        stream = await ada.send(QUESTION, until_chars=5)
        if not is_streaming:
            await engine.is_asked.wait()
        await rename(ada, stream)
        engine.may_say.set()
        rest = await ada.follow(stream.turn_id)
        assert rest.is_done
        assert await titles(world, ada, stream) == [(WORDS, 1)]
        assert await title_of(ada, stream) == "Mine"


async def test_stopping_an_ended_turn_only_cancels_its_title(
    settings: Settings,
) -> None:
    engine = PausableTitle([Script("all of it")])
    async with open_world(settings, engine) as world:
        ada = await world.someone("ada")
        stream = await ada.send(QUESTION, until_chars=5)
        await engine.is_asked.wait()
        await ada.http.post(
            "/backend-api/stop_conversation", json={"conversation_id": stream.conversation_id}
        )
        tree = await ada.conversation(stream.conversation_id)
        answer = tree["mapping"][tree["current_node"]]["message"]
        assert answer["content"]["parts"] == ["all of it"]
        assert answer["status"] == "finished_successfully"
        assert await titles(world, ada, stream) == [(WORDS, 1)]
