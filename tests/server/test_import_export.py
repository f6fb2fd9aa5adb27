"""Export and import of a user's data."""

import asyncio
import dataclasses
import io
import json
import os
import resource
import tempfile
import zipfile
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.server.world import Someone, World
from tests.unit.import_export.sample_exports import (
    NOW,
    Json,
    chat,
    conversation,
    node,
    webui_message,
)

from hitsend.import_export.imported_conversation import ImportedConversation, ImportedMessage
from hitsend.import_export.read import ImportReader
from hitsend.messages import Attachment
from hitsend.server.data.export import write_export
from hitsend.server.serve import listen
from hitsend.store import COMMAND_LINE, Conversation, NewPasskey, Store, User

ZIP, JSON = {"content-type": "application/zip"}, {"content-type": "application/json"}

ROME = conversation(
    node("q", None, "user", "Where is the Forum?"),
    node("a", "q", "assistant", "In Rome.", metadata={"model_slug": "gpt-4o"}),
    node("b", "q", "assistant", "In the middle."),
    title="Rome <b>&",
    is_archived=False,
    current_node="a",
)
BROKEN = conversation(node("x", "gone", "user", "Hi"), title="Bad", conversation_id="c2")


async def import_file(
    person: Someone, file: bytes | list[Json], kind: dict[str, str] = JSON, **query: str
) -> httpx2.Response:
    content = file if isinstance(file, bytes) else json.dumps(file).encode()
    return await person.http.post(
        "/backend-api/import", content=content, headers=kind, params=query
    )


async def listed(person: Someone) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = (await person.http.get("/backend-api/conversations")).json()[
        "items"
    ]
    return items


async def export_file(person: Someone) -> zipfile.ZipFile:
    response = await person.http.get("/backend-api/export")
    assert response.status_code == 200
    assert response.headers["content-type"] == "application/zip"
    assert "attachment" in response.headers["content-disposition"]
    whole = zipfile.ZipFile(io.BytesIO(response.content))
    assert whole.testzip() is None
    return whole


async def test_an_export_of_chatgpt_is_imported_as_it_was(world: World) -> None:
    ada = await world.someone("ada")
    answer = await import_file(ada, [ROME])
    assert answer.json() == {
        "source": "chatgpt",
        "num_conversations": 1,
        "num_messages": 3,
        "num_already_here": 0,
        "left_out": [],
        "num_parts_left_out": {"images": 0, "files": 0, "tools": 0, "other": 0},
    }
    (line,) = await listed(ada)
    assert (line["title"], line["create_time"], line["update_time"]) == ("Rome <b>&", NOW, NOW + 9)
    tree = await ada.conversation(line["id"])
    shown = tree["mapping"][tree["current_node"]]["message"]
    assert shown["content"]["parts"] == ["In Rome."]
    assert shown["metadata"]["model_slug"] == "gpt-4o"
    assert "turn_exchange_id" not in shown["metadata"]
    (root,) = [one for one in tree["mapping"].values() if one["parent"] is None]
    assert len(root["children"]) == 2
    found = await ada.http.get("/backend-api/conversations", params={"q": "forum"})
    assert found.json()["items"][0]["id"] == line["id"]


async def test_an_imported_conversation_can_be_continued(world: World) -> None:
    ada = await world.someone("ada")
    await import_file(ada, [ROME])
    (line,) = await listed(ada)
    tree = await ada.conversation(line["id"])
    stream = await ada.send(
        "!script\nSure.", conversation_id=line["id"], parent_message_id=tree["current_node"]
    )
    assert stream.text == "Sure."
    assert (await listed(ada))[0]["title"] == "Rome <b>&"


async def test_importing_twice_adds_nothing_the_second_time(world: World) -> None:
    ada, eve = await world.someone("ada"), await world.someone("eve")
    await import_file(ada, [ROME])
    again = (await import_file(ada, [ROME])).json()
    assert (again["num_conversations"], again["num_already_here"]) == (0, 1)
    assert len(await listed(ada)) == 1
    assert (await import_file(eve, [ROME])).json()["num_conversations"] == 1


async def test_a_deleted_conversation_can_be_imported_again(world: World) -> None:
    ada = await world.someone("ada")
    await import_file(ada, [ROME])
    (line,) = await listed(ada)
    await ada.http.patch(f"/backend-api/conversation/{line['id']}", json={"is_visible": False})
    assert (await import_file(ada, [ROME])).json()["num_conversations"] == 1
    assert len(await listed(ada)) == 1


