"""Forgotten passwords: links made by administrators, and what the person is told."""

import dataclasses
import time
from collections.abc import AsyncGenerator
from typing import Any

import httpx2
import pytest
from tests.server.world import PASSWORD, Someone, World

from hitsend.credentials import hash_token
from hitsend.server.limits.sign_in_throttle import SignInThrottle
from hitsend.server.serve import listen
from hitsend.store.audit_events import COMMAND_LINE

NEW = "a far better one"


async def make_link(admin: Someone, user_id: str) -> str:
    made = await admin.http.post(f"/backend-api/people/{user_id}/reset-password")
    assert made.status_code == 201, made.text
    return str(made.json()["path"].removeprefix("/#reset="))


async def reset(world: World, token: str, **more: Any) -> httpx2.Response:
    body = {"token": token, "password": NEW} | more
    return await (await world.browser()).post("/backend-api/accounts/reset", json=body)


async def sign_in(world: World, name: str, password: str) -> Someone | int:
    browser = await world.browser()
    body = {"name": name, "password": password}
    entered = await browser.post("/backend-api/accounts/sign-in", json=body)
    if entered.status_code != 200:
        return entered.status_code
    browser.headers["x-csrf-token"] = entered.json()["csrf_token"]
    return Someone(browser, name, entered.json()["user"]["id"], "")


async def test_a_link_lets_its_person_choose_a_password_once(world: World) -> None:
    boss, ada = await world.someone("boss", "admin"), await world.someone("ada")
    token = await make_link(boss, ada.user_id)
    browser = await world.browser()
    checked = await browser.post("/backend-api/accounts/reset/check", json={"token": token})
    assert checked.json() == {"name": "ada", "num_keys": 1}
    weak = await reset(world, token, password="password1")
    assert weak.json()["error"]["code"] == "password_weak"
    assert (await reset(world, token)).status_code == 204
    assert isinstance(await sign_in(world, "ada", NEW), Someone)
    again = await reset(world, token, password="yet another one")
    assert (again.status_code, "used already" in again.json()["detail"]) == (400, True)


@pytest.mark.parametrize("revokes_keys", [True, False])
async def test_a_reset_ends_every_session_and_deletes_keys_if_wanted(
    world: World, revokes_keys: bool
) -> None:
    boss, ada = await world.someone("boss", "admin"), await world.someone("ada")
    program = await world.browser()
    program.headers["authorization"] = f"Bearer {ada.key}"
    token = await make_link(boss, ada.user_id)
    assert (await ada.http.get("/backend-api/me")).status_code == 200
    await reset(world, token, revokes_keys=revokes_keys)
    assert (await ada.http.get("/backend-api/me")).status_code == 401
    assert (await program.get("/v1/models")).status_code == (401 if revokes_keys else 200)
    assert (await boss.http.get("/backend-api/me")).status_code == 200


async def test_the_person_is_told_who_reset_their_password(world: World) -> None:
    boss, ada = await world.someone("boss", "admin"), await world.someone("ada")
    await reset(world, await make_link(boss, ada.user_id))
    await make_link(boss, ada.user_id)
    again = await sign_in(world, "ada", NEW)
    assert isinstance(again, Someone)
    told = (await again.http.get("/backend-api/me/password-resets")).json()["items"]
    assert [one["made_by"] for one in told] == ["boss", "boss"]
    assert [one["used_at"] is not None for one in told] == [False, True]
    assert [one["seen_at"] for one in told] == [None, None]
    await again.http.post("/backend-api/me/password-resets/seen")
    told = (await again.http.get("/backend-api/me/password-resets")).json()["items"]
    assert [one["seen_at"] is not None for one in told] == [False, True]
    assert (await boss.http.get("/backend-api/me/password-resets")).json()["items"] == []


