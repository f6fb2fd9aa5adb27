"""Two-step sign-in: authenticator apps, passkeys and recovery codes."""

import asyncio
import dataclasses
import sqlite3
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import count
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from msgspec import structs
from pyotp.totp import TOTP
from tests.server.software_passkey import SoftwarePasskey
from tests.server.world import PASSWORD, World, open_world

from hitsend.engine import ScriptedEngine
from hitsend.server.auth.codes import STEP_S
from hitsend.server.auth.pending_sign_ins import PENDING_S, PendingSignIns
from hitsend.server.auth.sign_in import PENDING_COOKIE
from hitsend.server.limits.sign_in_throttle import SignInThrottle
from hitsend.server.serve import listen
from hitsend.settings import Settings

SIGN_IN = "/backend-api/accounts/sign-in"
SECOND_STEP = f"{SIGN_IN}/second-factor"
FACTOR = "/backend-api/me/second-factor"
ELEVEN_MINUTES_S = 660


@dataclass
class Browser:
    """Signs in by the routes the page uses. `host` is the address it was opened by."""

    http: httpx2.AsyncClient
    name: str = "ada"

    async def give_password(self, password: str = PASSWORD) -> httpx2.Response:
        body = {"name": self.name, "password": password}
        return self._entered(await self.http.post(SIGN_IN, json=body))

    async def give(self, method: str, **proof: Any) -> httpx2.Response:
        body = {"method": method, **proof}
        return self._entered(await self.http.post(SECOND_STEP, json=body))

    async def sign_in(self) -> "Browser":
        """For an account without a second factor."""
        assert (await self.give_password()).status_code in (200, 201)
        return self

    async def add_app(self) -> tuple[TOTP, list[str]]:
        """Adds an authenticator app. Returns it with the recovery codes."""
        set_up = (await self.http.post(f"{FACTOR}/authenticator/setup")).json()
        app = TOTP(set_up["secret"])
        body = {"token": set_up["token"], "code": app.now()}
        added = await self.http.put(f"{FACTOR}/authenticator", json=body)
        assert added.status_code == 200, added.text
        return app, added.json()["recovery_codes"]

    async def add_passkey(self, passkey: SoftwarePasskey, name: str = "Key") -> httpx2.Response:
        set_up = (await self.http.post(f"{FACTOR}/passkeys/setup")).json()
        credential = passkey.create(set_up["options"])
        body = {"token": set_up["token"], "name": name, "credential": credential}
        return await self.http.post(f"{FACTOR}/passkeys", json=body)

    async def status(self) -> dict[str, Any]:
        status: dict[str, Any] = (await self.http.get(FACTOR)).json()
        return status

    async def is_in(self) -> bool:
        return (await self.http.get("/backend-api/conversations")).status_code == 200

    def passkey(self, **changes: Any) -> SoftwarePasskey:
        address = self.http.headers["host"]
        origin = f"http://{address}" if "localhost" in address else f"https://{address}"
        return SoftwarePasskey(**{"origin": origin, "host": address.split(":")[0]} | changes)

    def _entered(self, response: httpx2.Response) -> httpx2.Response:
        if response.status_code == 200:
            self.http.headers["x-csrf-token"] = response.json()["csrf_token"]
        return response


def next_code(app: TOTP) -> str:
    """A code that has not been used yet: of the next half minute, which is accepted already."""
    return app.at(int(time.time()) + STEP_S)


async def open_browser(world: World, host: str = "") -> Browser:
    http = await world.browser()
    http.headers["host"] = host or world.url.removeprefix("http://").replace(
        "127.0.0.1", "localhost"
    )
    return Browser(http)


@pytest.fixture
async def ada(world: World) -> Browser:
    """Signed in by password, without a second factor yet."""
    await world.create_user_with_password("ada")
    return await (await open_browser(world)).sign_in()


async def test_with_an_app_the_password_alone_signs_nobody_in(world: World, ada: Browser) -> None:
    app, _ = await ada.add_app()
    browser = await open_browser(world)
    asked = await browser.give_password()
    assert asked.status_code == 202
    assert asked.json()["methods"] == ["authenticator", "recovery_code"]
    assert "user" not in asked.json()
    assert not await browser.is_in()

    entered = await browser.give("authenticator", code=next_code(app))
    assert entered.status_code == 200
    assert entered.json()["user"]["name"] == "ada"
    assert await browser.is_in()
    assert (await ada.status())["authenticator"]["last_used_at"] is not None


