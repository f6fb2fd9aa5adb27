"""Messages to ids, with a model made of one token for each character."""

from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitsend.engine.encoding import encode
from hitsend.engine.openai_request import Json
from hitsend.errors import Refused
from hitsend.events import Span
from hitsend.messages import Begun, Message, Text, Tool, ToolCall, ToolResult

SPECIAL = 1_000_000
PAIR = 0x10FFFE
"""`#` is this model's special token: as structure it is this id, as text its own code."""


class Letters:
    can_call_tools = True

    async def render(self, messages: Sequence[Json], tools: Sequence[object]) -> str:
        said = msgspec.json.encode(tools).decode() + "#" if tools else ""
        for message in messages:
            said += f"#{message['role']}\n{message['content']}"
            if "tool_calls" in message:
                said += msgspec.json.encode(message["tool_calls"]).decode()
        return said + "#"

    async def ids_of_structure(self, text: str, *, is_first: bool) -> tuple[int, ...]:
        return tuple(SPECIAL if letter == "#" else ord(letter) for letter in text)

    async def ids_of_text(self, text: str) -> tuple[int, ...]:
        return tuple(map(ord, text))

    async def text_of_ids(self, ids: tuple[int, ...]) -> str | None:
        """`PAIR` is a token of two letters, which text is never split into."""
        return "".join("ab" if one == PAIR else chr(one) for one in ids)

    def is_plain(self, text: str) -> bool:
        return "#" not in text


def user(text: str) -> Message:
    return Message("user", (Text(text),), "user")


def text_of(ids: Sequence[int]) -> str:
    return "".join("\0" if one == SPECIAL else chr(one) for one in ids)


async def test_text_between_structure_keeps_its_source() -> None:
    encoded = await encode(Letters(), [Message("system", (Text("Be"),), "system"), user("a#b")])
    assert text_of(encoded.ids) == "\0system\nBe\0user\na#b\0"
    assert encoded.spans == (
        Span("template", -1, 8),
        Span("system", 0, 2),
        Span("template", -1, 6),
        Span("user", 1, 3),
        Span("template", -1, 1),
    )


@given(st.text(max_size=40))
async def test_no_text_ever_becomes_structure(text: str) -> None:
    encoded = await encode(Letters(), [user(text)])
    assert text_of(encoded.ids) == f"\0user\n{text}\0"
    assert encoded.ids.count(SPECIAL) == 2


async def test_a_message_in_parts_is_one_stretch() -> None:
    message = Message("user", (Text("one"), Text("two")), "file")
    encoded = await encode(Letters(), [message])
    assert Span("file", 0, 6) in encoded.spans


async def test_hostile_strings_in_a_tool_stay_text_and_stay_json() -> None:
    tool = Tool("f", 'say "#"', '{"properties": {"#": {"enum": ["#", "fine"]}}}')
    encoded = await encode(Letters(), [user("Hi")], [tool])
    assert encoded.ids.count(SPECIAL) == 3
    definition = text_of(encoded.ids).partition("\0")[0]
    (written,) = msgspec.json.decode(definition)
    assert written["function"]["description"] == 'say "#"'
    assert written["function"]["parameters"]["properties"] == {"#": {"enum": ["#", "fine"]}}


async def test_hostile_calls_and_results_stay_text() -> None:
    call = Message("assistant", (ToolCall("#1", "#f", '{"#": ["#"]}'),), "history")
    result = Message("tool", (ToolResult("#1", "# found"),), "tool")
    encoded = await encode(Letters(), [call, result])
    assert encoded.ids.count(SPECIAL) == 3
    assert Span("tool", 1, len("# found")) in encoded.spans
    assert any(span.source == "history" and span.index == 0 for span in encoded.spans)


async def test_arguments_that_are_not_json_go_in_as_a_string() -> None:
    call = Message("assistant", (ToolCall("1", "f", "not # json"),), "history")
    encoded = await encode(Letters(), [call])
    assert "not # json" in text_of(encoded.ids)
    assert encoded.ids.count(SPECIAL) == 2


async def test_a_model_without_calls_reads_them_as_text() -> None:
    model = Letters()
    model.can_call_tools = False
    call = Message("assistant", (ToolCall("1", "f", '{"a": 1}'),), "history")
    encoded = await encode(model, [call])
    assert '{"name": "f", "arguments": {"a": 1}}' in text_of(encoded.ids)


async def test_a_tool_whose_parameters_are_not_json_is_refused() -> None:
    with pytest.raises(Refused, match="'f'"):
        await encode(Letters(), [user("Hi")], [Tool("f", "", "{")])


@pytest.mark.parametrize("depth", [600, 100_000])
async def test_json_nested_deeper_than_the_stack_is_refused(depth: int) -> None:
    deep = "[" * depth + "]" * depth
    call = Message("assistant", (ToolCall("1", "f", deep),), "history")
    with pytest.raises(Refused, match="nested too deeply"):
        await encode(Letters(), [call])
    with pytest.raises(Refused, match="nested too deeply"):
        await encode(Letters(), [user("Hi")], [Tool("f", "", deep)])


async def test_an_answer_that_was_begun_is_left_open() -> None:
    begun = Message("assistant", (Text("Once up#"),), "answer")
    encoded = await encode(Letters(), [user("Go"), begun])
    assert text_of(encoded.ids) == "\0user\nGo\0Once up#"
    assert encoded.spans[-1] == Span("answer", 1, len("Once up#"))


async def test_an_answer_goes_on_from_the_tokens_it_was_written_in() -> None:
    begun = Begun("assistant", (Text("cab"),), "answer", (ord("c"), PAIR))
    encoded = await encode(Letters(), [user("Go"), begun])
    assert encoded.ids[-2:] == (ord("c"), PAIR)
    assert encoded.spans[-1] == Span("answer", 1, 2)


@pytest.mark.parametrize("ids", [(), (PAIR,), (ord("c"), PAIR, PAIR), (ord("C"), PAIR)])
async def test_tokens_that_spell_another_text_are_not_used(ids: tuple[int, ...]) -> None:
    begun = Begun("assistant", (Text("cab"),), "answer", ids)
    encoded = await encode(Letters(), [user("Go"), begun])
    assert encoded.ids[-3:] == tuple(map(ord, "cab"))


async def test_an_answer_that_is_only_said_to_be_the_last_message_is_closed() -> None:
    answer = Message("assistant", (Text("Yes."),))
    encoded = await encode(Letters(), [user("Go"), answer])
    assert encoded.ids[-1] == SPECIAL


async def test_an_earlier_answer_and_a_call_of_a_tool_are_closed() -> None:
    answer = Message("assistant", (Text("Yes."),))
    closed = await encode(Letters(), [user("Go"), answer, user("More")])
    assert text_of(closed.ids).count("\0") == 4
    call = Message("assistant", (Text("Let me see."), ToolCall("1", "f", "{}")))
    assert (await encode(Letters(), [user("Go"), call])).ids[-1] == SPECIAL


@given(st.text(max_size=40), st.text(min_size=1, max_size=40))
async def test_the_spans_of_a_begun_answer_are_exact(asked: str, begun: str) -> None:
    said = [user(asked), Message("assistant", (Text(begun),), "answer")]
    encoded = await encode(Letters(), said)
    assert sum(span.num_tokens for span in encoded.spans) == len(encoded.ids)
    assert text_of(encoded.ids[-len(begun) :]) == begun
