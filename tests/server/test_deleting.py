"""Deleting: at once and for good, or with a way back that the server closes after a minute."""

import asyncio
import logging
import sqlite3
import time
from pathlib import Path

from tests.server.world import Someone, World, message

from hitsend.engine import ScriptedEngine
from hitsend.server.app import open_house
from hitsend.server.erasing import erase_forever
from hitsend.settings import Settings
from hitsend.store import Store

ENDLESS = "!script tokens=100000 pace=5ms"


async def _set_visible(ada: Someone, conversation_id: str, is_visible: bool) -> int:
    path = f"/backend-api/conversation/{conversation_id}"
    return (await ada.http.patch(path, json={"is_visible": is_visible})).status_code


async def test_what_is_deleted_can_be_brought_back_whole(world: World) -> None:
    ada = await world.someone("ada")
    heard = await ada.send("!script\nhello")
    conversation_id, before = heard.conversation_id, await ada.conversation(heard.conversation_id)
    assert heard.answer is not None
    assert await _set_visible(ada, conversation_id, False) == 200
    path = f"/backend-api/conversation/{conversation_id}"
    next_message = message(
        "still there?", conversation_id=conversation_id, parent_message_id=heard.answer["id"]
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


async def test_deleting_with_a_way_back_stops_the_answer_and_keeps_what_was_said(
    world: World,
) -> None:
    ada = await world.someone("ada")
    heard = await ada.send(ENDLESS, until_chars=10)
    assert await _set_visible(ada, heard.conversation_id, False) == 200
    for path in (f"turn/{heard.turn_id}", f"f/conversation/{heard.turn_id}/events"):
        assert (await ada.http.get(f"/backend-api/{path}")).status_code == 404
    assert await _set_visible(ada, heard.conversation_id, True) == 200
    followed = await ada.follow(heard.turn_id)
    assert followed.is_done
    tree = await ada.conversation(heard.conversation_id)
    assert tree["running"] is None
    assert heard.answer is not None
    kept = tree["mapping"][heard.answer["id"]]["message"]
    assert kept["metadata"]["finish_details"]["reason"] == "stopped"
    assert kept["content"]["parts"][0].startswith(heard.text)


async def test_deleting_for_good_stops_the_answer(world: World) -> None:
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


async def test_a_server_erases_at_start_what_was_left_to_be_erased(settings: Settings) -> None:
    async with open_house(settings, ScriptedEngine()) as house:
        user = await house.services.store.accounts.create("Ada", "", "member")
    _fill(settings.database, user.id, hidden_at=time.time() - 61)
    async with open_house(settings, ScriptedEngine()) as house, asyncio.timeout(60):
        while _num_conversations(settings.database) or _is_left(settings.database, b"quince"):
            await house.services.store.check()


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


def _is_left(path: Path, word: bytes) -> bool:
    return any(word in file.read_bytes() for file in path.parent.glob(f"{path.name}*"))


class _Told(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: asyncio.Queue[str] = asyncio.Queue()

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.put_nowait(record.getMessage())


async def test_erasing_goes_on_when_the_store_cannot_be_used(tmp_path: Path) -> None:
    store = await Store.open(tmp_path / "hitsend.db")
    await store.close()
    told, log = _Told(), logging.getLogger("hitsend.server.erasing")
    log.addHandler(told)
    erasing = asyncio.create_task(erase_forever(store, look_s=0.001))
    try:
        async with asyncio.timeout(5):
            lines = [await told.lines.get() for _ in range(7)]
    finally:
        log.removeHandler(told)
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
            "end temporary chats",
        )
    ]
