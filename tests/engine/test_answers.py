"""Answers of the real small model, token by token."""

import asyncio
import json
from contextlib import aclosing

import pytest
import pytest_asyncio
from tests.engine.answer import LONG, answer_of, prompt_of, user

from hitsend.engine import Generated, LlamaEngine, Prompt
from hitsend.errors import PromptTooLong, Refused, UnknownModel
from hitsend.messages import Message, Sampling, Text, Tool
from hitsend.settings import Settings

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def prompt(engine: LlamaEngine) -> Prompt:
    return await prompt_of(engine, "Tell me about the sea.")


async def test_greedy_answers_are_the_same_every_time(engine: LlamaEngine, prompt: Prompt) -> None:
    first = await answer_of(engine, prompt)
    second = await answer_of(engine, prompt)
    assert first.text
    assert [token.token_id for token in first.tokens] == [t.token_id for t in second.tokens]


async def test_greedy_chooses_the_most_likely_token(engine: LlamaEngine, prompt: Prompt) -> None:
    sampling = Sampling(temperature=0, max_tokens=8, top_logprobs=3)
    for token in (await answer_of(engine, prompt, sampling)).tokens:
        assert token.token_id == token.top[0].token_id


async def test_the_same_seed_gives_the_same_answer(engine: LlamaEngine, prompt: Prompt) -> None:
    def sampling(seed: int) -> Sampling:
        return Sampling(temperature=1.5, top_p=1.0, min_p=0.0, max_tokens=16, seed=seed)

    first = await answer_of(engine, prompt, sampling(7))
    assert (await answer_of(engine, prompt, sampling(7))).text == first.text
    assert (await answer_of(engine, prompt, sampling(8))).text != first.text


async def test_each_token_comes_with_its_probability_and_alternatives(
    engine: LlamaEngine, prompt: Prompt
) -> None:
    answer = await answer_of(engine, prompt, Sampling(max_tokens=6, top_logprobs=4))
    for token in answer.tokens:
        assert token.logprob is not None
        assert token.logprob <= 0
        assert len(token.top) == 4
        logprobs = [other.logprob for other in token.top]
        assert logprobs == sorted(logprobs, reverse=True)
    assert [token.at_ms for token in answer.tokens] == sorted(t.at_ms for t in answer.tokens)


async def test_probabilities_are_computed_only_on_request(
    engine: LlamaEngine, prompt: Prompt
) -> None:
    answer = await answer_of(engine, prompt)
    assert all(token.logprob is None and not token.top for token in answer.tokens)


async def test_usage_counts_the_tokens(engine: LlamaEngine, prompt: Prompt) -> None:
    answer = await answer_of(engine, prompt)
    usage = answer.finished.usage
    assert answer.finished.reason == "length"
    assert usage.num_output_tokens == len(answer.tokens) == 16
    assert usage.num_input_tokens == prompt.num_tokens
    assert answer.read.num_cached_tokens + answer.read.num_evaluated_tokens == prompt.num_tokens


async def test_the_next_turn_reuses_the_cached_prefix(engine: LlamaEngine) -> None:
    first = [user("Count with me, slowly and with care: one, two, three.")]
    answer = await answer_of(engine, await engine.encode("auto", first))
    answered = Message("assistant", (Text(answer.text),), "history")
    prompt = await engine.encode("auto", [*first, answered, user("And then?")])
    read = (await answer_of(engine, prompt)).read
    num_first_tokens = (await engine.encode("auto", first)).num_tokens
    assert read.num_cached_tokens >= num_first_tokens


async def test_a_prefilled_prompt_is_cached(engine: LlamaEngine) -> None:
    prompt = await prompt_of(engine, "Warm me up before you go, " * 8)
    await engine.prefill(prompt)
    read = (await answer_of(engine, prompt)).read
    assert read.num_evaluated_tokens <= 2


async def test_a_stop_string_ends_the_answer_and_is_not_in_it(
    engine: LlamaEngine, prompt: Prompt
) -> None:
    whole = await answer_of(engine, prompt)
    words = whole.text.split()
    stop = f"{words[3]} {words[4]}"
    answer = await answer_of(engine, prompt, Sampling(temperature=0, max_tokens=16, stop=(stop,)))
    assert answer.finished.reason == "stop"
    assert answer.text == whole.text[: whole.text.index(stop)]


async def test_a_banned_token_is_not_generated(engine: LlamaEngine, prompt: Prompt) -> None:
    first = (await answer_of(engine, prompt)).tokens[0].token_id
    sampling = Sampling(temperature=0, max_tokens=4, logit_bias=((first, -100.0),))
    answer = await answer_of(engine, prompt, sampling)
    assert first not in [token.token_id for token in answer.tokens]


async def test_a_token_that_does_not_exist_is_refused(engine: LlamaEngine, prompt: Prompt) -> None:
    with pytest.raises(Refused, match="logit_bias"):
        await answer_of(engine, prompt, Sampling(logit_bias=((10_000_000, 1.0),)))


