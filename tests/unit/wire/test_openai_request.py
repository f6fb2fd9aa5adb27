from typing import Any

import msgspec
import pytest
from msgspec import UNSET

from hitsend.errors import Refused
from hitsend.messages import AnswerRules, Message, Sampling, Text, Tool, ToolCall, ToolResult
from hitsend.wire.body import decode_body
from hitsend.wire.openai_request import CompletionRequest, ParsedCompletion, parse_completion

ASK = {"role": "user", "content": "Hello"}


def tool(name: str = "weather", **more: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name} | more}


def parsed(**fields: Any) -> ParsedCompletion:
    body = {"model": "auto", "messages": [ASK]} | fields
    return parse_completion(decode_body(msgspec.json.encode(body), CompletionRequest), "ada")


def test_a_minimal_request_uses_the_defaults() -> None:
    asked = parsed()
    assert asked.send.given == (Message("user", (Text("Hello"),), "user"),)
    assert asked.send.sampling == Sampling()
    assert (asked.is_streamed, asked.include_usage, asked.num_logprobs) == (False, False, None)
    assert (asked.send.tools, asked.send.must_call) == ((), False)


def test_every_role_becomes_a_message_with_its_source() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
    asked = parsed(
        messages=[
            {"role": "system", "content": "Be kind."},
            {"role": "developer", "content": [{"type": "text", "text": "Be brief."}]},
            {"role": "user", "content": "Weather?", "name": "ann"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "content": "Rain", "tool_call_id": "c1"},
            {"role": "assistant", "content": "Rain.", "refusal": None},
            {"role": "user", "content": [{"type": "text", "text": t} for t in ("And", "Rome?")]},
        ]
    )
    assert asked.send.given == (
        Message("system", (Text("Be kind."),), "system"),
        Message("developer", (Text("Be brief."),), "developer"),
        Message("user", (Text("Weather?"),), "history"),
        Message("assistant", (ToolCall("c1", "weather", "{}"),), "history"),
        Message("tool", (ToolResult("c1", "Rain"),), "tool"),
        Message("assistant", (Text("Rain."),), "history"),
        Message("user", (Text("And\nRome?"),), "user"),
    )


def test_every_sampling_field_is_parsed() -> None:
    asked = parsed(
        temperature=0,
        top_p=0.9,
        top_k=5,
        min_p=0.1,
        presence_penalty=-1,
        frequency_penalty=1.5,
        repeat_penalty=1.1,
        seed=42,
        max_completion_tokens=7,
        stop=["a", "b"],
        logit_bias={"15": -100, "3": 2.5},
        logprobs=True,
        top_logprobs=4,
        n=1,
        stream=True,
        stream_options={"include_usage": True},
    )
    assert asked.send.sampling == Sampling(
        temperature=0,
        top_p=0.9,
        top_k=5,
        min_p=0.1,
        presence_penalty=-1,
        frequency_penalty=1.5,
        repeat_penalty=1.1,
        seed=42,
        max_tokens=7,
        stop=("a", "b"),
        logit_bias=((15, -100), (3, 2.5)),
        top_logprobs=4,
    )
    assert (asked.is_streamed, asked.include_usage, asked.num_logprobs) == (True, True, 4)


def test_a_decoding_policy_is_parsed() -> None:
    asked = parsed(decoding={"policy": "beam", "num_beams": 6}, max_tokens=64)
    assert asked.send.sampling == Sampling(policy="beam", num_beams=6, max_tokens=64)
    assert parsed(decoding={"policy": "greedy"}).send.sampling == Sampling(policy="greedy")
    with pytest.raises(Refused):
        parsed(decoding={"policy": "beam", "beams": 6})


def test_stop_may_be_one_string_or_a_list() -> None:
    assert parsed(stop="END").send.sampling.stop == ("END",)


def test_logprobs_without_alternatives_are_still_recorded() -> None:
    asked = parsed(logprobs=True)
    assert asked.num_logprobs == 0
    assert asked.send.sampling.top_logprobs == 1


def test_a_response_format_becomes_a_schema() -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}}
    named = {"type": "json_schema", "json_schema": {"name": "place", "schema": schema}}
    asked = parsed(response_format=named).send.sampling.json_schema
    assert asked is not None
    assert msgspec.json.decode(asked) == schema
    assert parsed(response_format={"type": "json_object"}).send.sampling.json_schema
    assert parsed(response_format={"type": "text"}).send.sampling.json_schema is None


