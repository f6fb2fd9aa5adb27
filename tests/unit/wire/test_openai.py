"""OpenAI's own types validate our responses."""

from pathlib import Path

import msgspec
import pytest
from openai.types import Model
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from hitsend.errors import EngineLost, Unavailable
from hitsend.events import Stamped
from hitsend.sse import SseParser
from hitsend.wire.openai import ChunkView, build_completion, build_model_list

TURNS = Path(__file__).parents[2] / "turns"


def log_of(name: str) -> list[Stamped]:
    lines = (TURNS / f"{name}.jsonl").read_bytes().splitlines()
    return [msgspec.json.decode(line, type=Stamped) for line in lines]


def whole(name: str, num_logprobs: int | None = None) -> ChatCompletion:
    body = msgspec.json.encode(build_completion(log_of(name), num_logprobs))
    return ChatCompletion.model_validate_json(body, strict=True)


def data_of(name: str, view: ChunkView) -> list[str]:
    """One event per batch."""
    parser = SseParser()
    return [e.data for one in log_of(name) for e in parser.feed(view.encode([one]))]


def chunks(name: str, view: ChunkView) -> list[ChatCompletionChunk]:
    data = data_of(name, view)
    return [ChatCompletionChunk.model_validate_json(one, strict=True) for one in data]


def test_a_whole_answer_is_a_chat_completion() -> None:
    answer = whole("hello")
    assert answer.object == "chat.completion"
    assert answer.choices[0].message.content == "Hello there!"
    assert answer.choices[0].finish_reason == "stop"
    assert answer.choices[0].logprobs is None
    assert answer.usage is not None
    assert (answer.usage.prompt_tokens, answer.usage.total_tokens) == (12, 16)
    assert answer.usage.prompt_tokens_details is not None
    assert answer.usage.prompt_tokens_details.cached_tokens == 8


def test_a_stream_begins_with_the_role_and_ends_with_the_finish_reason() -> None:
    made = [chunk.choices[0] for chunk in chunks("hello", ChunkView())]
    assert [choice.delta.role for choice in made] == ["assistant", *[None] * 5]
    assert [choice.delta.content for choice in made] == ["", "Hel", "lo", " there", "!", None]
    assert [choice.finish_reason for choice in made] == [*[None] * 5, "stop"]


def test_usage_is_the_last_chunk_and_only_on_request() -> None:
    *others, last = chunks("hello", ChunkView(include_usage=True))
    assert last.choices == []
    assert last.usage is not None
    assert last.usage.completion_tokens == 4
    assert all(chunk.usage is None and chunk.choices for chunk in others)
    assert '"usage"' not in "".join(data_of("hello", ChunkView()))


def test_logprobs_have_the_requested_number_of_alternatives() -> None:
    logprobs = whole("hello", num_logprobs=1).choices[0].logprobs
    assert logprobs is not None
    assert logprobs.content is not None
    first = logprobs.content[0]
    assert (first.token, first.logprob, first.bytes) == ("Hel", -0.125, list(b"Hel"))
    assert [(other.token, other.logprob) for other in first.top_logprobs] == [("?", -2.25)]
    bare = whole("hello", num_logprobs=0).choices[0].logprobs
    assert bare is not None
    assert bare.content is not None
    assert [entry.top_logprobs for entry in bare.content] == [[]] * 4


def test_a_token_without_text_still_has_its_logprob() -> None:
    made = [chunk.choices[0].logprobs for chunk in chunks("emoji", ChunkView(num_logprobs=0))]
    entries = [entry for logprobs in made if logprobs for entry in logprobs.content or ()]
    assert [entry.token for entry in entries[:4]] == ["", "", "", "👩"]
    assert len(entries) == 15


def test_a_tool_call_chunk_has_its_index_and_its_name() -> None:
    deltas = [chunk.choices[0].delta for chunk in chunks("tools", ChunkView())]
    calls = [call for delta in deltas for call in delta.tool_calls or ()]
    assert [(call.index, call.id, call.type) for call in calls] == [
        (0, "call_1", "function"),
        (1, "call_2", "function"),
    ]
    assert [call.function.arguments for call in calls if call.function] == [
        '{"city":"Paris"}',
        '{"city":"Rome"}',
    ]
    answer = whole("tools").choices[0]
    assert answer.finish_reason == "tool_calls"
    assert answer.message.tool_calls is not None
    assert [call.id for call in answer.message.tool_calls] == ["call_1", "call_2"]


def test_a_stopped_answer_is_a_valid_completion() -> None:
    assert whole("stopped").choices[0].finish_reason == "stop"
    assert chunks("stopped", ChunkView())[-1].choices[0].finish_reason == "stop"


@pytest.mark.parametrize(
    ("name", "error", "code"),
    [
        ("failed", EngineLost, "worker_lost"),
        ("interrupted", Unavailable, "unavailable"),
        ("failed_before_answering", Unavailable, "engine_down"),
    ],
)
def test_a_turn_without_a_whole_answer_is_an_error(
    name: str, error: type[Exception], code: str
) -> None:
    with pytest.raises(error):
        whole(name)
    last = data_of(name, ChunkView(include_usage=True))[-1]
    told = msgspec.json.decode(last)["error"]
    assert told.keys() == {"message", "type", "param", "code"}
    assert (told["type"], told["code"]) == ("unavailable_error", code)


def test_models_are_listed_by_name() -> None:
    listed = msgspec.to_builtins(build_model_list(["a", "b"], created=7))
    assert listed["object"] == "list"
    models = [Model.model_validate(one, strict=True) for one in listed["data"]]
    assert [(model.id, model.created, model.object) for model in models] == [
        ("a", 7, "model"),
        ("b", 7, "model"),
    ]


def test_a_log_without_an_end_is_an_error() -> None:
    with pytest.raises(Unavailable):
        build_completion(log_of("hello")[:-2])
