"""Headers that every response has: its request id, and that nobody may keep it."""

import re
from uuid import uuid4

import httpx2
import pytest
from tests.server.test_proxies import open_world_behind_proxies
from tests.server.world import World, message

from hitsend.server.call import Endpoint
from hitsend.server.routes import ROUTES
from hitsend.server.routes.page import STATIC
from hitsend.settings import Settings

ASSETS = STATIC / "assets"
OWN_ID = re.compile(r"[0-9a-f-]{36}")


def is_private(route: Endpoint) -> bool:
    return route.path.startswith(("/backend-api/", "/v1/")) or route.path.endswith("z")


@pytest.mark.parametrize(
    "route", [*filter(is_private, ROUTES)], ids=lambda route: f"{route.method} {route.path}"
)
async def test_no_private_response_may_be_kept(world: World, route: Endpoint) -> None:
    ada = await world.someone("ada", "admin")
    path = re.sub(r"{.*?}", str(uuid4()), route.path)
    bearer = {"authorization": f"Bearer {ada.key}"} if "/v1/" in path else {}
    for http in (ada.http, await world.browser()):
        answer = await http.request(route.method, path, headers=bearer)
        assert "no-store" in answer.headers["cache-control"]


async def test_an_answer_may_not_be_kept_either(world: World) -> None:
    ada = await world.someone("ada")
    assert (await ada.send("!script\nhi")).headers["cache-control"] == "no-store, no-transform"


@pytest.mark.skipif(not ASSETS.is_dir(), reason="the page is not built")
async def test_files_with_a_hash_in_their_name_are_kept_for_ever(world: World) -> None:
    browser = await world.browser()
    asset = next(ASSETS.glob("*.js"))
    found = await browser.get(f"/assets/{asset.name}")
    assert found.headers["cache-control"] == "public, max-age=31536000, immutable"


async def test_every_response_has_an_id_and_every_error_quotes_it(world: World) -> None:
    ada, browser = await world.someone("ada"), await world.browser()
    fine = await ada.http.get("/backend-api/me")
    errors = [
        await browser.get("/backend-api/me"),
        await browser.get("/nothing/here"),
        await browser.delete("/backend-api/me"),
        await ada.http.post("/backend-api/f/conversation", json={"messages": 3}),
        await browser.get("/backend-api/me", headers={"host": "evil.example"}),
    ]
    ids = [one.headers["x-request-id"] for one in (fine, *errors)]
    assert all(map(OWN_ID.fullmatch, ids))
    assert len(set(ids)) == len(ids)
    assert [one.json()["request_id"] for one in errors] == ids[1:]


async def test_errors_for_openais_sdks_have_the_id_in_the_header_only(world: World) -> None:
    browser = await world.browser()
    refused = await browser.get("/v1/models")
    assert OWN_ID.fullmatch(refused.headers["x-request-id"])
    assert list(refused.json()) == ["error"]


async def test_a_clients_own_request_id_is_ignored(world: World) -> None:
    browser = await world.browser()
    answer = await browser.get("/healthz", headers={"x-request-id": "chosen-by-client"})
    assert OWN_ID.fullmatch(answer.headers["x-request-id"])


@pytest.mark.parametrize(
    ("given", "is_kept"),
    [
        ("3f2a9c0d1e4b5a6978877665544332211", True),
        ("0b5c9a0e-6f4e-4a55-8a3c-2f6f0a3f7c11", True),
        ("short", False),
        ("x" * 65, False),
        ("with a blank", False),
        ("quote\"and'more", False),
    ],
)
async def test_a_trusted_proxy_may_choose_a_well_formed_id(
    settings: Settings, given: str, is_kept: bool
) -> None:
    async with open_world_behind_proxies(settings) as world:
        browser: httpx2.AsyncClient = await world.browser()
        answer = await browser.get("/healthz", headers={"x-request-id": given})
        assert (answer.headers["x-request-id"] == given) is is_kept
        ada = await world.someone("ada")
        sent = await ada.http.post(
            "/backend-api/f/conversation",
            json=message("!script\nhi"),
            headers={"x-request-id": given},
        )
        assert (f'"request_id":"{given}"' in sent.text) is is_kept