async def test_making_and_using_a_link_are_in_the_audit_log(world: World) -> None:
    boss, ada = await world.someone("boss", "admin"), await world.someone("ada")
    token = await make_link(boss, ada.user_id)
    await reset(world, token)
    log = (await boss.http.get("/backend-api/admin/audit")).json()["items"]
    found = {one["event"]["kind"]: one for one in log}
    assert found["ResetLinkCreated"]["actor_name"] == "boss"
    assert found["PasswordReset"]["subject_name"] == "ada"
    assert token not in str(log)
    assert hash_token(token) not in str(log)


async def test_a_newer_link_and_a_changed_password_void_earlier_links(world: World) -> None:
    boss = await world.someone("boss", "admin")
    await world.create_user_with_password("ada")
    ada = await sign_in(world, "ada", PASSWORD)
    assert isinstance(ada, Someone)
    first, second = [await make_link(boss, ada.user_id) for _ in range(2)]
    assert (await reset(world, first)).status_code == 400
    change = {"current": PASSWORD, "new": "chosen by herself"}
    await ada.http.post("/backend-api/me/password", json=change)
    refused = await reset(world, second)
    assert "the password was changed" in refused.json()["detail"]
    assert isinstance(await sign_in(world, "ada", "chosen by herself"), Someone)


async def test_a_link_ends_with_its_day_its_maker_and_its_person(world: World) -> None:
    boss, ada = await world.someone("boss", "admin"), await world.someone("ada")
    eve = await world.someone("eve", "admin")
    store = world.app.services.store
    resets, accounts = store.password_resets, store.accounts
    by_eve = await make_link(eve, ada.user_id)
    await accounts.change_account(eve.user_id, role="member")
    assert (await reset(world, by_eve)).status_code == 400
    by_boss = await make_link(boss, ada.user_id)
    await accounts.disable(ada.user_id)
    assert (await reset(world, by_boss)).status_code == 400
    refused = await boss.http.post(f"/backend-api/people/{ada.user_id}/reset-password")
    assert refused.status_code == 404
    await accounts.enable(ada.user_id)
    chief = (await accounts.list_users())[0]
    await resets.create(
        ada.user_id, hash_token("old"), time.time() - 1, admin=chief, by=COMMAND_LINE
    )
    expired = await reset(world, "old")
    assert "expired" in expired.json()["detail"]


@pytest.fixture
async def patient(world: World) -> AsyncGenerator[World]:
    """The world with a throttle for which no time passes."""
    app = dataclasses.replace(world.app, sign_in_throttle=SignInThrottle(50, now=lambda: 0.0))
    async with listen(app) as url:
        yield dataclasses.replace(world, app=app, url=url)


async def test_guessing_links_is_slowed_down(patient: World) -> None:
    answers = [(await reset(patient, f"guess {n}")).status_code for n in range(8)]
    assert answers == [400] * 5 + [429] * 3


async def test_somebody_who_failed_to_sign_in_need_not_wait_after_a_reset(patient: World) -> None:
    boss = await patient.someone("boss", "admin")
    await patient.create_user_with_password("ada")
    ada = await patient.app.services.store.accounts.find_by_name("ada")
    assert ada is not None
    tries = [await sign_in(patient, "ada", f"guess {n}") for n in range(6)]
    assert tries == [401] * 5 + [429]
    await reset(patient, await make_link(boss, ada[0].id))
    assert isinstance(await sign_in(patient, "ada", NEW), Someone)


async def test_neither_members_nor_keys_make_links_and_nobody_for_themselves(world: World) -> None:
    boss, ada = await world.someone("boss", "admin"), await world.someone("ada")
    program = await world.browser()
    key = await world.create_key(boss.user_id, ["admin", "chat", "read"])
    program.headers["authorization"] = f"Bearer {key}"
    for http, user_id, status in (
        (ada.http, boss.user_id, 403),
        (program, ada.user_id, 403),
        (boss.http, boss.user_id, 400),
        (boss.http, "nobody", 404),
    ):
        refused = await http.post(f"/backend-api/people/{user_id}/reset-password")
        assert refused.status_code == status
