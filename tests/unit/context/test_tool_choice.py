"""The tools that a prompt lists, and their weights, by what the person asks."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from hitsend.context.recall import ExactSearch, Recall
from hitsend.context.tool_choice import LISTED_SHARE, select_tools, weigh_tools
from hitsend.engine import Embedder, WordHashes, describe_tool
from hitsend.messages import Message, Text, Tool, ToolCall, ToolResult
from hitsend.store import Store

TOPICS = (
    "boats",
    "trains",
    "planes",
    "soups",
    "cakes",
    "songs",
    "films",
    "roses",
    "birds",
    "stars",
)
MANY = [
    Tool(f"find_{topic}_{n}", f"Finds {topic}. {'And more of it. ' * 9}", "{}")
    for topic in TOPICS
    for n in range(6)
]
WINDOW = 8192


class Meanings(WordHashes):
    """Stands for a model of meanings."""

    name = "meanings"


@pytest.fixture
async def store(tmp_path: Path, copy_database: Callable[[Path], Path]) -> AsyncIterator[Store]:
    store = await Store.open(copy_database(tmp_path / "data"))
    yield store
    await store.close()


def recall(store: Store, embedder: Embedder | None = None) -> Recall:
    return Recall(store, embedder or Meanings(), ExactSearch())


def asked(*texts: str) -> list[Message]:
    return [Message("user", (Text(text),), "user") for text in texts]


async def listed(store: Store, *texts: str) -> list[str]:
    found = await select_tools(MANY, asked(*texts), WINDOW, recall(store))
    return [tool.name for tool in found]


async def test_few_tools_are_all_listed(store: Store) -> None:
    assert await select_tools(MANY[:9], asked("Hello"), WINDOW, recall(store)) == MANY[:9]


async def test_of_many_tools_the_closest_take_a_small_part_of_the_window(store: Store) -> None:
    names = await listed(store, "Finds roses")
    assert {f"find_roses_{n}" for n in range(6)} <= set(names)
    chars = sum(len(describe_tool(tool)) for tool in MANY if tool.name in names)
    assert 0 < chars / 4 <= WINDOW * LISTED_SHARE
    assert len(names) < len(MANY)


async def test_the_list_stays_while_messages_are_about_tools_in_it(store: Store) -> None:
    first = await listed(store, "Finds roses")
    assert await listed(store, "Finds roses", "Finds more roses") == first
    assert first == [tool.name for tool in MANY if tool.name in first]


async def test_the_list_changes_for_a_message_about_another_tool(store: Store) -> None:
    first = await listed(store, "Finds roses")
    topic = next(one for one in TOPICS if f"find_{one}_0" not in first)
    assert f"find_{topic}_0" in await listed(store, "Finds roses", f"Finds {topic}")


async def test_without_meanings_the_first_tools_are_listed(store: Store) -> None:
    found = await select_tools(MANY, asked("Finds stars"), WINDOW, recall(store, WordHashes()))
    assert found == MANY[: len(found)]
    assert found
    assert await weigh_tools(MANY, asked("Finds stars"), "", recall(store, WordHashes())) == ()


async def test_a_reply_is_due_after_the_only_call_that_was_asked_for(store: Store) -> None:
    messages = [
        *asked("Finds boats"),
        Message("assistant", (ToolCall("1", "find_boats_0", "{}"),)),
        Message("tool", (ToolResult("1", "None"),), "tool"),
    ]
    (before,) = await weigh_tools(MANY, messages[:1], "", recall(store))
    (after,) = await weigh_tools(MANY, messages, "", recall(store))
    assert max(before) == before[0] > before[-1]
    assert max(after) == after[-1] > 0


async def test_of_two_things_the_other_is_left_after_a_call_for_one(store: Store) -> None:
    asking = asked("Finds boats. Finds trains.")
    before, *after = await weigh_tools(MANY, asking, "", recall(store))
    names = [tool.name for tool in MANY]
    after_boats = after[names.index("find_boats_0")]
    trains, boats = names.index("find_trains_0"), names.index("find_boats_0")
    assert before[boats] > before[trains]
    assert after_boats[trains] > after_boats[boats]
