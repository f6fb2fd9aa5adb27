"""Definitions of tools as strangers write them."""

import re
from contextlib import suppress
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitsend.errors import Refused
from hitsend.tools.mcp.arguments import check_arguments
from hitsend.tools.mcp.definitions import (
    MAX_SCHEMA_BYTES,
    NO_ARGUMENTS,
    full_name,
    make_prefix,
    read_definition,
)

ACCEPTED = re.compile(r"[a-zA-Z0-9_-]{1,64}")

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=20,
)
keywords = st.sampled_from(
    ["type", "properties", "items", "$ref", "anyOf", "enum", "required", "maxLength", "pattern"]
)
schemas = st.dictionaries(keywords, json_values | st.just("#") | st.just("#/properties"))


def read(schema: object, name: str = "tool", description: str = "Does it.") -> dict[str, Any]:
    definition = read_definition(name, "", description, schema)
    assert definition.problem == ""
    return msgspec.json.decode(definition.schema, type=dict[str, Any])


def problem(schema: object, name: str = "tool", description: str = "") -> str:
    return read_definition(name, "", description, schema).problem


@given(st.text(min_size=1), st.text())
def test_every_full_name_is_accepted_by_models(title: str, name: str) -> None:
    assert ACCEPTED.fullmatch(full_name(make_prefix(title), name))
    assert ACCEPTED.fullmatch(full_name(make_prefix(title) + "12", name))


@given(st.sets(st.text(max_size=80), min_size=2, max_size=20))
def test_two_tools_of_a_server_never_share_a_name(names: set[str]) -> None:
    assert len({full_name("wiki", name) for name in names}) == len(names)


def test_a_usual_name_stays_readable() -> None:
    assert full_name(make_prefix("My Wiki!"), "search-pages") == "my_wiki_search-pages"
    assert make_prefix("42") == "mcp_42"
    assert make_prefix("日本") == "mcp"


@given(schemas)
def test_any_schema_becomes_a_plain_one_or_has_a_reason(schema: dict[str, Any]) -> None:
    definition = read_definition("tool", "", "", schema)
    read_back = msgspec.json.decode(definition.schema, type=dict[str, Any])
    assert len(definition.schema) <= MAX_SCHEMA_BYTES
    assert "$ref" not in definition.schema or definition.problem
    assert read_back.get("type") == "object"


def test_a_reference_is_replaced_by_what_it_means() -> None:
    schema = {
        "type": "object",
        "properties": {"at": {"$ref": "#/$defs/a~1b", "description": "When."}},
        "$defs": {"a/b": {"type": "string", "maxLength": 10}},
    }
    expected = {"type": "string", "maxLength": 10, "description": "When."}
    assert read(schema)["properties"]["at"] == expected


def test_what_grammars_do_not_understand_is_left_out() -> None:
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {"x": {"type": "string", "pattern": "(a+)+$", "maxLength": 10**9}},
        "required": ["x"],
    }
    expected = {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]}
    assert read(schema) == expected


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ("text", "described wrongly"),
        ({"type": "array"}, "described wrongly"),
        ({"type": "object", "properties": {"a": {"type": "secret"}}}, "unknown type"),
        ({"$ref": "https://example.com/schema"}, "another document"),
        ({"$ref": "#/$defs/none"}, "missing"),
        ({"properties": {str(n): {} for n in range(201)}}, "more than 200 arguments"),
        ({"properties": {"a\u202eb": {}}}, "unusual characters"),
        ({"properties": {"a": {"enum": list(range(501))}}}, "more than 500 choices"),
        ({"properties": {"a": {"description": "x" * 70_000}}}, "bytes"),
    ],
)
def test_what_cannot_be_used_has_a_plain_reason(schema: object, reason: str) -> None:
    assert reason in problem(schema)


@pytest.mark.parametrize("name", ["", "a\x00b", "a\u202eb", "x" * 129, " a"])
def test_odd_names_are_refused(name: str) -> None:
    assert "Its name" in problem({}, name=name)


def test_a_long_description_is_cut_and_a_huge_one_refused() -> None:
    assert len(read_definition("a", "", "x" * 5_000, {}).description) == 2_000
    assert problem({}, description="x" * 50_001) == "Its description has 50,001 characters."


def test_no_schema_means_no_arguments() -> None:
    assert read_definition("a", "", "", None).schema == NO_ARGUMENTS


@given(st.text(max_size=20), st.text(max_size=20))
def test_any_change_changes_the_digest(before: str, after: str) -> None:
    def digest(description: str) -> str:
        return read_definition("a", "", description, {}).digest

    assert (digest(before) == digest(after)) == (before == after)
    assert read_definition("a", "", before, {"a": 1}).digest != digest(before)


@given(schemas, st.dictionaries(st.text(max_size=8), json_values, max_size=4))
def test_arguments_are_accepted_or_refused_under_any_schema(
    schema: dict[str, Any], arguments: dict[str, Any]
) -> None:
    """Nothing else happens, whatever a server makes up."""
    definition = read_definition("tool", "", "", schema)
    with suppress(Refused):
        check_arguments("tool", definition.schema, msgspec.json.encode(arguments).decode())


def test_a_schema_that_is_wrong_itself_refuses_no_call() -> None:
    schema = {"properties": {"n": {"minimum": "many"}}, "required": "n"}
    definition = read_definition("tool", "", "", schema)
    check_arguments("tool", definition.schema, '{"n": 3}')
