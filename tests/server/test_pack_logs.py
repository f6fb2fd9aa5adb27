"""The logs of finished turns are packed in the background. Nobody who reads them can tell."""

import asyncio
import sqlite3
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import httpx2
from msgspec.structs import replace
from tests.server.world import AnswerStream, World, message

from hitsend.allowance import DAY_S
from hitsend.server.data.pack_logs import pack_logs_forever
from hitsend.settings import Settings
from hitsend.store import Store

SLOW = "!script tokens=250 pace=1ms"
"""Its answer has many events."""


@asynccontextmanager
async def later(settings: Settings, days: float, **kept: int) -> AsyncGenerator[Store]:
    """The store as it will be so many days later, while its logs are kept small."""
    store = await Store.open(settings.database, now=lambda: time.time() + days * DAY_S)
    packing = asyncio.create_task(pack_logs_forever(store, replace(settings, **kept), 0.001))
    try:
        yield store
    finally:
        packing.cancel()
        await asyncio.wait([packing])
        await store.close()


async def until(database: Path, query: str) -> None:
    """Waits until a query counts nothing."""
    with closing(sqlite3.connect(database)) as connection:
        while True:
            if connection.execute(query).fetchone() == (0,):
                return
            await asyncio.sleep(0.01)


UNPACKED = "SELECT count(*) FROM turn_events"
WITH_TOKENS = "SELECT count(*) FROM packed_events WHERE has_tokens"
PACKED = "SELECT count(*) FROM packed_events"


async def read_everything(http: httpx2.AsyncClient, stream: AnswerStream) -> list[bytes]:
    """The log, the answer resumed from several events, and the conversation."""
    events = f"/backend-api/f/conversation/{stream.turn_id}/events"
    paths = [
        f"/backend-api/turn/{stream.turn_id}",
        f"/backend-api/conversation/{stream.conversation_id}",
        *(f"{events}?after={after}" for after in (0, 5, 199, 200, 201, 400)),
    ]
    responses = [await http.get(path) for path in paths]
    assert [response.status_code for response in responses] == [200] * len(paths)
    # Each stream gets a token of its own, which says when it expires.
    return [b"\n".join(_without_token(one.content)) for one in responses]


def _without_token(content: bytes) -> list[bytes]:
    return [line for line in content.split(b"\n") if b"resume_conversation_token" not in line]


async def test_a_packed_turn_is_read_byte_for_byte_as_before(
    world: World, settings: Settings
) -> None:
    ada = await world.someone("ada")
    stream = await ada.send(SLOW, sampling={"top_logprobs": 3})
    before = await read_everything(ada.http, stream)
    async with later(settings, days=0.1):
        await until(settings.database, UNPACKED)
    assert await read_everything(ada.http, stream) == before


async def test_a_packed_turn_is_replayed_to_who_sends_it_again(
    world: World, settings: Settings
) -> None:
    ada = await world.someone("ada")
    same = message(SLOW)
    stream = await ada.send(SLOW, messages=same["messages"])
    async with later(settings, days=0.1):
        await until(settings.database, UNPACKED)
    again = await ada.send(SLOW, messages=same["messages"])
    assert (again.turn_id, again.text, again.is_done) == (stream.turn_id, stream.text, True)


async def test_tokens_are_forgotten_when_the_settings_say_so_and_the_text_stays(
    world: World, settings: Settings
) -> None:
    ada = await world.someone("ada")
    stream = await ada.send(SLOW, sampling={"top_logprobs": 3})
    async with later(settings, days=2, token_record_days=1):
        await until(settings.database, UNPACKED)
        await until(settings.database, WITH_TOKENS)
    log = (await ada.http.get(f"/backend-api/turn/{stream.turn_id}")).json()["events"]
    texts = [one["event"] for one in log if one["event"]["type"] == "TextArrived"]
    assert "".join(text["text"] for text in texts) == stream.text
    assert not any(text["tokens"] for text in texts)


async def test_logs_are_erased_when_the_settings_say_so_and_the_conversation_stays(
    world: World, settings: Settings
) -> None:
    ada = await world.someone("ada")
    stream = await ada.send(SLOW, sampling={"top_logprobs": 3})
    async with later(settings, days=2, turn_log_days=1):
        await until(settings.database, UNPACKED)
        await until(settings.database, PACKED)
    assert (await ada.http.get(f"/backend-api/turn/{stream.turn_id}")).json()["events"] == []
    tree = await ada.conversation(stream.conversation_id)
    assert [stream.answer] == [
        node["message"] for node in tree["mapping"].values() if node["id"] == tree["current_node"]
    ]


async def test_without_a_setting_nothing_is_forgotten(world: World, settings: Settings) -> None:
    ada = await world.someone("ada")
    stream = await ada.send(SLOW, sampling={"top_logprobs": 3})
    before = await read_everything(ada.http, stream)
    async with later(settings, days=3650):
        await until(settings.database, UNPACKED)
        await asyncio.sleep(0.05)
    assert await read_everything(ada.http, stream) == before
