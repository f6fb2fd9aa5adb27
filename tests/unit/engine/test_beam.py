"""Beam search over distributions that are made up, through the scripted engine."""

import asyncio
import math
from contextlib import aclosing
from itertools import product

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from hitsend.engine import (
    Finished,
    Generated,
    Generation,
    Prompt,
    PromptWasRead,
    Script,
    ScriptedEngine,
)
from hitsend.messages import Message, Sampling, Text, Token

BEAM = Sampling(policy="beam", num_beams=2, max_tokens=16)
Table = dict[str, dict[str, float]]

GARDEN_PATH: Table = {
    "": {"The": 0.6, "A": 0.4},
    "The": {" cat": 0.4, " dog": 0.35, " cow": 0.25},
    "A": {" hedgehog": 0.95, " cat": 0.05},
}
"""The likeliest first word leads nowhere. Whatever has two words ends."""


async def prompt_for(engine: ScriptedEngine) -> Prompt:
    return await engine.encode("auto", [Message("user", (Text("Say something."),), "user")])


async def heard(likely: Table, sampling: Sampling = BEAM) -> list[Generation]:
    engine = ScriptedEngine([Script(likely=likely)])
    prompt = await prompt_for(engine)
    async with asyncio.timeout(10), aclosing(engine.generate(prompt, sampling)) as steps:
        return [step async for step in steps]


def told(steps: list[Generation]) -> list[str]:
    return [step.text for step in steps if isinstance(step, Generated) and step.tokens]


def tokens(steps: list[Generation]) -> list[Token]:
    return [token for step in steps if isinstance(step, Generated) for token in step.tokens]


def probability(steps: list[Generation]) -> float:
    return math.exp(sum(token.logprob or 0.0 for token in tokens(steps)))


def searched(steps: list[Generation]) -> int:
    assert isinstance(steps[-1], Finished)
    return steps[-1].usage.num_searched_tokens or 0


def greedy(likely: Table) -> tuple[str, float]:
    """What always taking the likeliest token comes to."""
    text, total = "", 1.0
    while text in likely:
        piece, chance = max(likely[text].items(), key=lambda item: item[1])
        if not piece:
            return text, total * chance
        text, total = text + piece, total * chance
    return text, total


async def test_it_finds_a_likelier_text_than_always_taking_the_likeliest_token() -> None:
    steps = await heard(GARDEN_PATH)
    assert "".join(told(steps)) == "A hedgehog"
    text, chance = greedy(GARDEN_PATH)
    assert text == "The cat"
    assert chance == pytest.approx(0.24)
    assert probability(steps) == pytest.approx(0.38)


async def test_it_says_what_every_engine_says_in_the_same_order() -> None:
    steps = await heard(GARDEN_PATH)
    assert isinstance(steps[0], PromptWasRead)
    assert isinstance(steps[-1], Finished)
    assert steps[-1].reason == "stop"
    usage = steps[-1].usage
    assert usage.num_output_tokens == len(tokens(steps)) == 3  # with the token that ended it
    assert usage.num_input_tokens == (await prompt_for(ScriptedEngine())).num_tokens
    assert usage.num_searched_tokens == 5  # once at the start, then for two at a time


async def test_what_all_hypotheses_begin_with_is_told_before_the_end() -> None:
    likely: Table = {
        "": {"Well,": 1.0},
        "Well,": {" yes": 0.5, " no": 0.5},
        "Well, yes": {" indeed": 1.0},
        "Well, no": {" thanks": 0.5, " way": 0.5},
    }
    assert told(await heard(likely)) == ["Well,", " yes indeed"]


async def test_a_stop_string_ends_a_hypothesis_and_is_not_told() -> None:
    likely: Table = {
        "": {"one": 1.0},
        "one": {" tw": 1.0},
        "one tw": {"o thr": 1.0},
        "one two thr": {"ee": 1.0},
    }
    stopping = msgspec.structs.replace(BEAM, stop=("two",))
    steps = await heard(likely, stopping)
    assert "".join(told(steps)) == "one "
    assert [token.text for token in tokens(steps)] == ["one", " "]
    assert isinstance(steps[-1], Finished)
    assert steps[-1].reason == "stop"


async def test_what_only_looked_like_a_stop_string_is_told() -> None:
    likely: Table = {"": {"one": 1.0}, "one": {" tw": 1.0}, "one tw": {"enty": 1.0}}
    stopping = msgspec.structs.replace(BEAM, stop=("two",))
    assert told(await heard(likely, stopping)) == ["one", " twenty", ""]


