"""Accounts: signing in, up and out, and what is refused."""

import asyncio
import dataclasses
import time

import httpx2
import pytest
from tests.server.world import PASSWORD, Someone, World

from hitsend.credentials import HASHER
from hitsend.server.auth.session_cookie import COOKIE
from hitsend.server.limits.sign_in_throttle import SignInThrottle
from hitsend.server.serve import listen


async def test_the_first_person_to_open_the_page_becomes_the_administrator(world: World) -> None:
    browser = await world.browser()
    assert (await browser.get("/backend-api/accounts/check")).json()["needs_first_account"]
    made = await browser.post(
        "/backend-api/accounts/first", json={"name": "Ada", "password": PASSWORD}
    )
    assert made.status_code == 201
    assert made.json()["user"]["role"] == "admin"
    assert (await browser.get("/backend-api/me")).json()["user"]["name"] == "Ada"
    assert not (await browser.get("/backend-api/accounts/check")).json()["needs_first_account"]


async def test_of_fifty_concurrent_requests_exactly_one_creates_the_administrator(
    world: World,
) -> None:
    browser = await world.browser()
    answers = await asyncio.gather(
        *(
            browser.post(
                "/backend-api/accounts/first", json={"name": f"p{i}", "password": PASSWORD}
            )
            for i in range(50)
        )
    )
    assert sorted(a.status_code for a in answers) == [201] + [409] * 49
    assert await world.app.services.store.accounts.count_enabled() == 1


async def test_a_wrong_password_and_an_unknown_name_get_the_same_error(world: World) -> None:
    await world.create_user_with_password("ada")
    browser = await world.browser()
    wrong = await browser.post(
        "/backend-api/accounts/sign-in", json={"name": "ada", "password": "not her password"}
    )
    unknown = await browser.post(
        "/backend-api/accounts/sign-in", json={"name": "bob", "password": "not her password"}
    )
    assert wrong.status_code == unknown.status_code == 401
    assert wrong.json()["error"] == unknown.json()["error"]


async def test_password_guesses_are_limited_even_in_parallel(world: World) -> None:
    await world.create_user_with_password("ada")
    browser = await world.browser()
    guesses = [
        browser.post("/backend-api/accounts/sign-in", json={"name": "ada", "password": f"no {i}"})
        for i in range(15)
    ]
    answers = await asyncio.gather(*guesses)
    assert [a.status_code for a in answers].count(429) >= 10
    refused = next(a for a in answers if a.status_code == 429)
    assert refused.headers["retry-after"] == "1"
    assert refused.json()["error"]["type"] == "rate_limit_error"


async def test_guesses_from_another_address_do_not_lock_a_user_out(world: World) -> None:
    await world.create_user_with_password("ada")
    elsewhere = httpx2.AsyncHTTPTransport(local_address="127.0.0.2")
    throttle = SignInThrottle(50, now=lambda: 0.0)
    async with (
        listen(dataclasses.replace(world.app, sign_in_throttle=throttle)) as url,
        httpx2.AsyncClient(base_url=url, transport=elsewhere) as thief,
        httpx2.AsyncClient(base_url=url) as browser,
    ):
        guesses = [await sign_in(thief, f"guess {i}") for i in range(6)]
        rightly = [await sign_in(browser, PASSWORD) for _ in range(3)]
    assert guesses == [401] * 5 + [429]
    assert rightly == [200, 200, 200]


async def sign_in(browser: httpx2.AsyncClient, password: str) -> int:
    body = {"name": "ada", "password": password}
    return (await browser.post("/backend-api/accounts/sign-in", json=body)).status_code


async def test_signing_out_revokes_the_session(world: World) -> None:
    ada = await world.someone("ada")
    token = ada.http.cookies[COOKIE]
    assert (await ada.http.post("/backend-api/accounts/sign-out")).status_code == 204
    thief = await world.browser()
    thief.cookies.set(COOKIE, token)
    assert (await thief.get("/backend-api/me")).status_code == 401


async def test_the_cookie_cannot_be_read_by_scripts_or_sent_by_other_sites(world: World) -> None:
    await world.create_user_with_password("ada")
    browser = await world.browser()
    response = await browser.post(
        "/backend-api/accounts/sign-in", json={"name": "ada", "password": PASSWORD}
    )
    cookie = response.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie


