"""Users: changing their own accounts, and managing them as an administrator."""

import asyncio
from contextlib import AbstractAsyncContextManager
from typing import Any

import httpx2
from sqlalchemy import text
from tests.server.world import PASSWORD, AnswerStream, Someone, World, message

from hitsend.server.auth.session_cookie import COOKIE
from hitsend.settings import Settings
from hitsend.store.database import Database

LONG = "!script tokens=100000 pace=5ms"


async def sign_in(
    world: World, name: str, password: str = PASSWORD
) -> tuple[httpx2.AsyncClient, int]:
    browser = await world.browser()
    body = {"name": name, "password": password}
    entered = await browser.post("/backend-api/accounts/sign-in", json=body)
    if entered.status_code == 200:
        browser.headers["x-csrf-token"] = entered.json()["csrf_token"]
    return browser, entered.status_code


async def create_first_account(world: World) -> httpx2.AsyncClient:
    browser = await world.browser()
    body = {"name": "Ada", "password": PASSWORD}
    entered = await browser.post("/backend-api/accounts/first", json=body)
    browser.headers["x-csrf-token"] = entered.json()["csrf_token"]
    return browser


async def delete_me(browser: httpx2.AsyncClient, password: str = PASSWORD) -> httpx2.Response:
    return await browser.request("DELETE", "/backend-api/me", json={"password": password})


async def list_users(admin: Someone) -> dict[str, dict[str, Any]]:
    items = (await admin.http.get("/backend-api/people")).json()["items"]
    return {person["name"]: person for person in items}


def start_answer(http: httpx2.AsyncClient) -> AbstractAsyncContextManager[httpx2.Response]:
    return http.stream("POST", "/backend-api/f/conversation", json=message(LONG))


async def test_a_new_name_follows_the_rules_of_sign_up(world: World) -> None:
    ada, _ = await world.someone("ada"), await world.someone("eve")
    renamed = await ada.http.patch("/backend-api/me", json={"name": "  Ada L. "})
    assert renamed.json() == {"user": {"id": ada.user_id, "name": "Ada L.", "role": "member"}}
    assert (await ada.http.get("/backend-api/me")).json()["user"]["name"] == "Ada L."
    same = await ada.http.patch("/backend-api/me", json={"name": "ADA L."})
    assert same.status_code == 200
    taken = await ada.http.patch("/backend-api/me", json={"name": "EVE"})
    assert taken.status_code == 409
    for bad in ("", "   ", "a\u202eb", "x" * 65):
        assert (await ada.http.patch("/backend-api/me", json={"name": bad})).status_code == 400


async def test_a_new_password_signs_every_other_browser_out(world: World) -> None:
    await world.create_user_with_password("ada")
    here, _ = await sign_in(world, "ada")
    there, _ = await sign_in(world, "ada")
    changed = await here.post(
        "/backend-api/me/password", json={"current": PASSWORD, "new": "a better password"}
    )
    assert changed.status_code == 204
    assert (await here.get("/backend-api/me")).status_code == 200
    assert (await there.get("/backend-api/me")).status_code == 401
    assert (await sign_in(world, "ada"))[1] == 401
    assert (await sign_in(world, "ada", "a better password"))[1] == 200


async def test_a_new_password_must_not_be_easy_to_guess(world: World) -> None:
    await world.create_user_with_password("lovelace")
    here, _ = await sign_in(world, "lovelace")
    for easy in ("password123", "lovelace2024", "12345678"):
        body = {"current": PASSWORD, "new": easy}
        refused = await here.post("/backend-api/me/password", json=body)
        assert refused.json()["error"]["code"] == "password_weak"
        assert refused.json()["error"]["param"] == "password"
    assert (await sign_in(world, "lovelace"))[1] == 200


async def test_changing_a_password_needs_the_current_one(world: World) -> None:
    await world.create_user_with_password("ada")
    here, _ = await sign_in(world, "ada")
    body = {"current": "a guess", "new": "a better password"}
    wrong = await here.post("/backend-api/me/password", json=body)
    assert (wrong.status_code, wrong.json()["error"]["param"]) == (400, "current")
    short = await here.post("/backend-api/me/password", json={"current": PASSWORD, "new": "x"})
    assert short.status_code == 400
    guesses = [here.post("/backend-api/me/password", json=body) for _ in range(10)]
    *changes, deletion = await asyncio.gather(*guesses, delete_me(here, "a guess"))
    assert 429 in [change.status_code for change in changes]
    assert deletion.status_code == 429


async def test_deleting_an_account_erases_everything(world: World, settings: Settings) -> None:
    await create_first_account(world)
    await world.create_user_with_password("bob")
    bob, _ = await sign_in(world, "bob")
    made = await bob.post("/backend-api/keys", json={"label": "mine"})
    program = await world.browser()
    program.headers["authorization"] = f"Bearer {made.json()['key']}"
    await bob.post("/backend-api/folders", json={"name": "Work"})
    async with (
        start_answer(bob) as chat,
        program.stream(
            "POST",
            "/v1/chat/completions",
            json={"model": "auto", "messages": [{"role": "user", "content": LONG}], "stream": True},
        ) as call,
    ):
        wrong = await delete_me(bob, "not his password")
        assert (wrong.status_code, wrong.json()["error"]["param"]) == (400, "password")
        gone = await delete_me(bob)
        await AnswerStream(chat.headers).take(chat)
        await call.aread()
    assert gone.status_code == 204
    assert gone.headers["set-cookie"].startswith(f'{COOKIE}="";')
    assert (await bob.get("/backend-api/me")).status_code == 401
    assert (await program.get("/backend-api/me")).status_code == 401
    assert (await sign_in(world, "bob"))[1] == 401
    database = Database(settings.database, "normal", lambda: 0.0)
    await database.open()
    queries = [
        f"SELECT count(*) FROM {table}"
        for table in ("conversations", "messages", "turns", "turn_events", "folders", "api_keys")
    ] + [
        f"SELECT count(*) FROM {table} WHERE {table} MATCH 'script OR lorem'"
        for table in ("message_search", "title_search")
    ]
    left = await database.read(
        lambda connection: [query for query in queries if connection.scalar(text(query))]
    )
    assert left == []
    await database.close()