async def test_the_qr_code_and_the_typed_key_are_the_same_secret(ada: Browser) -> None:
    set_up = (await ada.http.post(f"{FACTOR}/authenticator/setup")).json()
    assert len(set_up["secret"]) == 32
    assert set_up["qr_code"].startswith("data:image/svg+xml")
    named = TOTP(set_up["secret"]).provisioning_uri(name="ada", issuer_name="hitsend (localhost)")
    assert parse_qs(urlsplit(named).query)["secret"] == [set_up["secret"]]


async def test_an_app_counts_only_once_a_code_confirmed_it(world: World, ada: Browser) -> None:
    set_up = (await ada.http.post(f"{FACTOR}/authenticator/setup")).json()
    body = {"token": set_up["token"], "code": "000000"}
    refused = await ada.http.put(f"{FACTOR}/authenticator", json=body)
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "code")
    assert (await (await open_browser(world)).give_password()).status_code == 200


async def test_a_set_up_token_counts_only_in_its_own_session(world: World, ada: Browser) -> None:
    set_up = (await ada.http.post(f"{FACTOR}/authenticator/setup")).json()
    body = {"token": set_up["token"], "code": TOTP(set_up["secret"]).now()}
    other = await (await open_browser(world)).sign_in()
    assert (await other.http.put(f"{FACTOR}/authenticator", json=body)).status_code == 401
    passkey = {"token": set_up["token"], "name": "Key", "credential": {}}
    assert (await ada.http.post(f"{FACTOR}/passkeys", json=passkey)).status_code == 401
    assert (await ada.http.put(f"{FACTOR}/authenticator", json=body)).status_code == 200


async def test_a_code_is_right_once(world: World, ada: Browser) -> None:
    app, _ = await ada.add_app()
    code = next_code(app)
    for expected in (200, 401):
        browser = await open_browser(world)
        await browser.give_password()
        assert (await browser.give("authenticator", code=code)).status_code == expected
    older = await open_browser(world)
    await older.give_password()
    assert (await older.give("authenticator", code=app.now())).status_code == 401


async def test_of_concurrent_uses_of_a_code_one_succeeds(world: World, ada: Browser) -> None:
    app, _ = await ada.add_app()
    code, browsers = next_code(app), [await open_browser(world) for _ in range(4)]
    for browser in browsers:
        await browser.give_password()
    answers = await asyncio.gather(*(one.give("authenticator", code=code) for one in browsers))
    assert sorted(one.status_code for one in answers) == [200, 401, 401, 401]


@pytest.mark.parametrize("num_steps", [-3, 3])
async def test_a_code_of_another_time_is_refused(
    world: World, ada: Browser, num_steps: int
) -> None:
    app, _ = await ada.add_app()
    browser = await open_browser(world)
    await browser.give_password()
    code = app.at(int(time.time()) + num_steps * STEP_S)
    assert (await browser.give("authenticator", code=code)).status_code == 401


async def test_a_sign_in_belongs_to_the_browser_that_gave_the_password(
    world: World, ada: Browser
) -> None:
    app, _ = await ada.add_app()
    browser, thief = await open_browser(world), await open_browser(world)
    asked = await browser.give_password()
    assert "HttpOnly" in asked.headers["set-cookie"]
    assert "SameSite=strict" in asked.headers["set-cookie"]
    refused = await thief.give("authenticator", code=next_code(app))
    assert refused.json()["error"]["code"] == "token_expired"
    assert (await browser.give("authenticator", code=next_code(app))).status_code == 200


async def test_a_sign_in_can_be_finished_once(world: World, ada: Browser) -> None:
    app, codes = await ada.add_app()
    browser = await open_browser(world)
    await browser.give_password()
    token = browser.http.cookies[PENDING_COOKIE]
    assert (await browser.give("authenticator", code=next_code(app))).status_code == 200
    browser.http.cookies.set(PENDING_COOKIE, token, path="/backend-api/accounts")
    again = await browser.give("recovery_code", code=codes[0])
    assert again.json()["error"]["code"] == "token_expired"
    assert (await ada.status())["num_recovery_codes"] == 10


