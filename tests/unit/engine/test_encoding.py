"""Messages become ids, with a model that has one token for each character."""

from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitsend.engine.encoding import encode, encode_listed
from hitsend.engine.message_json import Json
from hitsend.errors import Refused
from hitsend.events import Span
from hitsend.messages import Message, PartialAnswer, Text, Tool, ToolCall, ToolResult

SPECIAL = 1_000_000
PAIR = 0x10FFFE
"""`#` is this model's special token: as structure it is this id, as text its own code."""


class CharacterTemplate:
    can_call_tools = True

    async def render(self, messages: Sequence[Json], tools: Sequence[object]) -> str:
        rendered = msgspec.json.encode(tools).decode() + "#" if tools else ""
        for message in messages:
            rendered += f"#{message['role']}\n{message['content']}"
            if "tool_calls" in message:
                rendered += msgspec.json.encode(message["tool_calls"]).decode()
        return rendered + "#"

    async def tokenize_structure(self, text: str, *, is_first: bool) -> tuple[int, ...]:
        return tuple(SPECIAL if letter == "#" else ord(letter) for letter in text)

    async def tokenize_text(self, text: str) -> tuple[int, ...]:
        return tuple(map(ord, text))

    async def decode_ids(self, ids: tuple[int, ...]) -> str | None:
        """`PAIR` is a token of two characters, which tokenizing never returns."""
        return "".join("ab" if one == PAIR else chr(one) for one in ids)

    def is_plain(self, text: str) -> bool:
        return "#" not in text


def user(text: str) -> Message:
    return Message("user", (Text(text),), "user")


def text_of(ids: Sequence[int]) -> str:
    return "".join("\0" if one == SPECIAL else chr(one) for one in ids)


async def test_text_between_structure_keeps_its_source() -> None:
    encoded = await encode(
        CharacterTemplate(), [Message("system", (Text("Be"),), "system"), user("a#b")]
    )
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
    encoded = await encode(CharacterTemplate(), [user(text)])
    assert text_of(encoded.ids) == f"\0user\n{text}\0"
    assert encoded.ids.count(SPECIAL) == 2


async def test_a_message_in_parts_is_one_span() -> None:
    message = Message("user", (Text("one"), Text("two")), "file")
    encoded = await encode(CharacterTemplate(), [message])
    assert Span("file", 0, 6) in encoded.spans


async def test_hostile_strings_in_a_tool_stay_text_and_stay_json() -> None:
    tool = Tool("f", 'say "#"', '{"properties": {"#": {"enum": ["#", "fine"]}}}')
    encoded = await encode(CharacterTemplate(), [user("Hi")], [tool])
    assert encoded.ids.count(SPECIAL) == 3
    definition = text_of(encoded.ids).partition("\0")[0]
    (written,) = msgspec.json.decode(definition)
    assert written["function"]["description"] == 'say "#"'
    assert written["function"]["parameters"]["properties"] == {"#": {"enum": ["#", "fine"]}}


async def test_hostile_calls_and_results_stay_text() -> None:
    call = Message("assistant", (ToolCall("#1", "#f", '{"#": ["#"]}'),), "history")
    result = Message("tool", (ToolResult("#1", "# found"),), "tool")
    encoded = await encode(CharacterTemplate(), [call, result])
    assert encoded.ids.count(SPECIAL) == 3
    assert Span("tool", 1, len("# found")) in encoded.spans
    assert any(span.source == "history" and span.index == 0 for span in encoded.spans)


async def test_arguments_that_are_not_json_become_a_string() -> None:
    call = Message("assistant", (ToolCall("1", "f", "not # json"),), "history")
    encoded = await encode(CharacterTemplate(), [call])
    assert "not # json" in text_of(encoded.ids)
    assert encoded.ids.count(SPECIAL) == 2


async def test_calls_become_text_for_a_template_without_calls() -> None:
    model = CharacterTemplate()
    model.can_call_tools = False
    call = Message("assistant", (ToolCall("1", "f", '{"a": 1}'),), "history")
    encoded = await encode(model, [call])
    assert '{"name": "f", "arguments": {"a": 1}}' in text_of(encoded.ids)


