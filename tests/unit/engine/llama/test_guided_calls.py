"""A small model chooses a tool, writes its arguments, and chooses again if it invents."""

import json
from collections.abc import AsyncGenerator, Sequence

import msgspec
from tests.unit.engine.test_encoding import CharacterTemplate

from hitsend.engine.contract import Finished, Generated, GenerationStep, Prefilled, Prompt
from hitsend.engine.llama.guided_calls import (
    GuidedCalls,
    build_guide,
    call_or_reply,
    spread_weights,
)
from hitsend.engine.tool_calls import ToolCallParser
from hitsend.messages import AnswerRules, Message, Text, Token, Tool, ToolCall, ToolResult, Usage


def tool(name: str, *required: str) -> Tool:
    properties = {one: {"type": "string"} for one in (*required, "note")}
    schema = {"type": "object", "properties": properties, "required": required}
    return Tool(name, f"Example: the harbour. {name}", json.dumps(schema))


TOOLS = (tool("get_time", "place"), tool("get_weather", "place"), tool("send", "text"))


class Request(msgspec.Struct):
    prompt: tuple[int, ...]
    grammar: str
    temperature: float
    logit_bias: tuple[tuple[int, float], ...] = ()


class Model:
    """Answers each request with the next text. A text may come with the log probability of its
    first token and of the others."""

    def __init__(self, *texts: str | tuple[str, float, float]) -> None:
        self.texts = list(texts)
        self.requests: list[Request] = []

    async def run(self, request: bytes) -> AsyncGenerator[GenerationStep, None]:
        self.requests.append(msgspec.json.decode(request, type=Request))
        text, *logprobs = one if isinstance(one := self.texts.pop(0), tuple) else (one, -0.1, -0.1)
        yield Prefilled(3, 4, 0.0, 5.0)
        tokens = [
            Token(ord(char), char, logprobs[0] if at == 0 else logprobs[1], 1.0)
            for at, char in enumerate(text)
        ]
        yield Generated(text, tuple(tokens))
        yield Finished("length" if text.endswith("…") else "stop", Usage(7, 3, len(text)))


async def run_calls(
    model: Model,
    question: str,
    rules: AnswerRules | None = None,
    weights: Sequence[float] = (),
    after: Sequence[tuple[float, ...]] = (),
    *,
    has_called: bool = False,
) -> list[GenerationStep]:
    messages = [Message("user", (Text(question),), "user")]
    guide = msgspec.structs.replace(
        build_guide(messages, TOOLS),
        weights=tuple(weights),
        weights_after=tuple(after),
        has_called=has_called,
    )
    prompt = Prompt(
        "m", 1, 99, True, (), (65,), tools=TOOLS, rules=rules or AnswerRules(), guide=guide
    )
    calls = GuidedCalls(prompt, guide, CharacterTemplate(), model.run, 500)

    async def answer() -> AsyncGenerator[GenerationStep, None]:
        yield Prefilled(9, 0, 0.0, 1.0)
        yield Generated("In words.", ())
        yield Finished("stop", Usage(9, 9, 2))

    return [step async for step in call_or_reply(calls, answer)]


def calls_of(steps: Sequence[GenerationStep]) -> list[tuple[str, object]]:
    """What the parser of answers makes of them."""
    parser = ToolCallParser([one.name for one in TOOLS])
    texts = [step.text for step in steps if isinstance(step, Generated)]
    last = steps[-1]
    assert isinstance(last, Finished)
    pieces = [piece for text in texts for piece in parser.feed(text)]
    pieces += parser.finish(is_cut=last.reason == "length")
    assert not [piece for piece in pieces if isinstance(piece, str)]
    return [
        (piece.tool, json.loads(piece.arguments)) for piece in pieces if isinstance(piece, ToolCall)
    ]