async def test_an_export_of_open_webui_is_imported(world: World) -> None:
    ada = await world.someone("ada")
    one = chat(
        webui_message("q", None, "user", "Hi"),
        webui_message("a", "q", "assistant", "Hello"),
        pinned=True,
    )
    answer = await import_file(ada, [one])
    assert (answer.json()["source"], answer.json()["num_messages"]) == ("open_webui", 2)
    (line,) = await listed(ada)
    assert line["is_pinned"]


async def test_an_import_with_something_broken_in_it_changes_nothing(world: World) -> None:
    ada = await world.someone("ada")
    refused = await import_file(ada, [ROME, BROKEN])
    assert refused.status_code == 422
    assert refused.json()["error"]["code"] == "bad_import"
    assert refused.json()["detail"].startswith("“Bad” is broken: A message in it follows one")
    assert await listed(ada) == []
    without = (await import_file(ada, [ROME, BROKEN], leave_out_broken="true")).json()
    assert without["num_conversations"] == 1
    assert [left["title"] for left in without["left_out"]] == ["Bad"]
    assert len(await listed(ada)) == 1


@pytest.mark.parametrize("kind", [ZIP, JSON])
@pytest.mark.parametrize("file", [b"", b"PK\x03\x04", b"\x00" * 100, b"[", b'[{"mapping":{}'])
async def test_a_file_that_is_no_export_is_refused_with_the_reason(
    world: World, kind: dict[str, str], file: bytes
) -> None:
    ada = await world.someone("ada")
    refused = await import_file(ada, file, kind)
    assert refused.status_code == 422
    assert refused.json()["detail"].endswith(".")


async def test_a_body_of_another_kind_is_refused(world: World) -> None:
    ada = await world.someone("ada")
    refused = await import_file(ada, b"[]", {"content-type": "text/plain"})
    assert refused.status_code == 400


@pytest.mark.parametrize("is_declared", [True, False])
async def test_a_file_that_is_too_large_is_refused(world: World, is_declared: bool) -> None:
    ada = await world.someone("ada")
    async with open_world_with_max_import(world, ada, most_bytes=1000) as browser:
        refused = await browser.post(
            "/backend-api/import",
            content=b"x" * 1001 if is_declared else chunks(),
            headers=JSON,
        )
    assert refused.status_code == 413
    assert "1,000 bytes" in refused.json()["detail"]


async def test_a_file_larger_than_the_free_disk_is_refused(world: World) -> None:
    ada = await world.someone("ada")
    async with open_world_with_max_import(world, ada, most_bytes=1 << 60) as browser:
        refused = await browser.post("/backend-api/import", content=chunks(), headers=JSON)
    assert refused.status_code == 503
    assert "MB are free" in refused.json()["detail"]


@asynccontextmanager
async def open_world_with_max_import(
    world: World, person: Someone, most_bytes: int
) -> AsyncIterator[httpx2.AsyncClient]:
    """A signed-in browser of a server with this maximum file size."""
    changed = msgspec.structs.replace(world.app.services.settings, max_import_bytes=most_bytes)
    services = dataclasses.replace(world.app.services, settings=changed)
    headers = {"x-csrf-token": person.http.headers["x-csrf-token"]}
    async with (
        listen(dataclasses.replace(world.app, services=services)) as url,
        httpx2.AsyncClient(base_url=url, cookies=person.http.cookies, headers=headers) as browser,
    ):
        yield browser


