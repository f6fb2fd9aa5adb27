"""Shares: what they show, and until when."""

from contextlib import AsyncExitStack
from typing import Any

import httpx2
from msgspec import structs
from tests.server.world import AnswerStream, Someone, World

from hitsend.engine import ScriptedEngine
from hitsend.server.app import open_app
from hitsend.server.serve import listen
from hitsend.settings import Settings

NAUGHTY = "</script><script>alert(1)</script> [x](javascript:alert(1)) [U+202E]🐧"


async def _share(ada: Someone, stream: AnswerStream) -> dict[str, Any]:
    assert stream.answer is not None
    made = await ada.http.post(
        f"/backend-api/conversation/{stream.conversation_id}/shares",
        json={"current_node": stream.answer["id"]},
    )
    assert made.status_code == 201, made.text
    share: dict[str, Any] = made.json()
    return share


async def _read(stranger: httpx2.AsyncClient, share: dict[str, Any]) -> httpx2.Response:
    return await stranger.get(f"/backend-api/share/{share['id']}")


async def test_a_share_shows_its_path_and_nothing_else(world: World) -> None:
    ada, stranger = await world.someone("ada-the-owner"), await world.browser()
    stream = await ada.send(f"!script\n{NAUGHTY}")
    assert stream.answer is not None
    share = await _share(ada, stream)
    await ada.send(
        "!script\nsaid later",
        conversation_id=stream.conversation_id,
        parent_message_id=stream.answer["id"],
    )
    read = await _read(stranger, share)
    assert read.status_code == 200
    assert read.headers["x-robots-tag"] == "noindex"
    assert read.headers["cache-control"] == "no-store"
    question, answered = read.json()["messages"]
    assert question["content"]["parts"] == [f"!script\n{NAUGHTY}"]
    assert answered["content"]["parts"] == [stream.text]
    assert stream.text == NAUGHTY
    assert answered["metadata"]["model_slug"] == "scripted"
    for secret in ("said later", "ada-the-owner", ada.user_id, stream.turn_id, "usage", "seen"):
        assert secret not in read.text


async def test_shares_are_listed_and_revoked(world: World) -> None:
    ada, stranger = await world.someone("ada"), await world.browser()
    first, second = [await _share(ada, await ada.send(f"!script\n{n}")) for n in "12"]
    assert second["path"] == f"/share/{second['id']}"
    assert (await ada.http.get("/backend-api/shares")).json() == {"items": [second, first]}
    assert (await ada.http.delete(f"/backend-api/shares/{first['id']}")).status_code == 204
    assert (await ada.http.delete(f"/backend-api/shares/{first['id']}")).status_code == 404
    assert (await ada.http.get("/backend-api/shares")).json() == {"items": [second]}
    assert (await _read(stranger, first)).status_code == 404
    assert (await _read(stranger, second)).status_code == 200


async def test_sharing_the_same_path_again_returns_the_same_share(world: World) -> None:
    ada = await world.someone("ada")
    stream = await ada.send("!script\nhello")
    assert await _share(ada, stream) == await _share(ada, stream)


async def test_deleting_a_conversation_revokes_its_shares(world: World) -> None:
    ada, stranger = await world.someone("ada"), await world.browser()
    stream = await ada.send("!script\nhello")
    share, path = await _share(ada, stream), f"/backend-api/conversation/{stream.conversation_id}"
    await ada.http.patch(path, json={"is_visible": False})
    hidden = await _read(stranger, share)
    await ada.http.patch(path, json={"is_visible": True})
    assert (await _read(stranger, share)).status_code == 200
    await ada.http.delete(path)
    deleted, unknown = await _read(stranger, share), await _read(stranger, {"id": "x" * 32})
    assert hidden.status_code == deleted.status_code == unknown.status_code == 404
    assert hidden.json()["error"] == deleted.json()["error"] == unknown.json()["error"]


async def test_a_running_answer_cannot_be_shared(world: World) -> None:
    ada = await world.someone("ada")
    stream = await ada.send("!script tokens=100000 pace=5ms", until_chars=10)
    assert stream.answer is not None
    refused = await ada.http.post(
        f"/backend-api/conversation/{stream.conversation_id}/shares",
        json={"current_node": stream.answer["id"]},
    )
    assert refused.status_code == 409
    await ada.http.post(
        "/backend-api/stop_conversation", json={"conversation_id": stream.conversation_id}
    )
    await _share(ada, stream)


async def test_with_sharing_off_shares_are_neither_created_nor_read(settings: Settings) -> None:
    no_sharing = structs.replace(settings, allow_sharing=False)
    async with AsyncExitStack() as clients:
        async with open_app(settings, ScriptedEngine()) as app, listen(app) as url:
            ada = await World(app, url, clients).someone("ada")
            stream = await ada.send("!script\nhello")
            share = await _share(ada, stream)
        async with open_app(no_sharing, ScriptedEngine()) as app, listen(app) as url:
            assert (await ada.http.get(f"{url}/backend-api/share/{share['id']}")).status_code == 404
            refused = await ada.http.post(
                f"{url}/backend-api/conversation/{stream.conversation_id}/shares",
                json={"current_node": "any"},
            )
            taken_back = await ada.http.delete(f"{url}/backend-api/shares/{share['id']}")
    assert refused.status_code == 403
    assert "switched off" in refused.json()["error"]["message"]
    assert taken_back.status_code == 204
