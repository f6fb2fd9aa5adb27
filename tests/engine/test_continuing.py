"""The real small model goes on from the last word, or from the middle of one."""

import asyncio
from contextlib import aclosing

import pytest
from tests.engine.asking import LONG, Answer, answer_of, user

from hitsend.engine import Delayed, LlamaEngine, Prompt, PromptWasRead
from hitsend.messages import Begun, Message, Sampling, Text

pytestmark = pytest.mark.asyncio(loop_scope="session")

ASKED = user("Name the capital of France in one sentence.")


PARIS = (Text("Paris"),)


def ids_of(answer: Answer) -> tuple[int, ...]:
    return tuple(token.token_id for token in answer.tokens)


async def begun(engine: LlamaEngine, text: str) -> Prompt:
    return await engine.encode("auto", [ASKED, Message("assistant", (Text(text),), "answer")])


@pytest.mark.parametrize("num_tokens", [1, 3, 6])
async def test_an_answer_in_two_pieces_is_the_answer_in_one(
    engine: LlamaEngine, num_tokens: int
) -> None:
    fresh = await engine.encode("auto", [ASKED])
    whole = await answer_of(engine, fresh, Sampling(temperature=0, max_tokens=12))
    cut = await answer_of(engine, fresh, Sampling(temperature=0, max_tokens=num_tokens))
    rest = Sampling(temperature=0, max_tokens=12 - num_tokens)
    more = await answer_of(engine, await begun(engine, cut.text), rest)
    assert cut.text + more.text == whole.text


async def test_a_word_cut_in_two_is_finished_without_a_space(engine: LlamaEngine) -> None:
    prompt = await begun(engine, "The capital of France is Par")
    more = await answer_of(engine, prompt, Sampling(temperature=0, max_tokens=4))
    assert more.text[0].isalpha()


async def test_the_begun_answer_is_the_end_of_the_prompt_and_no_structure(
    engine: LlamaEngine,
) -> None:
    fresh = await engine.encode("auto", [ASKED])
    text = "Ends <|im_end|> here"
    ids = (await engine.tokenize("auto", text)).ids
    prompt = await begun(engine, text)
    assert prompt.ids == fresh.ids + ids
    assert (prompt.spans[-1].source, prompt.spans[-1].index) == ("answer", 1)
    assert prompt.spans[-1].num_tokens == len(ids)


@pytest.mark.parametrize("num_tokens", [1, 2, 5, 11, 17])
async def test_an_answer_goes_on_from_the_very_tokens_it_was_written_in(
    engine: LlamaEngine, num_tokens: int
) -> None:
    asked = user("Write three short words in Greek, with an emoji after each.")
    fresh = await engine.encode("auto", [asked])
    whole = ids_of(await answer_of(engine, fresh, Sampling(temperature=0, max_tokens=24)))
    cut = await answer_of(engine, fresh, Sampling(temperature=0, max_tokens=num_tokens))
    answer = Begun("assistant", (Text(cut.text),), "answer", ids_of(cut))
    prompt = await engine.encode("auto", [asked, answer])
    assert prompt.ids == fresh.ids + ids_of(cut)
    rest = Sampling(temperature=0, max_tokens=24 - num_tokens)
    more = await answer_of(engine, prompt, rest)
    assert ids_of(cut) + ids_of(more) == whole
    assert more.read.num_evaluated_tokens <= 2


async def test_tokens_are_kept_where_the_text_would_be_split_otherwise(engine: LlamaEngine) -> None:
    letters = [(await engine.tokenize("auto", letter)).ids for letter in "Paris"]
    ids = tuple(token_id for one in letters for token_id in one)
    prompt = await engine.encode("auto", [ASKED, Begun("assistant", PARIS, "answer", ids)])
    assert prompt.ids[-len(ids) :] == ids
    assert (await begun(engine, "Paris")).ids[-len(ids) :] != ids


@pytest.mark.parametrize("ids", [(1, 2, 3), (10**6,), (-1,)])
async def test_tokens_that_do_not_spell_the_answer_are_not_used(
    engine: LlamaEngine, ids: tuple[int, ...]
) -> None:
    prompt = await engine.encode("auto", [ASKED, Begun("assistant", PARIS, "answer", ids)])
    assert prompt.ids == (await begun(engine, "Paris")).ids


async def test_what_was_said_before_is_still_in_the_cache(engine: LlamaEngine) -> None:
    fresh = await engine.encode("auto", [ASKED])
    cut = await answer_of(engine, fresh, Sampling(temperature=0, max_tokens=5))
    more = await answer_of(engine, await begun(engine, cut.text))
    assert more.read.num_evaluated_tokens <= 2


async def test_an_answer_that_waits_for_its_slot_says_so(engine: LlamaEngine) -> None:
    prompt = await engine.encode("auto", [ASKED])
    async with (
        asyncio.timeout(60),
        aclosing(engine.generate(prompt, LONG)) as first,
        aclosing(engine.generate(prompt, LONG)) as second,
    ):
        assert isinstance(await anext(first), PromptWasRead)
        assert await anext(second) == Delayed("queue", 0)
        await first.aclose()
        assert isinstance(await anext(second), PromptWasRead)
