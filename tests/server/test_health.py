"""Liveness and readiness."""

import asyncio
import dataclasses

import httpx2
from tests.server.world import World

from hitsend.errors import StoreDown
from hitsend.server.readiness import Readiness
from hitsend.server.serve import listen


async def test_a_running_server_is_alive_and_ready(world: World) -> None:
    browser = await world.browser()
    assert (await browser.get("/healthz")).json() == {"status": "ok"}
    ready = await browser.get("/readyz")
    assert ready.status_code == 200
    assert ready.json() == {"status": "ok", "engine": "ready", "store": "ready"}


async def test_what_is_not_ready_is_named(world: World) -> None:
    browser = await world.browser()
    await world.app.services.store.close()
    ready = await browser.get("/readyz")
    assert ready.status_code == 503
    assert ready.json()["store"] == "down"
    assert (await browser.get("/healthz")).status_code == 200


async def test_models_and_the_state_of_the_engine_are_reported(world: World) -> None:
    ada = await world.someone("ada")
    models = (await ada.http.get("/backend-api/models")).json()
    assert models["default_model"] == models["models"][0]["name"]
    status = (await ada.http.get("/backend-api/status")).json()
    assert status["state"] == "ready"
    assert status["model"] == models["default_model"]


async def test_concurrent_readiness_checks_ask_the_store_once_a_second() -> None:
    now, num_checks = 0.0, 0

    async def check() -> None:
        nonlocal num_checks
        num_checks += 1
        await asyncio.sleep(0)
        if num_checks == 2:
            raise StoreDown("The disk is full.")

    readiness = Readiness(check, now=lambda: now)
    assert await asyncio.gather(*(readiness.is_ready() for _ in range(50))) == [True] * 50
    now = 0.9
    assert await readiness.is_ready()
    assert num_checks == 1
    now = 1.0
    assert await asyncio.gather(*(readiness.is_ready() for _ in range(50))) == [False] * 50
    assert num_checks == 2


async def test_readyz_does_not_write_each_time(world: World) -> None:
    store = world.app.services.store
    at_rest = Readiness(store.check, now=lambda: 0.0)
    async with (
        listen(dataclasses.replace(world.app, store_readiness=at_rest)) as url,
        httpx2.AsyncClient(base_url=url) as browser,
    ):
        assert (await browser.get("/readyz")).status_code == 200
        await store.close()
        assert (await browser.get("/readyz")).status_code == 200
