"""Limits: reported in advance, exact, and set by an administrator."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest
from msgspec import structs
from sqlalchemy import text
from tests.server.world import Someone, World, message

from hitsend.engine import Script, ScriptedEngine
from hitsend.errors import TooFast
from hitsend.events import AnswerStarted, PromptEncoded, PromptRead, Stamped, TextArrived
from hitsend.server.app import open_app
from hitsend.server.limits.headers import format_duration
from hitsend.server.limits.request_limits import RequestCounter
from hitsend.server.serve import listen
from hitsend.settings import Settings
from hitsend.store import Caller, Limit, LogEntry, NewTurn, Store, User
from hitsend.store.database import Database

SHORT = "!script\nHello"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Without the gate, which would ask for proofs after some refusals."""
    return Settings(
        data_dir=tmp_path / "data",
        engine="scripted",
        port=0,
        gate="off",
        safety_instructions=False,
    )


async def program(world: World, person: Someone) -> httpx2.AsyncClient:
    http = await world.browser()
    http.headers["authorization"] = f"Bearer {person.key}"
    return http


def completion(num_tokens: int = 20, said: str = SHORT, **more: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": said}]
    return {"model": "auto", "messages": messages, "max_tokens": num_tokens, **more}


async def chat(person: Someone, said: str = SHORT) -> httpx2.Response:
    return await person.http.post("/backend-api/f/conversation", json=message(said))


async def sums(settings: Settings, table: str) -> tuple[int, int, int]:
    database = Database(settings.database, "normal", lambda: 0.0)
    await database.open()
    try:
        columns = ("num_input_tokens", "num_cached_tokens", "num_output_tokens")
        summed = ", ".join(f"coalesce(sum({column}), 0)" for column in columns)
        query = text(f"SELECT {summed} FROM {table}")
        row = await database.read(lambda connection: connection.execute(query).one())
        return row[0], row[1], row[2]
    finally:
        await database.close()


async def test_without_limits_there_are_no_rate_limit_headers(world: World) -> None:
    ada = await world.someone("ada")
    stream = await ada.send(SHORT)
    assert not [name for name in stream.headers if name.startswith("x-ratelimit")]
    mine = (await ada.http.get("/backend-api/limits/mine")).json()
    nothing = {"limit": None, "remaining": None, "reset_ms": None}
    assert mine == {
        "requests": nothing,
        "tokens_minute": nothing,
        "tokens_day": nothing | {"reset_at": None},
        "group": None,
    }


async def test_of_a_hundred_concurrent_requests_exactly_the_limit_passes(world: World) -> None:
    ada = await world.someone("ada")
    await world.app.services.store.limits.set("user", ada.user_id, Limit(7))
    async with asyncio.timeout(30):
        answers = await asyncio.gather(*(chat(ada) for _ in range(100)))
    assert sorted(answer.status_code for answer in answers) == [200] * 7 + [429] * 93
    refused = next(answer for answer in answers if answer.status_code == 429)
    assert refused.json()["error"]["code"] == "rate_limit_exceeded"
    assert 0 < int(refused.headers["retry-after"]) <= 60
    assert 0 < int(refused.headers["retry-after-ms"]) <= 60_000
    assert refused.headers["x-ratelimit-limit-requests"] == "7"
    assert refused.headers["x-ratelimit-remaining-requests"] == "0"
    passed = [answer for answer in answers if answer.status_code == 200]
    remaining = {int(answer.headers["x-ratelimit-remaining-requests"]) for answer in passed}
    assert remaining == set(range(7))
    mine = (await ada.http.get("/backend-api/limits/mine")).json()["requests"]
    assert (mine["limit"], mine["remaining"]) == (7, 0)
    assert 0 < mine["reset_ms"] <= 60_000


async def test_a_key_and_an_address_have_limits_of_their_own(world: World) -> None:
    ada, eve = await world.someone("ada"), await world.someone("eve")
    limits = world.app.services.store.limits
    (key,) = await world.app.services.store.accounts.list_keys(ada.user_id)
    await limits.set("key", key.id, Limit(1))
    http = await program(world, ada)
    first = await http.post("/v1/chat/completions", json=completion())
    second = await http.post("/v1/chat/completions", json=completion())
    assert (first.status_code, second.status_code) == (200, 429)
    assert (await chat(ada)).status_code == 200
    await limits.set("address", "", Limit(2))
    passed = [(await chat(person)).status_code for person in (ada, eve, eve)]
    assert passed == [200, 200, 429]


async def test_a_daily_quota_is_never_exceeded(world: World, settings: Settings) -> None:
    quota = 1500
    ada = await world.someone("ada")
    http = await program(world, ada)
    await world.app.services.store.limits.set("everyone", "", Limit(tokens_per_day=quota))
    asked = completion(40, "!script tokens=40 pace=1ms")

    async def ask(number: int) -> int:
        if number % 2:
            return (await http.post("/v1/chat/completions", json=asked)).status_code
        return (await chat(ada, "!script tokens=40 pace=1ms")).status_code

    async with asyncio.timeout(60):
        statuses = await asyncio.gather(*(ask(number) for number in range(100)))
    assert set(statuses) == {200, 429}
    num_input, _, num_output = await sums(settings, "ledger")
    assert 0 < num_input + num_output <= quota
    assert await sums(settings, "ledger") == await sums(settings, "turns")
    mine = (await ada.http.get("/backend-api/limits/mine")).json()["tokens_day"]
    assert mine["remaining"] == quota - num_input - num_output
    assert mine["reset_at"] % 86_400 == 0


async def test_a_spent_quota_reports_its_reset(world: World) -> None:
    ada = await world.someone("ada")
    await world.app.services.store.limits.set("user", ada.user_id, Limit(tokens_per_day=60))
    await chat(ada, "!script tokens=500")
    refused = await chat(ada)
    assert (refused.status_code, refused.json()["error"]["code"]) == (429, "quota_exceeded")
    assert "midnight" in refused.json()["detail"]
    assert 0 < int(refused.headers["retry-after"]) <= 86_400
    assert refused.headers["x-ratelimit-limit-tokens"] == "60"
    assert refused.headers["x-ratelimit-remaining-tokens"] == "0"
    listed = (await ada.http.get("/backend-api/conversations")).json()
    assert len(listed["items"]) == 1


@pytest.mark.parametrize("limit", [Limit(0, 40), Limit(5, 1), Limit(5, None, 1)])
async def test_a_refusal_reports_all_limits(world: World, limit: Limit) -> None:
    ada = await world.someone("ada")
    await world.app.services.store.limits.set("user", ada.user_id, limit)
    refused = await chat(ada)
    assert refused.status_code == 429
    for counted in ("requests", "tokens"):
        assert f"x-ratelimit-remaining-{counted}" in refused.headers


async def test_the_limit_of_a_key_does_not_use_up_its_owners(world: World) -> None:
    ada = await world.someone("ada")
    http, store = await program(world, ada), world.app.services.store
    (key,) = await store.accounts.list_keys(ada.user_id)
    await store.limits.set("key", key.id, Limit(tokens_per_day=40))
    said = completion(20, "!script tokens=20")
    first = await http.post("/v1/chat/completions", json=said)
    assert first.headers["x-ratelimit-remaining-tokens"] == "40"
    second = await http.post("/v1/chat/completions", json=said)
    assert (first.status_code, second.status_code) == (200, 429)
    assert second.json()["error"]["type"] == "rate_limit_error"
    assert second.json()["error"]["code"] == "quota_exceeded"
    by_key = (await http.get("/backend-api/limits/mine")).json()["tokens_day"]
    assert by_key["remaining"] == 40 - first.json()["usage"]["total_tokens"]
    assert (await chat(ada)).status_code == 200


async def test_an_answer_ends_when_the_tokens_are_spent(world: World) -> None:
    ada = await world.someone("ada")
    await world.app.services.store.limits.set("user", ada.user_id, Limit(tokens_per_minute=60))
    stream = await ada.send("!script tokens=500")
    assert stream.headers["x-ratelimit-limit-tokens"] == "60"
    assert stream.answer is not None
    assert stream.answer["metadata"]["finish_details"]["type"] == "max_tokens"
    mine = (await ada.http.get("/backend-api/limits/mine")).json()["tokens_minute"]
    assert (mine["limit"], mine["remaining"]) == (60, 0)
    again = await chat(ada)
    assert (again.status_code, again.json()["error"]["code"]) == (429, "rate_limit_exceeded")
    assert 30 < int(again.headers["retry-after"]) <= 60


async def test_a_stopped_answer_costs_the_tokens_it_generated(
    world: World, settings: Settings
) -> None:
    ada = await world.someone("ada")
    await world.app.services.store.limits.set("user", ada.user_id, Limit(tokens_per_day=100_000))
    stream = await ada.send("!script tokens=100000 pace=2ms", until_chars=40)
    stop = {"conversation_id": stream.conversation_id}
    await ada.http.post("/backend-api/stop_conversation", json=stop)
    used = await sums(settings, "ledger")
    assert used == await sums(settings, "turns")
    assert used[0] > 0
    assert 5 < used[2] < 10_000
    mine = (await ada.http.get("/backend-api/limits/mine")).json()["tokens_day"]
    assert mine["remaining"] == 100_000 - used[0] - used[2]


async def test_a_disconnect_during_prefill_costs_the_prompt(
    world: World, settings: Settings
) -> None:
    ada = await world.someone("ada")
    body = message("!script first=60s")
    async with ada.http.stream("POST", "/backend-api/f/conversation", json=body) as response:
        async for chunk in response.aiter_raw():
            if b"assistant" in chunk:
                break
    turn_id = response.headers["x-turn-exchange-id"]
    log = await world.app.services.store.turns.events(turn_id, ada.user_id)
    (encoded,) = [one.event for one in log if isinstance(one.event, PromptEncoded)]
    await world.app.runner.stop(ada.user_id)
    used = await sums(settings, "ledger")
    assert used == await sums(settings, "turns") == (encoded.num_tokens, 0, 0)


TWO_ENDS = {"": {"a": 0.5, "b": 0.5}} | {
    first + " a" * size: {" a": 1.0} for first in "ab" for size in range(600)
}
"""Two endless answers with nothing in common."""


@asynccontextmanager
async def searching(settings: Settings, **fields: Any) -> AsyncGenerator[World]:
    """A world whose first answer is one of two."""
    engine = ScriptedEngine([Script(likely=TWO_ENDS, **fields)])
    async with AsyncExitStack() as stack:
        app = await stack.enter_async_context(open_app(settings, engine))
        url = await stack.enter_async_context(listen(app))
        yield World(app, url, await stack.enter_async_context(AsyncExitStack()))


BEAM = {"policy": "beam", "num_beams": 2}


async def test_a_beam_search_costs_the_tokens_of_all_beams(settings: Settings) -> None:
    async with searching(settings) as world:
        ada = await world.someone("ada")
        limits = world.app.services.store.limits
        await limits.set("user", ada.user_id, Limit(tokens_per_day=1000))
        stream = await ada.send("Which?", sampling=BEAM | {"max_tokens": 20})
        assert stream.answer
        usage = stream.answer["metadata"]["usage"]
        assert (usage["num_output_tokens"], usage["num_searched_tokens"]) == (20, 39)
        num_input, _, num_output = await sums(settings, "ledger")
        assert num_output == 39
        mine = (await ada.http.get("/backend-api/limits/mine")).json()["tokens_day"]
        assert mine["remaining"] == 1000 - num_input - 39


async def test_a_beam_search_ends_when_the_tokens_of_all_beams_are_spent(
    settings: Settings,
) -> None:
    async with searching(settings) as world:
        ada = await world.someone("ada")
        limits = world.app.services.store.limits
        await limits.set("user", ada.user_id, Limit(tokens_per_day=100))
        stream = await ada.send("Which?", sampling=BEAM)
        assert stream.answer
        assert stream.answer["metadata"]["finish_details"]["type"] == "max_tokens"
        num_input, _, num_output = await sums(settings, "ledger")
        assert 90 < num_input + num_output <= 100


async def test_a_stopped_beam_search_costs_the_tokens_of_all_beams(settings: Settings) -> None:
    async with searching(settings, pace_s=0.005) as world:
        ada, runner = await world.someone("ada"), world.app.runner
        body = message("Which?", sampling=BEAM)
        async with ada.http.stream("POST", "/backend-api/f/conversation", json=body) as response:
            turn = runner.find(response.headers["x-turn-exchange-id"], ada.user_id)
            assert turn is not None
            async with asyncio.timeout(20), aclosing(turn.follow(0)) as batches:
                async for batch in batches:
                    if any(isinstance(one.event, TextArrived) for one in batch):
                        break
            await runner.stop(ada.user_id)
        assert (await sums(settings, "turns"))[2] == 0
        assert (await sums(settings, "ledger"))[2] > 0


async def test_a_crash_keeps_the_reservation_until_the_next_start(settings: Settings) -> None:
    store = await Store.open(settings.database)
    user = await store.accounts.create("ada", "", "member")
    await store.limits.set("user", user.id, Limit(tokens_per_day=5000))
    await store.turns.accept(
        NewTurn(
            turn_id="t",
            user_id=user.id,
            conversation_id=None,
            action="next",
            model="scripted",
            answer_id="a",
            num_prompt_tokens=10,
            num_answer_tokens=90,
            created_at=time.time(),
        )
    )
    read = Stamped(2, 1.0, PromptRead(4, 6, 0.0, 0.0))
    await store.turns.append(
        [LogEntry("t", Stamped(1, 0.0, AnswerStarted("a", None, "scripted"))), LogEntry("t", read)]
    )
    assert await num_spent(store, user) == 100
    await store.close()
    async with open_app(settings, ScriptedEngine()) as app:
        assert await num_spent(app.services.store, user) == 10


async def num_spent(store: Store, user: User) -> int:
    bounds = await store.limits.find(user.id, None)
    assert bounds is not None
    (budget,) = await store.ledger.budgets(bounds, Caller(user.id))
    return budget.num_spent


async def test_an_administrator_sets_and_removes_limits(world: World) -> None:
    ada, eve = await world.someone("ada", "admin"), await world.someone("eve")
    group = (await ada.http.post("/backend-api/groups", json={"name": " Staff "})).json()
    assert group == {"id": group["id"], "name": "Staff", "num_people": 0, "features": None}
    limits = "/backend-api/limits"
    three = {
        "requests_per_minute": 5,
        "tokens_per_minute": None,
        "tokens_per_day": 900,
        "storage_mb": 20,
    }
    for address in (f"{limits}/everyone", f"{limits}/group/{group['id']}"):
        assert (await ada.http.put(address, json=three)).status_code == 204
    moved = await ada.http.patch(
        f"/backend-api/people/{eve.user_id}", json={"group_id": group["id"]}
    )
    assert moved.status_code == 204
    own = await ada.http.patch(f"/backend-api/people/{ada.user_id}", json={"group_id": group["id"]})
    assert own.status_code == 204
    listed = (await ada.http.get(limits)).json()
    assert listed["items"] == [
        {"scope": "everyone", "target": "", "target_name": "", **three},
        {"scope": "group", "target": group["id"], "target_name": "Staff", **three},
    ]
    assert {key["user_name"] for key in listed["keys"]} == {"ada", "eve"}
    people = (await ada.http.get("/backend-api/people")).json()["items"]
    assert {person["group_id"] for person in people} == {group["id"]}
    mine = (await eve.http.get(f"{limits}/mine")).json()
    assert mine["requests"]["limit"] == 5
    assert mine["tokens_day"]["limit"] is None
    assert mine["group"]["name"] == "Staff"
    assert mine["group"]["tokens_day"]["remaining"] == 900
    assert (await ada.http.delete(f"/backend-api/groups/{group['id']}")).status_code == 204
    assert (await eve.http.get(f"{limits}/mine")).json()["group"] is None
    assert (await ada.http.delete(f"{limits}/everyone")).status_code == 204
    assert (await ada.http.get(limits)).json()["items"] == []


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("limits/everyone", {"tokens_per_day": -1}, 400),
        ("limits/everyone", {"tokens_per_day": 10**12 + 1}, 400),
        ("limits/everyone", {"tokens_per_day": 1.5}, 400),
        ("limits/everyone", {"tokens": 1}, 400),
        ("limits/address", {"tokens_per_day": 1}, 400),
        ("limits/nobody", {}, 404),
        ("limits/user", {}, 404),
        ("limits/everyone/someone", {}, 404),
        ("limits/user/nobody", {}, 404),
        ("limits/group/nobody", {}, 404),
        ("limits/key/nobody", {}, 404),
        ("prices/tiny", {"input": -1, "cached": 0, "output": 0}, 400),
        ("prices/tiny", {"input": 1}, 400),
    ],
)
async def test_invalid_limits_are_refused(
    world: World, path: str, body: dict[str, Any], status: int
) -> None:
    ada = await world.someone("ada", "admin")
    refused = await ada.http.put(f"/backend-api/{path}", json=body)
    assert refused.status_code == status, refused.text


