"""The tool `search_conversations`: the caller's own conversations, by words and by meaning."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import msgspec
import pytest
from tests.server.world import AnswerStream, Someone, World, message, open_world

from hitsend.engine import ScriptedEngine, WordHashes
from hitsend.settings import Settings
from hitsend.store import KeyScope

NOTHING = "No earlier conversation is about that."


async def tell(person: Someone, text: str, answer: str = "Noted.", **changes: Any) -> str:
    """Returns the new conversation."""
    stream = await person.send(f"!script\n{answer}\n{text}", **changes)
    return stream.conversation_id


def ask(query: str, **arguments: object) -> str:
    call = {"name": "search_conversations", "arguments": {"query": query} | arguments}
    written = msgspec.json.encode(call).decode()
    return f"!script\n<tool_call>{written}</tool_call>\n!then\nThere it is."


def result(stream: AnswerStream) -> dict[str, Any]:
    [tool] = [one for one in stream.messages if one["author"]["role"] == "tool"]
    found: dict[str, Any] = tool["metadata"]["tool_result"]
    return found | {"output": tool["content"]["parts"][0]}


async def search(person: Someone, query: str, **changes: Any) -> dict[str, Any]:
    stream = await person.send(ask(query), system_hints=["conversations"], **changes)
    return result(stream)


def conversations(found: dict[str, Any]) -> list[str]:
    urls = [one["url"] for one in found.get("sources", ())]
    return [url.removeprefix("/c/").partition("#")[0] for url in urls]


@asynccontextmanager
async def open_plain(settings: Settings, **changes: Any) -> AsyncGenerator[World]:
    changed = msgspec.structs.replace(settings, **changes)
    async with open_world(changed, ScriptedEngine()) as world:
        yield world


@pytest.mark.parametrize("embeddings", ["words", "off"])
async def test_an_earlier_conversation_is_found_with_a_link_that_opens_it(
    settings: Settings, embeddings: str
) -> None:
    async with open_plain(settings, embeddings=embeddings) as world:
        ada = await world.someone("ada")
        await tell(ada, "How tall is the Zugspitze?")
        wanted = await tell(ada, "My tortoise Balthazar was born in Zanzibar.")
        found = await search(ada, "Where was the tortoise Balthazar born?")
        assert conversations(found) == [wanted]
        [source] = found["sources"]
        assert source["number"] == 1
        assert found["is_untrusted"] is True
        first, text = found["output"].split("\n", 1)
        assert first.startswith("[1] ")
        assert "Balthazar" in text
        tree = await ada.conversation(wanted)
        assert source["url"].partition("#message/")[2] in tree["mapping"]


async def test_what_others_said_is_never_found(world: World) -> None:
    ada, eve = await world.someone("ada"), await world.someone("eve")
    await tell(ada, "The secret recipe of Balthazar needs saffron.")
    found = await search(eve, "secret recipe Balthazar saffron")
    assert (found["output"], found.get("sources")) == (NOTHING, None)


async def test_temporary_conversations_are_not_found(world: World) -> None:
    ada = await world.someone("ada")
    await tell(ada, "Balthazar needs saffron.", history_and_training_disabled=True)
    assert (await search(ada, "Balthazar saffron"))["output"] == NOTHING


async def test_a_deleted_conversation_is_not_found_and_a_restored_one_is(world: World) -> None:
    ada = await world.someone("ada")
    wanted = await tell(ada, "Balthazar needs saffron.")
    path = f"/backend-api/conversation/{wanted}"
    await search(ada, "Balthazar saffron")  # which embeds it
    await ada.http.patch(path, json={"is_visible": False})
    assert wanted not in conversations(await search(ada, "Balthazar saffron needs"))
    await ada.http.patch(path, json={"is_visible": True})
    assert wanted in conversations(await search(ada, "does Balthazar need saffron"))


async def test_the_conversation_itself_is_left_out(world: World) -> None:
    ada = await world.someone("ada")
    stream = await ada.send("!script\nNoted.\nBalthazar needs saffron.")
    assert stream.answer is not None
    here = {"conversation_id": stream.conversation_id, "parent_message_id": stream.answer["id"]}
    assert (await search(ada, "Balthazar saffron", **here))["output"] == NOTHING


async def test_each_conversation_is_found_once_best_first(world: World) -> None:
    ada = await world.someone("ada")
    some = await tell(ada, "Saffron is a spice that grows in Iran, Spain and other warm places.")
    wanted = await tell(ada, "Saffron rice for Balthazar.", "Saffron rice for Balthazar it is.")
    found = conversations(await search(ada, "saffron rice Balthazar"))
    assert found[0] == wanted
    assert len(found) == len(set(found))
    assert set(found) <= {some, wanted}


async def test_titles_are_searched_as_well(settings: Settings) -> None:
    async with open_plain(settings, embeddings="off") as world:
        ada = await world.someone("ada")
        wanted = await tell(ada, "Hello")
        path = f"/backend-api/conversation/{wanted}"
        await ada.http.patch(path, json={"title": "Plans for Madagascar"})
        found = await search(ada, "Madagascar plans")
        assert found["sources"][0]["url"] == f"/c/{wanted}"
        assert found["output"].startswith("[1] Plans for Madagascar (20")


async def test_signs_of_the_index_are_words_like_others(world: World) -> None:
    ada = await world.someone("ada")
    await tell(ada, "Balthazar needs saffron.")
    for query in ('" OR 1=1 --', "NEAR(a b)", "text: *", "\\", "(((", "'; DROP TABLE messages"):
        assert "broke" not in (await search(ada, query))["output"]


async def send_with_key(world: World, key: str) -> httpx2.Response:
    body = message(ask("Balthazar saffron"), system_hints=["conversations"])
    return await (await world.browser()).post(
        "/backend-api/f/conversation", json=body, headers={"authorization": f"Bearer {key}"}
    )


@pytest.mark.parametrize(
    ("scopes", "is_found"),
    [(["chat", "read"], True), (["chat"], False), (["chat", "admin"], False)],
)
async def test_an_api_key_needs_the_scope_to_read(
    world: World, scopes: list[KeyScope], is_found: bool
) -> None:
    ada = await world.someone("ada", "admin")
    await tell(ada, "The recipe of Balthazar needs saffron.")
    response = await send_with_key(world, await world.create_key(ada.user_id, scopes))
    assert response.status_code == 200
    assert ("recipe" in response.text) is is_found
    assert ("This API key may not read conversations" in response.text) is not is_found


async def test_older_conversations_are_embedded_in_the_background(settings: Settings) -> None:
    async with open_plain(settings, embeddings="words") as world:
        ada, embedder = await world.someone("ada"), WordHashes().name
        for number in range(40):
            await tell(ada, f"Chapter {number} of the saga.")
        past, background = world.app.services.store.past_messages, world.app.services.background
        assert len(await past.without_vectors(ada.user_id, embedder, 100)) == 40
        await search(ada, "a saga")
        await background.until_idle()
        assert len(await past.without_vectors(ada.user_id, embedder, 100)) == 0
        ids, vectors = await past.vectors(ada.user_id, embedder)
        assert len(ids) >= 40
        assert len(vectors) % len(ids) == 0
        eve = await world.someone("eve")
        assert await past.vectors(eve.user_id, embedder) == ([], b"")
