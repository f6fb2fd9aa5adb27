"""Folders and pins, and what the lists show of them."""

from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import TypeAlias

import pytest

from hitsend.errors import Conflict, NotFound
from hitsend.store import ConversationPage, Folder, NewTurn, Store, User

Ask: TypeAlias = Callable[..., Awaitable[NewTurn]]


def _titles(page: ConversationPage) -> list[str]:
    assert page.total == len(page.items)
    return [line.title for line in page.items]


async def test_folders_are_listed_by_name_with_their_number_of_conversations(
    store: Store, ada: User, ask: Ask
) -> None:
    work, home, empty = [await store.folders.create(ada.id, n) for n in ("work", "Home", "élan")]
    for folder in (work, work, home):
        turn = await ask(ada, "Hello")
        await store.conversations.update(turn.conversation_id or "", ada.id, folder_id=folder.id)
    assert await store.folders.list(ada.id) == [
        Folder(home.id, "Home", 1),
        Folder(work.id, "work", 2),
        Folder(empty.id, "élan", 0),
    ]


async def test_a_list_shows_one_folder_or_the_conversations_in_none(
    store: Store, ada: User, ask: Ask
) -> None:
    folder = await store.folders.create(ada.id, "Work")
    inside, outside = await ask(ada, "x", title="inside"), await ask(ada, "x", title="outside")
    await store.conversations.update(inside.conversation_id or "", ada.id, folder_id=folder.id)
    conversations = store.conversations
    assert _titles(await conversations.list(ada.id)) == ["outside", "inside"]
    assert _titles(await conversations.list(ada.id, folder_id=folder.id)) == ["inside"]
    assert _titles(await conversations.list(ada.id, folder_id=None)) == ["outside"]
    (line,) = (await conversations.list(ada.id, folder_id=folder.id)).items
    assert line.folder_id == folder.id
    await conversations.update(inside.conversation_id or "", ada.id, folder_id=None)
    assert _titles(await conversations.list(ada.id, folder_id=folder.id)) == []
    assert (await conversations.get(outside.conversation_id or "", ada.id)).folder_id is None


async def test_pinned_conversations_can_be_listed_alone(store: Store, ada: User, ask: Ask) -> None:
    pinned, other = await ask(ada, "x", title="pinned"), await ask(ada, "x", title="other")
    archived = await ask(ada, "x", title="archived")
    for turn in (pinned, archived):
        await store.conversations.update(turn.conversation_id or "", ada.id, is_pinned=True)
    await store.conversations.update(archived.conversation_id or "", ada.id, is_archived=True)
    assert _titles(await store.conversations.list(ada.id, is_pinned=True)) == ["pinned"]
    assert _titles(await store.conversations.list(ada.id, is_pinned=False)) == ["other"]
    assert _titles(await store.conversations.list(ada.id)) == ["other", "pinned"]
    shown = await store.conversations.list(ada.id, is_archived=True, is_pinned=True)
    assert [(line.title, line.is_pinned) for line in shown.items] == [("archived", True)]
    assert not (await store.conversations.get(other.conversation_id or "", ada.id)).is_pinned


async def test_pinning_or_moving_a_conversation_does_not_change_its_time(
    store: Store, ada: User, ask: Ask, clock: SimpleNamespace
) -> None:
    folder = await store.folders.create(ada.id, "Work")
    old, _ = await ask(ada, "x", title="old"), await ask(ada, "x", title="new")
    clock.now += 100
    await store.conversations.update(
        old.conversation_id or "", ada.id, is_pinned=True, folder_id=folder.id
    )
    assert _titles(await store.conversations.list(ada.id)) == ["new", "old"]


async def test_a_search_covers_all_folders_and_the_archive(
    store: Store, ada: User, ask: Ask
) -> None:
    folder = await store.folders.create(ada.id, "Work")
    for title in ("plain", "archived", "pinned", "filed"):
        turn = await ask(ada, "needle", title=title)
        await store.conversations.update(
            turn.conversation_id or "",
            ada.id,
            is_archived=title == "archived",
            is_pinned=title == "pinned",
            folder_id=folder.id if title == "filed" else None,
        )
    found = await store.conversations.search(ada.id, "needle")
    assert _titles(found) == ["filed", "pinned", "archived", "plain"]


async def test_deleting_a_folder_keeps_its_conversations(store: Store, ada: User, ask: Ask) -> None:
    folder = await store.folders.create(ada.id, "Work")
    turn = await ask(ada, "x", title="kept")
    await store.conversations.update(turn.conversation_id or "", ada.id, folder_id=folder.id)
    await store.folders.delete(folder.id, ada.id)
    assert _titles(await store.conversations.list(ada.id, folder_id=None)) == ["kept"]
    assert await store.folders.list(ada.id) == []
    with pytest.raises(NotFound):
        await store.folders.delete(folder.id, ada.id)


async def test_a_folder_can_be_renamed(store: Store, ada: User) -> None:
    folder = await store.folders.create(ada.id, "Work")
    renamed = Folder(folder.id, "<b>Play</b>", 0)
    assert await store.folders.rename(folder.id, ada.id, "<b>Play</b>") == renamed
    assert await store.folders.list(ada.id) == [renamed]


async def test_another_persons_folders_are_not_found(
    store: Store, ada: User, eve: User, ask: Ask
) -> None:
    hers, mine = await store.folders.create(ada.id, "Hers"), await ask(eve, "x", title="mine")
    conversation_id = mine.conversation_id or ""
    with pytest.raises(NotFound):
        await store.folders.rename(hers.id, eve.id, "Mine")
    with pytest.raises(NotFound):
        await store.folders.delete(hers.id, eve.id)
    with pytest.raises(NotFound):
        await store.conversations.update(conversation_id, eve.id, title="no", folder_id=hers.id)
    assert (await store.conversations.get(conversation_id, eve.id)).title == "mine"
    assert await store.folders.list(eve.id) == []
    assert await store.folders.list(ada.id) == [hers]


async def test_the_number_of_folders_is_limited(store: Store, ada: User, eve: User) -> None:
    for number in range(200):
        await store.folders.create(ada.id, str(number))
    with pytest.raises(Conflict, match="200"):
        await store.folders.create(ada.id, "one more")
    await store.folders.create(eve.id, "Eve's first")
