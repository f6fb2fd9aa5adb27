"""Files of tools belong to their conversation: listed, counted and erased with it."""

from collections.abc import Awaitable, Callable, Sequence
from types import SimpleNamespace
from typing import TypeAlias

import pytest
from tests.unit.store.test_erase_in_batches import counts_by_step, largest_step

from hitsend.errors import NotFound
from hitsend.messages import FileRef
from hitsend.store import NewFile, NewTurn, Store, User
from hitsend.store.erase_in_batches import MAX_FILES

Ask: TypeAlias = Callable[..., Awaitable[NewTurn]]

PLOT = NewFile("plot.png", "image/png", b"\x89PNG" * 25)


async def draw(store: Store, user: User, ask: Ask, number: int = 1) -> tuple[str, list[FileRef]]:
    """Returns a conversation with plots in it."""
    conversation_id = (await ask(user, "Draw")).conversation_id or ""
    refs: Sequence[FileRef] = await store.tool_files.add(
        user.id, conversation_id, [PLOT for _ in range(number)]
    )
    return conversation_id, list(refs)


async def test_files_are_counted_for_their_owner(
    store: Store, ada: User, eve: User, ask: Ask
) -> None:
    await draw(store, ada, ask, 2)
    assert await store.storage.used_by(ada.id) == 200
    assert await store.storage.used_by(eve.id) == 0
    assert (await store.storage.by_user())[ada.id] == 200


async def test_files_of_hidden_conversations_are_not_listed(
    store: Store, ada: User, eve: User, ask: Ask, clock: SimpleNamespace
) -> None:
    _, first = await draw(store, ada, ask)
    clock.now += 1
    hidden, second = await draw(store, ada, ask)
    ids = [one.file_id for one in (*first, *second)]
    assert await store.tool_files.list_ids(ada.id) == ids
    assert await store.tool_files.list_ids(eve.id) == []
    await store.conversations.update(hidden, ada.id, is_visible=False)
    assert await store.tool_files.list_ids(ada.id) == ids[:1]
    with pytest.raises(NotFound):
        await store.tool_files.get(ids[1], ada.id)


async def test_files_are_erased_with_their_conversation(store: Store, ada: User, ask: Ask) -> None:
    conversation_id, refs = await draw(store, ada, ask)
    _, others = await draw(store, ada, ask)
    await store.conversations.delete(conversation_id, ada.id)
    with pytest.raises(NotFound):
        await store.tool_files.get(refs[0].file_id, ada.id)
    assert (await store.tool_files.get(others[0].file_id, ada.id)).content == PLOT.content
    assert await store.storage.used_by(ada.id) == 100


async def test_others_write_while_an_account_with_many_files_is_erased(
    store: Store, ada: User, ask: Ask
) -> None:
    await draw(store, ada, ask, MAX_FILES * 3)
    counts = await counts_by_step(store, "tool_files", store.accounts.erase(ada.id))
    assert counts[-1] == 0
    assert largest_step(counts) <= MAX_FILES
