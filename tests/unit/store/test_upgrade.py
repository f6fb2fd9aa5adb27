"""A database of the first release is upgraded with everything in it."""

import sqlite3
from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine

from hitsend.events import TurnFinished, encode
from hitsend.store import Store

SAID = '[{{"kind":"text","text":"{}"}}]'


def _first_release(path: Path) -> None:
    """Creates a database with the first release's migration and rows."""
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        config = Config(attributes={"connection": connection})
        config.set_main_option("script_location", "hitsend.store:migrations")
        config.set_main_option("path_separator", "os")
        command.upgrade(config, "0001")
    engine.dispose()
    with sqlite3.connect(path) as filling:
        filling.execute("PRAGMA foreign_keys = ON")
        filling.execute("INSERT INTO users VALUES ('ada', 'Ada', 'ada', 'hash', 'admin', 1, NULL)")
        _fill_conversation(filling, "shown", is_archived=False, is_visible=True)
        _fill_conversation(filling, "archived", is_archived=True, is_visible=True)
        _fill_conversation(filling, "hidden", is_archived=False, is_visible=False)
    filling.close()


def _fill_conversation(
    filling: sqlite3.Connection, name: str, *, is_archived: bool, is_visible: bool
) -> None:
    filling.execute(
        "INSERT INTO conversations (id, user_id, title, is_renamed, created_at, updated_at, "
        "current_node, is_archived, is_visible) VALUES (?, 'ada', ?, 1, 1, 2, ?, ?, ?)",
        (name, f"Title of {name}", f"{name} answer", is_archived, is_visible),
    )
    filling.execute(
        "INSERT INTO turns VALUES (?, 'ada', ?, 'chat', 'next', 'tiny', ?, 'stop', 1, 2, 3, 4, 5, "
        "NULL)",
        (f"{name} turn", name, f"{name} answer"),
    )
    for role, parent in (("user", None), ("assistant", f"{name} user")):
        message_id = f"{name} user" if role == "user" else f"{name} answer"
        filling.execute(
            "INSERT INTO messages (conversation_id, id, parent_id, turn_id, role, parts, status, "
            "created_at) VALUES (?, ?, ?, ?, ?, ?, 'finished', 1)",
            (name, message_id, parent, f"{name} turn", role, SAID.format(f"words of {role}")),
        )
    filling.execute(
        "INSERT INTO turn_events VALUES (?, 1, 0.5, ?)",
        (f"{name} turn", encode(TurnFinished("stop"))),
    )


async def test_an_upgrade_keeps_everything_of_the_first_release(tmp_path: Path) -> None:
    path = tmp_path / "hitsend.db"
    _first_release(path)
    store = await Store.open(path)
    try:
        shown = await store.conversations.get("shown", "ada")
        assert (shown.title, shown.current_node) == ("Title of shown", "shown answer")
        assert [message.text for message in shown.messages] == [
            "words of user",
            "words of assistant",
        ]
        assert (shown.is_pinned, shown.folder_id) == (False, None)
        assert not any(message.is_imported or message.feedback for message in shown.messages)
        events = await store.turns.events("shown turn", "ada")
        assert [stamped.event for stamped in events] == [TurnFinished("stop")]
        assert (await store.conversations.search("ada", "assistant words")).total == 3
        assert (await store.conversations.search("ada", "title shown")).total == 1
    finally:
        await store.close()


async def test_conversations_hidden_by_the_first_release_are_archived_and_not_erased(
    tmp_path: Path,
) -> None:
    path = tmp_path / "hitsend.db"
    _first_release(path)
    store = await Store.open(path, now=lambda: 4e9)
    try:
        await store.conversations.erase_hidden()
        archived = await store.conversations.list("ada", is_archived=True)
        assert {line.id for line in archived.items} == {"archived", "hidden"}
        assert [line.id for line in (await store.conversations.list("ada")).items] == ["shown"]
    finally:
        await store.close()


async def test_upgraded_conversations_support_the_new_features(tmp_path: Path) -> None:
    path = tmp_path / "hitsend.db"
    _first_release(path)
    store = await Store.open(path)
    try:
        folder = await store.folders.create("ada", "Work")
        await store.conversations.update("shown", "ada", is_pinned=True, folder_id=folder.id)
        share = await store.shares.create("shown", "ada", "shown answer")
        assert len((await store.shares.read(share.id)).messages) == 2
        await store.conversations.delete("shown", "ada")
        assert (await store.conversations.search("ada", "shown")).total == 0
    finally:
        await store.close()


async def test_words_erased_before_the_upgrade_are_dropped_from_the_index(tmp_path: Path) -> None:
    path = tmp_path / "hitsend.db"
    _first_release(path)
    with sqlite3.connect(path) as erasing:
        erasing.execute("DELETE FROM messages")
        erasing.execute("DELETE FROM turns")
        erasing.execute("DELETE FROM conversations WHERE id = 'archived'")
    erasing.close()
    assert b"assistant" in path.read_bytes()
    store = await Store.open(path)
    try:
        await store.search_index.drop_erased()
        assert b"assistant" not in path.read_bytes()
        assert (await store.conversations.search("ada", "title shown")).total == 1
    finally:
        await store.close()
