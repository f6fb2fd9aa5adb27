"""Ghost text: a suggestion in time, or none."""

import asyncio
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.server.world import Someone, World, world_of

from hitsend.engine import GaveWay, Prompt, ScriptedEngine
from hitsend.engine.script import Script
from hitsend.errors import EngineDown
from hitsend.messages import Sampling
from hitsend.server.pace import OFF_S, Pace
from hitsend.server.suggesting import BUDGET_S, MOST_CHARS, continuation
from hitsend.settings import Settings

SUGGEST = "/backend-api/conversation/experimental/generate_autocompletions"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Nothing is read ahead: only what is asked for here reaches the engine."""
    return replace(settings, prewarm=False)


async def suggest(person: Someone, typed: str, **more: Any) -> dict[str, Any]:
    response = await person.http.post(SUGGEST, json={"input_text": typed} | more)
    assert response.status_code == 200, response.text
    said: dict[str, Any] = response.json()
    return said


def be_patient(world: World) -> None:
    """However slow the machine is, it is fast enough for a suggestion."""
    world.house.suggesting.pace = Pace(60.0)


async def suggested(world: World, typed: str, **more: Any) -> dict[str, Any]:
    """Asks until there is one in time: while the machine is busy, one may be too late."""
    be_patient(world)
    ada = await world.someone("ada")
    while not (said := await suggest(ada, typed, **more))["completions"]:
        continue
    return said


class Told(ScriptedEngine):
    """Says what it is told, and remembers what it was shown."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text
        self.shown: list[Prompt] = []

    async def aside(self, prompt: Prompt, sampling: Sampling, *, can_wait: bool = True) -> str:
        assert not can_wait
        self.shown.append(prompt)
        return self.text


async def test_a_draft_is_continued(settings: Settings) -> None:
    engine = Told(" of France today")
    async with world_of(settings, engine) as world:
        asked = {"conversation_id": None, "num_completions": 1}
        said = await suggested(world, "What is the capital", **asked)
        assert said == {"completions": [" of France"], "is_enabled": True}


async def test_after_a_space_no_other_is_proposed(settings: Settings) -> None:
    async with world_of(settings, Told(" of France today")) as world:
        said = await suggested(world, "What is the capital ")
        assert said["completions"] == ["of France"]


async def test_the_model_is_shown_a_message_that_is_not_closed(settings: Settings) -> None:
    engine = Told(" of France today")
    async with world_of(settings, engine) as world:
        await suggested(world, "What is the capital")
        prompt = engine.shown[-1]
        assert prompt.spans[-1].source == "user"
        assert len(prompt.ids) == prompt.num_tokens


@pytest.mark.parametrize("typed", ["", "  ", "W"])
async def test_a_letter_is_too_little_to_go_on(settings: Settings, typed: str) -> None:
    engine = Told(" and so on")
    async with world_of(settings, engine) as world:
        said = await suggest(await world.someone("ada"), typed)
        assert said == {"completions": [], "is_enabled": True}
        assert not engine.shown


async def test_a_setting_turns_it_off(settings: Settings) -> None:
    async with world_of(replace(settings, autocomplete=False), Told(" and so on")) as world:
        said = await suggest(await world.someone("ada"), "What is the")
        assert said == {"completions": [], "is_enabled": False}


class Failing(ScriptedEngine):
    """Has no time, or worse."""

    def __init__(self, problem: Exception) -> None:
        super().__init__()
        self.problem = problem

    async def aside(self, prompt: Prompt, sampling: Sampling, *, can_wait: bool = True) -> str:
        raise self.problem


@pytest.mark.parametrize("problem", [GaveWay(), EngineDown("It is down.")])
async def test_whatever_fails_there_is_just_no_suggestion(
    settings: Settings, problem: Exception
) -> None:
    async with world_of(settings, Failing(problem)) as world:
        be_patient(world)
        ada = await world.someone("ada")
        for _ in range(4):
            said = await suggest(ada, "What is the")
            assert said == {"completions": [], "is_enabled": True}
        assert (await suggest(ada, "What is", model="no-such-model"))["completions"] == []


