"""Beam search over made-up distributions, through the scripted engine."""

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
    GenerationStep,
    Prefilled,
    Prompt,
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
"""The most likely first word leads to unlikely texts. All texts have two words."""


async def prompt_for(engine: ScriptedEngine) -> Prompt:
    return await engine.encode("auto", [Message("user", (Text("Say something."),), "user")])


async def generate(likely: Table, sampling: Sampling = BEAM) -> list[GenerationStep]:
    engine = ScriptedEngine([Script(likely=likely)])
    prompt = await prompt_for(engine)
    async with asyncio.timeout(10), aclosing(engine.generate(prompt, sampling)) as steps:
        return [step async for step in steps]


def step_texts(steps: list[GenerationStep]) -> list[str]:
    return [step.text for step in steps if isinstance(step, Generated) and step.tokens]


def tokens(steps: list[GenerationStep]) -> list[Token]:
    return [token for step in steps if isinstance(step, Generated) for token in step.tokens]


def probability(steps: list[GenerationStep]) -> float:
    return math.exp(sum(token.logprob or 0.0 for token in tokens(steps)))


def num_searched(steps: list[GenerationStep]) -> int:
    assert isinstance(steps[-1], Finished)
    return steps[-1].usage.num_searched_tokens or 0


def greedy(likely: Table) -> tuple[str, float]:
    """Returns the text and the probability of greedy decoding."""
    text, total = "", 1.0
    while text in likely:
        piece, chance = max(likely[text].items(), key=lambda item: item[1])
        if not piece:
            return text, total * chance
        text, total = text + piece, total * chance
    return text, total


async def test_it_finds_a_likelier_text_than_greedy_decoding() -> None:
    steps = await generate(GARDEN_PATH)
    assert "".join(step_texts(steps)) == "A hedgehog"
    text, chance = greedy(GARDEN_PATH)
    assert text == "The cat"
    assert chance == pytest.approx(0.24)
    assert probability(steps) == pytest.approx(0.38)


async def test_it_yields_the_steps_of_every_generation_in_order() -> None:
    steps = await generate(GARDEN_PATH)
    assert isinstance(steps[0], Prefilled)
    assert isinstance(steps[-1], Finished)
    assert steps[-1].reason == "stop"
    usage = steps[-1].usage
    assert usage.num_output_tokens == len(tokens(steps)) == 3  # with the token that ended it
    assert usage.num_input_tokens == (await prompt_for(ScriptedEngine())).num_tokens
    assert usage.num_searched_tokens == 5  # once at the start, then for two at a time


async def test_the_common_prefix_is_streamed_before_the_end() -> None:
    likely: Table = {
        "": {"Well,": 1.0},
        "Well,": {" yes": 0.5, " no": 0.5},
        "Well, yes": {" indeed": 1.0},
        "Well, no": {" thanks": 0.5, " way": 0.5},
    }
    assert step_texts(await generate(likely)) == ["Well,", " yes indeed"]


async def test_a_stop_string_ends_a_hypothesis_and_is_not_streamed() -> None:
    likely: Table = {
        "": {"one": 1.0},
        "one": {" tw": 1.0},
        "one tw": {"o thr": 1.0},
        "one two thr": {"ee": 1.0},
    }
    stopping = msgspec.structs.replace(BEAM, stop=("two",))
    steps = await generate(likely, stopping)
    assert "".join(step_texts(steps)) == "one "
    assert [token.text for token in tokens(steps)] == ["one", " "]
    assert isinstance(steps[-1], Finished)
    assert steps[-1].reason == "stop"


async def test_the_start_of_a_stop_string_is_streamed_if_it_is_not_completed() -> None:
    likely: Table = {"": {"one": 1.0}, "one": {" tw": 1.0}, "one tw": {"enty": 1.0}}
    stopping = msgspec.structs.replace(BEAM, stop=("two",))
    assert step_texts(await generate(likely, stopping)) == ["one", " twenty", ""]


async def test_it_ends_at_max_tokens() -> None:
    likely: Table = {"a" * length: {"a": 1.0} for length in range(20)}
    short = msgspec.structs.replace(BEAM, max_tokens=5)
    steps = await generate(likely, short)
    assert "".join(step_texts(steps)) == "aaaaa"
    assert isinstance(steps[-1], Finished)
    assert steps[-1].reason == "length"