async def test_a_call_is_a_name_and_then_its_arguments() -> None:
    model = Model('get_time"', ' {"place": "Rome"}}', "")
    steps = await run_calls(model, "What time is it in Rome?")
    assert calls_of(steps) == [("get_time", {"place": "Rome"})]
    prompts = ["".join(map(chr, one.prompt)) for one in model.requests]
    assert prompts[0].endswith('<tool_call>\n{"name": "')
    assert prompts[1].endswith('<tool_call>\n{"name": "get_time", "arguments":')
    assert all(one.temperature == 0 for one in model.requests)


async def test_a_reply_is_an_answer_in_words_and_the_prompt_is_read_once() -> None:
    steps = await run_calls(Model('reply"'), "Hello!")
    assert [type(step) for step in steps] == [Prefilled, Generated, Finished]
    assert steps[0] == Prefilled(3, 4, 0.0, 5.0)
    assert isinstance(steps[-1], Finished)
    assert steps[-1].usage.num_cached_tokens == 3


async def test_several_calls_are_made_until_one_repeats() -> None:
    rome, oslo = ' {"place": "Rome"}}', ' {"place": "Oslo"}}'
    more = '\n<tool_call>\n{"name": "get_time"'
    model = Model('get_time"', rome, more, oslo, more, rome)
    steps = await run_calls(model, "What time is it in Rome and in Oslo?")
    assert [arguments for _, arguments in calls_of(steps)] == [{"place": "Rome"}, {"place": "Oslo"}]


async def test_a_second_call_that_invents_is_not_made() -> None:
    more = '\n<tool_call>\n{"name": "send"'
    model = Model('get_time"', ' {"place": "Rome"}}', more, ' {"text": "It is 14:05 now"}}')
    steps = await run_calls(model, "Send the time of Rome to me")
    assert calls_of(steps) == [("get_time", {"place": "Rome"})]


async def test_what_asks_for_one_thing_needs_one_tool() -> None:
    model = Model('get_time"', ' {"place": "Rome"}}', "")
    await run_calls(model, "The time of Rome")
    assert "get_time" in model.requests[2].grammar
    assert "send" not in model.requests[2].grammar


async def test_what_asks_for_two_things_may_need_two_tools() -> None:
    model = Model('get_time"', ' {"place": "Rome"}}', "")
    await run_calls(model, "Tell the time of Rome and send Ann a greeting")
    assert "send" in model.requests[2].grammar


async def test_a_further_call_differs_in_what_is_required() -> None:
    again = '\n<tool_call>\n{"name": "get_time"'
    rome = ' {"place": "Rome"}}'
    model = Model('get_time"', rome, again, ' {"place": "Rome", "note": "Rome"}}')
    steps = await run_calls(model, "What time is it in Rome?")
    assert calls_of(steps) == [("get_time", {"place": "Rome"})]


async def test_a_further_call_is_made_without_what_it_invents_beside() -> None:
    again = '\n<tool_call>\n{"name": "get_time"'
    model = Model(
        'get_time"', ' {"place": "Rome"}}', again, ' {"place": "Oslo", "note": "7 am"}}', ""
    )
    steps = await run_calls(model, "What time is it in Rome and in Oslo?")
    assert [arguments for _, arguments in calls_of(steps)] == [{"place": "Rome"}, {"place": "Oslo"}]


async def test_two_things_of_two_tools_need_two_calls() -> None:
    more = '\n<tool_call>\n{"name": "send"'
    model = Model('get_time"', ' {"place": "Rome"}}', more, ' {"text": "greeting"}}')
    steps = await run_calls(model, "Tell the time of Rome and send Ann a greeting")
    assert len(calls_of(steps)) == 2


async def test_after_a_call_the_weights_are_those_of_what_is_left() -> None:
    model = Model('get_time"', ' {"place": "Rome"}}', "")
    await run_calls(
        model,
        "Tell the time of Rome and send Ann a greeting",
        weights=[4.0, 2.0, 0.0, 3.0],
        after=[(0.0, 0.0, 7.0, 0.0)] * 3,
    )
    assert dict(model.requests[0].logit_bias)[ord("g")] == 4
    assert dict(model.requests[2].logit_bias)[ord("s")] == 7


