"""Limits per address, for every user and every API."""

import asyncio
import dataclasses
import time
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import httpx2
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.server.pages import open_page
from tests.server.test_limits import SHORT, chat, completion, program, sums
from tests.server.world import Someone, World, message
from tests.unit.store.test_addresses import addresses
from tests.unit.store.test_ledger import new_turn

from hitsend.engine import ScriptedEngine
from hitsend.server.app import open_app
from hitsend.server.edge.forwarded_headers import network_of
from hitsend.server.limits.sign_in_throttle import SignInThrottle
from hitsend.server.serve import listen
from hitsend.settings import Settings
from hitsend.store import Limit, Store

LONG = "!script tokens=500"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Behind a trusted proxy, and without the gate."""
    return Settings(
        data_dir=tmp_path / "data",
        engine="scripted",
        port=0,
        gate="off",
        trusted_proxies="127.0.0.1",
        safety_instructions=False,
    )


async def limit_addresses(world: World, num_tokens: int | None) -> httpx2.Response:
    root = await world.someone("root", "admin")
    limit = {"tokens_per_minute": num_tokens}
    return await root.http.put("/backend-api/limits/address", json=limit)


async def chat_from(address: str, person: Someone, said: str, **more: Any) -> httpx2.Response:
    return await person.http.post(
        "/backend-api/f/conversation",
        json=message(said, **more),
        headers={"x-forwarded-for": address},
    )


async def test_a_hundred_concurrent_requests_never_exceed_the_token_limit_of_an_address(
    world: World, settings: Settings
) -> None:
    most = 1500
    ada, eve = await world.someone("ada"), await world.someone("eve")
    http = await program(world, eve)
    assert (await limit_addresses(world, most)).status_code == 204
    said = "!script tokens=40 pace=1ms"

    async def request(number: int) -> httpx2.Response:
        if number % 2:
            return await http.post("/v1/chat/completions", json=completion(40, said))
        return await chat(ada, said)

    async with asyncio.timeout(60):
        answers = await asyncio.gather(*(request(number) for number in range(100)))
    assert {answer.status_code for answer in answers} == {200, 429}
    num_input, _, num_output = await sums(settings, "ledger")
    assert 0 < num_input + num_output <= most
    assert await sums(settings, "ledger") == await sums(settings, "turns")
    for person in (ada, eve):
        mine = (await person.http.get("/backend-api/limits/mine")).json()["tokens_minute"]
        assert (mine["limit"], mine["remaining"]) == (most, most - num_input - num_output)
        assert 0 < mine["reset_ms"] <= 60_000


async def test_the_limit_of_an_address_applies_to_every_api(world: World) -> None:
    ada, eve = await world.someone("ada"), await world.someone("eve")
    await limit_addresses(world, 60)
    first = await chat(ada, LONG)
    assert first.headers["x-ratelimit-remaining-tokens"] == "60"
    http = await program(world, eve)
    responses = [await chat(eve), await http.post("/v1/chat/completions", json=completion())]
    for refused in responses:
        error = refused.json()["error"]
        assert (refused.status_code, error["code"]) == (429, "rate_limit_exceeded")
        assert "your address" in error["message"]
        assert 30 < int(refused.headers["retry-after"]) <= 60
        assert 30_000 < int(refused.headers["retry-after-ms"]) <= 60_000
        assert refused.headers["x-ratelimit-limit-tokens"] == "60"
        assert refused.headers["x-ratelimit-remaining-tokens"] == "0"
        assert refused.headers["x-ratelimit-reset-tokens"]
    async with open_page(eve) as page:
        nack = await page.request("send", client_msg_id=str(uuid4()), body=message(SHORT))
    assert nack["error"]["code"] == "rate_limit_exceeded"


async def test_each_ipv6_network_has_one_limit(world: World) -> None:
    ada, eve = await world.someone("ada"), await world.someone("eve")
    await limit_addresses(world, 60)
    here, beside, elsewhere = "2001:db8:0:1::1", "2001:db8:0:1:ffff::2", "2001:db8:0:2::1"
    assert (await chat_from(here, ada, LONG)).status_code == 200
    assert (await chat_from(beside, eve, SHORT)).status_code == 429
    assert (await chat_from(elsewhere, eve, LONG)).status_code == 200
    assert (await chat_from("203.0.113.1", eve, LONG)).status_code == 200
    assert (await chat_from("::ffff:203.0.113.1", ada, SHORT)).status_code == 429


async def test_a_repeated_send_from_another_address_gets_the_same_turn(world: World) -> None:
    ada = await world.someone("ada")
    await limit_addresses(world, 60)
    same = message(LONG)["messages"]
    first = await chat_from("203.0.113.1", ada, LONG, messages=same)
    again = await chat_from("203.0.113.2", ada, LONG, messages=same)
    assert again.headers["idempotency-replayed"] == "true"
    assert again.headers["x-turn-exchange-id"] == first.headers["x-turn-exchange-id"]
    assert (await chat_from("203.0.113.2", ada, SHORT)).status_code == 200


async def test_a_server_deletes_old_addresses_at_start(settings: Settings) -> None:
    clock = SimpleNamespace(now=time.time() - 61)
    store = await Store.open(settings.database, now=lambda: clock.now)
    ada = await store.accounts.create("ada", "", "member")
    await store.limits.set("address", "", Limit(tokens_per_minute=1000))
    await store.turns.accept(new_turn(ada, clock))
    await store.close()
    assert addresses(settings.database)
    async with open_app(settings, ScriptedEngine()) as app, asyncio.timeout(60):
        while addresses(settings.database):
            await app.services.store.check()


async def test_password_guesses_are_limited_per_network(world: World) -> None:
    throttle = SignInThrottle(2, now=lambda: 0.0)
    async with (
        listen(dataclasses.replace(world.app, sign_in_throttle=throttle)) as url,
        httpx2.AsyncClient(base_url=url) as http,
    ):
        guesses = [
            await http.post(
                "/backend-api/accounts/sign-in",
                json={"name": f"name {number}", "password": "a guess"},
                headers={"x-forwarded-for": f"2001:db8::{number}"},
            )
            for number in (1, 2, 3)
        ]
    assert [one.status_code for one in guesses] == [401, 401, 429]


@given(st.ip_addresses(v=6), st.integers(0, 2**64 - 1))
def test_all_addresses_of_an_ipv6_network_count_as_one(address: IPv6Address, host: int) -> None:
    prefix = int(address) >> 64
    assume(prefix >> 1 not in (0, 0x64FF9B << 31))  # contains IPv4 addresses
    assert network_of(str(IPv6Address(prefix << 64 | host))) == network_of(str(address))
    assert network_of(str(IPv6Address((prefix ^ 1) << 64 | host))) != network_of(str(address))


@given(st.ip_addresses(v=4))
def test_an_ipv4_address_counts_as_itself_in_every_notation(address: IPv4Address) -> None:
    written = (f"{address}", f"::ffff:{address}", f"64:ff9b::{address}")
    assert {network_of(one) for one in written} == {str(address)}


@given(st.text(max_size=50))
def test_invalid_addresses_count_as_one(host: str) -> None:
    assert len(network_of(host)) <= len("ffff:ffff:ffff:ffff::/64")
