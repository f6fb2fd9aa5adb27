"""Usage: it adds up, and users see their own."""

from datetime import UTC, datetime
from typing import Any

import httpx2
from tests.server.world import Someone, World

SAID = "!script tokens=25"


async def usage(person: Someone, query: str = "") -> dict[str, Any]:
    response = await person.http.get(f"/backend-api/usage{query}")
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


def counted(line: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in line.items() if name.startswith("num_")}


async def test_without_usage_every_day_is_zero(world: World) -> None:
    ada = await world.someone("ada")
    found = await usage(ada, "?days=3")
    assert [day["num_turns"] for day in found["days"]] == [0, 0, 0]
    assert found["days"][-1]["day"] == datetime.now(UTC).date().isoformat()
    assert found["models"] == []
    assert found["total"] == {
        "num_turns": 0,
        "num_input_tokens": 0,
        "num_cached_tokens": 0,
        "num_output_tokens": 0,
        "cost": 0.0,
    }
    assert len((await usage(ada))["days"]) == 30
    assert (await ada.http.get("/backend-api/usage?days=400")).status_code == 400


async def test_every_token_of_every_turn_is_counted_once(world: World) -> None:
    ada, eve = await world.someone("ada"), await world.someone("eve")
    first, second = await ada.send(SAID), await ada.send(SAID)
    await eve.send("!script tokens=7")
    turns = world.app.services.store.turns
    rows = [await turns.get(stream.turn_id, ada.user_id) for stream in (first, second)]
    found = await usage(ada)
    assert counted(found["total"]) == {
        "num_turns": 2,
        "num_input_tokens": sum(row.num_input_tokens for row in rows),
        "num_cached_tokens": sum(row.num_cached_tokens for row in rows),
        "num_output_tokens": 50,
    }
    assert found["total"]["num_cached_tokens"] > 0
    (model,) = found["models"]
    assert model["model"] == "scripted"
    assert counted(found["days"][-1]) == counted(model) == counted(found["total"])
    assert found["currency"] == "USD"
    await ada.http.delete(f"/backend-api/conversation/{first.conversation_id}")
    assert (await usage(ada))["total"] == found["total"]


async def test_a_cost_is_reported_only_if_every_price_is_known(world: World) -> None:
    ada = await world.someone("ada", "admin")
    await ada.send(SAID)
    await ada.send(SAID)
    assert (await usage(ada))["total"]["cost"] is None
    price = {"input": 2.0, "cached": 0.5, "output": 8.0}
    address = "/backend-api/prices/scripted"
    assert (await ada.http.put(address, json=price)).status_code == 204
    total = (await usage(ada))["total"]
    fresh = total["num_input_tokens"] - total["num_cached_tokens"]
    cost = fresh * 2.0 + total["num_cached_tokens"] * 0.5 + total["num_output_tokens"] * 8.0
    assert total["cost"] == round(cost / 1e6, 6)
    listed = (await ada.http.get("/backend-api/prices")).json()
    assert listed == {"currency": "USD", "items": [{"model": "scripted", **price}]}
    assert (await ada.http.delete(address)).status_code == 204
    assert (await ada.http.delete(address)).status_code == 404
    assert (await usage(ada))["models"][0]["cost"] is None


async def test_a_model_whose_name_has_slashes_can_be_priced(world: World) -> None:
    ada = await world.someone("ada", "admin")
    price = {"input": 1, "cached": 1, "output": 1}
    address = "/backend-api/prices/someone/some-model:8b"
    assert (await ada.http.put(address, json=price)).status_code == 204
    items = (await ada.http.get("/backend-api/prices")).json()["items"]
    assert [item["model"] for item in items] == ["someone/some-model:8b"]
    assert (await ada.http.delete(address)).status_code == 204


async def test_an_administrator_sees_the_usage_of_everyone(world: World) -> None:
    ada, eve = await world.someone("ada", "admin"), await world.someone("eve")
    store = world.app.services.store
    group = await store.groups.create("Staff")
    await eve.send("!script tokens=7")
    await store.accounts.change_account(eve.user_id, group_id=group.id)
    await eve.send("!script tokens=9")
    await ada.send(SAID)
    found = await usage(ada, "/everyone?days=1")
    assert found["total"]["num_output_tokens"] == 41
    by_name = {line["name"]: line for line in found["people"]}
    assert {name: line["num_output_tokens"] for name, line in by_name.items()} == {
        "ada": 25,
        "eve": 16,
    }
    assert by_name["eve"]["user_id"] == eve.user_id
    (staff,) = found["groups"]
    assert (staff["name"], staff["num_turns"], staff["num_output_tokens"]) == ("Staff", 1, 9)
    for name in ("num_turns", "num_input_tokens", "num_cached_tokens", "num_output_tokens"):
        assert sum(line[name] for line in found["people"]) == found["total"][name]


async def test_the_usage_of_a_key_counts_for_its_owner(world: World) -> None:
    ada = await world.someone("ada")
    http: httpx2.AsyncClient = await world.browser()
    http.headers["authorization"] = f"Bearer {ada.key}"
    body = {"model": "auto", "messages": [{"role": "user", "content": SAID}]}
    usage_reported = (await http.post("/v1/chat/completions", json=body)).json()["usage"]
    found = (await usage(ada))["total"]
    assert found["num_input_tokens"] == usage_reported["prompt_tokens"]
    assert found["num_output_tokens"] == usage_reported["completion_tokens"]