async def test_a_sign_in_that_takes_too_long_begins_again(world: World, ada: Browser) -> None:
    app, _ = await ada.add_app()
    clock = SimpleNamespace(now=0.0)
    pending = PendingSignIns(now=lambda: clock.now)
    async with listen(dataclasses.replace(world.app, pending_sign_ins=pending)) as url:
        browser = Browser(httpx2.AsyncClient(base_url=url))
        async with browser.http:
            await browser.give_password()
            clock.now = PENDING_S + 1
            late = await browser.give("authenticator", code=next_code(app))
    assert (late.status_code, late.json()["error"]["code"]) == (401, "token_expired")


@pytest.mark.parametrize("what", ["changed", "disabled"])
async def test_a_sign_in_ends_when_its_password_is_changed_or_its_account_disabled(
    world: World, ada: Browser, what: str
) -> None:
    app, _ = await ada.add_app()
    browser = await open_browser(world)
    await browser.give_password()
    if what == "changed":
        body = {"current": PASSWORD, "new": "battery staple correct"}
        changed = await ada.http.post("/backend-api/me/password", json=body)
        assert changed.status_code == 204
    else:
        user_id = (await ada.http.get("/backend-api/me")).json()["user"]["id"]
        await world.app.services.store.accounts.disable(user_id)
    refused = await browser.give("authenticator", code=next_code(app))
    assert refused.status_code == 401
    assert not await browser.is_in()


async def test_nothing_tells_of_a_second_factor_before_the_right_password(
    world: World, ada: Browser
) -> None:
    await ada.add_app()
    await world.create_user_with_password("bob")
    answers = []
    for name in ("ada", "bob", "nobody"):
        browser = await open_browser(world)
        browser.name = name
        answers.append(await browser.give_password("not the password"))
        finished = await browser.give("authenticator", code="123456")
        assert finished.json()["error"]["code"] == "token_expired"
    assert {one.status_code for one in answers} == {401}
    assert len({str(one.json()["error"]) for one in answers}) == 1
    assert all("set-cookie" not in one.headers for one in answers)


async def test_wrong_codes_are_throttled_also_with_the_right_password_in_between(
    world: World, ada: Browser
) -> None:
    app, codes = await ada.add_app()
    throttle = SignInThrottle(50, now=lambda: 0.0)
    async with listen(dataclasses.replace(world.app, sign_in_throttle=throttle)) as url:
        browser = Browser(httpx2.AsyncClient(base_url=url, timeout=60))
        async with browser.http:
            tried = []
            for number in range(5):
                assert (await browser.give_password()).status_code == 202
                tried.append(await browser.give("authenticator", code=f"00000{number}"))
            blocked = await browser.give_password()
            right = await browser.give("recovery_code", code=codes[0])
    assert [one.status_code for one in tried] == [401] * 5
    assert (blocked.status_code, right.status_code) == (429, 429)
    assert right.json()["error"] == blocked.json()["error"]
    assert next_code(app) not in str([one.json() for one in tried])


async def test_a_recovery_code_is_right_once_however_it_is_typed(
    world: World, ada: Browser
) -> None:
    _, codes = await ada.add_app()
    assert len(set(codes)) == 10
    for expected in (200, 401):
        browser = await open_browser(world)
        await browser.give_password()
        typed = f" {codes[3].upper().replace('-', ' ')} "
        assert (await browser.give("recovery_code", code=typed)).status_code == expected
    assert (await ada.status())["num_recovery_codes"] == 9
    of_nobody = await open_browser(world)
    await of_nobody.give_password()
    assert (await of_nobody.give("recovery_code", code="")).status_code == 401


async def test_recovery_codes_are_stored_as_hashes(ada: Browser, settings: Settings) -> None:
    _, codes = await ada.add_app()
    files = b"".join(path.read_bytes() for path in settings.data_dir.glob("hitsend.db*"))
    for code in codes:
        assert code.encode() not in files
        assert code.replace("-", "").encode() not in files


async def test_new_recovery_codes_replace_the_old_ones(world: World, ada: Browser) -> None:
    _, old = await ada.add_app()
    fresh = (await ada.http.post(f"{FACTOR}/recovery-codes")).json()["recovery_codes"]
    browser = await open_browser(world)
    await browser.give_password()
    assert (await browser.give("recovery_code", code=old[0])).status_code == 401
    assert (await browser.give("recovery_code", code=fresh[0])).status_code == 200


async def test_anothers_recovery_code_is_wrong(world: World, ada: Browser) -> None:
    await world.create_user_with_password("eve")
    eve = Browser((await open_browser(world)).http, "eve")
    _, codes = await (await eve.sign_in()).add_app()
    await ada.add_app()
    browser = await open_browser(world)
    await browser.give_password()
    assert (await browser.give("recovery_code", code=codes[0])).status_code == 401


