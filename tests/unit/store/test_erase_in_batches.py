"""Erasing hides rows at once and deletes them in batches, so that others can write meanwhile."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import TypeAlias

import pytest
from msgspec.structs import replace
from sqlalchemy import Connection, Engine, event
from sqlalchemy import text as sql

from hitsend.errors import NotFound
from hitsend.events import Stamped, TextArrived
from hitsend.import_export.imported_conversation import ImportedConversation, ImportedMessage
from hitsend.messages import Text
from hitsend.store import LogEntry, NewTurn, Store, User
from hitsend.store.database import MAX_BATCH_CHARS, MAX_BATCH_ROWS
from hitsend.store.erase_in_batches import MAX_EVENTS, erase_conversations
from hitsend.store.schema import conversations

Ask: TypeAlias = Callable[..., Awaitable[NewTurn]]
Answer: TypeAlias = Callable[..., Awaitable[list[Stamped]]]

NUM_STEPS = 12


async def one_batch(taken: ImportedConversation) -> AsyncIterator[list[ImportedConversation]]:
    yield [taken]


def long_talk(num_messages: int, text: str = "word") -> ImportedConversation:
    messages = tuple(
        ImportedMessage(
            id=str(number),
            # Two interleaved branches: the newest message is not always the deepest.
            parent_id=str(number - 2) if number > 1 else "0" if number else None,
            role="user",
            text=text,
            created_at=1.0,
        )
        for number in range(num_messages)
    )
    return ImportedConversation(
        source_id="long",
        title="Long",
        created_at=1.0,
        updated_at=2.0,
        current_node="0",
        messages=messages,
    )


async def import_conversation(store: Store, user: User, taken: ImportedConversation) -> str:
    await store.imports.add(user.id, one_batch(taken))
    (conversation_id,) = await store.conversations.ids(user.id)
    return conversation_id


async def count(store: Store, table: str) -> int:
    query = sql(f"SELECT count(*) FROM {table}")
    return await store._database.read(lambda connection: connection.execute(query).scalar_one())


async def counts_by_step(store: Store, table: str, work: Awaitable[object]) -> list[int]:
    """Returns the number of rows after each transaction."""
    counts = [await count(store, table)]

    def look(connection: Connection) -> None:
        counted = connection.exec_driver_sql(f"SELECT count(*) FROM {table}")
        counts.append(int(counted.scalar_one()))

    with listen(store._database._writer_engine, "commit", look):
        await work
    return counts


@contextmanager
def listen(engine: Engine, name: str, listener: Callable[[Connection], None]) -> Iterator[None]:
    event.listen(engine, name, listener)
    yield
    event.remove(engine, name, listener)


def largest_step(counts: list[int]) -> int:
    return max(abs(after - before) for before, after in zip(counts, counts[1:], strict=False))


async def test_a_long_conversation_is_hidden_at_once_and_erased_in_batches(
    store: Store, ada: User
) -> None:
    long = await import_conversation(store, ada, long_talk(MAX_BATCH_ROWS * NUM_STEPS))
    deleting = asyncio.create_task(store.conversations.delete(long, ada.id))
    while (await store.conversations.list(ada.id)).total:
        await store.check()
    assert await count(store, "messages") > 0
    with pytest.raises(NotFound):
        await store.conversations.update(long, ada.id, is_visible=True)
    with pytest.raises(NotFound):
        await store.conversations.delete(long, ada.id)
    await deleting
    for table in ("conversations", "messages", "turns"):
        assert await count(store, table) == 0


async def test_others_write_while_a_long_conversation_is_erased(
    store: Store, ada: User, clock: SimpleNamespace
) -> None:
    long = await import_conversation(store, ada, long_talk(MAX_BATCH_ROWS * NUM_STEPS))
    await store.conversations.update(long, ada.id, is_visible=False)
    clock.now += 61
    counts = await counts_by_step(store, "messages", store.conversations.erase_hidden())
    assert counts[-1] == 0
    assert largest_step(counts) <= MAX_BATCH_ROWS


async def test_others_write_while_an_account_with_long_logs_is_erased(
    store: Store, ada: User, ask: Ask
) -> None:
    turn = await ask(ada, "Tell me everything")
    words = [Stamped(seq, 1.0, TextArrived("x")) for seq in range(1, MAX_EVENTS * NUM_STEPS)]
    await store.turns.append([LogEntry(turn.turn_id, word) for word in words])
    counts = await counts_by_step(store, "turn_events", store.accounts.erase(ada.id))
    assert counts[-1] == 0
    assert largest_step(counts) <= MAX_EVENTS
    assert await store.accounts.list_users() == []


async def test_others_write_while_large_messages_are_imported_and_erased(
    store: Store, ada: User
) -> None:
    at_once = 4
    taken = long_talk(at_once * NUM_STEPS, text="x" * (MAX_BATCH_CHARS // at_once))
    counts = await counts_by_step(store, "messages", store.imports.add(ada.id, one_batch(taken)))
    assert counts[-1] == at_once * NUM_STEPS
    assert largest_step(counts) <= at_once
    counts = await counts_by_step(store, "messages", store.accounts.erase(ada.id))
    assert counts[-1] == 0
    assert largest_step(counts) <= at_once


async def test_a_conversation_imported_again_under_the_same_id_is_not_erased(
    store: Store, ada: User
) -> None:
    long = await import_conversation(store, ada, long_talk(MAX_BATCH_ROWS * NUM_STEPS))
    await store.conversations.update(long, ada.id, is_visible=False)
    erasing = asyncio.create_task(
        erase_conversations(store._database, conversations.c.hidden_at.is_not(None))
    )
    while await count(store, "messages") == MAX_BATCH_ROWS * NUM_STEPS:
        await store.check()
    await store.conversations.update(long, ada.id, is_visible=True)
    await erasing
    assert len((await store.conversations.get(long, ada.id)).messages) > 0


NEEDLE = "quittenbrot"


def files_with_word(tmp_path: Path) -> list[str]:
    """Returns the database files that contain the word, ignoring case."""
    files = sorted((tmp_path / "data").iterdir())
    return [file.name for file in files if NEEDLE.encode() in file.read_bytes().lower()]


async def chat_about_it(store: Store, user: User, ask: Ask, answer: Answer) -> str:
    """Creates a chat with the word in its title and messages, among other chats."""
    for number in range(30):
        await answer(await ask(user, f"Something else {number}"), "Certainly.")
    turn = await ask(user, f"I am afraid of {NEEDLE}", title=f"On {NEEDLE}")
    await answer(turn, f"Nobody is afraid of {NEEDLE}", title=f"{NEEDLE} and fear")
    for number in range(30):
        await answer(await ask(user, f"Yet something else {number}"), "Of course.")
    return turn.conversation_id or ""


async def test_no_word_of_an_erased_conversation_is_left_in_any_file(
    store: Store, ada: User, ask: Ask, answer: Answer, tmp_path: Path
) -> None:
    conversation_id = await chat_about_it(store, ada, ask, answer)
    assert files_with_word(tmp_path)
    await store.conversations.delete(conversation_id, ada.id)
    await store.search_index.drop_erased()
    assert files_with_word(tmp_path) == []
    assert (await store.conversations.search(ada.id, "something else")).total == 60


async def test_no_word_of_an_erased_account_is_left_in_any_file(
    store: Store, ada: User, eve: User, ask: Ask, answer: Answer, tmp_path: Path
) -> None:
    await chat_about_it(store, ada, ask, answer)
    await store.memories.add(ada.id, f"I bake {NEEDLE}.", "written")
    kept = await ask(eve, "What is bread?")
    await store.accounts.erase(ada.id)
    await store.search_index.drop_erased()
    assert files_with_word(tmp_path) == []
    found = await store.conversations.search(eve.id, "bread")
    assert [line.id for line in found.items] == [kept.conversation_id]


async def test_temporary_chats_are_never_indexed_and_leave_no_word_in_any_file(
    store: Store, ada: User, ask: Ask, answer: Answer, tmp_path: Path, clock: SimpleNamespace
) -> None:
    lasting = await ask(ada, "Hello")
    turn = replace(lasting, turn_id="t", conversation_id="c", message_id="m", answer_id="a")
    turn = replace(turn, parts=(Text(f"I am afraid of {NEEDLE}"),), title=NEEDLE)
    await store.turns.accept(replace(turn, is_temporary=True, creates_conversation=True))
    await answer(turn, f"Nobody is afraid of {NEEDLE}", title=f"{NEEDLE} and fear")
    for table in ("message_search", "title_search"):
        assert await count(store, f"{table} WHERE {table} MATCH '{NEEDLE}'") == 0
    clock.now += 90_000
    await store.conversations.hide_expired_temporary()
    await store.conversations.erase_hidden()
    assert files_with_word(tmp_path) == []


async def test_no_word_of_memories_that_were_removed_or_cleared_is_left_in_any_file(
    store: Store, ada: User, tmp_path: Path, clock: SimpleNamespace
) -> None:
    memory = await store.memories.add(ada.id, f"I bake {NEEDLE}.", "written")
    await store.memories.remove(memory.id, ada.id)
    clock.now += 601
    await store.memories.erase_removed()
    assert files_with_word(tmp_path) == []
    await store.memories.add(ada.id, f"I bake {NEEDLE}.", "written")
    await store.memories.clear(ada.id)
    assert files_with_word(tmp_path) == []


async def test_words_erased_during_a_merge_are_dropped_by_the_next_one(
    store: Store, ada: User, ask: Ask, answer: Answer, tmp_path: Path
) -> None:
    first = await chat_about_it(store, ada, ask, answer)
    second = await chat_about_it(store, ada, ask, answer)
    await store.conversations.delete(first, ada.id)
    dropping = asyncio.create_task(store.search_index.drop_erased())
    await store.conversations.delete(second, ada.id)
    await dropping
    await store.search_index.drop_erased()
    assert files_with_word(tmp_path) == []


async def test_the_wal_is_truncated_later_while_a_reader_uses_it(
    store: Store, ada: User, ask: Ask, answer: Answer, tmp_path: Path
) -> None:
    conversation_id = await chat_about_it(store, ada, ask, answer)
    with closing(sqlite3.connect(store._database.path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM messages").fetchall()
        await store.conversations.delete(conversation_id, ada.id)
        await store.search_index.drop_erased()
        assert files_with_word(tmp_path)
        reader.execute("COMMIT")
    await store.search_index.drop_erased()
    assert files_with_word(tmp_path) == []


async def test_index_merges_take_a_small_part_of_the_time(
    store: Store, ada: User, ask: Ask, answer: Answer, tmp_path: Path, clock: SimpleNamespace
) -> None:
    first = await chat_about_it(store, ada, ask, answer)
    second = await chat_about_it(store, ada, ask, answer)
    await store.conversations.delete(first, ada.id)

    def take_a_second(_: Connection) -> None:
        clock.now += 1

    with listen(store._database._writer_engine, "commit", take_a_second):
        begun_at = clock.now
        await store.search_index.drop_erased()
        took_s = clock.now - begun_at
    await store.conversations.delete(second, ada.id)
    clock.now += 19 * took_s
    await store.search_index.drop_erased()
    assert files_with_word(tmp_path)
    clock.now += took_s
    await store.search_index.drop_erased()
    assert files_with_word(tmp_path) == []
