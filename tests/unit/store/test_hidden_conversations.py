"""Deletion that can be undone for a minute."""

import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import TypeAlias
from uuid import uuid4

import pytest
from msgspec import structs

from hitsend.errors import NotFound
from hitsend.events import Stamped
from hitsend.messages import Feedback
from hitsend.store import NewTurn, Store, User

Ask: TypeAlias = Callable[..., Awaitable[NewTurn]]
Answer: TypeAlias = Callable[..., Awaitable[list[Stamped]]]
Use: TypeAlias = Callable[[Store, NewTurn], Awaitable[object]]


def _next(turn: NewTurn) -> NewTurn:
    new = {"turn_id": str(uuid4()), "message_id": str(uuid4()), "answer_id": str(uuid4())}
    return structs.replace(turn, creates_conversation=False, parent_id=turn.answer_id, **new)


USES: dict[str, Use] = {
    "get": lambda s, t: s.conversations.get(t.conversation_id or "", t.user_id),
    "path": lambda s, t: s.conversations.path(t.conversation_id or "", t.user_id, t.answer_id),
    "rename": lambda s, t: s.conversations.update(t.conversation_id or "", t.user_id, title="x"),
    "share": lambda s, t: s.shares.create(t.conversation_id or "", t.user_id, t.answer_id),
    "send": lambda s, t: s.turns.accept(_next(t)),
}


@pytest.mark.parametrize("name", USES)
async def test_a_hidden_conversation_cannot_be_used_until_it_is_restored(
    store: Store, ada: User, ask: Ask, answer: Answer, name: str
) -> None:
    turn = await ask(ada, "Hello")
    await answer(turn, "Hi")
    await store.conversations.update(turn.conversation_id or "", ada.id, is_visible=False)
    with pytest.raises(NotFound):
        await USES[name](store, turn)
    await store.conversations.update(turn.conversation_id or "", ada.id, is_visible=True)
    await USES[name](store, turn)


async def test_a_hidden_conversation_is_in_no_list_search_or_count(
    store: Store, ada: User, ask: Ask
) -> None:
    folder = await store.folders.create(ada.id, "Work")
    turn = await ask(ada, "needle", title="Haystack")
    conversation_id = turn.conversation_id or ""
    await store.conversations.update(
        conversation_id, ada.id, is_pinned=True, folder_id=folder.id, is_visible=False
    )
    for page in (
        await store.conversations.list(ada.id),
        await store.conversations.list(ada.id, is_pinned=True),
        await store.conversations.list(ada.id, folder_id=folder.id),
        await store.conversations.search(ada.id, "needle"),
        await store.conversations.search(ada.id, "haystack"),
    ):
        assert (page.items, page.total) == ((), 0)
    assert [folder.num_conversations for folder in await store.folders.list(ada.id)] == [0]


async def test_a_hidden_conversation_is_erased_after_a_minute(
    store: Store, ada: User, ask: Ask, answer: Answer, clock: SimpleNamespace, tmp_path: Path
) -> None:
    turn, kept = await ask(ada, "needle"), await ask(ada, "Stays")
    conversation_id = turn.conversation_id or ""
    await answer(turn, "Found it")
    await store.feedback.set(conversation_id, turn.answer_id, ada.id, Feedback("up"))
    await store.shares.create(conversation_id, ada.id, turn.answer_id)
    await store.conversations.update(conversation_id, ada.id, is_visible=False)
    clock.now += 59
    await store.conversations.erase_hidden()
    await store.conversations.update(conversation_id, ada.id, is_visible=True)
    await store.conversations.update(conversation_id, ada.id, is_visible=False)
    clock.now += 59
    await store.conversations.update(conversation_id, ada.id, is_visible=False)
    await store.conversations.erase_hidden()
    assert _num_rows(tmp_path, "conversations") == 2
    clock.now += 1
    await store.conversations.erase_hidden()
    assert _num_rows(tmp_path, "conversations") == 1
    for table in ("turn_events", "feedback", "shares"):
        assert _num_rows(tmp_path, table) == 0
    assert _num_rows(tmp_path, "message_search") == 1
    with pytest.raises(NotFound):
        await store.conversations.update(conversation_id, ada.id, is_visible=True)
    assert (await store.conversations.get(kept.conversation_id or "", ada.id)).messages


def _num_rows(tmp_path: Path, table: str) -> int:
    connection = sqlite3.connect(tmp_path / "data" / "hitsend.db")
    try:
        return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
    finally:
        connection.close()


async def test_a_hidden_conversation_can_be_deleted_at_once(
    store: Store, ada: User, ask: Ask
) -> None:
    turn = await ask(ada, "Hello")
    conversation_id = turn.conversation_id or ""
    await store.conversations.update(conversation_id, ada.id, is_visible=False)
    await store.conversations.delete(conversation_id, ada.id)
    with pytest.raises(NotFound):
        await store.conversations.update(conversation_id, ada.id, is_visible=True)
