"""Deleting: permanently, or with an undo that expires after a minute."""

import asyncio
import logging
import sqlite3
import time
from pathlib import Path

from tests.server.world import Someone, World, message

from hitsend.engine import ScriptedEngine
from hitsend.server.app import open_app
from hitsend.server.data.erase import erase_expired_forever
from hitsend.settings import Settings
from hitsend.store import Store

ENDLESS = "!script tokens=100000 pace=5ms"


async def _set_visible(ada: Someone, conversation_id: str, is_visible: bool) -> int:
    path = f"/backend-api/conversation/{conversation_id}"
    return (await ada.http.patch(path, json={"is_visible": is_visible})).status_code


async def test_a_deleted_conversation_can_be_restored_whole(world: World) -> None:
    ada = await world.someone("ada")
    stream = await ada.send("!script\nhello")
    conversation_id, before = stream.conversation_id, await ada.conversation(stream.conversation_id)
    assert stream.answer is not None
    assert await _set_visible(ada, conversation_id, False) == 200
    path = f"/backend-api/conversation/{conversation_id}"
    next_message = message(
        "still there?", conversation_id=conversation_id, parent_message_id=stream.answer["id"]
    )
    gone = [
        await ada.http.get(path),
        await ada.http.patch(path, json={"title": "no"}),
        await ada.http.post("/backend-api/f/conversation", json=next_message),
    ]
    assert [answer.status_code for answer in gone] == [404, 404, 404]
    assert (await ada.http.get("/backend-api/conversations")).json()["total"] == 0
    assert await _set_visible(ada, conversation_id, True) == 200
    assert await ada.conversation(conversation_id) == before


async def test_deleting_with_an_undo_stops_the_answer_and_keeps_its_text(
    world: World,
) -> None:
    ada = await world.someone("ada")
    stream = await ada.send(ENDLESS, until_chars=10)
    assert await _set_visible(ada, stream.conversation_id, False) == 200
    for path in (f"turn/{stream.turn_id}", f"f/conversation/{stream.turn_id}/events"):
        assert (await ada.http.get(f"/backend-api/{path}")).status_code == 404
    assert await _set_visible(ada, stream.conversation_id, True) == 200
    followed = await ada.follow(stream.turn_id)
    assert followed.is_done
    tree = await ada.conversation(stream.conversation_id)
    assert tree["running"] is None
    assert stream.answer is not None
    stored = tree["mapping"][stream.answer["id"]]["message"]
    assert stored["metadata"]["finish_details"]["reason"] == "stopped"
    assert stored["content"]["parts"][0].startswith(stream.text)


async def test_deleting_permanently_stops_the_answer(world: World) -> None:
    ada = await world.someone("ada")
    async with ada.http.stream(
        "POST", "/backend-api/f/conversation", json=message(ENDLESS)
    ) as response:
        conversation_id = (await ada.http.get("/backend-api/conversations")).json()["items"][0][
            "id"
        ]
        deleted = await ada.http.delete(f"/backend-api/conversation/{conversation_id}")
        assert deleted.status_code == 204
        async with asyncio.timeout(10):
            assert b"[DONE]" in await response.aread()
    assert await _set_visible(ada, conversation_id, True) == 404


async def test_a_server_finishes_pending_erasures_at_start(settings: Settings) -> None:
    async with open_app(settings, ScriptedEngine()) as app:
        user = await app.services.store.accounts.create("Ada", "", "member")
    _fill(settings.database, user.id, hidden_at=time.time() - 61)
    async with open_app(settings, ScriptedEngine()) as app, asyncio.timeout(60):
        while _num_conversations(settings.database) or _is_stored(settings.database, b"quince"):
            await app.services.store.check()


def _fill(path: Path, user_id: str, hidden_at: float) -> None:
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(
            "INSERT INTO conversations (id, user_id, title, is_renamed, created_at, updated_at, "
            "is_archived, hidden_at) VALUES ('old', ?, 'On quinces', 0, 1, 1, 0, ?)",
            (user_id, hidden_at),
        )
    connection.close()


def _num_conversations(path: Path) -> int:
    connection = sqlite3.connect(path)
    try:
        return int(connection.execute("SELECT count(*) FROM conversations").fetchone()[0])
    finally:
        connection.close()


def _is_stored(path: Path, word: bytes) -> bool:
    return any(word in file.read_bytes() for file in path.parent.glob(f"{path.name}*"))


class _LogRecorder(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: asyncio.Queue[str] = asyncio.Queue()

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.put_nowait(record.getMessage())


async def test_erasing_continues_after_the_store_was_down(tmp_path: Path) -> None:
    store = await Store.open(tmp_path / "hitsend.db")
    await store.close()
    recorder, log = _LogRecorder(), logging.getLogger("hitsend.server.data.erase")
    log.addHandler(recorder)
    erasing = asyncio.create_task(erase_expired_forever(store, 365, check_s=0.001))
    try:
        async with asyncio.timeout(5):
            lines = [await recorder.lines.get() for _ in range(8)]
    finally:
        log.removeHandler(recorder)
        erasing.cancel()
        await asyncio.wait({erasing})
    assert lines == [
        f"Cannot {purpose}: The database is closed."
        for purpose in (
            "end temporary chats",
            "erase deleted conversations",
            "erase removed memories",
            "drop erased words from the search",
            "forget what was sent long ago",
            "forget addresses",
            "remove old entries of the audit log",
            "end temporary chats",
        )
    ]
