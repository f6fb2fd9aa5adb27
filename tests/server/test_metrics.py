"""`/metrics`: what it counts, who may read it, and that it holds nothing of a person."""

import re

import httpx2
import msgspec
import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.server.pages import open_page
from tests.server.world import Someone, World, message, open_world

from hitsend.engine import ScriptedEngine
from hitsend.errors import StoreDown
from hitsend.settings import BadSetting, Settings, load
from hitsend.store import KeyScope

CANARY = "canary-77"
TOKEN = "a-token-for-the-scraper"
ADMIN: tuple[KeyScope, ...] = ("admin",)


class Sample(dict[tuple[str, frozenset[tuple[str, str]]], float]):
    """The samples of one reading."""

    @classmethod
    def parse(cls, text: str) -> "Sample":
        return cls(
            {
                (sample.name, frozenset(sample.labels.items())): sample.value
                for family in text_string_to_metric_families(text)
                for sample in family.samples
            }
        )

    def value(self, name: str, **labels: str) -> float:
        return self.get((f"hitsend_{name}", frozenset(labels.items())), 0.0)


async def read(ada: Someone) -> Sample:
    answer = await ada.http.get("/metrics")
    assert answer.status_code == 200, answer.text
    return Sample.parse(answer.text)


async def test_a_turn_is_counted_with_its_tokens_and_times(world: World) -> None:
    ada = await world.someone("ada", "admin")
    before = await read(ada)
    assert before.value("turns_total", model="scripted", ending="stop") == 0
    stream = await ada.send("!script tokens=20 pace=5ms")
    usage = stream.of_type("server_ste_metadata")["metadata"]["usage"]
    sample = await read(ada)
    model = {"model": "scripted"}
    assert sample.value("turns_total", **model, ending="stop") == 1
    assert sample.value("tokens_total", **model, kind="output") == 20 == usage["num_output_tokens"]
    assert sample.value("tokens_total", **model, kind="prompt") == usage["num_input_tokens"] > 0
    assert sample.value("tokens_total", **model, kind="cached") == usage["num_cached_tokens"]
    assert sample.value("first_token_seconds_count", **model) == 1
    assert 0 < sample.value("first_token_seconds_sum", **model) < 30
    assert sample.value("token_gap_seconds_count", **model) > 5
    assert sample.value("token_gap_seconds_sum", **model) > 0.02
    assert sample.value("turn_seconds_count", **model) == 1
    assert sample.value("queued_seconds_count", **model) == 1
    assert sample.value("prefill_seconds_count", **model) == 1
    assert sample.value("commit_seconds_count") > 2
    assert sample.value("stored_events_total") > 10
    assert sample.value("failed_commits_total") == 0


async def test_failed_and_stopped_turns_are_counted_by_how_they_ended(world: World) -> None:
    ada = await world.someone("ada", "admin")
    await ada.send("!script die=3")
    stream = await ada.send("!script tokens=5000 pace=20ms", until_chars=5)
    stop = {"conversation_id": stream.conversation_id}
    await ada.http.post("/backend-api/stop_conversation", json=stop)
    sample = await read(ada)
    assert sample.value("turns_total", model="scripted", ending="failed") == 1
    assert sample.value("turns_total", model="scripted", ending="stopped") == 1
    assert sample.value("turn_failures_total", model="scripted", code="worker_lost") == 1
    assert sample.value("turns_running") == 0


async def test_requests_and_errors_are_counted_by_route_and_code(world: World) -> None:
    ada, browser = await world.someone("ada", "admin"), await world.browser()
    await ada.http.get(f"/backend-api/conversation/{CANARY}")
    await browser.get("/backend-api/me")
    await browser.get(f"/{CANARY}")
    sample = await read(ada)
    route = "/backend-api/conversation/{conversation_id}"
    assert sample.value("requests_total", method="GET", route=route, status="404") == 1
    assert sample.value("request_seconds_count", route=route) == 1
    assert sample.value("requests_total", method="GET", route="none", status="404") == 1
    assert sample.value("errors_total", code="not_found") == 2
    assert sample.value("errors_total", code="unauthenticated") == 1


async def test_room_slots_and_disk_are_told_as_they_are(world: World) -> None:
    ada = await world.someone("ada", "admin")
    stream = await ada.send("!script tokens=5000 pace=20ms", until_chars=5)
    async with open_page(ada):
        sample = await read(ada)
    settings = world.app.services.settings
    assert sample.value("turns_running") == 1
    assert sample.value("turns_allowed") == settings.max_turns
    assert sample.value("engine_ready") == sample.value("store_ready") == 1
    assert sample.value("engine_busy_slots") == 1
    assert sample.value("sockets_open") == 1
    assert sample.value("database_bytes") == settings.database.stat().st_size
    assert sample.value("disk_bytes") > sample.value("disk_free_bytes") > 0
    assert sample.value("backup_timestamp_seconds") == 0
    await world.app.services.store.backups.record_backup()
    assert (await read(ada)).value("backup_timestamp_seconds") > 1e9
    await ada.http.post(
        "/backend-api/stop_conversation", json={"conversation_id": stream.conversation_id}
    )


