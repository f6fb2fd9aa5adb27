"""OpenAI's own SDK against our server."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import httpx2
import openai
import pytest
from tests.server.world import World

from hitsend.credentials import hash_token
from hitsend.engine.scripted.playback import PIECE
from hitsend.events import TurnFinished


@pytest.fixture
async def sdk(world: World) -> AsyncGenerator[openai.AsyncOpenAI]:
    ada = await world.someone("ada")
    async with openai.AsyncOpenAI(
        base_url=f"{world.url}/v1", api_key=ada.key, max_retries=0
    ) as client:
        yield client


def says(text: str) -> list[Any]:
    return [{"role": "system", "content": "Be brief."}, {"role": "user", "content": text}]


WEATHER: Any = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "The weather somewhere",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}
CALL = '!script\n<tool_call>\n{"name": "weather", "arguments": {"city": "Bern"}}\n</tool_call>'


async def test_a_whole_completion(sdk: openai.AsyncOpenAI) -> None:
    made = await sdk.chat.completions.create(model="auto", messages=says("!script\nHello."))
    assert made.choices[0].message.content == "Hello."
    assert made.choices[0].finish_reason == "stop"
    assert made.usage
    assert made.usage.total_tokens == made.usage.prompt_tokens + made.usage.completion_tokens
    assert made.id.startswith("chatcmpl-")


async def test_a_streamed_completion_joins_to_the_whole(sdk: openai.AsyncOpenAI) -> None:
    text, usages, reasons = "", [], []
    stream = await sdk.chat.completions.create(
        model="auto",
        messages=says("!script pace=1ms\nGrüße 👩‍🚀 to you."),
        stream=True,
        stream_options={"include_usage": True},
    )
    async for chunk in stream:
        if chunk.usage:
            usages.append(chunk.usage)
            assert chunk.choices == []
        for choice in chunk.choices:
            text += choice.delta.content or ""
            reasons.append(choice.finish_reason)
    assert text == "Grüße 👩‍🚀 to you."
    assert len(usages) == 1
    assert reasons[-1] == "stop"
    assert set(reasons[:-1]) == {None}


async def test_probabilities_come_when_asked_for(sdk: openai.AsyncOpenAI) -> None:
    made = await sdk.chat.completions.create(
        model="auto", messages=says("!script\nyes no"), logprobs=True, top_logprobs=2
    )
    logprobs = made.choices[0].logprobs
    assert logprobs
    assert logprobs.content
    assert "".join(token.token for token in logprobs.content) == "yes no"
    assert all(token.logprob <= 0 and len(token.top_logprobs) <= 2 for token in logprobs.content)


async def test_stop_strings_and_length_end_an_answer(sdk: openai.AsyncOpenAI) -> None:
    stopped = await sdk.chat.completions.create(
        model="auto", messages=says("!script\none two END three"), stop="END"
    )
    assert stopped.choices[0].message.content == "one two "
    assert stopped.choices[0].finish_reason == "stop"
    short = await sdk.chat.completions.create(
        model="auto", messages=says("!script tokens=50"), max_tokens=5
    )
    assert short.choices[0].finish_reason == "length"
    assert short.usage
    assert short.usage.completion_tokens == 5


async def test_a_tool_call_comes_back_in_openais_shape(sdk: openai.AsyncOpenAI) -> None:
    made = await sdk.chat.completions.create(model="auto", messages=says(CALL), tools=[WEATHER])
    choice = made.choices[0]
    assert choice.finish_reason == "tool_calls"
    assert choice.message.tool_calls
    call: Any = choice.message.tool_calls[0]
    assert (call.function.name, call.function.arguments) == ("weather", '{"city": "Bern"}')


async def call_pieces(sdk: openai.AsyncOpenAI, asked: str, **more: Any) -> tuple[list[Any], str]:
    """Returns the pieces of the calls of a streamed answer, and why it finished."""
    stream = await sdk.chat.completions.create(
        model="auto", messages=says(asked), tools=[WEATHER], stream=True, **more
    )
    choices = [choice async for chunk in stream for choice in chunk.choices]
    assert "".join(choice.delta.content or "" for choice in choices) == ""
    pieces = [piece for choice in choices for piece in choice.delta.tool_calls or ()]
    return pieces, str(choices[-1].finish_reason)


async def test_a_streamed_call_has_its_name_first_and_then_its_arguments(
    sdk: openai.AsyncOpenAI,
) -> None:
    pieces, reason = await call_pieces(sdk, CALL.replace("!script", "!script pace=20ms"))
    first, *others = pieces
    assert (first.index, first.type, first.function.name) == (0, "function", "weather")
    assert first.id
    assert first.function.arguments == ""
    assert len(others) > 1
    assert {(one.index, one.id, one.type, one.function.name) for one in others} == {
        (0, None, None, None)
    }
    assert "".join(one.function.arguments for one in others) == '{"city": "Bern"}'
    assert reason == "tool_calls"


async def test_each_of_several_streamed_calls_has_its_own_index(sdk: openai.AsyncOpenAI) -> None:
    pieces, reason = await call_pieces(sdk, f"{CALL}\n{CALL.removeprefix('!script')}")
    assert [piece.index for piece in pieces if piece.id] == [0, 1]
    assert len({piece.id for piece in pieces if piece.id}) == 2
    for index in (0, 1):
        arguments = [piece.function.arguments for piece in pieces if piece.index == index]
        assert "".join(arguments) == '{"city": "Bern"}'
    assert reason == "tool_calls"


async def test_the_stream_helper_of_the_sdk_understands_a_streamed_call(
    sdk: openai.AsyncOpenAI,
) -> None:
    async with sdk.chat.completions.stream(
        model="auto", messages=says(CALL), tools=[WEATHER]
    ) as stream:
        events = [event async for event in stream]
        whole = await stream.get_final_completion()
    deltas = [one for one in events if one.type == "tool_calls.function.arguments.delta"]
    assert "".join(one.arguments_delta for one in deltas) == '{"city": "Bern"}'
    calls: Any = whole.choices[0].message.tool_calls
    assert calls[0].function.name == "weather"
    assert calls[0].function.arguments == '{"city": "Bern"}'
    assert whole.choices[0].finish_reason == "tool_calls"


BROKEN = [
    '<tool_call>\n{"name": "weather", "arguments": {"city": "Be',
    '<tool_call>\n{"name": "weather", "argu',
    "<tool_call>\nweather('Bern')\n</tool_call>",
    '<tool_call>\n{"name": "weather", "arguments": {"city": Bern}}\n</tool_call>',
    '<tool_call>\n{"name": "weather", "arguments": ["Bern"]}\n</tool_call>',
    '<tool_call>\n{"name": "wether", "arguments": {"city": "Bern"}}\n</tool_call>',
    '```json\n{"name": "weather", "arguments": {"city": "Be',
    '{"name": "weather", "arguments": {"city": "Be',
]


async def test_without_parallel_calls_an_answer_has_one_call(sdk: openai.AsyncOpenAI) -> None:
    asked = f"{CALL}\n{CALL.removeprefix('!script')}\nNever said."
    made = await sdk.chat.completions.create(
        model="auto", messages=says(asked), tools=[WEATHER], parallel_tool_calls=False
    )
    choice = made.choices[0]
    assert choice.message.tool_calls
    assert len(choice.message.tool_calls) == 1
    assert (choice.message.content, choice.finish_reason) == (None, "tool_calls")
    assert made.usage
    assert made.usage.prompt_tokens > 0
    assert 0 < made.usage.completion_tokens < len(PIECE.findall(asked))
    pieces, reason = await call_pieces(sdk, asked, parallel_tool_calls=False)
    assert {piece.index for piece in pieces} == {0}
    assert reason == "tool_calls"


@pytest.mark.parametrize("written", BROKEN)
async def test_a_call_that_is_not_whole_is_no_call_and_no_text(
    sdk: openai.AsyncOpenAI, written: str
) -> None:
    asked = f"!script\n{written}"
    made = await sdk.chat.completions.create(model="auto", messages=says(asked), tools=[WEATHER])
    assert made.choices[0].message.tool_calls is None
    assert made.choices[0].message.content == ""
    assert made.choices[0].finish_reason == "length"
    _, reason = await call_pieces(sdk, asked)
    assert reason == "length"


async def test_a_call_that_is_cut_at_the_limit_is_no_call_and_no_text(
    sdk: openai.AsyncOpenAI,
) -> None:
    num_tokens = len(PIECE.findall(CALL.removeprefix("!script\n")))
    for max_tokens in range(1, num_tokens):
        made = await sdk.chat.completions.create(
            model="auto", messages=says(CALL), tools=[WEATHER], max_tokens=max_tokens
        )
        choice = made.choices[0]
        if choice.finish_reason == "tool_calls":  # only its end tag was cut
            calls: Any = choice.message.tool_calls
            assert calls[0].function.arguments == '{"city": "Bern"}'
        else:
            assert choice.finish_reason == "length"
            assert (choice.message.content, choice.message.tool_calls) == ("", None)


async def test_text_before_a_dropped_call_stays(sdk: openai.AsyncOpenAI) -> None:
    asked = "!script\nLet me look.\n<tool_call>\n{}\n</tool_call>"
    made = await sdk.chat.completions.create(model="auto", messages=says(asked), tools=[WEATHER])
    assert made.choices[0].message.content == "Let me look."
    assert made.choices[0].finish_reason == "length"


async def test_the_result_of_a_tool_can_be_given_back(sdk: openai.AsyncOpenAI) -> None:
    history: list[Any] = [
        {"role": "user", "content": "Weather in Bern?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "call_1",
                    "type": "function",
                    "function": {"name": "weather", "arguments": '{"city": "Bern"}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "rain"},
        {"role": "user", "content": "!script\nTake an umbrella."},
    ]
    made = await sdk.chat.completions.create(model="auto", messages=history, tools=[WEATHER])
    assert made.choices[0].message.content == "Take an umbrella."


async def test_models_are_listed_and_looked_up(sdk: openai.AsyncOpenAI) -> None:
    models = [model.id async for model in sdk.models.list()]
    assert models
    assert (await sdk.models.retrieve(models[0])).id == models[0]
    with pytest.raises(openai.NotFoundError):
        await sdk.models.retrieve("gpt-17")


async def test_a_stream_that_fails_before_its_first_token_is_an_http_error(
    sdk: openai.AsyncOpenAI,
) -> None:
    with pytest.raises(openai.InternalServerError) as failed:
        await sdk.chat.completions.create(model="auto", messages=says("!script error"), stream=True)
    assert failed.value.status_code == 503
    assert failed.value.code == "engine_down"


async def test_errors_have_the_words_and_codes_that_programs_look_for(
    world: World, sdk: openai.AsyncOpenAI
) -> None:
    with pytest.raises(openai.BadRequestError) as too_long:
        await sdk.chat.completions.create(model="auto", messages=says("word " * 10_000))
    assert too_long.value.code == "context_length_exceeded"
    assert "This model's maximum context length is 8192 tokens." in too_long.value.message
    with pytest.raises(openai.AuthenticationError) as stranger:
        await sdk.with_options(api_key="hs-wrong").models.list()
    assert stranger.value.code == "invalid_api_key"
    with pytest.raises(openai.NotFoundError) as unknown:
        await sdk.models.retrieve("meta/llama-9")
    assert "meta/llama-9" in unknown.value.message


async def test_an_engine_that_dies_raises_in_the_stream_and_whole(sdk: openai.AsyncOpenAI) -> None:
    stream = await sdk.chat.completions.create(
        model="auto", messages=says("!script tokens=20 die=5"), stream=True
    )
    with pytest.raises(openai.APIError, match="engine"):
        [chunk async for chunk in stream]
    with pytest.raises(openai.InternalServerError):
        await sdk.chat.completions.create(model="auto", messages=says("!script tokens=20 die=5"))


@pytest.mark.parametrize(
    ("changes", "param"),
    [
        ({"n": 2}, "n"),
        ({"temperature": 3}, "temperature"),
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "wizard", "content": "x"}]}, "messages"),
        ({"response_format": {"type": "video"}}, "response_format"),
        ({"stop": ["a", "b", "c", "d", "e"]}, "stop"),
        ({"logit_bias": {"x": 1}}, "logit_bias"),
        ({"top_logprobs": 50, "logprobs": True}, "top_logprobs"),
        ({"max_tokens": 4000}, "max_tokens"),
        ({"max_completion_tokens": 4000}, "max_completion_tokens"),
        ({"messages": [{"role": "user", "content": "a\u0000b"}]}, None),
    ],
)
async def test_unsupported_requests_are_refused_in_openais_shape(
    world: World, sdk: openai.AsyncOpenAI, changes: dict[str, Any], param: str | None
) -> None:
    async with httpx2.AsyncClient(base_url=world.url) as http:
        refused = await http.post(
            "/v1/chat/completions",
            json={"model": "auto", "messages": says("hi")} | changes,
            headers={"authorization": f"Bearer {sdk.api_key}"},
        )
    assert refused.status_code == 400
    error = refused.json()["error"]
    assert set(refused.json()) == {"error"}
    assert set(error) == {"message", "type", "param", "code"}
    assert param is None or error["param"].startswith(param)


async def test_unused_fields_of_sdks_are_ignored(
    sdk: openai.AsyncOpenAI,
) -> None:
    made = await sdk.chat.completions.create(
        model="auto",
        messages=says("!script\nfine"),
        user="someone",
        store=False,
        metadata={"a": "b"},
        parallel_tool_calls=True,
        service_tier="auto",
    )
    assert made.choices[0].message.content == "fine"


async def test_a_context_that_does_not_fit_is_refused_not_trimmed(
    sdk: openai.AsyncOpenAI,
) -> None:
    with pytest.raises(openai.BadRequestError, match="tokens"):
        await sdk.chat.completions.create(model="auto", messages=says("word " * 50_000))


async def test_a_disconnect_stops_the_turn_and_keeps_its_log(
    world: World, sdk: openai.AsyncOpenAI
) -> None:
    stream = await sdk.chat.completions.create(
        model="auto", messages=says("!script tokens=100000 pace=5ms"), stream=True
    )
    async for chunk in stream:
        turn_id = chunk.id.removeprefix("chatcmpl-")
        if chunk.choices and chunk.choices[0].delta.content:
            break
    await stream.close()
    found = await world.app.services.store.accounts.find_by_key(hash_token(sdk.api_key))
    assert found
    async with asyncio.timeout(5):
        _, coming = await world.app.runner.follow(turn_id, found[1].id)
        log = [stamped async for batch in coming for stamped in batch]
    assert log[-1].event == TurnFinished("stopped")


async def test_an_api_call_makes_no_conversation(world: World, sdk: openai.AsyncOpenAI) -> None:
    await sdk.chat.completions.create(model="auto", messages=says("!script\nhi"))
    async with httpx2.AsyncClient(base_url=world.url) as http:
        http.headers["authorization"] = f"Bearer {sdk.api_key}"
        assert (await http.get("/backend-api/conversations")).json()["total"] == 0


async def test_a_disconnect_stops_an_unstreamed_answer(
    world: World, sdk: openai.AsyncOpenAI
) -> None:
    with pytest.raises(openai.APITimeoutError):
        await sdk.chat.completions.create(
            model="auto", messages=says("!script tokens=100000 pace=5ms"), timeout=0.5
        )
    turns = world.app.services.store.turns
    async with asyncio.timeout(10):
        for turn in await turns.list_running():
            _, coming = await world.app.runner.follow(turn.id, turn.user_id)
            [batch async for batch in coming]
    assert await turns.list_running() == []


def calls_then(*rounds: str) -> str:
    return "!script\n" + "\n!then\n".join(rounds)


SUM = (
    'Let me see.\n<tool_call>{"name": "calculate", "arguments": {"expression": "6*7"}}</tool_call>'
)
OURS: Any = {"system_hints": ["calculator"]}


async def test_hitsend_runs_its_own_tools_for_an_api_call(sdk: openai.AsyncOpenAI) -> None:
    made = await sdk.chat.completions.create(
        model="auto", messages=says(calls_then(SUM, "It is 42.")), extra_body=OURS
    )
    choice = made.choices[0]
    assert choice.message.content == "Let me see.\n\nIt is 42."
    assert (choice.finish_reason, choice.message.tool_calls) == ("stop", None)
    alone = await sdk.chat.completions.create(model="auto", messages=says("!script\nIt is 42."))
    assert made.usage
    assert alone.usage
    assert made.usage.prompt_tokens > 2 * alone.usage.prompt_tokens


async def test_a_stream_with_tools_of_hitsend_joins_to_the_whole(sdk: openai.AsyncOpenAI) -> None:
    stream = await sdk.chat.completions.create(
        model="auto",
        messages=says(calls_then(SUM, "It is 42.")),
        stream=True,
        extra_body=OURS,
    )
    choices = [choice async for chunk in stream for choice in chunk.choices]
    text = "".join(choice.delta.content or "" for choice in choices)
    assert text == "Let me see.\n\nIt is 42."
    assert not any(choice.delta.tool_calls for choice in choices)
    assert [one.finish_reason for one in choices if one.finish_reason] == ["stop"]
    assert [one.delta.role for one in choices if one.delta.role] == ["assistant"]


async def test_a_call_of_the_callers_tool_ends_the_answer(sdk: openai.AsyncOpenAI) -> None:
    weather = '<tool_call>{"name": "weather", "arguments": {"city": "Bern"}}</tool_call>'
    for asked in (calls_then(SUM, weather), f"!script\n{SUM}\n{weather}"):
        made = await sdk.chat.completions.create(
            model="auto", messages=says(asked), tools=[WEATHER], extra_body=OURS
        )
        choice = made.choices[0]
        assert choice.finish_reason == "tool_calls"
        assert choice.message.tool_calls
        (called,) = choice.message.tool_calls
        assert called.type == "function"
        assert called.function.name == "weather"


async def test_a_required_call_of_ours_is_required_once(sdk: openai.AsyncOpenAI) -> None:
    made = await sdk.chat.completions.create(
        model="auto",
        messages=says(calls_then(SUM, "It is 42.")),
        extra_body=OURS,
        tool_choice="required",
        tools=[WEATHER],
    )
    assert made.choices[0].message.content == "Let me see.\n\nIt is 42."


async def test_tools_of_hitsend_that_cannot_be_offered_are_refused(sdk: openai.AsyncOpenAI) -> None:
    own: Any = {"type": "function", "function": {"name": "calculate", "parameters": {}}}
    with pytest.raises(openai.BadRequestError) as unknown:
        await sdk.chat.completions.create(
            model="auto", messages=says("Hi"), extra_body={"system_hints": ["telepathy"]}
        )
    assert unknown.value.param == "system_hints"
    with pytest.raises(openai.BadRequestError) as taken:
        await sdk.chat.completions.create(
            model="auto", messages=says("Hi"), tools=[own], extra_body=OURS
        )
    assert taken.value.param == "tools"
