"""Liveness and readiness."""

import asyncio
import dataclasses
import os
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest
from tests.server.world import World

from hitsend.errors import DatabaseDamaged, DiskFull, StoreDown
from hitsend.server.readiness import Readiness
from hitsend.server.serve import listen
from hitsend.server.store_check import DamageCheck, check_free_space


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
    assert ready.json() == {
        "status": "unavailable",
        "engine": "ready",
        "store": "down",
        "reason": "store_down",
        "detail": "The database is closed.",
    }
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
            raise full

    full = DiskFull("The disk is full.")
    readiness = Readiness(check, now=lambda: now)
    assert await asyncio.gather(*(readiness.find_problem() for _ in range(50))) == [None] * 50
    now = 0.9
    assert await readiness.find_problem() is None
    assert num_checks == 1
    now = 1.0
    assert await readiness.find_problem(fresh_s=5.0) is None
    assert num_checks == 1
    assert await asyncio.gather(*(readiness.find_problem() for _ in range(50))) == [full] * 50
    assert num_checks == 2
    now = 2.0
    assert await readiness.find_problem() is None


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


@pytest.mark.parametrize(
    ("problem", "state"),
    [
        (DiskFull("The disk is full."), "disk_full"),
        (DatabaseDamaged("The database is damaged."), "database_damaged"),
        (StoreDown("The disk failed."), "store_down"),
    ],
)
async def test_probes_and_pages_learn_why_nothing_can_be_stored(
    world: World, problem: StoreDown, state: str
) -> None:
    async def check() -> None:
        raise problem

    ada = await world.someone("ada")
    assert (await ada.http.get("/backend-api/status")).json()["store"] == "ready"
    broken = dataclasses.replace(world.app, store_readiness=Readiness(check))
    async with listen(broken) as url:
        ada.http.base_url = url
        ready = (await ada.http.get("/readyz")).json()
        assert (ready["reason"], ready["detail"]) == (state, problem.message)
        assert (await ada.http.get("/backend-api/status")).json()["store"] == state


def test_a_disk_with_little_room_counts_as_full(tmp_path: Path) -> None:
    check_free_space(tmp_path, min_free_bytes=1)
    with pytest.raises(DiskFull):
        check_free_space(tmp_path, min_free_bytes=10**18)
    with pytest.raises(StoreDown, match="cannot be reached"):
        check_free_space(tmp_path / "unmounted")


def damage(path: Path) -> None:
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(size // 2)
        file.write(os.urandom(size // 4))


async def check_for_damage(path: Path) -> None:
    check = DamageCheck(path)
    check.start()
    await check.wait(60)


async def test_a_damaged_database_stops_the_start(
    copy_database: Callable[[Path], Path], tmp_path: Path
) -> None:
    path = copy_database(tmp_path)
    await check_for_damage(path)
    damage(path)
    with pytest.raises(DatabaseDamaged, match="is damaged .* `hitsend restore`"):
        await check_for_damage(path)
    await check_for_damage(tmp_path / "none.db")


async def test_damage_in_a_large_database_is_found_while_it_is_served(
    copy_database: Callable[[Path], Path], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = copy_database(tmp_path)
    damage(path)
    check = DamageCheck(path)
    await check.wait(0)
    check.raise_if_damaged()
    check.start()
    with pytest.raises(DatabaseDamaged, match="hitsend restore"):
        await check.wait(60)
    with pytest.raises(DatabaseDamaged) as raised:
        check.raise_if_damaged()
    assert str(path) not in raised.value.message, "anyone may read this one"
    await check.until_logged()
    assert "hitsend restore" in caplog.text