async def test_a_passkey_signs_in(world: World, ada: Browser) -> None:
    passkey = ada.passkey()
    added = await ada.add_passkey(passkey, "Blue key")
    assert added.status_code == 201
    assert len(added.json()["recovery_codes"]) == 10
    browser = await open_browser(world)
    asked = (await browser.give_password()).json()
    assert asked["methods"] == ["passkey", "recovery_code"]
    assert asked["passkey_options"]["userVerification"] == "discouraged"
    credential = passkey.get(asked["passkey_options"])
    assert (await browser.give("passkey", credential=credential)).status_code == 200
    listed = (await ada.status())["passkeys"][0]
    assert (listed["name"], listed["works_here"]) == ("Blue key", True)
    assert listed["last_used_at"] is not None


def other_origin(passkey: SoftwarePasskey) -> None:
    passkey.origin = "https://evil.example"


def other_host(passkey: SoftwarePasskey) -> None:
    passkey.host = "evil.example"


def other_key(passkey: SoftwarePasskey) -> None:
    passkey.key = SoftwarePasskey("", "").key


def nobody_there(passkey: SoftwarePasskey) -> None:
    passkey.flags = 0


def old_counter(passkey: SoftwarePasskey) -> None:
    passkey.sign_count -= 2


def unknown_id(passkey: SoftwarePasskey) -> None:
    passkey.credential_id = b"another"


@pytest.mark.parametrize(
    "spoil", [other_origin, other_host, other_key, nobody_there, old_counter, unknown_id]
)
async def test_a_false_passkey_is_refused(
    world: World, ada: Browser, spoil: Callable[[SoftwarePasskey], None]
) -> None:
    passkey = ada.passkey(sign_count=7)
    await ada.add_passkey(passkey)
    browser = await open_browser(world)
    options = (await browser.give_password()).json()["passkey_options"]
    spoil(passkey)
    refused = await browser.give("passkey", credential=passkey.get(options))
    assert refused.status_code == 401
    assert not await browser.is_in()


async def test_what_a_passkey_signed_counts_for_one_sign_in_only(
    world: World, ada: Browser
) -> None:
    passkey = ada.passkey(counts=False)  # like synced passkeys, whose counter stays 0
    await ada.add_passkey(passkey)
    browser, thief = await open_browser(world), await open_browser(world)
    signed = passkey.get((await browser.give_password()).json()["passkey_options"])
    await thief.give_password()
    assert (await thief.give("passkey", credential=signed)).status_code == 401
    assert (await browser.give("passkey", credential=signed)).status_code == 200
    assert (await browser.give("passkey", credential=signed)).status_code == 401


@pytest.mark.parametrize("spoil", [other_origin, other_host, nobody_there])
async def test_a_passkey_made_elsewhere_is_not_added(
    ada: Browser, spoil: Callable[[SoftwarePasskey], None]
) -> None:
    passkey = ada.passkey()
    spoil(passkey)
    assert (await ada.add_passkey(passkey)).status_code == 400
    assert (await ada.status())["passkeys"] == []


async def test_replies_that_no_browser_makes_are_refused(world: World, ada: Browser) -> None:
    passkey = ada.passkey()
    await ada.add_passkey(passkey)
    set_up = (await ada.http.post(f"{FACTOR}/passkeys/setup")).json()
    made = ada.passkey().create(set_up["options"])
    browser = await open_browser(world)
    signed = passkey.get((await browser.give_password()).json()["passkey_options"])
    for field in ("clientDataJSON", "attestationObject"):
        for value in BROKEN:
            broken = made | {"response": made["response"] | {field: value}}
            body = {"token": set_up["token"], "name": "Key", "credential": broken}
            refused = await ada.http.post(f"{FACTOR}/passkeys", json=body)
            assert refused.status_code == 400, (field, value)
    broken_assertions = [
        signed | {"response": signed["response"] | {field: value}}
        for field in ("clientDataJSON", "authenticatorData", "signature")
        for value in BROKEN
    ]
    hours = count()  # between the tries, so that none is throttled
    patient = SignInThrottle(10_000, now=lambda: next(hours) * 3600.0)
    async with listen(dataclasses.replace(world.app, sign_in_throttle=patient)) as url:
        for broken in [*broken_assertions, {}, {"id": signed["id"]}, signed | {"response": None}]:
            refused = await browser.http.post(
                url + SECOND_STEP,
                json={"method": "passkey", "credential": broken},
                headers={"cookie": f"{PENDING_COOKIE}={browser.http.cookies[PENDING_COOKIE]}"},
            )
            assert refused.status_code == 401, broken


