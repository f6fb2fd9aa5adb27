"""The real small model continues a partial answer, also in the middle of a word."""

import asyncio
from contextlib import aclosing

import pytest
from tests.engine.answer import LONG, Answer, answer_of, user

from hitsend.engine import Delayed, LlamaEngine, Prefilled, Prompt
from hitsend.messages import Message, PartialAnswer, Sampling, Text

pytestmark = pytest.mark.asyncio(loop_scope="session")

QUESTION = user("Name the capital of France in one sentence.")


PARIS = (Text("Paris"),)


def ids_of(answer: Answer) -> tuple[int, ...]:
    return tuple(token.token_id for token in answer.tokens)


async def encode_partial_answer(engine: LlamaEngine, text: str) -> Prompt:
    return await engine.encode("auto", [QUESTION, Message("assistant", (Text(text),), "answer")])


@pytest.mark.parametrize("num_tokens", [1, 3, 6])
async def test_a_continued_answer_equals_the_uninterrupted_one(
    engine: LlamaEngine, num_tokens: int
) -> None:
    fresh = await engine.encode("auto", [QUESTION])
    whole = await answer_of(engine, fresh, Sampling(temperature=0, max_tokens=12))
    cut = await answer_of(engine, fresh, Sampling(temperature=0, max_tokens=num_tokens))
    rest = Sampling(temperature=0, max_tokens=12 - num_tokens)
    more = await answer_of(engine, await encode_partial_answer(engine, cut.text), rest)
    assert cut.text + more.text == whole.text


async def test_a_word_cut_in_two_is_completed_without_a_space(engine: LlamaEngine) -> None:
    prompt = await encode_partial_answer(engine, "The capital of France is Par")
    more = await answer_of(engine, prompt, Sampling(temperature=0, max_tokens=4))
    assert more.text[0].isalpha()


async def test_the_partial_answer_ends_the_prompt_as_text(
    engine: LlamaEngine,
) -> None:
    fresh = await engine.encode("auto", [QUESTION])
    text = "Ends <|im_end|> here"
    ids = (await engine.tokenize("auto", text)).ids
    prompt = await encode_partial_answer(engine, text)
    assert prompt.ids == fresh.ids + ids
    assert (prompt.spans[-1].source, prompt.spans[-1].index) == ("answer", 1)
    assert prompt.spans[-1].num_tokens == len(ids)


@pytest.mark.parametrize("num_tokens", [1, 2, 5, 11, 17])
async def test_a_partial_answer_keeps_the_ids_it_was_generated_with(
    engine: LlamaEngine, num_tokens: int
) -> None:
    question = user("Write three short words in Greek, with an emoji after each.")
    fresh = await engine.encode("auto", [question])
    whole = ids_of(await answer_of(engine, fresh, Sampling(temperature=0, max_tokens=24)))
    cut = await answer_of(engine, fresh, Sampling(temperature=0, max_tokens=num_tokens))
    answer = PartialAnswer("assistant", (Text(cut.text),), "answer", token_ids=ids_of(cut))
    prompt = await engine.encode("auto", [question, answer])
    assert prompt.ids == fresh.ids + ids_of(cut)
    rest = Sampling(temperature=0, max_tokens=24 - num_tokens)
    more = await answer_of(engine, prompt, rest)
    assert ids_of(cut) + ids_of(more) == whole
    assert more.read.num_evaluated_tokens <= 2


async def test_ids_are_kept_if_the_text_tokenizes_differently(
    engine: LlamaEngine,
) -> None:
    letters = [(await engine.tokenize("auto", letter)).ids for letter in "Paris"]
    ids = tuple(token_id for one in letters for token_id in one)
    prompt = await engine.encode(
        "auto", [QUESTION, PartialAnswer("assistant", PARIS, "answer", token_ids=ids)]
    )
    assert prompt.ids[-len(ids) :] == ids
    assert (await encode_partial_answer(engine, "Paris")).ids[-len(ids) :] != ids


@pytest.mark.parametrize("ids", [(1, 2, 3), (10**6,), (-1,)])
async def test_ids_that_do_not_decode_to_the_answer_are_not_used(
    engine: LlamaEngine, ids: tuple[int, ...]
) -> None:
    prompt = await engine.encode(
        "auto", [QUESTION, PartialAnswer("assistant", PARIS, "answer", token_ids=ids)]
    )
    assert prompt.ids == (await encode_partial_answer(engine, "Paris")).ids


async def test_the_partial_answer_is_still_in_the_cache(engine: LlamaEngine) -> None:
    fresh = await engine.encode("auto", [QUESTION])
    cut = await answer_of(engine, fresh, Sampling(temperature=0, max_tokens=5))
    more = await answer_of(engine, await encode_partial_answer(engine, cut.text))
    assert more.read.num_evaluated_tokens <= 2


async def test_an_answer_that_waits_for_a_slot_reports_the_delay(engine: LlamaEngine) -> None:
    prompt = await engine.encode("auto", [QUESTION])
    async with (
        asyncio.timeout(60),
        aclosing(engine.generate(prompt, LONG)) as first,
        aclosing(engine.generate(prompt, LONG)) as second,
    ):
        assert isinstance(await anext(first), Prefilled)
        assert await anext(second) == Delayed("queue", 0)
        await first.aclose()
        assert isinstance(await anext(second), Prefilled)
