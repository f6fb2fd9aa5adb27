"""What goes for good is out of sight at once, and goes little by little: others write meanwhile."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import TypeAlias

import pytest
from msgspec.structs import replace
from sqlalchemy import Connection, Engine, event

from hitsend.errors import NotFound
from hitsend.events import Stamped, TextArrived
from hitsend.messages import Text
from hitsend.store import Entry, NewTurn, Store, User
from hitsend.store.erasure import MOST_EVENTS, erase_conversations
from hitsend.store.portions import MOST_CHARS, MOST_ROWS
from hitsend.store.schema import conversations
from hitsend.takeout.taken import TakenConversation, TakenMessage

Ask: TypeAlias = Callable[..., Awaitable[NewTurn]]
Answer: TypeAlias = Callable[..., Awaitable[list[Stamped]]]

NUM_STEPS = 12


async def once(taken: TakenConversation) -> AsyncIterator[list[TakenConversation]]:
    yield [taken]


def long_talk(num_messages: int, text: str = "word") -> TakenConversation:
    messages = tuple(
        TakenMessage(
            id=str(number),
            # Two branches that take turns: the last said is not always the deepest.
            parent_id=str(number - 2) if number > 1 else "0" if number else None,
            role="user",
            text=text,
            created_at=1.0,
        )
        for number in range(num_messages)
    )
    return TakenConversation(
        source_id="long",
        title="Long",
        created_at=1.0,
        updated_at=2.0,
        current_node="0",
        messages=messages,
    )


async def imported(store: Store, user: User, taken: TakenConversation) -> str:
    await store.imports.add(user.id, once(taken))
    (conversation_id,) = await store.conversations.ids(user.id)
    return conversation_id


async def count(store: Store, table: str) -> int:
    async with store._database.read() as connection:
        counted = await connection.exec_driver_sql(f"SELECT count(*) FROM {table}")
        return int(counted.scalar_one())


async def counts_by_step(store: Store, table: str, work: Awaitable[object]) -> list[int]:
    """How many rows there were after each transaction: between two of them anybody may write."""
    counts = [await count(store, table)]

    def look(connection: Connection) -> None:
        counted = connection.exec_driver_sql(f"SELECT count(*) FROM {table}")
        counts.append(int(counted.scalar_one()))

    with listening(store._database._writer.sync_engine, "commit", look):
        await work
    return counts


@contextmanager
def listening(engine: Engine, name: str, hear: Callable[[Connection], None]) -> Iterator[None]:
    event.listen(engine, name, hear)
    yield
    event.remove(engine, name, hear)


def largest_step(counts: list[int]) -> int:
    return max(abs(after - before) for before, after in zip(counts, counts[1:], strict=False))


async def test_a_long_conversation_is_out_of_sight_at_once_and_goes_little_by_little(
    store: Store, ada: User
) -> None:
    long = await imported(store, ada, long_talk(MOST_ROWS * NUM_STEPS))
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
    long = await imported(store, ada, long_talk(MOST_ROWS * NUM_STEPS))
    await store.conversations.update(long, ada.id, is_visible=False)
    clock.now += 61
    counts = await counts_by_step(store, "messages", store.conversations.erase_hidden())
    assert counts[-1] == 0
    assert largest_step(counts) <= MOST_ROWS


async def test_others_write_while_an_account_with_long_logs_is_erased(
    store: Store, ada: User, ask: Ask
) -> None:
    turn = await ask(ada, "Tell me everything")
    words = [Stamped(seq, 1.0, TextArrived("x")) for seq in range(1, MOST_EVENTS * NUM_STEPS)]
    await store.turns.append([Entry(turn.turn_id, word) for word in words])
    counts = await counts_by_step(store, "turn_events", store.accounts.erase(ada.id))
    assert counts[-1] == 0
    assert largest_step(counts) <= MOST_EVENTS
    assert await store.accounts.list_users() == []


async def test_others_write_while_large_messages_come_in_and_go(store: Store, ada: User) -> None:
    at_once = 4
    taken = long_talk(at_once * NUM_STEPS, text="x" * (MOST_CHARS // at_once))
    counts = await counts_by_step(store, "messages", store.imports.add(ada.id, once(taken)))
    assert counts[-1] == at_once * NUM_STEPS
    assert largest_step(counts) <= at_once
    counts = await counts_by_step(store, "messages", store.accounts.erase(ada.id))
    assert counts[-1] == 0
    assert largest_step(counts) <= at_once


async def test_what_comes_anew_under_the_same_id_is_left_alone(store: Store, ada: User) -> None:
    long = await imported(store, ada, long_talk(MOST_ROWS * NUM_STEPS))
    await store.conversations.update(long, ada.id, is_visible=False)
    erasing = asyncio.create_task(
        erase_conversations(store._database, conversations.c.hidden_at.is_not(None))
    )
    while await count(store, "messages") == MOST_ROWS * NUM_STEPS:
        await store.check()
    await store.conversations.update(long, ada.id, is_visible=True)
    await erasing
    assert len((await store.conversations.get(long, ada.id)).messages) > 0


NEEDLE = "quittenbrot"


def traces(tmp_path: Path) -> list[str]:
    """The files of the database in which the word can be read, in large letters or small."""
    files = sorted((tmp_path / "data").iterdir())
    return [file.name for file in files if NEEDLE.encode() in file.read_bytes().lower()]


async def chat_about_it(store: Store, user: User, ask: Ask, answer: Answer) -> str:
    """With a title, and among chats of others."""
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
    assert traces(tmp_path)
    await store.conversations.delete(conversation_id, ada.id)
    await store.search_index.drop_erased()
    assert traces(tmp_path) == []
    assert (await store.conversations.search(ada.id, "something else")).total == 60


async def test_no_word_of_an_erased_account_is_left_in_any_file(
    store: Store, ada: User, eve: User, ask: Ask, answer: Answer, tmp_path: Path
) -> None:
    await chat_about_it(store, ada, ask, answer)
    await store.memories.add(ada.id, f"I bake {NEEDLE}.", "written")
    kept = await ask(eve, "What is bread?")
    await store.accounts.erase(ada.id)
    await store.search_index.drop_erased()
    assert traces(tmp_path) == []
    found = await store.conversations.search(eve.id, "bread")
    assert [line.id for line in found.items] == [kept.conversation_id]


async def test_words_of_temporary_chats_never_enter_the_search_and_are_left_in_no_file(
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
    await store.conversations.end_temporary()
    await store.conversations.erase_hidden()
    assert traces(tmp_path) == []


async def test_no_word_of_memories_that_were_removed_or_cleared_is_left_in_any_file(
    store: Store, ada: User, tmp_path: Path, clock: SimpleNamespace
) -> None:
    memory = await store.memories.add(ada.id, f"I bake {NEEDLE}.", "written")
    await store.memories.remove(memory.id, ada.id)
    clock.now += 601
    await store.memories.erase_removed()
    assert traces(tmp_path) == []
    await store.memories.add(ada.id, f"I bake {NEEDLE}.", "written")
    await store.memories.clear(ada.id)
    assert traces(tmp_path) == []


async def test_words_of_what_is_erased_while_others_leave_the_search_leave_it_the_next_time(
    store: Store, ada: User, ask: Ask, answer: Answer, tmp_path: Path
) -> None:
    first = await chat_about_it(store, ada, ask, answer)
    second = await chat_about_it(store, ada, ask, answer)
    await store.conversations.delete(first, ada.id)
    dropping = asyncio.create_task(store.search_index.drop_erased())
    await store.conversations.delete(second, ada.id)
    await dropping
    await store.search_index.drop_erased()
    assert traces(tmp_path) == []


async def test_where_somebody_reads_the_log_it_is_emptied_the_next_time(
    store: Store, ada: User, ask: Ask, answer: Answer, tmp_path: Path
) -> None:
    conversation_id = await chat_about_it(store, ada, ask, answer)
    async with store._database.read() as reading:
        await reading.exec_driver_sql("BEGIN")
        await reading.exec_driver_sql("SELECT count(*) FROM messages")
        await store.conversations.delete(conversation_id, ada.id)
        await store.search_index.drop_erased()
        assert traces(tmp_path)
        await reading.exec_driver_sql("COMMIT")
    await store.search_index.drop_erased()
    assert traces(tmp_path) == []


async def test_the_search_is_written_anew_a_small_part_of_the_time(
    store: Store, ada: User, ask: Ask, answer: Answer, tmp_path: Path, clock: SimpleNamespace
) -> None:
    first = await chat_about_it(store, ada, ask, answer)
    second = await chat_about_it(store, ada, ask, answer)
    await store.conversations.delete(first, ada.id)

    def take_a_second(_: Connection) -> None:
        clock.now += 1

    with listening(store._database._writer.sync_engine, "commit", take_a_second):
        begun_at = clock.now
        await store.search_index.drop_erased()
        took_s = clock.now - begun_at
    await store.conversations.delete(second, ada.id)
    clock.now += 19 * took_s
    await store.search_index.drop_erased()
    assert traces(tmp_path)
    clock.now += took_s
    await store.search_index.drop_erased()
    assert traces(tmp_path) == []