async def test_group_names_are_unique(world: World) -> None:
    ada = await world.someone("ada", "admin")
    groups = "/backend-api/groups"
    for name in ("Staff", "Guests"):
        assert (await ada.http.post(groups, json={"name": name})).status_code == 201
    assert (await ada.http.post(groups, json={"name": "STAFF"})).status_code == 409
    assert (await ada.http.post(groups, json={"name": "  "})).status_code == 400
    guests, staff = (await ada.http.get(groups)).json()["items"]
    renamed = await ada.http.patch(f"{groups}/{guests['id']}", json={"name": "staff"})
    assert renamed.status_code == 409
    renamed = await ada.http.patch(f"{groups}/{staff['id']}", json={"name": "staff"})
    assert renamed.json()["name"] == "staff"
    unknown = f"{groups}/nobody"
    assert (await ada.http.patch(unknown, json={"name": "x"})).status_code == 404
    assert (await ada.http.delete(unknown)).status_code == 404
    lost = await ada.http.patch(f"/backend-api/people/{ada.user_id}", json={"group_id": "nobody"})
    assert lost.status_code == 404


async def test_a_burst_is_accepted_or_refused_and_nothing_accepted_is_lost(
    settings: Settings,
) -> None:
    bounded = structs.replace(settings, max_turns=8)
    async with (
        open_app(bounded, ScriptedEngine()) as app,
        listen(app) as url,
        AsyncExitStack() as stack,
    ):
        world = World(app, url, stack)
        people = [await world.someone(f"person {number}") for number in range(10)]
        async with asyncio.timeout(30):
            said = "!script tokens=20 pace=5ms"
            answers = await asyncio.gather(*(chat(people[n % 10], said) for n in range(50)))
        taken = [n for n, answer in enumerate(answers) if answer.status_code == 200]
        refused = [answer for answer in answers if answer.status_code in (429, 503)]
        assert len(taken) >= 8
        assert len(taken) + len(refused) == 50
        assert all(int(answer.headers["retry-after"]) > 0 for answer in refused)
        for n in taken:
            turn_id = answers[n].headers["x-turn-exchange-id"]
            turn = await app.services.store.turns.get(turn_id, people[n % 10].user_id)
            assert (turn.state, turn.num_output_tokens) == ("stop", 20)


