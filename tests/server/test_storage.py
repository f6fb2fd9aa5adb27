"""Everyone sees how much they store, administrators see it of everyone, and it can be limited."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import pytest
from tests.server.world import Someone, World, message

from hitsend.settings import Settings
from hitsend.store import Limit, Store
from hitsend.store.log_packing import PACK_AFTER_S

MB = 1_000_000


@asynccontextmanager
async def later(settings: Settings) -> AsyncGenerator[Store]:
    store = await Store.open(settings.database, now=lambda: time.time() + PACK_AFTER_S + 61)
    try:
        yield store
    finally:
        await store.close()


async def count_all(settings: Settings) -> None:
    """Does what the server does some seconds after an answer."""
    async with later(settings) as store:
        while await store.log_packing.pack_finished():
            pass


async def storage_of(who: Someone) -> dict[str, Any]:
    shape: dict[str, Any] = (await who.http.get("/backend-api/storage")).json()
    return shape


async def fill(who: Someone, settings: Settings, num_bytes: int) -> str:
    """Imports a conversation of this size, and returns its id."""
    node: dict[str, Any] = {
        "parent": None,
        "children": [],
        "message": {
            "author": {"role": "user"},
            "create_time": 1.0,
            "content": {"content_type": "text", "parts": ["x" * num_bytes]},
        },
    }
    conversation = {
        "conversation_id": f"big-{num_bytes}",
        "title": "Big",
        "create_time": 1.0,
        "update_time": 1.0,
        "mapping": {"a": node},
        "current_node": "a",
    }
    response = await who.http.post("/backend-api/import", json=[conversation])
    assert response.status_code == 200, response.text
    [item] = (await who.http.get("/backend-api/conversations")).json()["items"]
    return str(item["id"])


async def test_what_someone_stores_is_shown_to_them_and_to_administrators(
    world: World, settings: Settings
) -> None:
    ada, eve = await world.someone("ada", "admin"), await world.someone("eve")
    assert await storage_of(eve) == {"used_bytes": 0, "limit_bytes": None}
    await eve.send("!script\n" + "word " * 1000)
    await count_all(settings)
    used = (await storage_of(eve))["used_bytes"]
    assert used > 10_000
    assert await storage_of(ada) == {"used_bytes": 0, "limit_bytes": None}
    people = (await ada.http.get("/backend-api/people")).json()["items"]
    assert {one["name"]: one["num_bytes"] for one in people} == {"ada": 0, "eve": used}


async def test_someone_whose_storage_is_full_is_told_what_to_do_and_can_go_on_after_deleting(
    world: World, settings: Settings
) -> None:
    store, ada = world.app.services.store, await world.someone("ada")
    await store.limits.set("user", ada.user_id, Limit(storage_mb=1))
    conversation_id = await fill(ada, settings, MB - 1)
    assert (await ada.send("!script\nStill room")).text == "Still room"
    await count_all(settings)
    call = {"model": "auto", "messages": [{"role": "user", "content": "Hello?"}]}
    key = {"authorization": f"Bearer {ada.key}"}
    for refused in (
        await ada.http.post("/backend-api/f/conversation", json=message("Hello?")),
        await (await world.browser()).post("/v1/chat/completions", json=call, headers=key),
    ):
        assert refused.status_code == 413
        problem = refused.json()["error"]
        assert problem["code"] == "storage_limit_reached"
        assert "1 MB is full. Delete conversations" in problem["message"]
    await ada.http.delete(f"/backend-api/conversation/{conversation_id}")
    async with later(settings) as future:
        await future.conversations.erase_hidden()
    assert (await ada.send("!script\nRoom again")).text == "Room again"


async def test_a_running_answer_is_not_cut_when_the_storage_is_full(
    world: World, settings: Settings
) -> None:
    store, ada = world.app.services.store, await world.someone("ada")
    sending = asyncio.create_task(ada.send("!script tokens=60 pace=10ms"))
    async with aclosing(world.app.runner.watch(ada.user_id)) as news:
        await anext(news)
    await store.limits.set("user", ada.user_id, Limit(storage_mb=0))
    stream = await sending
    assert stream.is_done
    assert stream.answer
    assert stream.answer["metadata"]["finish_details"]["reason"] != "interrupted"


async def test_an_import_that_does_not_fit_changes_nothing(
    world: World, settings: Settings
) -> None:
    store, ada = world.app.services.store, await world.someone("ada")
    await store.limits.set("user", ada.user_id, Limit(storage_mb=1))
    with pytest.raises(AssertionError, match="left of your storage"):
        await fill(ada, settings, 2 * MB)
    assert (await ada.http.get("/backend-api/conversations")).json()["items"] == []


async def test_the_storage_limit_of_a_group_is_for_each_of_its_people(
    world: World, settings: Settings
) -> None:
    store = world.app.services.store
    ada, eve = await world.someone("ada"), await world.someone("eve")
    group = await store.groups.create("Readers")
    for one in (ada, eve):
        await store.accounts.change_account(one.user_id, group_id=group.id)
    await store.limits.set("group", group.id, Limit(storage_mb=1))
    await fill(ada, settings, MB - 1)
    assert (await storage_of(eve)) == {"used_bytes": 0, "limit_bytes": MB}
    assert (await storage_of(ada))["used_bytes"] == MB - 1


@pytest.mark.parametrize("path", ["limits/address", "limits/key/some"])
async def test_only_people_have_a_storage_limit(world: World, path: str) -> None:
    ada = await world.someone("ada", "admin")
    response = await ada.http.put(f"/backend-api/{path}", json={"storage_mb": 1})
    assert response.status_code == 400
    assert response.json()["error"]["param"] == "storage_mb"
