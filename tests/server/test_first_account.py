"""The first account: created once, from this machine or with the setup token."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
from msgspec import structs
from tests.server.world import PASSWORD, World, open_world

from hitsend.engine import ScriptedEngine
from hitsend.server.serve import describe_first_account
from hitsend.settings import Settings
from hitsend.store import Store

BODY = {"name": "Ada", "password": PASSWORD}
PROXY_HEADERS = ["x-forwarded-for", "x-forwarded-proto", "forwarded", "via", "x-real-ip"]


@asynccontextmanager
async def opened(settings: Settings) -> AsyncGenerator[World]:
    async with open_world(settings, ScriptedEngine()) as world:
        yield world


async def make_first(
    world: World, headers: dict[str, str] | None = None, **more: str
) -> httpx2.Response:
    browser = await world.browser()
    return await browser.post("/backend-api/accounts/first", json=BODY | more, headers=headers)


async def check(world: World, headers: dict[str, str] | None = None) -> dict[str, object]:
    browser = await world.browser()
    checked = (await browser.get("/backend-api/accounts/check", headers=headers)).json()
    return {name: checked[name] for name in ("needs_setup_token", "is_database_lost")}


@pytest.mark.parametrize("header", PROXY_HEADERS)
async def test_who_comes_through_a_proxy_needs_the_token(world: World, header: str) -> None:
    through = {header: "10.0.0.1"}
    assert await check(world) == {"needs_setup_token": False, "is_database_lost": False}
    assert (await check(world, through))["needs_setup_token"]
    for wrong in ("", "guess"):
        refused = await make_first(world, through, setup_token=wrong)
        assert (refused.status_code, refused.json()["error"]["param"]) == (403, "setup_token")
    token = await world.app.services.store.first_account.token()
    assert (await make_first(world, through, setup_token=token)).status_code == 201


async def test_with_trusted_proxies_everybody_needs_the_token(settings: Settings) -> None:
    async with opened(structs.replace(settings, trusted_proxies="127.0.0.1")) as world:
        assert (await make_first(world)).status_code == 403
        token = await world.app.services.store.first_account.token()
        assert (await make_first(world, setup_token=token)).status_code == 201


async def test_a_foreign_name_for_this_machine_needs_the_token(settings: Settings) -> None:
    """In DNS rebinding, a page of another site reaches this machine by its own name."""
    async with opened(structs.replace(settings, allowed_hosts="chat.example")) as world:
        assert (await make_first(world, {"host": "chat.example"})).status_code == 403
        assert (await make_first(world)).status_code == 201


async def test_an_old_proxy_without_headers_is_noticed_by_its_protocol(world: World) -> None:
    """nginx asks by HTTP/1.0 unless it is told otherwise."""
    host, port = world.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(f"GET /backend-api/accounts/check HTTP/1.0\r\nHost: {host}\r\n\r\n".encode())
    answer = await reader.read()
    writer.close()
    assert b'"needs_setup_token":true' in answer


async def test_the_token_works_once_also_after_all_accounts_are_deleted(world: World) -> None:
    store, through = world.app.services.store, {"via": "proxy"}
    token = await store.first_account.token()
    made = await make_first(world, through, setup_token=token)
    again = await make_first(world, through, setup_token=token, name="Eve")
    assert (made.status_code, again.status_code) == (201, 409)
    await store.accounts.close_account(made.json()["user"]["id"])
    await store.accounts.erase(made.json()["user"]["id"])
    assert await check(world) == {"needs_setup_token": False, "is_database_lost": False}
    assert (await make_first(world, through, setup_token=token)).status_code == 403
    assert (await make_first(world)).status_code == 201


async def test_guessing_the_token_is_slowed_down(world: World) -> None:
    answers = [
        (await make_first(world, {"via": "proxy"}, setup_token=f"guess {n}")).status_code
        for n in range(12)
    ]
    assert answers[:5] == [403] * 5
    assert 429 in answers[5:]


@pytest.mark.parametrize("loss", ["missing", "empty"])
async def test_a_lost_database_makes_no_visitor_the_administrator(
    settings: Settings, copy_database: Callable[[Path], Path], loss: str
) -> None:
    async with opened(settings) as world:
        assert (await make_first(world)).status_code == 201
    for file in settings.data_dir.glob("hitsend.db*"):
        file.unlink()
    if loss == "empty":
        copy_database(settings.data_dir)
    async with opened(settings) as world:
        assert await check(world) == {"needs_setup_token": True, "is_database_lost": True}
        assert (await make_first(world)).status_code == 403
        told = await describe_first_account(world.app, world.url) or ""
        assert "missing or empty" in told
        assert "restore a backup" in told
        token = told.rpartition("#setup=")[2]
        assert (await make_first(world, setup_token=token)).status_code == 201
        assert await describe_first_account(world.app, world.url) is None


async def test_a_database_from_before_the_note_is_noted_at_the_start(settings: Settings) -> None:
    store = await Store.open(settings.database)
    await store.accounts.create("Ada", "hash", "admin")
    await store.close()
    marker = settings.data_dir / "had-accounts"
    assert not marker.exists()
    async with opened(settings) as world:
        assert marker.stat().st_mode & 0o077 == 0
        ada = (await world.app.services.store.accounts.list_users())[0]
        assert (await make_first(world)).status_code == 409
        await world.app.services.store.accounts.erase(ada.id)
    assert not marker.exists()