async def test_it_ends_where_there_is_no_more_room() -> None:
    likely: Table = {"a" * length: {"a": 1.0} for length in range(20)}
    short = msgspec.structs.replace(BEAM, max_tokens=5)
    steps = await heard(likely, short)
    assert "".join(told(steps)) == "aaaaa"
    assert isinstance(steps[-1], Finished)
    assert steps[-1].reason == "length"


async def test_a_longer_text_is_not_worse_for_being_longer() -> None:
    likely: Table = {"": {"": 0.3, "Good": 0.7}, "Good": {" day": 0.6, " night": 0.4}}
    assert "".join(told(await heard(likely))) == "Good day"


async def test_a_hypothesis_that_is_behind_may_still_win_by_what_it_goes_on_with() -> None:
    likely: Table = {"": {"": 0.3, "Good": 0.25}, "Good": {" day": 1.0}, "Good day": {" to": 1.0}}
    assert "".join(told(await heard(likely))) == "Good day to"


async def test_what_cannot_win_any_more_is_not_followed() -> None:
    likely: Table = {"": {"": 0.9, "a": 0.1}} | {"a" * size: {"a": 0.9} for size in range(1, 20)}
    steps = await heard(likely)
    assert told(steps) == [""]
    assert 1 <= searched(steps) < 9  # not to its end, although it may be twice as long


async def test_it_is_over_when_as_many_have_ended_as_are_followed() -> None:
    likely: Table = {"": {"a": 0.9, "": 0.1}} | {
        "a" * size: {"": 0.6, "a": 0.4} for size in range(1, 20)
    }
    assert searched(await heard(likely)) <= 3


async def test_how_much_was_searched_is_told_on_the_way() -> None:
    steps = await heard(GARDEN_PATH)
    on_the_way = [step.num_searched_tokens for step in steps if isinstance(step, Generated)]
    assert on_the_way == [1, 2, 2, UNSET]
    assert searched(steps) == 5


async def test_alternatives_are_recorded_as_asked_for() -> None:
    recording = msgspec.structs.replace(BEAM, top_logprobs=2)
    first = tokens(await heard(GARDEN_PATH, recording))[0]
    assert [(other.text, round(math.exp(other.logprob), 2)) for other in first.top] == [
        ("The", 0.6),
        ("A", 0.4),
    ]


async def test_a_script_is_said_under_every_policy() -> None:
    texts = []
    for sampling in (Sampling(), Sampling(policy="greedy"), BEAM):
        engine = ScriptedEngine([Script(text="To be, or not to be.")])
        prompt = await prompt_for(engine)
        texts.append("".join(told([step async for step in engine.generate(prompt, sampling)])))
    assert set(texts) == {"To be, or not to be."}


async def test_leaving_a_search_frees_its_place() -> None:
    engine = ScriptedEngine([Script(likely=GARDEN_PATH, pace_s=3600.0)])
    steps = engine.generate(await prompt_for(engine), BEAM)
    assert isinstance(await anext(steps), PromptWasRead)
    assert engine.status().num_busy_slots == 1
    await steps.aclose()
    assert engine.status().num_busy_slots == 0


CHANCES = st.floats(0.05, 1.0)


@given(st.lists(CHANCES, min_size=14, max_size=14))
async def test_where_nothing_has_to_be_left_out_it_finds_the_best_of_all(
    weights: list[float],
) -> None:
    """All texts of three letters out of two, each with its own chances."""
    prefixes = ["".join(letters) for size in range(3) for letters in product("ab", repeat=size)]
    likely: Table = {}
    for place, prefix in enumerate(prefixes):
        one, other = weights[2 * place : 2 * place + 2]
        likely[prefix] = {"a": one / (one + other), "b": other / (one + other)}

    def chance(text: str) -> float:
        return math.prod(likely[text[:at]][letter] for at, letter in enumerate(text))

    steps = await heard(likely, Sampling(policy="beam", num_beams=8))
    best = max(chance("".join(letters)) for letters in product("ab", repeat=3))
    assert chance("".join(told(steps))) == pytest.approx(best)


@given(st.text(min_size=1, max_size=12), st.text(min_size=1, max_size=3))
async def test_text_comes_whole_up_to_the_first_stop_string(text: str, stop: str) -> None:
    likely: Table = {text[:at]: {text[at]: 1.0} for at in range(len(text))}
    steps = await heard(likely, Sampling(policy="beam", num_beams=2, stop=(stop,)))
    assert "".join(told(steps)) == text.partition(stop)[0]