BROKEN = ["", "!", "e30", "oA", "gA", "_____w", "W10", "bnVsbA", "A" * 400, 7, None, {}, []]
"""Base64 of `{}`, an empty CBOR map, `[]`, `null` and garbage; and no text at all."""


async def test_the_same_passkey_is_added_once(ada: Browser) -> None:
    passkey = ada.passkey()
    assert (await ada.add_passkey(passkey)).status_code == 201
    again = await ada.add_passkey(passkey)
    assert again.status_code == 409
    second = await ada.add_passkey(ada.passkey(), "Second")
    assert second.json()["recovery_codes"] is None
    options = (await ada.http.post(f"{FACTOR}/passkeys/setup")).json()["options"]
    assert len(options["excludeCredentials"]) == 2


async def test_passkeys_are_renamed_and_removed_by_their_owner(world: World, ada: Browser) -> None:
    await ada.add_passkey(ada.passkey())
    path = f"{FACTOR}/passkeys/{(await ada.status())['passkeys'][0]['id']}"
    eve = await world.someone("eve")
    assert (await eve.http.patch(path, json={"name": "mine now"})).status_code == 404
    assert (await eve.http.delete(path)).status_code == 404
    assert (await ada.http.patch(path, json={"name": "  Desk "})).status_code == 204
    assert (await ada.http.patch(path, json={"name": "\u202e"})).status_code == 400
    assert (await ada.status())["passkeys"][0]["name"] == "Desk"
    assert (await ada.http.delete(path)).status_code == 204
    assert (await ada.status())["num_recovery_codes"] == 0
    assert (await (await open_browser(world)).give_password()).status_code == 200


async def test_an_address_by_number_has_no_passkeys(world: World, ada: Browser) -> None:
    await ada.add_passkey(ada.passkey())
    address = world.url.removeprefix("http://")
    browser = await open_browser(world, address)
    asked = (await browser.give_password()).json()
    assert asked["methods"] == ["recovery_code"]
    assert asked["passkey_options"] is None
    assert asked["other_hosts"] == ["localhost"]
    ada.http.headers["host"] = address
    assert (await ada.status())["host"] is None
    assert (await ada.http.post(f"{FACTOR}/passkeys/setup")).status_code == 400


@asynccontextmanager
async def world_of(settings: Settings, **changes: Any) -> AsyncGenerator[World]:
    async with open_world(structs.replace(settings, **changes), ScriptedEngine()) as world:
        yield world


async def test_behind_a_proxy_with_tls_passkeys_belong_to_its_host(settings: Settings) -> None:
    async with world_of(settings, allowed_hosts="chat.example") as world:
        await world.create_user_with_password("ada")
        ada = await (await open_browser(world, "chat.example")).sign_in()
        passkey = ada.passkey()
        assert passkey.origin == "https://chat.example"
        assert (await ada.add_passkey(passkey)).status_code == 201
        browser = await open_browser(world, "chat.example")
        options = (await browser.give_password()).json()["passkey_options"]
        assert options["rpId"] == "chat.example"
        signed = passkey.get(options)
        assert (await browser.give("passkey", credential=signed)).status_code == 200
        plain = ada.passkey(origin="http://chat.example")
        assert (await ada.add_passkey(plain)).status_code == 400


def age_sessions(settings: Settings) -> None:
    """Moves the time at which each password was given back by eleven minutes."""
    with sqlite3.connect(settings.database) as connection:
        connection.execute(
            "UPDATE sessions SET confirmed_at = confirmed_at - ?", (ELEVEN_MINUTES_S,)
        )
    connection.close()


async def test_changes_ask_for_the_password_again_unless_it_was_given_lately(
    ada: Browser, settings: Settings
) -> None:
    age_sessions(settings)
    asked = await ada.http.post(f"{FACTOR}/authenticator/setup")
    assert (asked.status_code, asked.json()["error"]["code"]) == (403, "password_required")
    confirm = "/backend-api/me/confirm"
    wrong = await ada.http.post(confirm, json={"password": "not the password"})
    assert (wrong.status_code, wrong.json()["error"]["param"]) == (400, "password")
    assert (await ada.http.post(f"{FACTOR}/authenticator/setup")).status_code == 403
    assert (await ada.http.post(confirm, json={"password": PASSWORD})).status_code == 204
    assert (await ada.http.post(f"{FACTOR}/authenticator/setup")).status_code == 200