async def test_one_person_cannot_take_the_room_of_all_others(settings: Settings) -> None:
    bounded = structs.replace(settings, max_turns=8)
    async with (
        open_app(bounded, ScriptedEngine()) as app,
        listen(app) as url,
        AsyncExitStack() as stack,
    ):
        world = World(app, url, stack)
        ada, eve = await world.someone("ada"), await world.someone("eve")
        slow = "!script tokens=100000 pace=20ms"
        running = [await ada.send(slow, until_chars=1) for _ in range(4)]
        refused = await chat(ada, slow)
        assert (refused.status_code, refused.json()["error"]["code"]) == (
            429,
            "rate_limit_exceeded",
        )
        assert int(refused.headers["retry-after"]) > 0
        assert (await eve.send("!script\nAt once.")).text == "At once."
        stop = {"conversation_id": running[0].conversation_id}
        await ada.http.post("/backend-api/stop_conversation", json=stop)
        assert (await ada.send("!script\nAgain.")).text == "Again."


async def test_an_api_key_leaves_room_to_its_own_owner(settings: Settings) -> None:
    bounded = structs.replace(settings, max_turns=12, gate="off")
    async with (
        open_app(bounded, ScriptedEngine()) as app,
        listen(app) as url,
        AsyncExitStack() as stack,
    ):
        world = World(app, url, stack)
        ada = await world.someone("ada")
        keyed = Someone(await program(world, ada), "ada", ada.user_id, ada.key)
        slow = "!script tokens=100000 pace=20ms"
        for _ in range(4):
            await keyed.send(slow, until_chars=1)
        refused = await chat(keyed, slow)
        assert refused.status_code == 429
        assert "API key" in refused.json()["error"]["message"]
        assert int(refused.headers["retry-after"]) > 0
        assert (await ada.send("!script\nAt once.")).text == "At once."