async def test_after_the_last_account_is_deleted_a_first_one_can_be_created(world: World) -> None:
    ada = await create_first_account(world)
    assert (await delete_me(ada)).status_code == 204
    check = (await ada.get("/backend-api/accounts/check")).json()
    assert check["needs_first_account"]
    again = await create_first_account(world)
    assert (await again.get("/backend-api/me")).json()["user"]["role"] == "admin"


async def test_the_last_administrator_cannot_delete_their_account(world: World) -> None:
    ada, bob = await create_first_account(world), await world.someone("bob")
    refused = await delete_me(ada)
    assert refused.status_code == 409
    assert "administrator" in refused.json()["detail"]
    made = await ada.patch(f"/backend-api/people/{bob.user_id}", json={"role": "admin"})
    assert made.status_code == 204
    assert (await delete_me(ada)).status_code == 204
    assert list(await list_users(bob)) == ["bob"]


async def test_an_administrator_lists_users(world: World) -> None:
    ada, eve = await world.someone("ada", "admin"), await world.someone("eve")
    await eve.send("!script\nHello")
    listed = await list_users(ada)
    assert list(listed) == ["ada", "eve"]
    assert listed["eve"]["num_conversations"] == 1
    assert listed["eve"]["role"] == "member"
    assert listed["eve"]["last_seen_time"] >= listed["eve"]["create_time"]
    assert not listed["eve"]["is_disabled"]


async def test_a_disabled_user_is_signed_out_and_can_be_enabled_again(world: World) -> None:
    ada, eve = await world.someone("ada", "admin"), await world.someone("eve")
    address = f"/backend-api/people/{eve.user_id}"
    program = await world.browser()
    program.headers["authorization"] = f"Bearer {eve.key}"
    async with start_answer(eve.http) as response:
        done = await ada.http.patch(address, json={"is_disabled": True})
        await AnswerStream(response.headers).take(response)
    assert done.status_code == 204
    assert (await list_users(ada))["eve"]["is_disabled"]
    assert (await eve.http.get("/backend-api/me")).status_code == 401
    assert (await program.get("/backend-api/me")).status_code == 401
    assert (await ada.http.patch(address, json={"is_disabled": False})).status_code == 204
    (conversation,) = (await program.get("/backend-api/conversations")).json()["items"]
    tree = (await program.get(f"/backend-api/conversation/{conversation['id']}")).json()
    assert tree["running"] is None
    assert (await eve.http.get("/backend-api/me")).status_code == 401


async def test_deleting_a_user_erases_their_data_and_nobody_elses(
    world: World,
) -> None:
    ada, eve = await world.someone("ada", "admin"), await world.someone("eve")
    hers, his = await eve.send("!script\nHello"), await ada.send("!script\nHello")
    gone = await ada.http.delete(f"/backend-api/people/{eve.user_id}")
    assert gone.status_code == 204
    assert list(await list_users(ada)) == ["ada"]
    assert (await eve.http.get("/backend-api/me")).status_code == 401
    assert (await ada.http.get(f"/backend-api/turn/{his.turn_id}")).status_code == 200
    assert (await ada.http.get(f"/backend-api/turn/{hers.turn_id}")).status_code == 404
    assert (await ada.http.delete(f"/backend-api/people/{eve.user_id}")).status_code == 404


async def test_an_administrator_cannot_change_themselves(world: World) -> None:
    ada = await world.someone("ada", "admin")
    address = f"/backend-api/people/{ada.user_id}"
    assert (await ada.http.delete(address)).status_code == 400
    for change in ({"role": "member"}, {"is_disabled": True}):
        assert (await ada.http.patch(address, json=change)).status_code == 400
    nothing = await ada.http.patch(f"{address}x", json={})
    assert nothing.status_code == 400


async def test_two_administrators_cannot_demote_each_other_at_once(world: World) -> None:
    ada, eve = await world.someone("ada", "admin"), await world.someone("eve", "admin")
    answers = await asyncio.gather(
        ada.http.patch(f"/backend-api/people/{eve.user_id}", json={"role": "member"}),
        eve.http.patch(f"/backend-api/people/{ada.user_id}", json={"role": "member"}),
    )
    assert 204 in [answer.status_code for answer in answers]
    roles = [person.role for person in await world.app.services.store.accounts.list_accounts()]
    assert "admin" in roles


async def test_role_and_disabled_are_changed_together(world: World) -> None:
    ada, eve = await world.someone("ada", "admin"), await world.someone("eve", "admin")
    address = f"/backend-api/people/{eve.user_id}"
    for change in ({"is_disabled": True}, {"role": "member", "is_disabled": True}):
        assert (await ada.http.patch(address, json=change)).status_code == 204
    eve_listed = (await list_users(ada))["eve"]
    assert (eve_listed["role"], eve_listed["is_disabled"]) == ("member", True)
    both = {"role": "admin", "is_disabled": False}
    assert (await ada.http.patch(address, json=both)).status_code == 204
    assert (await ada.http.patch(address, json=both)).status_code == 204
    eve_listed = (await list_users(ada))["eve"]
    assert (eve_listed["role"], eve_listed["is_disabled"]) == ("admin", False)
    nobody = await ada.http.patch(f"{address}x", json={"is_disabled": True})
    assert nobody.status_code == 404
