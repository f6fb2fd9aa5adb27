"""The decoding policies on the real small model."""

import asyncio
import math

import pytest
from tests.engine.answer import GREEDY, Answer, answer_of, prompt_of

from hitsend.engine import LlamaEngine, Prefilled
from hitsend.messages import Sampling

pytestmark = pytest.mark.asyncio(loop_scope="session")

NUM_TOKENS = 12
QUESTIONS = (
    "Say hi.",
    "What is the capital of France?",
    "Tell me about the sea.",
    "Name three colours.",
    "How do I boil an egg?",
    "What is two and two?",
)


def logprob(answer: Answer) -> float:
    return sum(token.logprob or 0.0 for token in answer.tokens)


async def test_greedy_is_temperature_zero(engine: LlamaEngine) -> None:
    prompt = await prompt_of(engine, "Tell me about the sea.")
    by_policy = await answer_of(engine, prompt, Sampling(policy="greedy", max_tokens=16))
    by_temperature = await answer_of(engine, prompt, GREEDY)
    assert [one.token_id for one in by_policy.tokens] == [
        one.token_id for one in by_temperature.tokens
    ]


@pytest.mark.parametrize("question", QUESTIONS)
async def test_beam_search_is_at_least_as_likely_as_greedy(
    engine: LlamaEngine, question: str
) -> None:
    prompt = await prompt_of(engine, question)
    beam = await answer_of(engine, prompt, Sampling(policy="beam", max_tokens=NUM_TOKENS))
    plain = Sampling(policy="greedy", max_tokens=NUM_TOKENS, top_logprobs=1)
    greedy = await answer_of(engine, prompt, plain)
    assert logprob(beam) >= logprob(greedy) - 0.01
    assert beam.text
    assert "<|im_end|>" not in beam.text


async def test_a_search_reuses_the_kv_cache(
    engine: LlamaEngine,
) -> None:
    """The common prefix of the hypotheses is evaluated once."""
    prompt = await prompt_of(engine, "Tell me about the sea, and begin with its colour.")
    beam = await answer_of(engine, prompt, Sampling(policy="beam", num_beams=2, max_tokens=8))
    num_searched = beam.finished.usage.num_searched_tokens
    assert isinstance(num_searched, int)
    assert 8 <= num_searched <= prompt.num_tokens + 2 * 8 * 8 // 2


async def test_a_search_uses_the_models_own_probabilities(engine: LlamaEngine) -> None:
    prompt = await prompt_of(engine, "Tell me about the sea.")
    plain = Sampling(policy="greedy", max_tokens=1, top_logprobs=3)
    recorded = (await answer_of(engine, prompt, plain)).tokens[0].top
    search = Sampling(policy="beam", max_tokens=1, top_logprobs=3)
    searched = (await answer_of(engine, prompt, search)).tokens[0].top
    assert [one.token_id for one in searched] == [one.token_id for one in recorded]
    for one, other in zip(searched, recorded, strict=True):
        assert one.logprob == pytest.approx(other.logprob, abs=0.01)
    assert sum(math.exp(one.logprob) for one in searched) <= 1.0


async def test_a_search_recognises_the_end_token(engine: LlamaEngine) -> None:
    prompt = await prompt_of(engine, "What is the capital of France?")
    answer = await answer_of(engine, prompt, Sampling(policy="beam", max_tokens=32))
    assert answer.finished.reason == "stop"
    assert answer.tokens[-1].text == ""


async def test_closing_a_search_frees_its_slot(engine: LlamaEngine) -> None:
    prompt = await prompt_of(engine, "Tell me about the sea.")
    steps = engine.generate(prompt, Sampling(policy="beam", max_tokens=64))
    assert isinstance(await anext(steps), Prefilled)
    searching = asyncio.ensure_future(anext(steps))
    await asyncio.sleep(0)
    assert engine.status().num_busy_slots == 1
    searching.cancel()
    with pytest.raises(asyncio.CancelledError):
        await searching
    await steps.aclose()
    assert engine.status().num_busy_slots == 0
    assert (await answer_of(engine, prompt)).text


async def test_a_stop_string_ends_a_search(engine: LlamaEngine) -> None:
    prompt = await prompt_of(engine, "What is the capital of France?")
    stopping = Sampling(policy="beam", max_tokens=16, stop=("Paris",))
    answer = await answer_of(engine, prompt, stopping)
    assert answer.text == "The capital of France is "
    assert answer.finished.reason == "stop"
