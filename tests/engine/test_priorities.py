"""Answers preempt idle work on the real small model, and reuse what it prefilled."""

import asyncio
from contextlib import aclosing

import msgspec
import pytest
from tests.engine.answer import GREEDY, LONG, answer_of, prompt_of

from hitsend.engine import LlamaEngine, Preempted, Prefilled, PrefillResult, Prompt

pytestmark = pytest.mark.asyncio(loop_scope="session")

OTHER = "Rivers and lakes, rivers and lakes. " * 12


def beginning(prompt: Prompt, num_tokens: int) -> Prompt:
    return msgspec.structs.replace(prompt, ids=prompt.ids[:num_tokens], num_tokens=num_tokens)


async def test_idle_generation_runs_while_the_engine_is_idle(engine: LlamaEngine) -> None:
    prompt = await prompt_of(engine, "Name a colour.")
    async with asyncio.timeout(60):
        text = await engine.generate_when_idle(prompt, GREEDY)
    assert text == (await answer_of(engine, prompt)).text


async def test_an_answer_preempts_idle_generation(engine: LlamaEngine) -> None:
    prompt = await prompt_of(engine, "Tell me about boats.")
    async with asyncio.timeout(60):
        idle = asyncio.create_task(engine.generate_when_idle(prompt, LONG))
        await asyncio.sleep(0)
        answer = await answer_of(engine, await prompt_of(engine, "Name a colour."))
        assert answer.text
        with pytest.raises(Preempted):
            await idle


async def test_idle_generation_waits_for_an_answer_or_fails_at_once(engine: LlamaEngine) -> None:
    prompt = await prompt_of(engine, "Name a colour.")
    async with asyncio.timeout(60):
        async with aclosing(engine.generate(prompt, LONG)) as answering:
            assert isinstance(await anext(answering), Prefilled)
            with pytest.raises(Preempted):
                await engine.generate_when_idle(prompt, GREEDY, can_wait=False)
            idle = asyncio.create_task(engine.generate_when_idle(prompt, GREEDY))
            await anext(answering)
            assert not idle.done()
        assert await idle


async def test_an_answer_preempts_the_prefill_of_another_prompt(engine: LlamaEngine) -> None:
    long = await prompt_of(engine, "A long story about a lighthouse and its keeper. " * 20)
    other = await prompt_of(engine, "Name a colour.")
    async with asyncio.timeout(60):
        prefill = asyncio.create_task(engine.prefill(long))
        await asyncio.sleep(0)
        await answer_of(engine, other)
        assert await prefill == PrefillResult()


async def test_an_answer_reuses_the_running_prefill_of_its_own_prompt(
    engine: LlamaEngine,
) -> None:
    prompt = await prompt_of(engine, "Once upon a time in a city by the sea. " * 20)
    async with asyncio.timeout(60):
        prefill = asyncio.create_task(engine.prefill(beginning(prompt, prompt.num_tokens - 8)))
        await engine.tokenize("auto", "Meanwhile the first step is sent.")
        answer = await answer_of(engine, prompt)
        read = await prefill
    assert not read.is_complete, "the answer's own request evaluates the rest"
    num_read = read.num_cached_tokens + read.num_evaluated_tokens
    assert read.num_evaluated_tokens
    assert answer.read.num_cached_tokens >= num_read - 1


async def test_a_prefill_survives_idle_generation_and_another_answer(engine: LlamaEngine) -> None:
    prompt = await prompt_of(engine, "The castle stood on a hill above the river. " * 12)
    start = beginning(prompt, prompt.num_tokens - 8)
    async with asyncio.timeout(60):
        read = await engine.prefill(start)
        assert read.is_complete
        assert read.num_cached_tokens + read.num_evaluated_tokens == start.num_tokens
        await engine.generate_when_idle(
            await prompt_of(engine, "A title for a talk about boats."), GREEDY
        )
        await answer_of(engine, await prompt_of(engine, OTHER))
        again = await engine.prefill(start)
        answer = await answer_of(engine, prompt)
    assert again.is_complete
    assert again.num_evaluated_tokens <= 2
    assert answer.read.num_cached_tokens >= start.num_tokens - 1


async def test_a_prefill_keeps_an_earlier_answer_in_the_cache(engine: LlamaEngine) -> None:
    prompt = await prompt_of(engine, "Count with me, slowly and with care.")
    answer = await answer_of(engine, prompt)
    ids = (*prompt.ids, *(token.token_id for token in answer.tokens))
    more = msgspec.structs.replace(prompt, ids=ids + prompt.ids, num_tokens=len(ids + prompt.ids))
    await answer_of(engine, await prompt_of(engine, OTHER))
    async with asyncio.timeout(60):
        read = await engine.prefill(more)
    assert read.num_cached_tokens >= len(ids) - 1
