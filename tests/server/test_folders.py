"""Folders, pins and the lists of the sidebar."""

from typing import Any

import pytest
from tests.server.world import Someone, World

NAUGHTY = "<img src=x onerror=alert(1)> \u202e \"'; DROP TABLE folders;--"


async def _folder(ada: Someone, name: str) -> str:
    made = await ada.http.post("/backend-api/folders", json={"name": name})
    assert made.status_code == 201, made.text
    assert made.json() == {"id": made.json()["id"], "name": name, "num_conversations": 0}
    return str(made.json()["id"])


async def _change(ada: Someone, conversation_id: str, **change: Any) -> int:
    path = f"/backend-api/conversation/{conversation_id}"
    return (await ada.http.patch(path, json=change)).status_code


async def _listed(ada: Someone, **query: str) -> list[str]:
    answer = await ada.http.get("/backend-api/conversations", params=query)
    assert answer.status_code == 200, answer.text
    assert answer.json()["total"] == len(answer.json()["items"])
    return [item["id"] for item in answer.json()["items"]]


async def test_conversations_are_filed_pinned_and_listed_accordingly(world: World) -> None:
    ada = await world.someone("ada")
    plain, filed, pinned = [
        (await ada.send(f"!script\n{n}")).conversation_id for n in ("plain", "filed", "pinned")
    ]
    folder_id = await _folder(ada, "Work")
    assert await _change(ada, filed, folder_id=folder_id) == 200
    assert await _change(ada, pinned, is_pinned=True) == 200
    assert await _listed(ada) == [pinned, filed, plain]
    assert await _listed(ada, is_pinned="true") == [pinned]
    assert await _listed(ada, is_pinned="false", folder_id="none") == [plain]
    assert await _listed(ada, folder_id=folder_id) == [filed]
    tree = await ada.conversation(filed)
    assert (tree["is_pinned"], tree["folder_id"]) == (False, folder_id)
    assert await _change(ada, filed, folder_id=None) == 200
    assert await _listed(ada, folder_id=folder_id) == []


async def test_a_search_names_the_message_that_matched(world: World) -> None:
    ada = await world.someone("ada")
    stream = await ada.send("!script\na needle here")
    conversation_id = stream.conversation_id
    assert await _change(ada, conversation_id, title="Haystack", is_archived=True) == 200
    found = await ada.http.get("/backend-api/conversations", params={"q": "needle here"})
    (item,) = found.json()["items"]
    assert "\x02needle\x03 \x02here\x03" in item["snippet"]
    assert item["message_id"] in (await ada.conversation(conversation_id))["mapping"]
    assert (item["title"], item["is_archived"]) == ("Haystack", True)
    assert (item["is_pinned"], item["folder_id"]) == (False, None)
    found = await ada.http.get("/backend-api/conversations", params={"q": "haystack"})
    (item,) = found.json()["items"]
    assert "snippet" not in item
    assert "message_id" not in item


async def test_folders_are_kept_by_the_name_they_were_given(world: World) -> None:
    ada = await world.someone("ada")
    folder_id, other_id = await _folder(ada, "Zoo"), await _folder(ada, NAUGHTY)
    renamed = await ada.http.patch(f"/backend-api/folders/{folder_id}", json={"name": "A" * 80})
    assert renamed.json() == {"id": folder_id, "name": "A" * 80, "num_conversations": 0}
    listed = (await ada.http.get("/backend-api/folders")).json()["items"]
    assert [(item["id"], item["name"]) for item in listed] == [
        (other_id, NAUGHTY),
        (folder_id, "A" * 80),
    ]
    assert (await ada.http.delete(f"/backend-api/folders/{folder_id}")).status_code == 204
    assert (await ada.http.delete(f"/backend-api/folders/{folder_id}")).status_code == 404
    assert len((await ada.http.get("/backend-api/folders")).json()["items"]) == 1


@pytest.mark.parametrize("name", ["", " \n\t\u2003", "x" * 81, None, 7])
async def test_a_folder_needs_a_name(world: World, name: object) -> None:
    ada = await world.someone("ada")
    refused = await ada.http.post("/backend-api/folders", json={"name": name})
    assert refused.status_code == 400
    assert refused.json()["error"]["param"] == "name"


@pytest.mark.parametrize("query", [{"is_pinned": "yes"}, {"is_archived": "1"}])
async def test_a_boolean_parameter_is_true_or_false(world: World, query: dict[str, str]) -> None:
    ada = await world.someone("ada")
    refused = await ada.http.get("/backend-api/conversations", params=query)
    assert refused.status_code == 400
    assert "true or false" in refused.json()["error"]["message"]


async def test_a_missing_folder_is_not_found(world: World) -> None:
    ada = await world.someone("ada")
    conversation_id = (await ada.send("!script\nhello")).conversation_id
    assert await _change(ada, conversation_id, folder_id="nowhere", title="changed") == 404
    assert (await ada.conversation(conversation_id))["title"] != "changed"