def test_tool_choice_selects_the_tools() -> None:
    tools = [tool(description="Looks."), tool("clock", parameters={"type": "object"})]
    weather = Tool("weather", "Looks.", '{"type":"object","properties":{}}')
    clock = Tool("clock", "", '{"type":"object"}')
    named = {"type": "function", "function": {"name": "clock"}}
    asked = [
        parsed(tools=tools, tool_choice=choice)
        for choice in (None, "auto", "required", named, "none")
    ]
    assert [(one.send.tools, one.send.must_call) for one in asked] == [
        ((weather, clock), False),
        ((weather, clock), False),
        ((weather, clock), True),
        ((clock,), True),
        ((), False),
    ]


def test_rules_of_the_answer_are_parsed() -> None:
    schema = {"name": "place", "description": "Where.", "strict": True, "schema": {}}
    asked = parsed(
        tools=[tool(strict=True), tool("clock", strict=False)],
        tool_choice="required",
        parallel_tool_calls=False,
        reasoning_effort="low",
        response_format={"type": "json_schema", "json_schema": schema},
    )
    assert asked.send.rules == AnswerRules(True, False, "place", "Where.", True, "low")
    assert [one.is_strict for one in asked.send.tools] == [True, UNSET]


def test_rules_that_are_the_default_do_not_change_the_fingerprint() -> None:
    """A program may repeat, with the same key, what it sent before an upgrade."""
    asked = parsed(tools=[tool(strict=False)], parallel_tool_calls=True)
    assert asked.send.fingerprint == parsed(tools=[tool()]).send.fingerprint
    assert b"rules" not in msgspec.json.encode(asked.send)
    assert b"strict" not in msgspec.json.encode(asked.send)


def test_unknown_fields_are_ignored() -> None:
    asked = parsed(user="u1", metadata={"a": "b"}, store=False, parallel_tool_calls=True, x=1)
    assert asked == parsed()


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"messages": []}, "messages"),
        ({"reasoning_effort": "enormous"}, "reasoning_effort"),
        ({"parallel_tool_calls": "no"}, "parallel_tool_calls"),
        ({"messages": [{"role": "function", "content": "a"}]}, "messages[0].role"),
        ({"messages": [{"role": "user"}]}, "messages[0]"),
        ({"messages": [ASK, {"role": "assistant"}]}, "messages[1]"),
        ({"messages": [{"role": "tool", "content": "a"}]}, "messages[0]"),
        (
            {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]},
            "messages[0].content[0]",
        ),
        ({"n": 2}, "n"),
        ({"n": "1"}, "n"),
        ({"temperature": 2.1}, "temperature"),
        ({"temperature": "hot"}, "temperature"),
        ({"top_p": 0}, "top_p"),
        ({"seed": 2**63}, "seed"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"stop": ["a"] * 5}, "stop"),
        ({"stop": ""}, "stop[0]"),
        ({"logit_bias": {"a": 1}}, "logit_bias"),
        ({"logit_bias": {"1": 101}}, "logit_bias[0][1]"),
        ({"top_logprobs": 2}, "top_logprobs"),
        ({"logprobs": True, "top_logprobs": 21}, "top_logprobs"),
        ({"stream_options": {"include_usage": True}}, "stream_options"),
        ({"response_format": {"type": "xml"}}, "response_format.type"),
        ({"response_format": {"type": "json_schema"}}, "response_format"),
        ({"tools": [tool("a b")]}, "tools[0].function.name"),
        ({"tools": [tool(), tool()]}, "tools"),
        ({"tools": [{"type": "web_search"}]}, "tools[0].type"),
        ({"tool_choice": "required"}, "tool_choice"),
        (
            {"tools": [tool()], "tool_choice": {"type": "function", "function": {"name": "x"}}},
            "tool_choice",
        ),
        ({"tool_choice": "maybe"}, "tool_choice"),
        ({"functions": []}, "functions"),
        ({"modalities": ["text", "audio"]}, "modalities"),
        ({"model": None}, "model"),
    ],
)
def test_an_unsupported_field_is_refused_by_name(fields: dict[str, Any], param: str) -> None:
    with pytest.raises(Refused) as refusal:
        parsed(**fields)
    assert refusal.value.param == param


def test_a_long_seed_is_reduced_deterministically() -> None:
    assert parsed(seed=42).send.sampling.seed == 42
    long = parsed(seed=2**62 + 1).send.sampling.seed
    assert long == parsed(seed=2**62 + 1).send.sampling.seed
    assert parsed(seed=-1).send.sampling.seed is not None