async def test_a_request_without_a_csrf_token_changes_nothing(world: World) -> None:
    ada = await world.someone("ada")
    del ada.http.headers["x-csrf-token"]
    refused = await ada.http.post("/backend-api/keys", json={"label": "mine"})
    assert refused.status_code == 403
    assert [k["label"] for k in (await ada.http.get("/backend-api/keys")).json()["items"]] == [
        "test"
    ]


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1"])
async def test_another_site_cannot_sign_anyone_in(world: World, origin: str) -> None:
    browser = await world.browser()
    for path in ("first", "sign-in", "sign-up"):
        refused = await browser.post(
            f"/backend-api/accounts/{path}",
            json={"name": "ada", "password": PASSWORD, "invite": "x"},
            headers={"origin": origin},
        )
        assert refused.status_code == 403


async def test_a_foreign_host_name_is_refused(world: World) -> None:
    browser = await world.browser()
    refused = await browser.get("/", headers={"host": "rebound.example"})
    assert refused.status_code == 403


async def test_an_invitation_lets_one_person_in_once(world: World) -> None:
    boss = await world.someone("boss", "admin")
    invite = (await boss.http.post("/backend-api/invites", json={"role": "member"})).json()
    browser = await world.browser()
    body = {"invite": invite["token"], "name": "new", "password": PASSWORD}
    made = await browser.post("/backend-api/accounts/sign-up", json=body)
    assert made.status_code == 201
    assert made.json()["user"]["role"] == "member"
    again = await browser.post("/backend-api/accounts/sign-up", json=body | {"name": "another"})
    assert again.status_code == 400
    listed = (await boss.http.get("/backend-api/invites")).json()["items"]
    assert listed[0]["used_by"] == "new"
    assert invite["token"] not in str(listed)


async def test_a_revoked_invitation_is_refused(world: World) -> None:
    boss = await world.someone("boss", "admin")
    invite = (await boss.http.post("/backend-api/invites", json={})).json()
    assert (await boss.http.delete(f"/backend-api/invites/{invite['id']}")).status_code == 204
    browser = await world.browser()
    body = {"invite": invite["token"], "name": "new", "password": PASSWORD}
    assert (await browser.post("/backend-api/accounts/sign-up", json=body)).status_code == 400


async def test_a_key_is_shown_once_and_works_until_it_is_revoked(world: World) -> None:
    ada = await world.someone("ada")
    made = (await ada.http.post("/backend-api/keys", json={"label": "laptop"})).json()
    listed = (await ada.http.get("/backend-api/keys")).json()["items"]
    assert made["key"] not in str(listed)
    assert made["key"].startswith(made["prefix"])

    program = await world.browser()
    program.headers["authorization"] = f"Bearer {made['key']}"
    assert (await program.get("/backend-api/me")).json()["user"]["name"] == "ada"
    assert (await ada.http.delete(f"/backend-api/keys/{made['id']}")).status_code == 204
    assert (await program.get("/backend-api/me")).status_code == 401


async def test_a_key_expires_when_its_maker_chose_and_says_so(world: World) -> None:
    ada = await world.someone("ada")
    made = (await ada.http.post("/backend-api/keys", json={"label": "ci", "days": 30})).json()
    assert made["scopes"] == ["chat", "read"]
    assert 29.9 < (made["expires_at"] - time.time()) / 86_400 < 30.1
    expired = await world.create_key(ada.user_id, expires_at=1_000_000_000.0)
    program = await world.browser()
    for path in ("/v1/models", "/backend-api/me", "/backend-api/keys"):
        program.headers["authorization"] = f"Bearer {made['key']}"
        assert (await program.get(path)).status_code != 401
        program.headers["authorization"] = f"Bearer {expired}"
        refused = await program.get(path)
        assert (refused.status_code, refused.json()["error"]["code"]) == (401, "invalid_api_key")
        assert "expired on 2001-09-09" in refused.json()["error"]["message"]


async def test_an_answer_streams_to_a_key_no_longer_than_the_key_is_valid(world: World) -> None:
    ada = await world.someone("ada")
    program = await world.browser()
    key = await world.create_key(ada.user_id, expires_at=time.time() + 2)
    program.headers["authorization"] = f"Bearer {key}"
    stream = await Someone(program, "", "", "").send("!script tokens=100000 pace=5ms")
    assert not stream.is_done
    assert 0 < len(stream.text) < 100_000
    await ada.http.post(
        "/backend-api/stop_conversation", json={"conversation_id": stream.conversation_id}
    )


