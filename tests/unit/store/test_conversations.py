"""Conversations: trees, lists, changes, and deletion."""

import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import TypeAlias
from uuid import uuid4

import pytest
from msgspec import structs

from hitsend.errors import NotFound, Refused
from hitsend.events import Stamped
from hitsend.store import NewTurn, Store, User

Ask: TypeAlias = Callable[..., Awaitable[NewTurn]]
Answer: TypeAlias = Callable[..., Awaitable[list[Stamped]]]


async def test_a_path_leads_from_the_first_message_to_any_branch(
    store: Store, ada: User, ask: Ask, answer: Answer
) -> None:
    first = await ask(ada, "one")
    await answer(first, "1")
    second = await ask(ada, "two", to=first, after=first.answer_id)
    await answer(second, "2")
    edited = await ask(ada, "two, edited", to=first, after=first.answer_id)
    await answer(edited, "II")

    async def spoken(leaf_id: str) -> list[str]:
        path = await store.conversations.path(first.conversation_id or "", ada.id, leaf_id)
        return [message.text for message in path]

    assert await spoken(second.answer_id) == ["one", "1", "two", "2"]
    assert await spoken(edited.answer_id) == ["one", "1", "two, edited", "II"]
    assert await spoken(first.answer_id) == ["one", "1"]
    with pytest.raises(NotFound):
        await spoken("nothing")


async def test_siblings_keep_their_order_of_creation(
    store: Store, ada: User, ask: Ask, answer: Answer
) -> None:
    first = await ask(ada, "start")
    branches = [
        await ask(ada, f"branch {number}", to=first, after=first.answer_id) for number in range(5)
    ]
    for branch in reversed(branches):
        await answer(branch, "done")
    conversation = await store.conversations.get(first.conversation_id or "", ada.id)
    siblings = [m.text for m in conversation.messages if m.parent_id == first.answer_id]
    assert siblings == [f"branch {number}" for number in range(5)]


async def test_another_answer_to_the_same_message_is_a_sibling(
    store: Store, ada: User, ask: Ask, answer: Answer
) -> None:
    first = await ask(ada, "Say something")
    await answer(first, "Something")
    variant = structs.replace(
        first,
        turn_id=str(uuid4()),
        answer_id=str(uuid4()),
        creates_conversation=False,
        action="variant",
        message_id=None,
        parent_id=first.message_id,
        parts=(),
    )
    await store.turns.accept(variant)
    conversation = await store.conversations.get(first.conversation_id or "", ada.id)
    answers = [m.message_id for m in conversation.messages if m.parent_id == first.message_id]
    assert answers == [first.answer_id, variant.answer_id]
    assert conversation.current_node == variant.answer_id


async def test_the_list_shows_the_last_changed_first(
    store: Store, ada: User, ask: Ask, answer: Answer
) -> None:
    turns = [await ask(ada, f"question {number}", title=f"{number}") for number in range(5)]
    await answer(turns[1], "An answer")
    titles = ["1", "4", "3", "2", "0"]
    page = await store.conversations.list(ada.id)
    assert ([line.title for line in page.items], page.total) == (titles, 5)
    page = await store.conversations.list(ada.id, offset=1, limit=2)
    assert ([line.title for line in page.items], page.total) == (titles[1:3], 5)
    page = await store.conversations.list(ada.id, offset=9)
    assert ([*page.items], page.total) == ([], 5)


async def test_archived_and_hidden_conversations_are_not_listed(
    store: Store, ada: User, ask: Ask
) -> None:
    kept, archived, hidden = [await ask(ada, "x", title=title) for title in ("k", "a", "h")]
    await store.conversations.update(archived.conversation_id or "", ada.id, is_archived=True)
    await store.conversations.update(hidden.conversation_id or "", ada.id, is_visible=False)
    page = await store.conversations.list(ada.id)
    assert [line.id for line in page.items] == [kept.conversation_id]
    page = await store.conversations.list(ada.id, is_archived=True)
    assert [(line.id, line.is_archived) for line in page.items] == [
        (archived.conversation_id, True)
    ]
    await store.conversations.update(archived.conversation_id or "", ada.id, is_archived=False)
    assert (await store.conversations.list(ada.id)).total == 2


async def test_the_current_branch_can_be_set_to_an_existing_message(
    store: Store, ada: User, ask: Ask
) -> None:
    first, other = await ask(ada, "one"), await ask(ada, "two")
    assert first.message_id
    assert other.message_id
    conversation_id = first.conversation_id or ""
    await store.conversations.update(conversation_id, ada.id, current_node=first.message_id)
    assert (await store.conversations.get(conversation_id, ada.id)).current_node == first.message_id
    with pytest.raises(NotFound):
        await store.conversations.update(
            conversation_id, ada.id, title="Not this either", current_node=other.message_id
        )
    conversation = await store.conversations.get(conversation_id, ada.id)
    assert (conversation.current_node, conversation.title) == (first.message_id, "")


async def test_an_empty_change_is_refused(store: Store, ada: User, ask: Ask) -> None:
    turn = await ask(ada, "one")
    with pytest.raises(Refused, match="Nothing"):
        await store.conversations.update(turn.conversation_id or "", ada.id)


async def test_a_delete_leaves_nothing_behind_in_any_table(
    store: Store, ada: User, ask: Ask, answer: Answer, tmp_path: Path
) -> None:
    before = _num_rows(tmp_path)
    first = await ask(ada, "A xylophone", title="Instruments")
    await answer(first, "It is struck.", title="Percussion")
    second = await ask(ada, "More", to=first, after=first.answer_id)
    await answer(second, "No.")
    await ask(ada, "Still running", to=first, after=second.answer_id)
    assert _num_rows(tmp_path) != before
    await store.conversations.delete(first.conversation_id or "", ada.id)
    assert _num_rows(tmp_path) == before
    with pytest.raises(NotFound):
        await store.conversations.delete(first.conversation_id or "", ada.id)


async def test_a_long_conversation_is_read_and_deleted(
    store: Store, ada: User, ask: Ask, clock: SimpleNamespace
) -> None:
    last = first = await ask(ada, "turn 0")
    for number in range(1, 60):
        last = await ask(ada, f"turn {number}", to=first, after=last.answer_id)
    path = await store.conversations.path(first.conversation_id or "", ada.id, last.answer_id)
    assert [m.text for m in path if m.role == "user"] == [f"turn {n}" for n in range(60)]
    await store.conversations.delete(first.conversation_id or "", ada.id)
    assert (await store.conversations.list(ada.id)).total == 0


KEPT = (
    "conversations",
    "messages",
    "turns",
    "turn_events",
    "message_search",
    "message_search_content",
    "message_search_docsize",
    "title_search",
    "title_search_content",
    "title_search_docsize",
)


def _num_rows(tmp_path: Path) -> dict[str, int]:
    connection = sqlite3.connect(tmp_path / "data" / "hitsend.db")
    try:
        return {
            name: connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in KEPT
        }
    finally:
        connection.close()