async def test_one_call_is_enough_where_calls_are_not_parallel() -> None:
    model = Model('get_time"', ' {"place": "Rome"}}')
    steps = await run_calls(model, "The time of Rome", AnswerRules(has_parallel_calls=False))
    assert len(calls_of(steps)) == 1


def test_after_a_result_one_call_is_made_at_a_time() -> None:
    asked = Message("user", (Text("Rome?"),), "user")
    result = Message("tool", (ToolResult("1", "14:05"),), "tool")
    assert build_guide([asked, result], TOOLS).has_called
    assert not build_guide([asked], TOOLS).has_called


async def test_a_round_after_a_result_has_one_call() -> None:
    model = Model('get_time"', ' {"place": "Rome"}}')
    assert len(calls_of(await run_calls(model, "The time of Rome", has_called=True))) == 1


async def test_another_tool_replaces_one_whose_arguments_are_invented() -> None:
    model = Model(
        'send"', ' {"text": "Sunny, 21 degrees"}}', 'get_weather"', ' {"place": "Rome"}}', ""
    )
    steps = await run_calls(model, "Send me the weather of Rome")
    assert calls_of(steps) == [("get_weather", {"place": "Rome"})]
    assert "send" not in model.requests[2].grammar


async def test_an_invented_call_stays_if_no_other_is_likely() -> None:
    model = Model('send"', ' {"text": "Sunny, 21 degrees"}}', ('get_weather"', -9.0, -0.1), "")
    steps = await run_calls(model, "Write something")
    assert calls_of(steps) == [("send", {"text": "Sunny, 21 degrees"})]


async def test_a_name_whose_end_is_unlikely_is_compared_with_another() -> None:
    model = Model(('get_time"', -0.2, -2.0), ('send"', -1.0, -0.1), ' {"text": "Rome"}}', "")
    assert calls_of(await run_calls(model, "Send Rome")) == [("send", {"text": "Rome"})]


async def test_a_call_is_made_where_there_has_to_be_one() -> None:
    model = Model('get_time"', ' {"place": "Rome"}}', "")
    await run_calls(model, "Rome", AnswerRules(must_call=True))
    assert "reply" not in model.requests[0].grammar


async def test_examples_of_the_description_are_left_out() -> None:
    model = Model('get_time"', ' {"place": "Rome", "note": "the harbour"}}', "")
    assert calls_of(await run_calls(model, "Rome")) == [("get_time", {"place": "Rome"})]


async def test_a_long_argument_is_passed_on_as_it_comes() -> None:
    text = "a" * 300
    model = Model('send"', f' {{"text": "{text}"}}}}', "")
    steps = await run_calls(model, "Send a long text")
    assert calls_of(steps) == [("send", {"text": text})]


async def test_a_call_that_reaches_the_limit_is_dropped() -> None:
    model = Model('send"', ' {"text": "abc…')
    steps = await run_calls(model, "Send abc")
    assert calls_of(steps) == []
    assert isinstance(steps[-1], Finished)
    assert steps[-1].reason == "length"


async def test_special_tokens_in_arguments_stay_text() -> None:
    model = Model('send"', ' {"text": "#1"}}', "")
    await run_calls(model, "Send #1")
    assert ord("#") in model.requests[2].prompt


async def test_the_weights_of_the_tools_and_of_the_reply_are_added() -> None:
    model = Model('reply"')
    await run_calls(model, "Hello", weights=[4.0, 2.0, 0.0, 3.0])
    bias = dict(model.requests[0].logit_bias)
    assert bias[ord("g")] == 4
    assert bias[ord("w")] == -2
    assert bias[ord("r")] == 3


def test_the_bias_of_a_name_is_its_weight() -> None:
    weights = {(1, 2): 4.0, (1, 3): 1.0, (4,): 2.0}
    bias = spread_weights(weights)
    for ids, weight in weights.items():
        assert sum(bias.get(one, 0.0) for one in ids) == weight