async def test_the_score_does_not_punish_length() -> None:
    likely: Table = {"": {"": 0.3, "Good": 0.7}, "Good": {" day": 0.6, " night": 0.4}}
    assert "".join(step_texts(await generate(likely))) == "Good day"


async def test_a_hypothesis_that_is_behind_can_still_win() -> None:
    likely: Table = {"": {"": 0.3, "Good": 0.25}, "Good": {" day": 1.0}, "Good day": {" to": 1.0}}
    assert "".join(step_texts(await generate(likely))) == "Good day to"


async def test_it_stops_when_no_live_hypothesis_can_win() -> None:
    likely: Table = {"": {"": 0.9, "a": 0.1}} | {"a" * size: {"a": 0.9} for size in range(1, 20)}
    steps = await generate(likely)
    assert step_texts(steps) == [""]
    assert 1 <= num_searched(steps) < 9  # stopped early, although the limit is twice as long


async def test_it_stops_when_as_many_have_ended_as_there_are_beams() -> None:
    likely: Table = {"": {"a": 0.9, "": 0.1}} | {
        "a" * size: {"": 0.6, "a": 0.4} for size in range(1, 20)
    }
    assert num_searched(await generate(likely)) <= 3


async def test_each_step_counts_the_searched_tokens() -> None:
    steps = await generate(GARDEN_PATH)
    on_the_way = [step.num_searched_tokens for step in steps if isinstance(step, Generated)]
    assert on_the_way == [1, 2, 2, UNSET]
    assert num_searched(steps) == 5


async def test_alternatives_are_recorded_on_request() -> None:
    recording = msgspec.structs.replace(BEAM, top_logprobs=2)
    first = tokens(await generate(GARDEN_PATH, recording))[0]
    assert [(other.text, round(math.exp(other.logprob), 2)) for other in first.top] == [
        ("The", 0.6),
        ("A", 0.4),
    ]


async def test_a_script_has_the_same_text_under_every_policy() -> None:
    answers = []
    for sampling in (Sampling(), Sampling(policy="greedy"), BEAM):
        engine = ScriptedEngine([Script(text="To be, or not to be.")])
        prompt = await prompt_for(engine)
        steps = [step async for step in engine.generate(prompt, sampling)]
        answers.append("".join(step_texts(steps)))
    assert set(answers) == {"To be, or not to be."}


async def test_closing_a_search_frees_its_slot() -> None:
    engine = ScriptedEngine([Script(likely=GARDEN_PATH, pace_s=3600.0)])
    steps = engine.generate(await prompt_for(engine), BEAM)
    assert isinstance(await anext(steps), Prefilled)
    assert engine.status().num_busy_slots == 1
    await steps.aclose()
    assert engine.status().num_busy_slots == 0


CHANCES = st.floats(0.05, 1.0)


@given(st.lists(CHANCES, min_size=14, max_size=14))
async def test_with_enough_beams_it_finds_the_best_of_all_texts(
    weights: list[float],
) -> None:
    """All texts of three characters from an alphabet of two, with random probabilities."""
    prefixes = ["".join(letters) for size in range(3) for letters in product("ab", repeat=size)]
    likely: Table = {}
    for place, prefix in enumerate(prefixes):
        one, other = weights[2 * place : 2 * place + 2]
        likely[prefix] = {"a": one / (one + other), "b": other / (one + other)}

    def chance(text: str) -> float:
        return math.prod(likely[text[:at]][letter] for at, letter in enumerate(text))

    steps = await generate(likely, Sampling(policy="beam", num_beams=8))
    best = max(chance("".join(letters)) for letters in product("ab", repeat=3))
    assert chance("".join(step_texts(steps))) == pytest.approx(best)


@given(st.text(min_size=1, max_size=12), st.text(min_size=1, max_size=3))
async def test_the_text_is_complete_up_to_the_first_stop_string(text: str, stop: str) -> None:
    likely: Table = {text[:at]: {text[at]: 1.0} for at in range(len(text))}
    steps = await generate(likely, Sampling(policy="beam", num_beams=2, stop=(stop,)))
    assert "".join(step_texts(steps)) == text.partition(stop)[0]