async def test_commits_that_fail_are_counted(world: World) -> None:
    """As on a full disk."""
    ada = await world.someone("ada", "admin")
    world.app.metrics.count_failed_commit()
    assert (await read(ada)).value("failed_commits_total") == 1


async def test_nothing_of_a_person_is_in_it(world: World) -> None:
    ada = await world.someone(f"ada-{CANARY}", "admin")
    stream = await ada.send(f"!script\n{CANARY}")
    await ada.http.get(f"/backend-api/conversation/{stream.conversation_id}?q={CANARY}")
    await ada.http.post("/backend-api/f/conversation", json=message("hi", model=CANARY))
    browser = await world.browser()
    await browser.request(CANARY.upper(), "/healthz")
    text = (await ada.http.get("/metrics")).text
    for secret in (CANARY, CANARY.upper(), ada.user_id, ada.key, stream.turn_id):
        assert secret not in text
    assert not re.search(r"[0-9a-f]{8}-[0-9a-f]{4}-", text), "no ids"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return msgspec.structs.replace(settings, metrics_token=TOKEN)


async def status_with(world: World, headers: dict[str, str]) -> int:
    browser: httpx2.AsyncClient = await world.browser()
    return (await browser.get("/metrics", headers=headers)).status_code


async def test_only_administrators_and_the_token_may_read_it(world: World) -> None:
    ada, bob = await world.someone("ada", "admin"), await world.someone("bob")
    admin_key = await world.create_key(ada.user_id, ADMIN)
    assert (await ada.http.get("/metrics")).status_code == 200
    assert (await bob.http.get("/metrics")).status_code == 403
    expected = {
        "": 401,
        f"Bearer {TOKEN}": 200,
        f"bearer {TOKEN}": 200,
        f"Bearer {TOKEN}x": 401,
        f"Basic {TOKEN}": 401,
        "Bearer": 401,
        f"Bearer {admin_key}": 200,
        f"Bearer {ada.key}": 403,
        f"Bearer {bob.key}": 403,
    }
    for authorization, status in expected.items():
        headers = {"authorization": authorization} if authorization else {}
        assert await status_with(world, headers) == status, authorization


async def test_the_token_opens_nothing_else(world: World) -> None:
    browser = await world.browser()
    headers = {"authorization": f"Bearer {TOKEN}"}
    for path in ("/backend-api/me", "/backend-api/admin/audit", "/v1/models"):
        assert (await browser.get(path, headers=headers)).status_code == 401


async def test_without_a_token_no_bearer_is_let_in(settings: Settings) -> None:
    settings = msgspec.structs.replace(settings, metrics_token=None)
    async with open_world(settings, ScriptedEngine()) as world:
        for given in ("Bearer", "Bearer None", f"Bearer {TOKEN}"):
            assert await status_with(world, {"authorization": given}) == 401


def test_a_token_that_could_be_guessed_is_refused() -> None:
    with pytest.raises(BadSetting, match="metrics_token"):
        load({}, {"HITSEND_METRICS_TOKEN": "short"})
    with pytest.raises(BadSetting) as raised:
        load({}, {"HITSEND_METRICS_TOKEN": "short"})
    assert "'short'" not in raised.value.message


async def test_prometheus_gets_the_format_it_asks_for(world: World) -> None:
    browser = await world.browser()
    headers = {"authorization": f"Bearer {TOKEN}"}
    plain = await browser.get("/metrics", headers=headers)
    assert plain.headers["content-type"].startswith("text/plain; version=")
    assert plain.headers["cache-control"] == "no-store"
    headers["accept"] = "application/openmetrics-text;version=1.0.0,text/plain;q=0.5"
    opened = await browser.get("/metrics", headers=headers)
    assert opened.headers["content-type"].startswith("application/openmetrics-text")
    assert opened.text.endswith("# EOF\n")


async def test_it_can_be_read_while_the_store_is_down(world: World) -> None:
    browser = await world.browser()
    await world.app.services.store.close()
    with pytest.raises(StoreDown):
        await world.app.services.store.check()
    answer = await browser.get("/metrics", headers={"authorization": f"Bearer {TOKEN}"})
    assert Sample.parse(answer.text).value("store_ready") == 0
