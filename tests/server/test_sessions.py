"""Sessions: rotation, TLS, proxies and revocation."""

import asyncio
import dataclasses
import ssl
import time
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from pathlib import Path

import httpx2
import msgspec
import pytest
import trustme
from tests.server.world import PASSWORD, AnswerStream, World, message

from hitsend.credentials import csrf_token, hash_token, new_token
from hitsend.engine import ScriptedEngine
from hitsend.server.app import open_app
from hitsend.server.auth.session_cookie import COOKIE
from hitsend.server.limits.sign_in_throttle import SignInThrottle
from hitsend.server.serve import listen
from hitsend.settings import Settings
from hitsend.store import Store
from hitsend.store.database import Database

TWO_DAYS_S = 2 * 86_400


async def old_session(settings: Settings, user_id: str) -> str:
    """Returns the token of a browser that was last seen two days ago."""
    token = new_token()
    before = await Store.open(settings.database, now=lambda: time.time() - TWO_DAYS_S)
    await before.accounts.open_session(
        user_id, hash_token(token), user_agent="", expires_at=time.time() + 3600
    )
    await before.close()
    return token


async def test_an_old_session_token_is_rotated_and_expires_soon(
    world: World, settings: Settings
) -> None:
    ada = await world.someone("ada")
    old = await old_session(settings, ada.user_id)
    browser = await world.browser()
    first = await browser.get("/backend-api/me", headers={"cookie": f"{COOKIE}={old}"})
    assert first.status_code == 200
    fresh = browser.cookies[COOKIE]
    assert fresh != old
    again = await browser.get("/backend-api/me", headers={"cookie": f"{COOKIE}={old}"})
    assert again.status_code == 200
    assert "set-cookie" not in again.headers

    arrived = await browser.get("/backend-api/me", headers={"cookie": f"{COOKIE}={fresh}"})
    assert arrived.status_code == 200

    later = await Store.open(settings.database, now=lambda: time.time() + 120)
    assert await later.accounts.find_by_session(hash_token(old)) is None
    assert await later.accounts.find_by_session(hash_token(fresh)) is not None
    await later.close()


@pytest.fixture
async def unwritable(world: World, settings: Settings) -> AsyncGenerator[Store]:
    database = Database(settings.database, "normal", time.time)
    await database.open()
    await database.write(lambda connection: connection.exec_driver_sql("PRAGMA query_only = ON"))
    yield Store(database)
    await database.close()


async def test_a_session_that_cannot_be_refreshed_stays_valid(
    world: World, settings: Settings, unwritable: Store
) -> None:
    ada = await world.someone("ada")
    old = await old_session(settings, ada.user_id)
    services = dataclasses.replace(world.app.services, store=unwritable)
    async with (
        listen(dataclasses.replace(world.app, services=services)) as url,
        httpx2.AsyncClient(base_url=url, cookies={COOKIE: old}) as browser,
    ):
        me = await browser.get("/backend-api/me")
    assert me.status_code == 200
    assert "set-cookie" not in me.headers


async def test_signing_out_with_an_old_token_leaves_no_cookie_behind(
    world: World, settings: Settings
) -> None:
    ada = await world.someone("ada")
    old = await old_session(settings, ada.user_id)
    sessions = await world.app.services.store.accounts.list_sessions(ada.user_id)
    token = csrf_token(world.app.csrf_secret, sessions[-1].id)
    browser = await world.browser()
    response = await browser.post(
        "/backend-api/accounts/sign-out",
        headers={"cookie": f"{COOKIE}={old}", "x-csrf-token": token},
    )
    assert response.status_code == 204
    (cookie,) = response.headers.get_list("set-cookie")
    assert cookie.startswith(f'{COOKIE}="";')


@pytest.fixture
async def secure_url(tmp_path: Path) -> AsyncGenerator[tuple[str, ssl.SSLContext]]:
    authority, trusting = trustme.CA(), ssl.create_default_context()
    authority.configure_trust(trusting)
    certificate = authority.issue_cert("127.0.0.1")
    chain, key = tmp_path / "chain.pem", tmp_path / "key.pem"
    chain.write_bytes(b"".join(blob.bytes() for blob in certificate.cert_chain_pems))
    key.write_bytes(certificate.private_key_pem.bytes())
    settings = Settings(data_dir=tmp_path, port=0, tls_cert=chain, tls_key=key)
    async with AsyncExitStack() as stack:
        app = await stack.enter_async_context(open_app(settings, ScriptedEngine()))
        yield await stack.enter_async_context(listen(app)), trusting


