"""The default model is guided to its calls: it makes those that are needed, and no others."""

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

import msgspec
import pytest
import pytest_asyncio
from tests.engine.answer import user

from hitsend.engine import Catalogue, Generated, LlamaEngine, ToolCallParser
from hitsend.messages import Message, Sampling, Text, Tool, ToolCall, ToolResult
from hitsend.settings import Settings

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(600)]

BRIEF = Sampling(temperature=0, max_tokens=60)
LIMIT_S = 300
"""The prompt is read for the first time, perhaps on a busy machine."""


def tool(name: str, description: str, **properties: object) -> Tool:
    schema = {"type": "object", "properties": properties, "required": [*properties]}
    return Tool(name, description, json.dumps(schema))


TOOLS = (
    tool("calculate", "Works out arithmetic. Example: 3 * 4.", expression={"type": "string"}),
    tool("get_weather", "Tells the weather of a place.", place={"type": "string"}),
    tool("set_timer", "Starts a timer.", minutes={"type": "number"}),
)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def guided(catalogue: Catalogue) -> AsyncGenerator[LlamaEngine]:
    await catalogue.pull(catalogue.default)
    engine = LlamaEngine(
        Settings(model=catalogue.default, num_slots=1, num_window_tokens=2048, engine_wait_s=120.0),
        catalogue,
    )
    await engine.start()
    yield engine
    await engine.close()


async def ask(
    engine: LlamaEngine,
    *messages: Message,
    tools: Sequence[Tool] = TOOLS,
    sampling: Sampling = BRIEF,
    is_guided: bool = True,
) -> tuple[str, list[tuple[str, object]]]:
    """Returns what the answer says, and its calls."""
    prompt = await engine.encode("auto", messages, tools)
    if not is_guided:
        prompt = msgspec.structs.replace(prompt, guide=None)
    parser = ToolCallParser([one.name for one in tools])
    pieces: list[object] = []
    async with asyncio.timeout(LIMIT_S), aclosing(engine.generate(prompt, sampling)) as steps:
        async for step in steps:
            if isinstance(step, Generated):
                pieces += parser.feed(step.text)
    pieces += parser.finish()
    calls = [one for one in pieces if isinstance(one, ToolCall)]
    text = "".join(one for one in pieces if isinstance(one, str))
    return text, [(one.tool, json.loads(one.arguments)) for one in calls]


async def test_a_call_is_made_with_the_number_that_the_person_wrote(guided: LlamaEngine) -> None:
    text, calls = await ask(guided, user("Set a timer for 12 minutes, please."))
    assert calls == [("set_timer", {"minutes": 12})]
    assert text == ""


async def test_a_greeting_is_answered_in_words(guided: LlamaEngine) -> None:
    text, calls = await ask(guided, user("Good evening!"))
    assert calls == []
    assert text


async def test_the_result_of_a_call_is_told_in_words(guided: LlamaEngine) -> None:
    call = ToolCall("call_1", "get_weather", '{"place": "Rome"}')
    text, calls = await ask(
        guided,
        user("What is the weather in Rome?"),
        Message("assistant", (call,)),
        Message("tool", (ToolResult("call_1", "Rome: 21 degrees, sunny"),), "tool"),
    )
    assert calls == []
    assert "21" in text


async def test_without_a_guide_a_schema_binds_the_text_and_not_a_call(guided: LlamaEngine) -> None:
    report = {
        "type": "object",
        "properties": {"mood": {"enum": ["good", "bad"]}},
        "required": ["mood"],
        "additionalProperties": False,
    }
    sampling = msgspec.structs.replace(BRIEF, json_schema=json.dumps(report))
    for asked, is_call in (
        ("Set a timer for 12 minutes, please.", True),
        ('Is the mood of "I love this soup" good or bad? Write {"mood": …}, call nothing.', False),
    ):
        text, calls = await ask(guided, user(asked), sampling=sampling, is_guided=False)
        if is_call:
            assert (text, calls) == ("", [("set_timer", {"minutes": 12})])
        else:
            assert calls == []
            assert json.loads(text) == {"mood": "good"}


async def test_without_a_guide_a_call_of_a_strict_tool_follows_its_schema(
    guided: LlamaEngine,
) -> None:
    lamp = tool("set_lamp", "Sets the lamp to any colour.", color={"type": "string"})
    listed = tool("set_lamp", "Sets the lamp.", color={"enum": ["red", "green"]})
    strict = msgspec.structs.replace(lamp, parameters=listed.parameters, is_strict=True)
    asked = user("Call set_lamp: make the lamp purple.")
    _, free = await ask(guided, asked, tools=[lamp], is_guided=False)
    assert free == [("set_lamp", {"color": "purple"})]
    text, calls = await ask(guided, asked, tools=[strict, *TOOLS], is_guided=False)
    assert text == ""
    assert calls in ([("set_lamp", {"color": "red"})], [("set_lamp", {"color": "green"})])


async def test_without_a_guide_strict_tools_leave_the_words_of_an_answer_free(
    guided: LlamaEngine,
) -> None:
    lamp = msgspec.structs.replace(TOOLS[1], is_strict=True)
    asked = user("Explain in one sentence what rain is. Call no tool.")
    text, calls = await ask(guided, asked, tools=[lamp], is_guided=False)
    assert "rain" in text.lower() or "water" in text.lower()
    assert calls == []


async def test_the_list_of_the_tools_is_counted(guided: LlamaEngine) -> None:
    system = Message("system", (Text("Be brief."),), "system")
    for messages in ([user("Hello")], [system, user("Hello")]):
        prompt = await guided.encode("auto", messages, TOOLS)
        counted = {span.source: span.num_tokens for span in prompt.spans}
        assert 100 < counted["tools"] < 300
        assert {span.index for span in prompt.spans if span.source == "user"} == {len(messages) - 1}
