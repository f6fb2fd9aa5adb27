"""Which tools a prompt lists, and how likely each of them is: by what the person asks."""

from collections.abc import Iterator, Sequence

from hitsend.context.recall import Recall
from hitsend.engine import (
    Request,
    compare_with_tools,
    compared_texts,
    describe_tool,
    split_requests,
    weigh,
)
from hitsend.messages import Message, Tool, ToolCall, ToolResult

LISTED_SHARE = 1 / 6
"""Of the window, which the list of the tools may take."""
CHARS_PER_TOKEN = 4
MAX_ASKED = 8
"""So many messages of the person are read, the latest."""
NUM_CLOSEST = 3
"""A message needs these tools in the list, if not all of them can be."""


async def select_tools(
    tools: Sequence[Tool], messages: Sequence[Message], num_window_tokens: int, recall: Recall
) -> Sequence[Tool]:
    """Leaves out the least relevant tools if all together would take too much of the window. The
    list stays as it is until a message is close to a tool that is not in it: the KV cache holds the
    conversation that comes after it."""
    room = num_window_tokens * LISTED_SHARE * CHARS_PER_TOKEN
    if sum(map(_num_chars, tools)) <= room:
        return tools
    listed: set[str] = set()
    for text in list(_asked(messages))[-MAX_ASKED:]:
        ranked = await _rank(tools, text, recall)
        if not listed.issuperset(tool.name for tool in ranked[:NUM_CLOSEST]):
            listed = set(_fill(ranked, room))
    return [tool for tool in tools if tool.name in listed]


async def weigh_tools(
    tools: Sequence[Tool], messages: Sequence[Message], said: str, recall: Recall
) -> Sequence[tuple[float, ...]]:
    """Compares each thing that the person asked for with the tools. Returns the weights of the next
    call, and those after a call of each tool if several things were asked for. Returns nothing
    where meanings cannot be compared."""
    question, called = _read_question(messages)
    texts = compared_texts(tools)
    parts = split_requests(question)
    asked = [question] if len(parts) == 1 else [question, *parts]
    compared = [await recall.compare(text, texts) for text in asked]
    if not all(compared):
        return ()
    whole, *others = [Request(*one) for one in zip(asked, compared, strict=True)]
    nexts = [[tool.name] for tool in tools] if others else []
    return [weigh(tools, whole, others or [whole], said, [*called, *more]) for more in ([], *nexts)]


def _read_question(messages: Sequence[Message]) -> tuple[str, list[str]]:
    """Returns what the person wrote last, and the tools that the answer to it has called. A call
    that was not valid is still to be made."""
    called: list[str] = []
    invalid: set[str] = set()
    for message in reversed(messages):
        if message.role == "user":
            return message.own_text or message.text, called[::-1]
        for part in reversed(message.parts):
            match part:
                case ToolResult(call_id=call_id, is_invalid=True):
                    invalid.add(call_id)
                case ToolCall(call_id=call_id, tool=tool) if call_id not in invalid:
                    called.append(tool)
    return "", []


def _asked(messages: Sequence[Message]) -> Iterator[str]:
    return (one.own_text or one.text for one in messages if one.role == "user")


async def _rank(tools: Sequence[Tool], text: str, recall: Recall) -> Sequence[Tool]:
    """Returns the closest tools first, or all in their order if meanings cannot be compared."""
    similarities = await recall.compare(text, compared_texts(tools))
    if not similarities:
        return tools
    closeness = compare_with_tools(tools, similarities)
    order = sorted(range(len(tools)), key=lambda at: closeness[at], reverse=True)
    return [tools[at] for at in order]


def _fill(ranked: Sequence[Tool], room: float) -> Iterator[str]:
    for tool in ranked:
        room -= _num_chars(tool)
        if room < 0:
            return
        yield tool.name


def _num_chars(tool: Tool) -> int:
    return len(describe_tool(tool))