async def test_a_full_disk_is_named_as_the_problem(world: World) -> None:
    ada = await world.someone("ada")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3_000_000, before[1]))
    try:
        refused = await import_file(ada, b"[" + b" " * 4_000_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert refused.status_code == 503
    assert refused.json()["detail"] == "The file could not be kept here: File too large."
    assert (await import_file(ada, [ROME])).status_code == 200


async def test_each_user_imports_one_file_at_a_time(world: World) -> None:
    ada, eve = await world.someone("ada"), await world.someone("eve")
    is_tried = asyncio.Event()
    has_begun = asyncio.Event()

    async def slowly() -> AsyncIterator[bytes]:
        has_begun.set()
        yield b"["
        await is_tried.wait()
        yield json.dumps(ROME).encode() + b"]"

    async with asyncio.timeout(10):
        first = asyncio.create_task(
            ada.http.post("/backend-api/import", content=slowly(), headers=JSON)
        )
        await has_begun.wait()
        while not world.app.import_locks.lock(ada.user_id).locked():
            assert (await ada.http.get("/backend-api/me")).status_code == 200
        refused = await import_file(ada, [ROME])
        assert refused.status_code == 409
        assert "being imported" in refused.json()["detail"]
        assert (await import_file(eve, [ROME])).status_code == 200
        is_tried.set()
        assert (await first).json()["num_conversations"] == 1
    assert (await import_file(ada, [ROME])).json()["num_already_here"] == 1


async def chunks() -> AsyncIterator[bytes]:
    for _ in range(11):
        yield b"x" * 100


async def test_an_export_holds_everything_and_no_secret(world: World) -> None:
    ada = await world.someone("ada")
    stream = await ada.send("!script\nOne **two**")
    folder = (await ada.http.post("/backend-api/folders", json={"name": "Work"})).json()
    address = f"/backend-api/conversation/{stream.conversation_id}"
    change = {"folder_id": folder["id"], "title": "A/B: test", "is_pinned": True}
    await ada.http.patch(address, json=change)
    assert stream.answer is not None
    answer_id = stream.answer["id"]
    feedback = {"rating": "up", "reason": None, "text": "nice"}
    await ada.http.put(f"{address}/messages/{answer_id}/feedback", json=feedback)
    shared = (await ada.http.post(f"{address}/shares", json={"current_node": answer_id})).json()
    passkey = NewPasskey(b"id", b"public", 0, "localhost")
    factors = world.app.services.store.second_factors
    await factors.add_passkey(ada.user_id, passkey, "Blue key", [], COMMAND_LINE)
    whole = await export_file(ada)
    (page,) = [name for name in whole.namelist() if name.startswith("markdown/")]
    assert page.endswith(" A B test.md")
    assert "One **two**" in whole.read(page).decode()
    (conversation,) = json.loads(whole.read("conversations.json"))
    assert (conversation["title"], conversation["folder"], conversation["is_pinned"]) == (
        "A/B: test",
        "Work",
        True,
    )
    assert conversation["mapping"][answer_id]["message"]["content"]["parts"] == ["One **two**"]
    account = json.loads(whole.read("account.json"))
    assert (account["name"], account["folders"]) == ("ada", ["Work"])
    assert account["keys"][0]["label"] == "test"
    assert account["second_factor"] == {"has_authenticator": False, "passkeys": ["Blue key"]}
    assert account["shares"][0]["path"] == shared["path"]
    assert account["feedback"][0] == {
        "conversation_id": stream.conversation_id,
        "message_id": answer_id,
        **feedback,
    }
    assert ada.key.encode() not in b"".join(whole.read(name) for name in whole.namelist())


async def test_an_export_says_what_is_not_in_it(world: World) -> None:
    ada = await world.someone("ada")
    readme = (await export_file(ada)).read("README.txt").decode()
    assert "what is remembered of you" in readme
    assert "calls through the API" in readme
    assert "the log of each turn" in readme


async def test_each_user_exports_one_file_at_a_time(world: World) -> None:
    ada, eve = await world.someone("ada"), await world.someone("eve")
    async with asyncio.timeout(10):
        async with world.app.export_locks.lock(ada.user_id):
            second = asyncio.create_task(export_file(ada))
            for _ in range(5):  # time enough for the export to start
                await export_file(eve)
            assert not second.done()
        await second


async def test_an_export_ends_when_its_session_is_revoked(world: World) -> None:
    ada = await world.someone("ada")
    store = world.app.services.store
    await store.imports.add(ada.user_id, once([large(number) for number in range(12)]))
    async with asyncio.timeout(60), ada.http.stream("GET", "/backend-api/export") as response:
        assert response.status_code == 200
        # Nobody reads it, so that most of it is unsent when the session is revoked.
        await store.accounts.disable(ada.user_id)
        while world.app.streams._open:
            await store.check()
        with pytest.raises(httpx2.RemoteProtocolError):
            await response.aread()


def large(number: int) -> ImportedConversation:
    text = os.urandom(1_000_000).hex()  # incompressible
    said = ImportedMessage(id="q", parent_id=None, role="user", text=text, created_at=1.0)
    return ImportedConversation(
        source_id=str(number),
        title=str(number),
        created_at=1.0,
        updated_at=1.0,
        current_node="q",
        messages=(said,),
    )


async def test_an_export_contains_nothing_of_others(world: World) -> None:
    ada, eve = await world.someone("ada"), await world.someone("eve")
    await ada.send("!script\ncanary-5f1d")
    whole = await export_file(eve)
    assert json.loads(whole.read("conversations.json")) == []
    assert not any(b"canary-5f1d" in whole.read(name) for name in whole.namelist())


async def test_an_export_can_be_imported_elsewhere_and_adds_nothing_at_home(world: World) -> None:
    ada, eve = await world.someone("ada"), await world.someone("eve")
    stream = await ada.send("!script\nOne")
    folder = (await ada.http.post("/backend-api/folders", json={"name": "Work"})).json()
    await ada.http.patch(
        f"/backend-api/conversation/{stream.conversation_id}", json={"folder_id": folder["id"]}
    )
    exported_file = (await ada.http.get("/backend-api/export")).content
    at_home = (await import_file(ada, exported_file, ZIP)).json()
    assert (at_home["source"], at_home["num_already_here"]) == ("hitsend", 1)
    elsewhere = (await import_file(eve, exported_file, ZIP)).json()
    assert (elsewhere["num_conversations"], elsewhere["num_messages"]) == (1, 2)
    (made,) = (await eve.http.get("/backend-api/folders")).json()["items"]
    assert (made["name"], made["num_conversations"]) == ("Work", 1)
    assert (await listed(eve))[0]["update_time"] == (await listed(ada))[0]["update_time"]


ENDINGS = ("stop", "length", "stopped", "interrupted", "failed")
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
times = st.floats(0, 4e9)
attachments = st.builds(Attachment, texts, texts, texts, texts.filter(bool))


@st.composite
def conversations(draw: st.DrawFn) -> ImportedConversation:
    """Any tree of messages that a conversation can have, with continued answers."""
    messages: list[ImportedMessage] = []
    for number in range(draw(st.integers(1, 8))):
        parent = draw(st.sampled_from([None, *messages]))
        is_answer = parent is not None and (parent.role == "user" or draw(st.booleans()))
        messages.append(
            ImportedMessage(
                id=str(number),
                parent_id=parent.id if parent else None,
                role="assistant" if is_answer else "user",
                text=draw(texts),
                other_parts=() if is_answer else draw(st.lists(attachments, max_size=2).map(tuple)),
                created_at=draw(times),
                model=draw(st.sampled_from(["", "tiny"])) if is_answer else None,
                ending=draw(st.sampled_from(ENDINGS)) if is_answer else None,
            )
        )
    return ImportedConversation(
        source_id=str(draw(st.uuids())),
        title=" ".join(draw(texts).split()) or "Untitled",
        created_at=draw(times),
        updated_at=draw(times),
        current_node=draw(st.sampled_from(messages)).id,
        is_archived=draw(st.booleans()),
        is_pinned=draw(st.booleans()),
        messages=tuple(messages),
    )


async def stored(store: Store, user: User) -> list[tuple[object, ...]]:
    """A user's conversations without ids, which differ between users."""
    ids = await store.conversations.ids(user.id)
    return sorted([seen(await store.conversations.get(one, user.id)) for one in ids], key=str)


def seen(conversation: Conversation) -> tuple[object, ...]:
    """Identifies a message by its path: its index among its siblings, and theirs above."""
    places: dict[str | None, tuple[int, ...]] = {None: ()}
    siblings: Counter[str | None] = Counter()
    for message in conversation.messages:
        siblings[message.parent_id] += 1
        places[message.message_id] = *places[message.parent_id], siblings[message.parent_id]
    messages = sorted(
        (places[m.message_id], m.role, m.parts, m.model, m.status, m.ending, m.created_at)
        for m in conversation.messages
    )
    flags = conversation.is_archived, conversation.is_pinned, places[conversation.current_node]
    return conversation.title, conversation.created_at, conversation.updated_at, *flags, messages


async def round_trip(given: list[ImportedConversation]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = await Store.open(Path(folder) / "hitsend.db")
        ada, eve = [await store.accounts.create(name, "", "member") for name in ("ada", "eve")]
        await store.imports.add(ada.id, once(given))
        with tempfile.TemporaryFile() as file:
            async for piece in write_export(store, ada):
                file.write(piece)
            reading = ImportReader(leaves_out_broken=False, now=0.0)
            taken = list(reading.conversations(file, Path(folder)))
        assert reading.report.problem is None
        await store.imports.add(eve.id, once(taken))
        assert await stored(store, eve) == await stored(store, ada)
        await store.close()


async def once(given: list[ImportedConversation]) -> AsyncIterator[list[ImportedConversation]]:
    yield given


@settings(max_examples=20)
@given(st.lists(conversations(), min_size=1, max_size=3, unique_by=lambda given: given.source_id))
def test_what_is_exported_and_imported_is_the_same(given: list[ImportedConversation]) -> None:
    asyncio.run(round_trip(given))