async def test_turning_it_off_removes_everything(world: World, ada: Browser) -> None:
    await ada.add_app()
    await ada.add_passkey(ada.passkey())
    assert (await ada.http.delete(FACTOR)).status_code == 204
    status = await ada.status()
    assert (status["authenticator"], status["passkeys"]) == (None, [])
    assert status["num_recovery_codes"] == 0
    assert (await (await open_browser(world)).give_password()).status_code == 200


async def test_another_app_replaces_the_first_and_keeps_the_recovery_codes(
    world: World, ada: Browser
) -> None:
    old, codes = await ada.add_app()
    fresh, none = await ada.add_app()
    assert none is None
    browser = await open_browser(world)
    await browser.give_password()
    assert (await browser.give("authenticator", code=next_code(old))).status_code == 401
    assert (await browser.give("authenticator", code=next_code(fresh))).status_code == 200
    assert (await ada.http.delete(f"{FACTOR}/authenticator")).status_code == 204
    assert (await ada.http.delete(f"{FACTOR}/authenticator")).status_code == 404
    assert len(codes) == 10


async def test_api_keys_need_no_second_factor(world: World, ada: Browser) -> None:
    key = (await ada.http.post("/backend-api/keys", json={"label": "program"})).json()["key"]
    await ada.add_app()
    program = await world.browser()
    program.headers["authorization"] = f"Bearer {key}"
    assert (await program.get("/v1/models")).status_code == 200
    assert (await program.get(FACTOR)).status_code == 403


async def test_deleting_an_account_deletes_its_second_factors(
    ada: Browser, settings: Settings
) -> None:
    await ada.add_app()
    await ada.add_passkey(ada.passkey())
    gone = await ada.http.request("DELETE", "/backend-api/me", json={"password": PASSWORD})
    assert gone.status_code == 204
    with sqlite3.connect(settings.database) as connection:
        for table in ("authenticators", "passkeys", "recovery_codes"):
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
    connection.close()


async def test_a_session_that_has_to_set_one_up_can_do_nothing_else(settings: Settings) -> None:
    async with world_of(settings, require_second_factor="everyone") as world:
        await world.create_user_with_password("ada")
        ada = await (await open_browser(world)).sign_in()
        assert (await ada.http.get("/backend-api/me")).json()["needs_second_factor"]
        refused = await ada.http.get("/backend-api/conversations")
        assert refused.json()["error"]["code"] == "second_factor_required"
        assert (await ada.http.get("/backend-api/celsius/ws/user")).status_code == 403
        app, codes = await ada.add_app()
        assert len(codes) == 10
        assert await ada.is_in()
        assert not (await ada.http.get("/backend-api/me")).json()["needs_second_factor"]
        for path in (FACTOR, f"{FACTOR}/authenticator"):
            assert (await ada.http.delete(path)).status_code == 409
        browser = await open_browser(world)
        await browser.give_password()
        await browser.give("authenticator", code=next_code(app))
        assert await browser.is_in()


async def test_administrators_alone_can_be_required_to_have_one(settings: Settings) -> None:
    async with world_of(settings, require_second_factor="administrators") as world:
        boss = await world.browser()
        body = {"name": "boss", "password": PASSWORD}
        made = await boss.post("/backend-api/accounts/first", json=body)
        assert made.json()["needs_second_factor"]
        await world.create_user_with_password("ada")
        assert await (await (await open_browser(world)).sign_in()).is_in()


async def test_a_changed_password_deletes_the_api_keys_if_asked_to(
    world: World, ada: Browser
) -> None:
    key = (await ada.http.post("/backend-api/keys", json={"label": "program"})).json()["key"]
    program = await world.browser()
    program.headers["authorization"] = f"Bearer {key}"
    body = {"current": PASSWORD, "new": "battery staple correct"}
    path = "/backend-api/me/password"
    assert (await ada.http.post(path, json=body)).status_code == 204
    assert (await program.get("/v1/models")).status_code == 200
    again = {"current": body["new"], "new": PASSWORD, "revokes_keys": True}
    assert (await ada.http.post(path, json=again)).status_code == 204
    assert (await program.get("/v1/models")).status_code == 401
    assert (await ada.http.get("/backend-api/keys")).json()["items"] == []
