"""Grammars of tool calls: they allow exactly the JSON that a schema describes, on one line."""

import json
import re
from collections.abc import Iterator, Mapping

from hypothesis import given
from hypothesis import strategies as st

from hitsend.engine.tool_grammar import (
    MAX_DEPTH,
    arguments_grammar,
    name_grammar,
    quote,
    strict_calls_grammar,
)
from hitsend.messages import FREE, AnswerRules, Tool

TOKEN = re.compile(
    r'\s*("(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]|\{\d+,\d+\}|\{\d+\}|[()|*+?]|[\w-]+)'
)


class Grammar:
    """Matches texts against the part of GBNF that we write."""

    def __init__(self, source: str) -> None:
        lines = (line.partition(" ::= ") for line in source.splitlines() if line)
        self.rules = {name: TOKEN.findall(body) for name, _, body in lines}

    def allows(self, text: str) -> bool:
        return len(text) in self._ends(self.rules["root"], text, 0)

    def _ends(self, tokens: list[str], text: str, at: int) -> set[int]:
        """Returns where a match that begins at `at` may end."""
        return {end for option in _split(tokens) for end in self._sequence(option, text, {at})}

    def _sequence(self, tokens: list[str], text: str, starts: set[int]) -> set[int]:
        index = 0
        while index < len(tokens):
            stop = _closing(tokens, index) + 1 if tokens[index] == "(" else index + 1
            atom, index = tokens[index:stop], stop
            low, high = 1, 1
            if index < len(tokens) and (found := _repeat(tokens[index])):
                (low, high), index = found, index + 1
            reached = starts if low == 0 else set[int]()
            for times in range(1, high + 1):
                starts = {end for one in starts for end in self._atom(atom, text, one)}
                if not starts - reached:
                    break
                reached = reached | starts if times >= low else reached
            starts = reached
        return starts

    def _atom(self, atom: list[str], text: str, at: int) -> set[int]:
        first = atom[0]
        if first == "(":
            return self._ends(atom[1:-1], text, at)
        if first.startswith('"'):
            literal = json.loads(first)
            return {at + len(literal)} if text.startswith(literal, at) else set()
        if first.startswith("["):
            return {at + 1} if at < len(text) and re.fullmatch(first, text[at]) else set()
        return self._ends(self.rules[first], text, at)


def _repeat(token: str) -> tuple[int, int] | None:
    if token.startswith("{"):
        low, _, high = token[1:-1].partition(",")
        return int(low), int(high or low)
    return {"*": (0, 999), "+": (1, 999), "?": (0, 1)}.get(token)


def _split(tokens: list[str]) -> Iterator[list[str]]:
    depth, option = 0, list[str]()
    for token in tokens:
        depth += {"(": 1, ")": -1}.get(token, 0)
        if token == "|" and depth == 0:
            yield option
            option = []
        else:
            option.append(token)
    yield option


def _closing(tokens: list[str], index: int) -> int:
    depth = 0
    for at in range(index, len(tokens)):
        depth += {"(": 1, ")": -1}.get(tokens[at], 0)
        if depth == 0:
            return at
    raise AssertionError("a bracket is open")


def tool(properties: Mapping[str, object], *required: str, **others: object) -> Tool:
    schema = {"type": "object", "properties": properties, "required": required, **others}
    return Tool("t", "", json.dumps(schema))


def allows(described: Tool, arguments: object) -> bool:
    written = json.dumps(arguments, ensure_ascii=False)
    return Grammar(arguments_grammar(described)).allows(f" {written}}}")


EVENT = tool(
    {
        "title": {"type": "string"},
        "days": {"type": "integer"},
        "kind": {"enum": ["a b", 'say "é"', 3]},
        "guests": {"type": "array", "items": {"type": "string"}},
    },
    "title",
)


def test_required_arguments_come_first_and_others_may_follow() -> None:
    assert allows(EVENT, {"title": "Yoga"})
    assert allows(EVENT, {"title": "Yoga", "days": -3, "guests": ["Jo", "Al"]})
    assert allows(EVENT, {"title": "Yoga", "kind": 'say "é"'})


def test_a_required_text_says_something() -> None:
    assert not allows(EVENT, {"title": ""})
    assert allows(tool({"title": {"type": "string"}}), {"title": ""})


def test_what_the_schema_does_not_describe_is_not_allowed() -> None:
    assert not allows(EVENT, {"days": 3})
    assert not allows(EVENT, {"title": 3})
    assert not allows(EVENT, {"title": "Yoga", "days": 1.5})
    assert not allows(EVENT, {"title": "Yoga", "kind": "c"})
    assert not allows(EVENT, {"title": "Yoga", "place": "Rome"})
    assert not Grammar(arguments_grammar(EVENT)).allows(' {"title":  "Yoga"}}')