async def test_a_tool_whose_parameters_are_not_json_is_refused() -> None:
    with pytest.raises(Refused, match="'f'"):
        await encode(CharacterTemplate(), [user("Hi")], [Tool("f", "", "{")])


@pytest.mark.parametrize("depth", [600, 100_000])
async def test_json_nested_deeper_than_the_stack_is_refused(depth: int) -> None:
    deep = "[" * depth + "]" * depth
    call = Message("assistant", (ToolCall("1", "f", deep),), "history")
    with pytest.raises(Refused, match="nested too deeply"):
        await encode(CharacterTemplate(), [call])
    with pytest.raises(Refused, match="nested too deeply"):
        await encode(CharacterTemplate(), [user("Hi")], [Tool("f", "", deep)])


async def test_a_partial_answer_is_left_open() -> None:
    partial = Message("assistant", (Text("Once up#"),), "answer")
    encoded = await encode(CharacterTemplate(), [user("Go"), partial])
    assert text_of(encoded.ids) == "\0user\nGo\0Once up#"
    assert encoded.spans[-1] == Span("answer", 1, len("Once up#"))


async def test_a_partial_answer_keeps_the_ids_it_was_generated_with() -> None:
    partial = PartialAnswer("assistant", (Text("cab"),), "answer", token_ids=(ord("c"), PAIR))
    encoded = await encode(CharacterTemplate(), [user("Go"), partial])
    assert encoded.ids[-2:] == (ord("c"), PAIR)
    assert encoded.spans[-1] == Span("answer", 1, 2)


@pytest.mark.parametrize("ids", [(), (PAIR,), (ord("c"), PAIR, PAIR), (ord("C"), PAIR)])
async def test_ids_that_decode_to_another_text_are_not_used(ids: tuple[int, ...]) -> None:
    partial = PartialAnswer("assistant", (Text("cab"),), "answer", token_ids=ids)
    encoded = await encode(CharacterTemplate(), [user("Go"), partial])
    assert encoded.ids[-3:] == tuple(map(ord, "cab"))


async def test_an_assistant_message_that_merely_comes_last_is_closed() -> None:
    answer = Message("assistant", (Text("Yes."),))
    encoded = await encode(CharacterTemplate(), [user("Go"), answer])
    assert encoded.ids[-1] == SPECIAL


async def test_earlier_answers_and_tool_calls_are_closed() -> None:
    answer = Message("assistant", (Text("Yes."),))
    closed = await encode(CharacterTemplate(), [user("Go"), answer, user("More")])
    assert text_of(closed.ids).count("\0") == 4
    call = Message("assistant", (Text("Let me see."), ToolCall("1", "f", "{}")))
    assert (await encode(CharacterTemplate(), [user("Go"), call])).ids[-1] == SPECIAL


@given(st.text(max_size=40), st.text(min_size=1, max_size=40))
async def test_the_spans_of_a_partial_answer_are_exact(question: str, partial: str) -> None:
    messages = [user(question), Message("assistant", (Text(partial),), "answer")]
    encoded = await encode(CharacterTemplate(), messages)
    assert sum(span.num_tokens for span in encoded.spans) == len(encoded.ids)
    assert text_of(encoded.ids[-len(partial) :]) == partial


async def test_listed_tools_stand_in_the_system_message() -> None:
    tool = Tool("wave", "Waves # a hand.", "{}")
    system = Message("system", (Text("Be kind."),), "system")
    encoded = await encode_listed(CharacterTemplate(), [system, user("Hi")], [tool])
    text = text_of(encoded.ids)
    assert text.index("Be kind.") < text.index("wave: Waves # a hand.") < text.index("Hi")
    listed = [span for span in encoded.spans if span.source == "tools"]
    assert [span.index for span in listed] == [0]


async def test_tools_are_listed_without_a_system_message_too() -> None:
    encoded = await encode_listed(CharacterTemplate(), [user("Hi")], [Tool("wave", "", "{}")])
    assert "wave" in text_of(encoded.ids)
    indexes = {span.source: span.index for span in encoded.spans}
    assert indexes["user"] == 0
    assert indexes["tools"] == -1
