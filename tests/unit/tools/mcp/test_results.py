"""What a server returned, as text for the model."""

from typing import Any

import mcp_types as types
import pytest

from hitsend.tools.mcp.results import read_result


def read(text: str, structured: dict[str, Any]) -> str:
    block = types.TextContent(type="text", text=text)
    result = types.CallToolResult(content=[block], structured_content=structured)
    return read_result(result, "Files").output


@pytest.mark.parametrize(
    ("text", "structured"),
    [
        ('{"a": 1}', {"a": 1}),
        ("[FILE] hello.txt", {"content": "[FILE] hello.txt"}),
        ('[{"name": "Ada"}]', {"entities": [{"name": "Ada"}]}),
        ("5", {"result": 5}),
    ],
)
def test_what_a_server_says_twice_is_read_once(text: str, structured: dict[str, Any]) -> None:
    assert read(text, structured) == text


def test_what_the_text_does_not_say_is_read_as_well() -> None:
    assert read("Two files.", {"files": ["a", "b"]}) == 'Two files.\n{"files":["a","b"]}'
