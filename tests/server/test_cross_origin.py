"""Pages of other origins may call `/v1` where a setting names them, and nothing else."""

from collections.abc import AsyncIterator

import pytest
from msgspec import structs
from tests.server.world import World, open_world

from hitsend.engine import ScriptedEngine
from hitsend.settings import BadSetting, Settings, check_binding

APP, OTHER = "https://app.example", "https://other.example"
COMPLETIONS = "/v1/chat/completions"
SDK_HEADERS = "authorization,content-type,x-stainless-os"


@pytest.fixture
async def open_to_app(settings: Settings) -> AsyncIterator[World]:
    settings = structs.replace(settings, cors_origins=f"{APP}, http://localhost:3000")
    async with open_world(settings, ScriptedEngine()) as world:
        yield world


def preflight(origin: str) -> dict[str, str]:
    return {
        "origin": origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": SDK_HEADERS,
    }


@pytest.mark.parametrize("origin", [APP, "http://localhost:3000"])
async def test_a_page_of_a_named_origin_may_ask_and_read(open_to_app: World, origin: str) -> None:
    ada = await open_to_app.someone("ada")
    browser = await open_to_app.browser()
    asked = await browser.options(COMPLETIONS, headers=preflight(origin))
    assert asked.status_code == 204
    assert asked.headers["access-control-allow-origin"] == origin
    assert asked.headers["access-control-allow-headers"] == SDK_HEADERS
    assert "POST" in asked.headers["access-control-allow-methods"]
    body = {"model": "auto", "messages": [{"role": "user", "content": "!script\nhi"}]}
    for more in ({}, {"stream": True}):
        answer = await browser.post(
            COMPLETIONS,
            json=body | more,
            headers={"origin": origin, "authorization": f"Bearer {ada.key}"},
        )
        assert answer.status_code == 200
        assert answer.headers["access-control-allow-origin"] == origin
        assert "origin" in answer.headers["vary"].lower()
        assert "access-control-allow-credentials" not in answer.headers


async def test_it_can_read_errors_and_when_to_try_again(open_to_app: World) -> None:
    browser = await open_to_app.browser()
    for path, status in ((COMPLETIONS, 401), ("/v1/nothing", 405)):
        refused = await browser.post(path, headers={"origin": APP})
        assert refused.status_code == status
        assert refused.headers["access-control-allow-origin"] == APP
        assert "retry-after" in refused.headers["access-control-expose-headers"]


@pytest.mark.parametrize("origin", [OTHER, "null", "https://app.example:8443", "", f"{APP}.evil"])
async def test_pages_of_other_origins_are_refused(open_to_app: World, origin: str) -> None:
    browser = await open_to_app.browser()
    asked = await browser.options(COMPLETIONS, headers=preflight(origin))
    answer = await browser.get("/v1/models", headers={"origin": origin})
    assert asked.status_code == 403
    for one in (asked, answer):
        assert "access-control-allow-origin" not in one.headers
        assert one.headers["vary"].lower() == "origin"


async def test_only_v1_may_be_called_from_elsewhere(open_to_app: World) -> None:
    ada = await open_to_app.someone("ada")
    asked = await ada.http.options("/backend-api/me", headers=preflight(APP))
    answer = await ada.http.get("/backend-api/me", headers={"origin": APP})
    assert (asked.status_code, answer.status_code) == (405, 200)
    for one in (asked, answer):
        assert not [name for name in one.headers if name.startswith("access-control")]


async def test_by_default_no_other_page_may_call_anything(world: World) -> None:
    browser = await world.browser()
    asked = await browser.options(COMPLETIONS, headers=preflight(APP))
    answer = await browser.get("/v1/models", headers={"origin": APP})
    assert (asked.status_code, answer.status_code) == (405, 401)
    for one in (asked, answer):
        assert not [name for name in one.headers if name.startswith("access-control")]


@pytest.mark.parametrize(
    "origin",
    ["*", "null", "app.example", "https://app.example/", "https://*", "http://a:80", "://"],
)
def test_what_no_browser_sends_as_its_origin_stops_the_start(origin: str) -> None:
    with pytest.raises(BadSetting, match="cors_origins"):
        check_binding(Settings(cors_origins=origin))


@pytest.mark.parametrize(
    "origins",
    ["https://app.example", "http://[::1]:3000, tauri://localhost", "HTTPS://App.Example"],
)
def test_valid_origins_are_accepted(origins: str) -> None:
    check_binding(Settings(cors_origins=origins))
