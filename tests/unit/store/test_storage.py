"""The file becomes smaller when much of it is free."""

import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path

import pytest

from hitsend.store import NewTurn, Store, User
from hitsend.store.storage import compact_file

NUM_BYTES = 1_000_000
NUM_CONVERSATIONS = 30


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "data" / "hitsend.db"


def size_of(path: Path) -> int:
    return path.stat().st_size


async def test_a_file_that_is_mostly_free_gives_its_space_back(
    store: Store,
    ada: User,
    ask: Callable[..., Awaitable[NewTurn]],
    database: Path,
) -> None:
    turns = [await ask(ada, "x" * NUM_BYTES) for _ in range(NUM_CONVERSATIONS)]
    before = size_of(database)
    assert not await store.storage.give_back_space()
    for turn in turns:
        await store.conversations.delete(turn.conversation_id or "", ada.id)
    while await store.storage.give_back_space():
        pass
    await store.close()
    assert size_of(database) < before / 2
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


async def test_compacting_an_old_file_makes_it_small_and_able_to_give_space_back(
    tmp_path: Path,
) -> None:
    path = tmp_path / "hitsend.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE old (data BLOB)")
        connection.execute("INSERT INTO old VALUES (zeroblob(1000000))")
        connection.execute("DELETE FROM old")
        connection.commit()
    compact_file(path)
    assert size_of(path) < 20_000
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA auto_vacuum").fetchone() == (2,)