@pytest.mark.parametrize(
    "wrong", [{"scopes": []}, {"scopes": ["everything"]}, {"days": 0}, {"days": 4000}]
)
async def test_a_key_with_unknown_scopes_or_days_is_refused(
    world: World, wrong: dict[str, object]
) -> None:
    ada = await world.someone("ada")
    refused = await ada.http.post("/backend-api/keys", json={"label": "ci"} | wrong)
    assert refused.status_code == 400


async def test_only_an_administrator_can_make_a_key_that_administers(world: World) -> None:
    boss, ada = await world.someone("boss", "admin"), await world.someone("ada")
    body = {"label": "ops", "scopes": ["admin"]}
    assert (await ada.http.post("/backend-api/keys", json=body)).status_code == 403
    key = (await boss.http.post("/backend-api/keys", json=body)).json()["key"]
    program = await world.browser()
    program.headers["authorization"] = f"Bearer {key}"
    assert (await program.get("/backend-api/people")).status_code == 200
    assert (await program.get("/backend-api/conversations")).status_code == 403


async def test_another_browser_can_be_signed_out(world: World) -> None:
    await world.create_user_with_password("ada")
    laptop, phone = await world.browser(), await world.browser()
    body = {"name": "ada", "password": PASSWORD}
    await phone.post("/backend-api/accounts/sign-in", json=body)
    signed_in = await laptop.post("/backend-api/accounts/sign-in", json=body)
    laptop.headers["x-csrf-token"] = signed_in.json()["csrf_token"]
    sessions = (await laptop.get("/backend-api/sessions")).json()["items"]
    other = next(s for s in sessions if not s["is_current"])
    assert (await laptop.delete(f"/backend-api/sessions/{other['id']}")).status_code == 204
    assert (await phone.get("/backend-api/me")).status_code == 401
    assert (await laptop.get("/backend-api/me")).status_code == 200


@pytest.mark.parametrize(
    ("name", "password"),
    [("", PASSWORD), ("a" * 65, PASSWORD), ("a\u202eb", PASSWORD), ("ada", "short")],
)
async def test_a_bad_name_or_password_is_refused_with_the_reason(
    world: World, name: str, password: str
) -> None:
    browser = await world.browser()
    refused = await browser.post(
        "/backend-api/accounts/first", json={"name": name, "password": password}
    )
    assert refused.status_code == 400
    assert refused.json()["detail"]
    assert await world.app.services.store.accounts.count_enabled() == 0


@pytest.mark.parametrize(
    ("name", "password", "code"),
    [
        ("ada", "Passw0rd1!", "password_weak"),
        ("ada", " " * 12, "password_weak"),
        ("lovelace", "Lovelace99", "password_weak"),
        ("p\u0430ypal", PASSWORD, "name_mixed"),
    ],
)
async def test_easy_passwords_and_names_in_mixed_alphabets_are_refused_everywhere(
    world: World, name: str, password: str, code: str
) -> None:
    boss = await world.someone("boss", "admin")
    invite = (await boss.http.post("/backend-api/invites", json={})).json()["token"]
    browser = await world.browser()
    body = {"invite": invite, "name": name, "password": password}
    refused = await browser.post("/backend-api/accounts/sign-up", json=body)
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, code)
    if code == "name_mixed":
        renamed = await boss.http.patch("/backend-api/me", json={"name": name})
        assert renamed.json()["error"] == refused.json()["error"]
    made = await browser.post(
        "/backend-api/accounts/sign-up", json=body | {"name": "Иван", "password": PASSWORD}
    )
    assert made.status_code == 201


async def test_accounts_made_before_a_rule_can_still_sign_in(world: World) -> None:
    """With a password and a name that would be refused today."""
    accounts = world.app.services.store.accounts
    await accounts.create("p\u0430ypal", HASHER.hash("password"), "member")
    body = {"name": "p\u0430ypal", "password": "password"}
    signed_in = await (await world.browser()).post("/backend-api/accounts/sign-in", json=body)
    assert signed_in.status_code == 200


async def test_responses_have_security_headers(world: World) -> None:
    browser = await world.browser()
    response: httpx2.Response = await browser.get("/healthz")
    assert response.headers["content-security-policy"].startswith("default-src 'none'")
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["referrer-policy"] == "no-referrer"
    assert "server" not in response.headers
    assert response.headers["x-request-id"]
