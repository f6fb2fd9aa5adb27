"""Autocomplete: a suggestion in time, or none."""

import asyncio
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.server.world import Someone, World, open_world

from hitsend.engine import Preempted, Prompt, ScriptedEngine
from hitsend.engine.scripted.script import Script
from hitsend.errors import EngineDown
from hitsend.messages import Sampling
from hitsend.server.turns.autocomplete import BUDGET_S, MAX_CHARS, trim_continuation
from hitsend.server.turns.latency_budget import OFF_S, LatencyBudget
from hitsend.settings import Settings

SUGGEST = "/backend-api/conversation/experimental/generate_autocompletions"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Without prewarming: only suggestions reach the engine."""
    return replace(settings, prewarm=False)


async def suggest(person: Someone, typed: str, **more: Any) -> dict[str, Any]:
    response = await person.http.post(SUGGEST, json={"input_text": typed} | more)
    assert response.status_code == 200, response.text
    said: dict[str, Any] = response.json()
    return said


def raise_budget(world: World) -> None:
    """A budget that any machine meets."""
    world.app.autocomplete.budget = LatencyBudget(60.0)


async def wait_for_suggestion(world: World, typed: str, **more: Any) -> dict[str, Any]:
    """Repeats the request until a suggestion is in time: the machine may be busy."""
    raise_budget(world)
    ada = await world.someone("ada")
    while not (said := await suggest(ada, typed, **more))["completions"]:
        continue
    return said


class FixedText(ScriptedEngine):
    """Returns a given text, and records its prompts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text
        self.shown: list[Prompt] = []

    async def generate_when_idle(
        self, prompt: Prompt, sampling: Sampling, *, can_wait: bool = True
    ) -> str:
        assert not can_wait
        self.shown.append(prompt)
        return self.text


async def test_a_draft_is_continued(settings: Settings) -> None:
    engine = FixedText(" of France today")
    async with open_world(settings, engine) as world:
        fields = {"conversation_id": None, "num_completions": 1}
        said = await wait_for_suggestion(world, "What is the capital", **fields)
        assert said == {"completions": [" of France"], "is_enabled": True}


async def test_after_a_space_the_suggestion_starts_without_one(settings: Settings) -> None:
    async with open_world(settings, FixedText(" of France today")) as world:
        said = await wait_for_suggestion(world, "What is the capital ")
        assert said["completions"] == ["of France"]


async def test_the_model_sees_the_draft_as_an_open_message(settings: Settings) -> None:
    engine = FixedText(" of France today")
    async with open_world(settings, engine) as world:
        await wait_for_suggestion(world, "What is the capital")
        prompt = engine.shown[-1]
        assert prompt.spans[-1].source == "user"
        assert len(prompt.ids) == prompt.num_tokens


@pytest.mark.parametrize("typed", ["", "  ", "W"])
async def test_a_draft_of_one_letter_gets_no_suggestion(settings: Settings, typed: str) -> None:
    engine = FixedText(" and so on")
    async with open_world(settings, engine) as world:
        said = await suggest(await world.someone("ada"), typed)
        assert said == {"completions": [], "is_enabled": True}
        assert not engine.shown


async def test_a_setting_turns_autocomplete_off(settings: Settings) -> None:
    async with open_world(replace(settings, autocomplete=False), FixedText(" and so on")) as world:
        said = await suggest(await world.someone("ada"), "What is the")
        assert said == {"completions": [], "is_enabled": False}


class Failing(ScriptedEngine):
    """Raises a given error."""

    def __init__(self, problem: Exception) -> None:
        super().__init__()
        self.problem = problem

    async def generate_when_idle(
        self, prompt: Prompt, sampling: Sampling, *, can_wait: bool = True
    ) -> str:
        raise self.problem


@pytest.mark.parametrize("problem", [Preempted(), EngineDown("It is down.")])
async def test_after_any_failure_there_is_no_suggestion(
    settings: Settings, problem: Exception
) -> None:
    async with open_world(settings, Failing(problem)) as world:
        raise_budget(world)
        ada = await world.someone("ada")
        for _ in range(4):
            said = await suggest(ada, "What is the")
            assert said == {"completions": [], "is_enabled": True}
        assert (await suggest(ada, "What is", model="no-such-model"))["completions"] == []


async def test_a_bug_only_loses_the_suggestion_and_is_logged(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_world(settings, Failing(ZeroDivisionError("a bug"))) as world:
        said = await suggest(await world.someone("ada"), "What is the")
        assert said == {"completions": [], "is_enabled": True}
    assert "ZeroDivisionError: a bug" in caplog.text


async def test_a_preempted_trial_leaves_suggestions_on(settings: Settings) -> None:
    engine = Failing(Preempted())
    async with open_world(settings, engine) as world:
        ada, now = await world.someone("ada"), time.monotonic()
        budget = LatencyBudget(BUDGET_S, now=lambda: now)
        world.app.autocomplete.budget = budget
        for _ in range(3):
            budget.record(1.0)
        now += OFF_S
        assert (await suggest(ada, "What is the"))["is_enabled"]
        assert not budget.is_off


async def test_a_machine_that_is_too_slow_stops_trying(settings: Settings) -> None:
    slow = [Script(" and so on", first_s=0.2) for _ in range(3)]
    async with open_world(settings, ScriptedEngine(idle_answers=slow)) as world:
        ada = await world.someone("ada")
        is_enabled, num_tries = True, 0
        while is_enabled:
            said = await suggest(ada, "What is the capital")
            assert said["completions"] == []
            is_enabled = said["is_enabled"]
            num_tries += 1
        assert num_tries >= 3
        assert await suggest(ada, "What is") == {"completions": [], "is_enabled": False}


class NeverEnding(ScriptedEngine):
    """Never returns, and reports its cancellation."""

    def __init__(self) -> None:
        super().__init__()
        self.begun: asyncio.Queue[str] = asyncio.Queue()
        self.left: asyncio.Queue[str] = asyncio.Queue()

    async def generate_when_idle(
        self, prompt: Prompt, sampling: Sampling, *, can_wait: bool = True
    ) -> str:
        typed = prompt.messages[-1].text
        await self.begun.put(typed)
        try:
            return await asyncio.Future()
        finally:
            await self.left.put(typed)


async def test_the_next_keystroke_cancels_the_last_suggestion(settings: Settings) -> None:
    engine = NeverEnding()
    async with open_world(settings, engine) as world:
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


async def test_a_disconnect_cancels_the_suggestion(settings: Settings) -> None:
    engine = NeverEnding()
    async with open_world(settings, engine) as world:
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
    assert trim_continuation(typed, written) == expected


@given(st.text(), st.text())
def test_any_suggestion_can_be_appended_to_the_draft(typed: str, written: str) -> None:
    suggested = trim_continuation(typed, written)
    assert len(suggested) <= MAX_CHARS
    assert len(suggested.splitlines()) <= 1
    assert suggested == suggested.rstrip()
    assert not suggested or not typed.strip().casefold().endswith(suggested.strip().casefold())
