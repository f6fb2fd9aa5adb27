"""Alive, and ready: two questions with two answers."""

from tests.server.world import World


async def test_alive_and_ready(world: World) -> None:
    browser = await world.browser()
    assert (await browser.get("/healthz")).json() == {"status": "ok"}
    ready = await browser.get("/readyz")
    assert ready.status_code == 200
    assert ready.json() == {"status": "ok", "engine": "ready", "store": "ready"}


async def test_what_is_not_ready_is_named(world: World) -> None:
    browser = await world.browser()
    await world.house.services.store.close()
    ready = await browser.get("/readyz")
    assert ready.status_code == 503
    assert ready.json()["store"] == "down"
    assert (await browser.get("/healthz")).status_code == 200


async def test_models_and_the_state_of_the_engine_are_told(world: World) -> None:
    ada = await world.someone("ada")
    models = (await ada.http.get("/backend-api/models")).json()
    assert models["default_model"] == models["models"][0]["name"]
    status = (await ada.http.get("/backend-api/status")).json()
    assert status["state"] == "ready"
    assert status["model"] == models["default_model"]
