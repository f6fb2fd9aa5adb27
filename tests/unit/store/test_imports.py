"""Imports are all or nothing, and other writers go on meanwhile."""

from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from uuid import UUID, uuid5

import pytest
from msgspec import structs
from sqlalchemy import text

from hitsend.errors import BadImport, Conflict, NotFound
from hitsend.events import AnswerStarted, Ending, TurnFinished
from hitsend.import_export.imported_conversation import ImportedConversation, ImportedMessage
from hitsend.store import ImportCounts, Store, User
from hitsend.store.database import MAX_BATCH_ROWS
from hitsend.store.folders import MAX_FOLDERS
from hitsend.transcript import fold


def talk(name: str, num_messages: int = 2, folder: str | None = None) -> ImportedConversation:
    messages = tuple(
        ImportedMessage(
            id=str(number),
            parent_id=str(number - 1) if number else None,
            role="assistant" if number % 2 else "user",
            text=f"word{number}",
            created_at=float(number),
            model="m" if number % 2 else None,
            ending="stop" if number % 2 else None,
        )
        for number in range(num_messages)
    )
    return ImportedConversation(
        source_id=name,
        title=name,
        created_at=1.0,
        updated_at=2.0,
        current_node=messages[-1].id,
        folder=folder,
        messages=messages,
    )


async def each(*taken: ImportedConversation) -> AsyncIterator[list[ImportedConversation]]:
    for one in taken:
        yield [one]


async def total(store: Store, user: User) -> int:
    return (await store.conversations.list(user.id)).total


async def test_an_import_is_invisible_until_it_is_complete(store: Store, ada: User) -> None:
    seen: list[int] = []

    async def watched() -> AsyncIterator[list[ImportedConversation]]:
        for name in ("a", "b"):
            yield [talk(name)]
            seen.append(await total(store, ada))
            seen.append((await store.conversations.search(ada.id, "word1")).total)

    assert await store.imports.add(ada.id, watched()) == ImportCounts(2, 4, 0)
    assert seen == [0, 0, 0, 0]
    assert await total(store, ada) == 2
    assert (await store.conversations.search(ada.id, "word1")).total == 2


async def test_a_failed_import_leaves_nothing(
    store: Store, ada: User, clock: SimpleNamespace
) -> None:
    async def breaking() -> AsyncIterator[list[ImportedConversation]]:
        yield [talk("a")]
        raise BadImport("The rest is gone.")

    with pytest.raises(BadImport):
        await store.imports.add(ada.id, breaking())
    assert await total(store, ada) == 0
    assert await store.imports.add(ada.id, each(talk("a"))) == ImportCounts(1, 2, 0)
    await store.conversations.erase_hidden()
    assert await total(store, ada) == 1


async def test_an_import_cut_off_by_a_crash_is_erased_later(
    store: Store, ada: User, clock: SimpleNamespace, tmp_path: Path
) -> None:
    async def crashing() -> AsyncIterator[list[ImportedConversation]]:
        yield [talk("a")]
        await store.close()
        raise BadImport("The power went.")

    with pytest.raises(Exception, match="closed"):
        await store.imports.add(ada.id, crashing())
    again = await Store.open(tmp_path / "data" / "hitsend.db", now=lambda: clock.now)
    assert await total(again, ada) == 0
    clock.now += 7200
    await again.conversations.erase_hidden()
    count = text("SELECT count(*) FROM messages")
    assert await again._database.read(lambda connection: connection.scalar(count)) == 0
    await again.close()


async def test_a_conversation_imported_in_many_batches_is_complete(store: Store, ada: User) -> None:
    num_messages = MAX_BATCH_ROWS * 2 + 1
    await store.imports.add(ada.id, each(talk("long", num_messages)))
    (conversation_id,) = await store.conversations.ids(ada.id)
    kept = await store.conversations.get(conversation_id, ada.id)
    assert len(kept.messages) == num_messages
    assert kept.current_node == kept.messages[-1].message_id
    assert all(message.is_imported for message in kept.messages)


async def test_an_import_into_a_deleted_account_is_refused(store: Store, ada: User) -> None:
    await store.accounts.close_account(ada.id)
    with pytest.raises(NotFound):
        await store.imports.add(ada.id, each(talk("a")))