def test_the_counter_uses_a_sliding_window() -> None:
    clock, ada = SimpleNamespace(now=0.0), ("user", "ada")
    counter = RequestCounter(now=lambda: clock.now)
    for moment in (0.0, 20.0, 40.0):
        clock.now = moment
        counter.count({ada: 3})
    with pytest.raises(TooFast) as refused:
        counter.count({ada: 3})
    assert refused.value.retry_after_s == 20
    clock.now = 60.0
    (left,) = counter.count({ada: 3})
    assert (left.remaining, left.reset_s) == (0, 60)
    with pytest.raises(TooFast) as lowered:
        counter.count({ada: 1})
    assert lowered.value.retry_after_s == 60
    clock.now = 200.0
    counter.count({("user", "eve"): 1})
    assert len(counter) == 1


def test_a_refused_request_counts_for_no_limit() -> None:
    counter, ada, here = RequestCounter(now=lambda: 0.0), ("user", "ada"), ("address", "here")
    counter.count({here: 1})
    with pytest.raises(TooFast):
        counter.count({ada: 1, here: 1})
    counter.count({ada: 1})
    with pytest.raises(TooFast):
        counter.count({("user", "eve"): 0})


@pytest.mark.parametrize(
    ("seconds", "written"),
    [(0.0, "0ms"), (0.0119, "12ms"), (1.0, "1s"), (59.2, "1m0s"), (360, "6m0s"), (3600, "1h0m0s")],
)
def test_durations_are_written_as_go_does(seconds: float, written: str) -> None:
    assert format_duration(seconds) == written
