"""The example of docs/tools.md is a tool that works."""

import re
from pathlib import Path
from typing import Any

import pytest

from hitsend.errors import Refused
from hitsend.tools import Call, HostedTool

PAGE = (Path(__file__).parents[2] / "docs" / "tools.md").read_text()


def example() -> HostedTool:
    found = re.search(r"```python\n(.+?)```", PAGE, re.DOTALL)
    assert found
    names: dict[str, Any] = {}
    exec(found[1], names)
    tool = names["roll_dice"]
    assert isinstance(tool, HostedTool)
    return tool


async def test_the_example_of_the_page_is_a_tool_that_works() -> None:
    tool, call = example(), Call(call_id="call_1", user_id="ada")
    assert tool.spec.description == "Roll one die and tell the number."
    result = await tool.run(call, '{"sides": 6}')
    assert result.output in "123456"
    with pytest.raises(Refused):
        tool.check('{"sides": 1}')
