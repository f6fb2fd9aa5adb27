"""A person goes first on the real small model, and what was read ahead is still there for them."""

import asyncio
from contextlib import aclosing

import msgspec
import pytest
from tests.engine.asking import GREEDY, LONG, answer_of, prompt_of

from hitsend.engine import GaveWay, LlamaEngine, Prefilled, Prompt, PromptWasRead

pytestmark = pytest.mark.asyncio(loop_scope="session")

OTHER = "Rivers and lakes, rivers and lakes. " * 12


def beginning(prompt: Prompt, num_tokens: int) -> Prompt:
    return msgspec.structs.replace(prompt, ids=prompt.ids[:num_tokens], num_tokens=num_tokens)


async def test_an_aside_is_said_while_nobody_waits(engine: LlamaEngine) -> None:
    prompt = await prompt_of(engine, "Name a colour.")
    async with asyncio.timeout(60):
        said = await engine.aside(prompt, GREEDY)
    assert said == (await answer_of(engine, prompt)).text


async def test_a_person_ends_an_aside(engine: LlamaEngine) -> None:
    prompt = await prompt_of(engine, "Tell me about boats.")
    async with asyncio.timeout(60):
        aside = asyncio.create_task(engine.aside(prompt, LONG))
        await asyncio.sleep(0)
        answer = await answer_of(engine, await prompt_of(engine, "Name a colour."))
        assert answer.text
        with pytest.raises(GaveWay):
            await aside


async def test_an_aside_waits_for_a_person_or_is_told_at_once(engine: LlamaEngine) -> None:
    prompt = await prompt_of(engine, "Name a colour.")
    async with asyncio.timeout(60):
        async with aclosing(engine.generate(prompt, LONG)) as answering:
            assert isinstance(await anext(answering), PromptWasRead)
            with pytest.raises(GaveWay):
                await engine.aside(prompt, GREEDY, can_wait=False)
            aside = asyncio.create_task(engine.aside(prompt, GREEDY))
            await anext(answering)
            assert not aside.done()
        assert await aside


async def test_a_person_ends_reading_ahead_for_another(engine: LlamaEngine) -> None:
    long = await prompt_of(engine, "A long story about a lighthouse and its keeper. " * 20)
    other = await prompt_of(engine, "Name a colour.")
    async with asyncio.timeout(60):
        reading = asyncio.create_task(engine.prefill(long))
        await asyncio.sleep(0)
        await answer_of(engine, other)
        assert await reading == Prefilled()


async def test_what_is_being_read_for_the_person_who_comes_is_not_read_twice(
    engine: LlamaEngine,
) -> None:
    prompt = await prompt_of(engine, "Once upon a time in a city by the sea. " * 20)
    async with asyncio.timeout(60):
        reading = asyncio.create_task(engine.prefill(beginning(prompt, prompt.num_tokens - 8)))
        await engine.tokenize("auto", "Meanwhile the first step is asked for.")
        answer = await answer_of(engine, prompt)
        read = await reading
    assert not read.is_whole, "the person's own request reads the rest"
    num_read = read.num_cached_tokens + read.num_evaluated_tokens
    assert read.num_evaluated_tokens
    assert answer.read.num_cached_tokens >= num_read - 1


async def test_what_was_read_ahead_outlives_an_aside_and_anothers_turn(engine: LlamaEngine) -> None:
    prompt = await prompt_of(engine, "The castle stood on a hill above the river. " * 12)
    start = beginning(prompt, prompt.num_tokens - 8)
    async with asyncio.timeout(60):
        read = await engine.prefill(start)
        assert read.is_whole
        assert read.num_cached_tokens + read.num_evaluated_tokens == start.num_tokens
        await engine.aside(await prompt_of(engine, "A title for a talk about boats."), GREEDY)
        await answer_of(engine, await prompt_of(engine, OTHER))
        again = await engine.prefill(start)
        answer = await answer_of(engine, prompt)
    assert again.is_whole
    assert again.num_evaluated_tokens <= 2
    assert answer.read.num_cached_tokens >= start.num_tokens - 1


async def test_reading_ahead_does_not_forget_what_was_said(engine: LlamaEngine) -> None:
    prompt = await prompt_of(engine, "Count with me, slowly and with care.")
    answer = await answer_of(engine, prompt)
    ids = (*prompt.ids, *(token.token_id for token in answer.tokens))
    more = msgspec.structs.replace(prompt, ids=ids + prompt.ids, num_tokens=len(ids + prompt.ids))
    await answer_of(engine, await prompt_of(engine, OTHER))
    async with asyncio.timeout(60):
        read = await engine.prefill(more)
    assert read.num_cached_tokens >= len(ids) - 1