def test_a_tool_may_have_only_optional_arguments() -> None:
    described = tool({"a": {"type": "number"}, "b": {"type": "boolean"}})
    assert all(
        allows(described, one) for one in ({}, {"a": 1.5}, {"b": True}, {"a": 0, "b": False})
    )
    assert not allows(described, {"b": True, "a": 0})


def test_definitions_may_contain_themselves() -> None:
    tree = {"type": "object", "properties": {"left": {"$ref": "#/$defs/Tree"}}}
    described = tool({"tree": {"$ref": "#/$defs/Tree"}}, "tree", **{"$defs": {"Tree": tree}})
    assert allows(described, {"tree": {"left": {"left": {}}}})
    assert not allows(described, {"tree": {"right": {}}})


def test_what_is_nested_too_deeply_may_be_any_json() -> None:
    schema: dict[str, object] = {"type": "string"}
    value: object = 7
    for _ in range(MAX_DEPTH + 2):
        schema = {"type": "object", "properties": {"in": schema}, "required": ["in"]}
        value = {"in": value}
    assert allows(tool({"a": schema}, "a"), {"a": value})


def test_a_broken_schema_has_no_arguments() -> None:
    assert Grammar(arguments_grammar(Tool("t", "", "[1"))).allows(" {}}")


@given(st.text())
def test_a_quoted_text_is_matched_as_it_is(text: str) -> None:
    literal = re.sub(
        r"\\U([0-9A-F]{8})", lambda found: json.dumps(chr(int(found[1], 16)))[1:-1], quote(text)
    )
    assert json.loads(literal) == text


@given(st.dictionaries(st.sampled_from(["a", "b", "c"]), st.text(st.characters(codec="utf-8"))))
def test_any_text_can_be_an_argument(arguments: dict[str, str]) -> None:
    described = tool({name: {"type": "string"} for name in "abc"})
    in_order = {name: arguments[name] for name in "abc" if name in arguments}
    written = json.dumps(in_order)
    assert Grammar(arguments_grammar(described)).allows(f" {written}}}")


def test_a_name_ends_with_its_quote() -> None:
    grammar = Grammar(name_grammar(["get", "get_time"]))
    assert grammar.allows('get"')
    assert grammar.allows('get_time"')
    assert not grammar.allows("get")


def test_calls_may_end_where_another_could_begin() -> None:
    grammar = Grammar(name_grammar(["get"], "\n<tool_call>", can_end=True))
    assert grammar.allows("")
    assert grammar.allows('\n<tool_call>get"')
    assert not grammar.allows("\n")


STRICT = (
    Tool("paint", "", json.dumps({
        "type": "object",
        "properties": {"color": {"enum": ["red"]}, "at": {"$ref": "#/$defs/At"}},
        "required": ["color"],
        "$defs": {"At": {"type": "integer"}},
    }), is_strict=True),
    Tool("count", "", json.dumps({
        "type": "object",
        "properties": {"to": {"$ref": "#/$defs/At"}},
        "required": ["to"],
        "$defs": {"At": {"type": "string"}},
    }), is_strict=True),
    Tool("look", "", '{"type": "object", "properties": {"place": {"type": "string"}}}'),
)  # fmt: skip


def tagged(name: str, arguments: str) -> str:
    return f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>'


def test_calls_of_strict_tools_follow_their_schemas_and_those_of_others_are_objects() -> None:
    grammar = Grammar(strict_calls_grammar(STRICT, FREE) or "")
    assert grammar.allows(tagged("paint", '{"color": "red", "at": 3}'))
    assert grammar.allows(tagged("count", '{"to": "three"}'))
    assert grammar.allows(tagged("look", '{"where": 1}'))
    assert not grammar.allows(tagged("paint", '{"color": "blue"}'))
    assert not grammar.allows(tagged("paint", '{"color": "red", "size": 3}'))
    assert not grammar.allows(tagged("count", '{"to": 3}'))
    assert not grammar.allows(tagged("jump", "{}"))


def test_only_parallel_calls_may_be_several() -> None:
    two = tagged("look", "{}") + "\n" + tagged("count", '{"to": "3"}')
    assert Grammar(strict_calls_grammar(STRICT, FREE) or "").allows(two)
    single = strict_calls_grammar(STRICT, AnswerRules(has_parallel_calls=False)) or ""
    assert not Grammar(single).allows(two)
    assert Grammar(single).allows(tagged("look", "{}"))


def test_without_a_strict_tool_a_model_writes_calls_as_it_learned_to() -> None:
    assert strict_calls_grammar(STRICT[2:], FREE) is None