async def test_imported_folders_are_found_by_name_or_created_up_to_the_maximum(
    store: Store, ada: User
) -> None:
    for number in range(MAX_FOLDERS - 2):
        await store.folders.create(ada.id, f"Old {number}")
    taken = [talk(name, folder=name) for name in ("Old 0", "New", "Newer", "One too many")]
    await store.imports.add(ada.id, each(*taken))
    filled = {f.name: f.num_conversations for f in await store.folders.list(ada.id)}
    assert len(filled) == MAX_FOLDERS
    assert [filled.get(one.title) for one in taken] == [1, 1, 1, None]
    assert await total(store, ada) == 4


@pytest.mark.parametrize("breaks_off", [True, False])
async def test_an_import_restores_what_was_just_deleted(
    store: Store, ada: User, breaks_off: bool
) -> None:
    async def batches() -> AsyncIterator[list[ImportedConversation]]:
        yield [talk("a")]
        if breaks_off:
            raise BadImport("The rest is gone.")

    await store.imports.add(ada.id, each(talk("a")))
    (kept,) = await store.conversations.ids(ada.id)
    await store.conversations.update(kept, ada.id, is_visible=False)
    if breaks_off:
        with pytest.raises(BadImport):
            await store.imports.add(ada.id, batches())
        assert await total(store, ada) == 0
        await store.conversations.update(kept, ada.id, is_visible=True)
    else:
        assert await store.imports.add(ada.id, batches()) == ImportCounts(1, 2, 0)
    assert len((await store.conversations.get(kept, ada.id)).messages) == 2


async def test_an_import_fails_if_a_conversation_in_it_is_erased_meanwhile(
    store: Store, ada: User, clock: SimpleNamespace
) -> None:
    async def slowly() -> AsyncIterator[list[ImportedConversation]]:
        yield [talk("a")]
        clock.now += 61
        await store.conversations.erase_hidden()
        yield [talk("b")]

    await store.imports.add(ada.id, each(talk("a")))
    (kept,) = await store.conversations.ids(ada.id)
    await store.conversations.update(kept, ada.id, is_visible=False)
    with pytest.raises(Conflict, match="again"):
        await store.imports.add(ada.id, slowly())
    assert await total(store, ada) == 0
    assert await store.imports.add(ada.id, each(talk("a"), talk("b"))) == ImportCounts(2, 4, 0)


async def test_the_original_is_recognised_also_beside_a_deleted_copy(
    store: Store, ada: User
) -> None:
    await store.imports.add(ada.id, each(talk("a")))
    (original,) = await store.conversations.ids(ada.id)
    copied = talk(original)
    assert await store.imports.add(ada.id, each(copied)) == ImportCounts(0, 0, 1)
    await store.conversations.update(original, ada.id, is_visible=False)
    assert await store.imports.add(ada.id, each(copied)) == ImportCounts(1, 2, 0)
    assert await store.conversations.ids(ada.id) == [original]


async def test_a_staged_conversation_cannot_be_made_visible_by_its_id(
    store: Store, ada: User
) -> None:
    async def watched() -> AsyncIterator[list[ImportedConversation]]:
        yield [talk("a")]
        ids = text("SELECT id FROM conversations")
        (staged_id,) = await store._database.read(lambda connection: connection.scalars(ids).all())
        with pytest.raises(NotFound):
            await store.conversations.update(staged_id, ada.id, is_visible=True)

    await store.imports.add(ada.id, watched())
    assert await total(store, ada) == 1


async def test_an_imported_answer_has_the_status_of_its_ending(store: Store, ada: User) -> None:
    endings: list[Ending] = ["stop", "length", "tool_calls", "stopped", "interrupted", "failed"]
    answers = tuple(
        ImportedMessage(
            id=ending, parent_id=None, role="assistant", text="x", created_at=1.0, ending=ending
        )
        for ending in endings
    )
    await store.imports.add(ada.id, each(structs.replace(talk("a"), messages=answers)))
    (kept,) = await store.conversations.ids(ada.id)
    for message in (await store.conversations.get(kept, ada.id)).messages:
        assert message.ending is not None
        answered = fold([AnswerStarted("a", None, "m"), TurnFinished(message.ending)])
        assert message.status == answered.messages[-1].status


async def test_a_source_id_equal_to_the_new_id_of_another_conversation_means_that_one(
    store: Store, ada: User
) -> None:
    first = str(uuid5(UUID(ada.id), "a"))
    assert await store.imports.add(ada.id, each(talk("a"), talk(first))) == ImportCounts(1, 2, 1)
    assert await store.conversations.ids(ada.id) == [first]