async def test_an_answer_follows_a_json_schema(engine: LlamaEngine, prompt: Prompt) -> None:
    schema = {
        "type": "object",
        "properties": {"wet": {"type": "boolean"}},
        "required": ["wet"],
        "additionalProperties": False,
    }
    sampling = Sampling(temperature=0, max_tokens=64, json_schema=json.dumps(schema))
    answer = await answer_of(engine, prompt, sampling)
    assert type(json.loads(answer.text)["wet"]) is bool


@pytest.mark.parametrize("schema", ['{"type": "nonsense"}', '{"$ref": "#/nowhere"}'])
async def test_a_schema_that_cannot_be_enforced_is_refused(
    engine: LlamaEngine, prompt: Prompt, schema: str
) -> None:
    with pytest.raises(Refused, match="JSON Schema"):
        await answer_of(engine, prompt, Sampling(max_tokens=4, json_schema=schema))


async def test_characters_of_several_tokens_arrive_complete(
    engine: LlamaEngine, prompt: Prompt
) -> None:
    """The emoji are three tokens each in this model, and the answer can be nothing else."""
    schema = json.dumps({"const": "😀é😀"})
    answer = await answer_of(
        engine, prompt, Sampling(temperature=0, max_tokens=32, json_schema=schema)
    )
    assert json.loads(answer.text) == "😀é😀"
    assert answer.finished.usage.num_output_tokens == len(answer.tokens)
    pieces = await engine.tokenize("auto", "😀")
    ids = [token.token_id for token in answer.tokens]
    start = ids.index(pieces.ids[0])
    assert tuple(ids[start : start + 3]) == pieces.ids


async def test_an_answer_cut_inside_a_character_ends_with_a_replacement_character(
    engine: LlamaEngine, prompt: Prompt
) -> None:
    schema = json.dumps({"const": "😀"})
    whole = Sampling(temperature=0, max_tokens=32, json_schema=schema)
    ids = [token.token_id for token in (await answer_of(engine, prompt, whole)).tokens]
    last = ids.index((await engine.tokenize("auto", "😀")).ids[1]) + 1
    cut = Sampling(temperature=0, max_tokens=last, json_schema=schema)
    answer = await answer_of(engine, prompt, cut)
    assert answer.text.endswith("\ufffd")
    assert answer.text.count("\ufffd") == 1
    assert len(answer.tokens) == last


async def test_pieces_are_the_bytes_of_the_text(engine: LlamaEngine) -> None:
    text = "Grüße <|im_start|> 😀"
    pieces = await engine.tokenize("auto", text)
    assert b"".join(pieces.pieces).decode() == text
    assert len(pieces.ids) == len(pieces.pieces)


async def test_closing_a_generation_frees_its_slot(engine: LlamaEngine, prompt: Prompt) -> None:
    """With one slot, the next answer could not begin before the long one has ended."""
    async with asyncio.timeout(30):
        async with aclosing(engine.generate(prompt, LONG)) as steps:
            async for step in steps:
                if isinstance(step, Generated):
                    break
        assert engine.status().num_busy_slots == 0
        assert (await answer_of(engine, prompt)).read.queued_ms < 5000


async def test_the_second_answer_waits_and_is_counted(engine: LlamaEngine, prompt: Prompt) -> None:
    first = engine.generate(prompt, LONG)
    await anext(first)
    second = asyncio.create_task(answer_of(engine, prompt))
    while not engine.status().num_waiting:
        await anext(first)
    assert (engine.status().num_busy_slots, engine.status().num_waiting) == (1, 1)
    await first.aclose()
    answer = await second
    assert answer.read.queued_ms > 0
    assert engine.status().num_waiting == 0


async def test_a_prompt_that_cannot_fit_is_refused(engine: LlamaEngine, settings: Settings) -> None:
    prompt = await prompt_of(engine, "word " * settings.num_window_tokens)
    assert prompt.num_tokens > prompt.num_window_tokens == settings.num_window_tokens
    with pytest.raises(PromptTooLong):
        await answer_of(engine, prompt)


async def test_an_unknown_model_is_refused_with_the_known_names(engine: LlamaEngine) -> None:
    with pytest.raises(UnknownModel, match="smollm2-135m"):
        await engine.resolve("gpt-17")


async def test_the_default_model_is_listed_first(engine: LlamaEngine) -> None:
    facts = await engine.resolve("auto")
    assert (await engine.models())[0] == facts
    assert facts.is_default
    assert facts.name == "smollm2-135m"
    assert facts.weights_sha256


async def test_tools_are_refused_by_a_model_that_cannot_call_them(engine: LlamaEngine) -> None:
    with pytest.raises(Refused, match="tools"):
        await engine.encode("auto", [user("Hi")], [Tool("f", "", "{}")])