async def test_a_bug_costs_the_suggestion_alone_and_is_logged(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    async with world_of(settings, Failing(ZeroDivisionError("a bug"))) as world:
        said = await suggest(await world.someone("ada"), "What is the")
        assert said == {"completions": [], "is_enabled": True}
    assert "ZeroDivisionError: a bug" in caplog.text


async def test_a_trial_that_gave_way_leaves_suggestions_on(settings: Settings) -> None:
    engine = Failing(GaveWay())
    async with world_of(settings, engine) as world:
        ada, now = await world.someone("ada"), time.monotonic()
        pace = Pace(BUDGET_S, now=lambda: now)
        world.house.suggesting.pace = pace
        for _ in range(3):
            pace.took(1.0)
        now += OFF_S
        assert (await suggest(ada, "What is the"))["is_enabled"]
        assert not pace.is_off


async def test_a_machine_that_is_too_slow_stops_trying(settings: Settings) -> None:
    slow = [Script(" and so on", first_s=0.2) for _ in range(3)]
    async with world_of(settings, ScriptedEngine(asides=slow)) as world:
        ada = await world.someone("ada")
        is_enabled, num_tries = True, 0
        while is_enabled:
            said = await suggest(ada, "What is the capital")
            assert said["completions"] == []
            is_enabled = said["is_enabled"]
            num_tries += 1
        assert num_tries >= 3
        assert await suggest(ada, "What is") == {"completions": [], "is_enabled": False}


class Watched(ScriptedEngine):
    """Takes for ever, and tells when it is left alone."""

    def __init__(self) -> None:
        super().__init__()
        self.begun: asyncio.Queue[str] = asyncio.Queue()
        self.left: asyncio.Queue[str] = asyncio.Queue()

    async def aside(self, prompt: Prompt, sampling: Sampling, *, can_wait: bool = True) -> str:
        typed = prompt.messages[-1].text
        await self.begun.put(typed)
        try:
            return await asyncio.Future()
        finally:
            await self.left.put(typed)


async def test_the_next_key_ends_the_suggestion_for_the_last_one(settings: Settings) -> None:
    engine = Watched()
    async with world_of(settings, engine) as world:
        ada, eve = await world.someone("ada"), await world.someone("eve")
        hers = asyncio.create_task(suggest(eve, "her own"))
        assert await engine.begun.get() == "her own"
        older = asyncio.create_task(suggest(ada, "What is"))
        assert await engine.begun.get() == "What is"
        newer = asyncio.create_task(suggest(ada, "What is the"))
        assert await engine.left.get() in ("What is", "her own")
        assert await engine.begun.get() == "What is the"
        for one in (hers, older, newer):
            assert (await one)["completions"] == []


async def test_who_leaves_ends_the_suggestion(settings: Settings) -> None:
    engine = Watched()
    async with world_of(settings, engine) as world:
        ada = await world.someone("ada")
        asking = asyncio.create_task(suggest(ada, "What is"))
        assert await engine.begun.get() == "What is"
        asking.cancel()
        assert await engine.left.get() == "What is"


@pytest.mark.parametrize(
    ("typed", "written", "expected"),
    [
        ("What is the", " capital of Fra", " capital of"),
        ("What is the ", " capital of Fra", "capital of"),
        ("What is the cap", "ital", "ital"),
        ("What is the cap", "ital of Fra", "ital of"),
        ("What is", " the\nsecond line", " the"),
        ("Please write a poem about", " a sunset.", " a sunset."),
        ("How do I reverse a linked", " list in Python?", " list in Python?"),
        ("What is", " what is", ""),
        ("What is", "?", ""),
        ("What is", "", ""),
    ],
)
def test_a_suggestion_is_whole_words_on_one_line(typed: str, written: str, expected: str) -> None:
    assert continuation(typed, written) == expected


@given(st.text(), st.text())
def test_whatever_is_written_a_suggestion_fits_behind_the_draft(typed: str, written: str) -> None:
    suggested = continuation(typed, written)
    assert len(suggested) <= MOST_CHARS
    assert len(suggested.splitlines()) <= 1
    assert suggested == suggested.rstrip()
    assert not suggested or not typed.strip().casefold().endswith(suggested.strip().casefold())
