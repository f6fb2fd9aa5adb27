"""Tool calls are parsed out of a model's text, wherever the stream was cut."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from hitsend.engine import ToolCallParser
from hitsend.events import ToolArgumentsArrived, ToolCallDropped, ToolCallStarted
from hitsend.messages import ToolCall

CALL = '{"name": "get_weather", "arguments": {"place": "Köln"}}'
WEATHER = ToolCall("call_0", "get_weather", '{"place": "Köln"}')
WEATHER_1 = ToolCall("call_1", "get_weather", '{"place": "Köln"}')

EXAMPLES = [
    ("Just text.", ["Just text."]),
    ("  spaced  ", ["  spaced  "]),
    (f"<tool_call>\n{CALL}\n</tool_call>", [WEATHER]),
    (f"Let me look.\n<tool_call>{CALL}</tool_call>\n", ["Let me look.", WEATHER]),
    (f"<tool_call>{CALL}</tool_call>\n<tool_call>{CALL}</tool_call>", [WEATHER, WEATHER_1]),
    (f"<tool_call>{CALL}</tool_call>\n\nDone.", [WEATHER, "Done."]),
    (f"<tool_call>\n{CALL}", [WEATHER]),
    (f"```json\n{CALL}\n```", [WEATHER]),
    (f"```\n{CALL}\n```", [WEATHER]),
    (f"```json\n{CALL}```", [WEATHER]),
    (CALL, [WEATHER]),
    (f"\n {CALL} \n", [WEATHER]),
    (f"{CALL}\n{CALL}", [WEATHER, WEATHER_1]),
    (f"<tool_call>\n{CALL}\n{CALL}\n</tool_call> Done.", [WEATHER, WEATHER_1, "Done."]),
    (f"{CALL} is how one calls.", [WEATHER, "is how one calls."]),
    (f"Like {CALL}", [f"Like {CALL}"]),
    ('{"name": "rm", "arguments": {}}', ['{"name": "rm", "arguments": {}}']),
    ('{"name": "get_weather"', ['{"name": "get_weather"']),
    ('{"name": "get_weather", "age": 3}', ['{"name": "get_weather", "age": 3}']),
    ('{"name": "get_weather"}', [ToolCall("call_0", "get_weather", "{}")]),
    (
        '{"name": "get_weather", "arguments": null}',
        [ToolCall("call_0", "get_weather", "{}")],
    ),
    (
        '{"name": "get_weather", "arguments": {"a": "}\\"{"}, "id": "}"} Done.',
        [ToolCall("call_0", "get_weather", '{"a": "}\\"{"}'), "Done."],
    ),
    (
        '{"name": "get_weather", "arguments": {"text": "a\nb\tc"}}',
        [ToolCall("call_0", "get_weather", '{"text": "a\\nb\\tc"}')],
    ),
    (
        '{"name": "get_weather", "arguments": "{\\"place\\": 1}"}',
        [ToolCall("call_0", "get_weather", '{"place": 1}')],
    ),
    (
        '{"name": "get_weather", "parameters": {"code": "```\\n"}}',
        [ToolCall("call_0", "get_weather", '{"code": "```\\n"}')],
    ),
    ("See `<tool_call>` tags.", ["See `<tool_call>` tags."]),
    ("A <tool_call>tag</tool_call>.", ["A <tool_call>tag</tool_call>."]),
    ("a < b and <tool", ["a < b and <tool"]),
    ("```python\nprint(1)\n```\n", ["```python\nprint(1)\n```\n"]),
    ("``` json", ["``` json"]),
    (f"````json\n{CALL}\n````", [f"````json\n{CALL}\n````"]),
    ('```json\n{"a": 1}\n```', ['```json\n{"a": 1}\n```']),
    (f"{{{CALL}}}", [WEATHER]),
    (f"<tool_call>{{{CALL}}}</tool_call>", [WEATHER]),
    (f"{{{CALL}", [WEATHER]),
    ("", []),
    (f"\n```json\n{CALL}\n```\n", [WEATHER]),
    (f"```json\n{CALL}\n{CALL}\n```", [WEATHER, WEATHER_1]),
    (f"```json\n{CALL}\n```\n\n```json\n{CALL}\n```", [WEATHER, WEATHER_1]),
    (f"```json\n{CALL}\n```\n<tool_call>{CALL}</tool_call> Done.", [WEATHER, WEATHER_1, "Done."]),
]
EXAMPLES += [
    (text, [text])
    for text in (
        f"Sure:\n\n```json\n{CALL}\n```\nThere.",
        f"Such a call looks so:\n```json\n{CALL}\n```",
        f"```json\n{CALL}\n```\n\nThis calls `get_weather`.",
        f" \n```json\n{CALL}\n{CALL}\n``` asks twice.",
        f"```json\n{CALL}\n``` or\n```json\n{CALL}\n```",
        f"```json\n{CALL}\n```\n```python\nprint(1)\n```",
        f"```json\n{CALL}\n```\n{CALL}",
        '```json\n{"name": "get_weather", "arguments": "Bern"}\n``` does not work.',
    )
]
"""A fence with words around it is an example."""


DROPPED = [
    (f"<tool_call>\n{CALL[:-5]}", "cut", "cut"),
    (f"```json\n{CALL[:-5]}", "cut", "cut"),
    (CALL[:-5], "cut", "cut"),
    ('<tool_call>\n{"name": "get_weather", "argu', "cut", "cut"),
    ("<tool_call>\n", "cut", "cut"),
    ("<tool_c", "cut", "cut"),
    ('```json\n{"name": "get_w', "cut", "cut"),
    ('{"name": "get_w', "cut", "cut"),
    (f"<tool_call>\n{CALL[:-5]}", "stopped", "malformed"),
    ("<tool_call>nothing</tool_call>", "stopped", "malformed"),
    ("<tool_call>\nget_weather('Bern')\n</tool_call>", "stopped", "malformed"),
    ('<tool_call>{"name": "get_weather", "arguments": []}</tool_call>', "stopped", "malformed"),
    ("<tool_call>{\"name\": \"get_weather\", \"arguments\": {'place': 1}}", "stopped", "malformed"),
    ('{"name": "get_weather", "arguments": {"place": NaN}}', "stopped", "malformed"),
    ('{"name": "get_weather", "arguments": "Bern"}', "stopped", "malformed"),
    ('{"name": "get_weather", "arguments": ' + '{"a":' * 5000 + "1" + "}" * 5001, "stopped",
     "malformed"),
    ('<tool_call>{"name": "rm", "arguments": {}}</tool_call>', "stopped", "unknown"),
    ('<tool_call>{"name": "rm", "arguments": {', "cut", "unknown"),
]  # fmt: skip


def parse(pieces: list[str], *, is_cut: bool = False) -> list[str | ToolCall | ToolCallDropped]:
    """Returns the parsed parts, with adjacent texts joined. Checks that the pieces of each call add
    up to it."""
    numbers = itertools.count()
    parser = ToolCallParser(["get_weather", "get_time"], lambda: f"call_{next(numbers)}")
    found = [part for piece in pieces for part in parser.feed(piece)]
    found += parser.finish(is_cut=is_cut)
    joined: list[str | ToolCall | ToolCallDropped] = []
    started, arguments = None, ""
    for part in found:
        match part:
            case str() if joined and isinstance(joined[-1], str):
                joined[-1] += part
            case ToolCallStarted():
                assert started is None
                started, arguments = part, ""
            case ToolArgumentsArrived(call_id, text):
                assert started
                assert started.call_id == call_id
                arguments += text
            case ToolCall():
                assert started == ToolCallStarted(part.call_id, part.tool)
                assert arguments == part.arguments
                started = None
                joined.append(part)
            case ToolCallDropped():
                assert part.call_id == (started.call_id if started else UNSET)
                started = None
                joined.append(part)
            case _:
                joined.append(part)
    assert started is None
    return joined


@pytest.mark.parametrize(("text", "parts"), EXAMPLES)
def test_calls_and_text_are_separated(text: str, parts: list[str | ToolCall]) -> None:
    assert parse([text]) == parts


@pytest.mark.parametrize(("text", "end", "reason"), DROPPED)
def test_a_call_that_is_not_whole_is_dropped_and_never_shown(
    text: str, end: str, reason: str
) -> None:
    for pieces in ([text], list(text)):
        (dropped,) = parse(pieces, is_cut=end == "cut")
        assert isinstance(dropped, ToolCallDropped)
        assert dropped.reason == reason
    if text.startswith("<"):  # others are calls only where the answer begins
        before, dropped = parse([f"Let me look.\n{text}"], is_cut=end == "cut")
        assert before == "Let me look."
        assert isinstance(dropped, ToolCallDropped)


def test_text_after_a_dropped_call_is_text_again() -> None:
    call = '<tool_call>{"name": "rm", "arguments": {}}</tool_call>'
    dropped = ToolCallDropped("unknown", '{"name": "rm", "arguments": {}}')
    assert parse([f"{call}\nNo such tool.\n{call}"]) == [dropped, "No such tool.", dropped]


def test_the_tool_is_known_before_its_arguments_are_whole() -> None:
    parser = ToolCallParser(["get_weather"], lambda: "call_0")
    assert parser.feed('<tool_call>\n{"name": "get_weather", "argu') == []
    assert parser.feed('ments": {"place": "K') == [
        ToolCallStarted("call_0", "get_weather"),
        ToolArgumentsArrived("call_0", '{"place": "K'),
    ]
    assert parser.feed("öln") == [ToolArgumentsArrived("call_0", "öln")]
    assert parser.feed('"}') == [ToolArgumentsArrived("call_0", '"}'), WEATHER]
    assert parser.feed("}\n</tool_c") == []
    assert parser.feed("all>") == []


@pytest.mark.parametrize(("text", "parts"), EXAMPLES)
def test_every_cut_in_two_gives_the_same_parts(text: str, parts: list[str | ToolCall]) -> None:
    for cut in range(len(text) + 1):
        assert parse([text[:cut], text[cut:]]) == parts
    assert parse(list(text)) == parts


FRAGMENTS = st.sampled_from(
    ["<", "<tool_call>", "</tool_call>", "```", "`", "json\n", "\n", " ", "{", "}", CALL, "text"]
)


@given(st.lists(FRAGMENTS, max_size=12), st.data())
def test_the_parts_do_not_depend_on_the_cuts(fragments: list[str], data: st.DataObject) -> None:
    text = "".join(fragments)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    pieces = [text[a:b] for a, b in itertools.pairwise([0, *cuts, len(text)])]
    assert parse(pieces) == parse([text])


@given(st.text(max_size=80))
def test_text_without_a_call_is_passed_on_unchanged(text: str) -> None:
    assert "".join(str(part) for part in parse([text])) == text


@pytest.mark.parametrize("is_cut", [False, True])
def test_an_example_of_a_call_that_is_cut_is_text(is_cut: bool) -> None:
    text = f"For example:\n```json\n{CALL[:-5]}"
    for pieces in ([text], list(text)):
        assert parse(pieces, is_cut=is_cut) == [text]


def test_a_fenced_call_is_told_when_nothing_follows() -> None:
    parser = ToolCallParser(["get_weather"], lambda: "call_0")
    assert parser.feed(f"```json\n{CALL}\n```\n") == []
    assert parser.finish()[-1] == WEATHER


def test_text_that_cannot_be_a_call_is_not_held_back() -> None:
    parser = ToolCallParser(["get_weather"])
    assert parser.feed("Hello the") == ["Hello the"]
    assert parser.feed('```json\n{"a"') == ["```json\n", '{"a"']
    assert parser.feed("<tool") == []
    assert parser.feed("box>") == ["<", "toolbox>"]


def test_every_call_has_an_id_of_its_own() -> None:
    parser = ToolCallParser(["get_weather"])
    calls = parser.feed(f"<tool_call>{CALL}</tool_call>" * 2)
    assert len({call.call_id for call in calls if isinstance(call, ToolCall)}) == 2


@pytest.mark.parametrize("second", [CALL, '{"name": "rm", "arguments": {}}', ""])
def test_an_answer_without_parallel_calls_is_over_where_a_second_one_begins(second: str) -> None:
    text = f"<tool_call>{CALL}</tool_call>\nDone.\n<tool_call>{second}</tool_call> More."
    for pieces in ([text], list(text)):
        parser = ToolCallParser(["get_weather"], lambda: "call_0", is_parallel=False)
        found = [one for piece in pieces for one in parser.feed(piece)] + parser.finish()
        calls = [one for one in found if isinstance(one, ToolCall | ToolCallDropped)]
        assert calls == [WEATHER]
        assert "".join(one for one in found if isinstance(one, str)) == "Done."
        assert parser.is_over()


def test_an_answer_with_one_call_goes_on_after_it() -> None:
    parser = ToolCallParser(["get_weather"], lambda: "call_0", is_parallel=False)
    assert parser.feed(f"{CALL} Done.")[-2:] == [WEATHER, "Done."]
    assert not parser.is_over()
