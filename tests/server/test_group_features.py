"""Which features of tools there are for the people of a group."""

from typing import Any

import msgspec
from tests.server.world import Someone, World, message, open_world

from hitsend.engine import ScriptedEngine
from hitsend.settings import Settings

CALL = '<tool_call>{"name":"calculate","arguments":{"expression":"6*7"}}</tool_call>'
ASK = f"!script\n{CALL}\n!then\nIt is 42."


async def features_of(person: Someone) -> list[str]:
    listed = (await person.http.get("/backend-api/tools")).json()["features"]
    return [one["name"] for one in listed]


async def create_group(ada: Someone, *people: Someone) -> str:
    group = (await ada.http.post("/backend-api/groups", json={"name": "Law"})).json()
    assert group["features"] is None
    for person in people:
        change = {"group_id": group["id"]}
        path = f"/backend-api/people/{person.user_id}"
        assert (await ada.http.patch(path, json=change)).status_code == 204
    return str(group["id"])


async def set_features(ada: Someone, group_id: str, features: list[str] | None) -> dict[str, Any]:
    response = await ada.http.put(
        f"/backend-api/groups/{group_id}/features", json={"features": features}
    )
    assert response.status_code == 200, response.text
    group: dict[str, Any] = response.json()
    return group


async def test_a_group_has_the_features_that_an_administrator_chose(world: World) -> None:
    ada, bob = await world.someone("ada", "admin"), await world.someone("bob")
    group_id = await create_group(ada, bob)
    everything = await features_of(bob)
    assert {"calculator", "time"} < set(everything)
    assert (await set_features(ada, group_id, ["time", "telepathy"]))["features"] == [
        *("telepathy", "time")
    ]
    assert await features_of(bob) == ["time"]
    assert await features_of(ada) == everything
    await set_features(ada, group_id, [])
    assert await features_of(bob) == []
    await set_features(ada, group_id, None)
    assert await features_of(bob) == everything


async def test_what_a_group_does_not_have_cannot_be_turned_on(world: World) -> None:
    ada, bob = await world.someone("ada", "admin"), await world.someone("bob")
    group_id = await create_group(ada, bob)
    await set_features(ada, group_id, ["time"])
    body = message(ASK, system_hints=["calculator"])
    refused = await bob.http.post("/backend-api/f/conversation", json=body)
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "system_hints")
    by_key = await (await world.browser()).post(
        "/backend-api/f/conversation", json=body, headers={"authorization": f"Bearer {bob.key}"}
    )
    assert by_key.status_code == 400
    await set_features(ada, group_id, ["calculator"])
    stream = await bob.send(ASK, system_hints=["calculator"])
    assert stream.text == "It is 42."


async def test_the_features_of_a_deleted_group_hold_nobody(world: World) -> None:
    ada, bob = await world.someone("ada", "admin"), await world.someone("bob")
    group_id = await create_group(ada, bob)
    await set_features(ada, group_id, [])
    await ada.http.delete(f"/backend-api/groups/{group_id}")
    assert await features_of(bob) == await features_of(ada)


async def test_code_is_not_run_for_people_whose_group_has_none(world: World) -> None:
    ada, bob = await world.someone("ada", "admin"), await world.someone("bob")
    group_id = await create_group(ada, bob)
    stream = await bob.send("!script\nHello")
    path = f"/backend-api/conversation/{stream.conversation_id}/run"
    await set_features(ada, group_id, ["time"])
    refused = await bob.http.post(path, json={"code": "1+1"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "not_allowed")
    await set_features(ada, group_id, ["code"])
    assert (await bob.http.post(path, json={"code": "1+1"})).json()["output"] == "2"


async def test_an_administrator_sees_all_features_and_those_that_could_be_set_up(
    world: World,
) -> None:
    ada, bob = await world.someone("ada", "admin"), await world.someone("bob")
    await set_features(ada, await create_group(ada), [])
    await set_features(ada, await create_group_named(ada, "Own", ada), [])
    assert await features_of(ada) == []
    seen = (await ada.http.get("/backend-api/groups/features")).json()
    assert {"calculator", "time", "code"} <= {one["name"] for one in seen["items"]}
    missing = {one["name"]: one["settings"] for one in seen["missing"]}
    assert "HITSEND_WEB_SEARCH" in missing["web"]
    assert "HITSEND_WEATHER_URL" in missing["weather"]
    assert (await ada.http.get("/backend-api/tools")).json()["missing"] == seen["missing"]
    assert (await bob.http.get("/backend-api/tools")).json()["missing"] == []


async def create_group_named(ada: Someone, name: str, person: Someone) -> str:
    group = (await ada.http.post("/backend-api/groups", json={"name": name})).json()
    path = f"/backend-api/people/{person.user_id}"
    await ada.http.patch(path, json={"group_id": group["id"]})
    return str(group["id"])


async def test_what_is_set_up_is_not_missing(settings: Settings) -> None:
    settings = msgspec.structs.replace(
        settings, web_search="searxng", web_search_url="https://searx.example"
    )
    async with open_world(settings, ScriptedEngine()) as world:
        ada = await world.someone("ada", "admin")
        listed = (await ada.http.get("/backend-api/tools")).json()
        web = next(one for one in listed["features"] if one["name"] == "web")
        assert [tool["name"] for tool in web["tools"]] == ["web_search", "read_page"]
        assert "web" not in [one["name"] for one in listed["missing"]]


async def test_wrong_features_are_refused(world: World) -> None:
    ada = await world.someone("ada", "admin")
    group_id = await create_group(ada)
    path = f"/backend-api/groups/{group_id}/features"
    for features in (["x" * 201], [""], "web", [5], ["a"] * 501):
        assert (await ada.http.put(path, json={"features": features})).status_code == 400
    assert (await ada.http.put(path, json={})).status_code == 400
    nobody = await ada.http.put("/backend-api/groups/none/features", json={"features": None})
    assert nobody.status_code == 404