async def test_over_tls_the_cookie_is_secure(
    secure_url: tuple[str, ssl.SSLContext],
) -> None:
    url, trusting = secure_url
    async with httpx2.AsyncClient(base_url=url, verify=trusting) as browser:
        made = await browser.post(
            "/backend-api/accounts/first", json={"name": "ada", "password": PASSWORD}
        )
    assert url.startswith("https://")
    assert "Secure" in made.headers["set-cookie"]


async def test_an_invalid_certificate_stops_the_start(
    world: World, settings: Settings, tmp_path: Path
) -> None:
    (tmp_path / "bad.pem").write_text("This is no certificate.")
    bad = msgspec.structs.replace(
        settings, tls_cert=tmp_path / "bad.pem", tls_key=tmp_path / "bad.pem"
    )
    services = dataclasses.replace(world.app.services, settings=bad)
    async with asyncio.timeout(5):
        with pytest.raises(ssl.SSLError):
            async with listen(dataclasses.replace(world.app, services=services)):
                pytest.fail("It cannot have started.")


@pytest.mark.parametrize(("trusted", "is_believed"), [("127.0.0.1", True), ("", False)])
async def test_only_a_trusted_proxy_may_forward_addresses(
    tmp_path: Path, trusted: str, is_believed: bool
) -> None:
    settings = Settings(data_dir=tmp_path, port=0, trusted_proxies=trusted)
    throttle = SignInThrottle(2, now=lambda: 0.0)
    async with (
        open_app(settings, ScriptedEngine()) as app,
        listen(dataclasses.replace(app, sign_in_throttle=throttle)) as url,
        httpx2.AsyncClient(base_url=url, headers={"x-forwarded-proto": "https"}) as proxy,
    ):
        token = await app.services.store.first_account.token()
        body = {"name": "ada", "password": PASSWORD, "setup_token": token}
        made = await proxy.post("/backend-api/accounts/first", json=body)
        guesses = [
            await proxy.post(
                "/backend-api/accounts/sign-in",
                json={"name": f"name {i}", "password": "a guess"},
                headers={"x-forwarded-for": f"203.0.113.{i}"},
            )
            for i in range(3)
        ]
    assert ("Secure" in made.headers["set-cookie"]) is is_believed
    assert guesses[-1].status_code == (401 if is_believed else 429)


def open_slow_stream(http: httpx2.AsyncClient) -> AbstractAsyncContextManager[httpx2.Response]:
    """The stream of an answer that would take minutes."""
    body = message("!script tokens=100000 pace=5ms")
    return http.stream("POST", "/backend-api/f/conversation", json=body)


@pytest.mark.parametrize("what", ["sign-out", "session", "key"])
async def test_revoking_a_session_ends_its_stream_but_not_the_turn(world: World, what: str) -> None:
    ada = await world.someone("ada")
    program = await world.browser()
    program.headers["authorization"] = f"Bearer {ada.key}"
    (session,) = (await ada.http.get("/backend-api/sessions")).json()["items"]
    (key,) = (await ada.http.get("/backend-api/keys")).json()["items"]
    reader, other = (program, ada.http) if what == "key" else (ada.http, program)
    async with open_slow_stream(reader) as response:
        match what:
            case "sign-out":
                await ada.http.post("/backend-api/accounts/sign-out")
            case "session":
                await ada.http.delete(f"/backend-api/sessions/{session['id']}")
            case "key":
                await ada.http.delete(f"/backend-api/keys/{key['id']}")
        stream = await AnswerStream(response.headers).take(response)
    assert not stream.is_done
    (conversation,) = (await other.get("/backend-api/conversations")).json()["items"]
    tree = (await other.get(f"/backend-api/conversation/{conversation['id']}")).json()
    assert tree["running"]["turn_exchange_id"] == stream.turn_id


async def test_disabling_a_user_ends_their_streams_only(world: World) -> None:
    ada, eve = await world.someone("ada"), await world.someone("eve")
    async with open_slow_stream(ada.http) as hers, open_slow_stream(eve.http) as another:
        await world.app.services.store.accounts.disable(ada.user_id)
        await AnswerStream(hers.headers).take(hers)
        stream = await AnswerStream(another.headers).take(another, until_chars=500)
    assert len(stream.text) >= 500
