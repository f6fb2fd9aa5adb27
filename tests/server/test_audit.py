"""The audit log over HTTP: what is recorded, who may read it, and that it cannot be filled."""

import asyncio
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any, TypeAlias

import httpx2
import msgspec
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount
from tests.mcp_servers.everyday import serve
from tests.mcp_servers.sign_in import Authority, Wall
from tests.server.test_second_factor import FACTOR, Browser, open_browser
from tests.server.world import PASSWORD, Someone, World

from hitsend.engine import ScriptedEngine
from hitsend.errors import TooFast, Unauthenticated
from hitsend.safety.policy import DEFAULT_POLICY
from hitsend.server.app import open_app
from hitsend.server.auth.actor import agent_family
from hitsend.server.limits.sign_in_failures import MAX_ADDRESSES, SignInFailures
from hitsend.server.routes.audit import KINDS
from hitsend.server.serve import listen
from hitsend.settings import Settings
from hitsend.store import Actor, AuditEntry
from hitsend.store.audit_events import SignedIn, SignInFailed
from hitsend.store.audit_file import read_entries, verify_audit
from hitsend.store.mcp_rows import ToolDraft

AUDIT = "/backend-api/admin/audit"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0"
WEBKIT = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)"
LIMIT = {
    "requests_per_minute": 3,
    "tokens_per_minute": None,
    "tokens_per_day": None,
    "storage_mb": None,
}
NO_PASSWORD = {"name": "bob", "password": "not the right one"}
MCP_SERVER = {"title": "Wiki", "url": "http://127.0.0.1:9/mcp", "audience": "everyone"}

Expected: TypeAlias = dict[str, Any]


class Cast:
    """Ada, an administrator, and Bob, each with a browser."""

    def __init__(self, world: World, ada: Someone, bob: Someone) -> None:
        self.world = world
        self.ada = ada
        self.bob = bob

    async def by_ada(self, method: str, path: str, body: Any = None) -> Any:
        return await self._call(self.ada, method, path, body)

    async def by_bob(self, method: str, path: str, body: Any = None) -> Any:
        return await self._call(self.bob, method, path, body)

    async def _call(self, who: Someone, method: str, path: str, body: Any) -> Any:
        answer = await who.http.request(method, f"/backend-api/{path}", json=body)
        assert answer.status_code < 300, answer.text
        return answer.json() if answer.content[:1] in (b"{", b"[") else answer.content

    async def converse(self) -> dict[str, str]:
        stream = await self.bob.send("!script\nhello")
        assert stream.answer is not None
        return {"id": stream.conversation_id, "answer": stream.answer["id"]}


CASES: dict[str, Callable[[Cast], Awaitable[Expected]]] = {}


def case(act: Callable[[Cast], Awaitable[Expected]]) -> Callable[[Cast], Awaitable[Expected]]:
    """Each case does one thing over HTTP and returns what its entry has to say."""
    CASES[act.__name__.removeprefix("do_").title().replace("_", "")] = act
    return act


def about(who: Someone, by: Someone | None, **event: Any) -> Expected:
    return {
        "actor_name": by.name if by else None,
        "subject_name": who.name,
        "event": {"user_id": who.user_id, **event},
    }


def by(who: Someone, **event: Any) -> Expected:
    return {"actor_name": who.name, "subject_name": None, "event": event}


@case
async def do_signed_in(cast: Cast) -> Expected:
    await cast.world.create_user_with_password("eve")
    browser = await cast.world.browser()
    credentials = {"name": "eve", "password": PASSWORD}
    answer = await browser.post(
        "/backend-api/accounts/sign-in", json=credentials, headers={"user-agent": FIREFOX}
    )
    eve = Someone(browser, "eve", answer.json()["user"]["id"], "")
    return about(eve, eve, method="password", second_factor=None)


@case
async def do_sign_in_failed(cast: Cast) -> Expected:
    browser = await cast.world.browser()
    browser.headers["user-agent"] = FIREFOX
    await browser.post("/backend-api/accounts/sign-in", json=NO_PASSWORD)
    return about(cast.bob, None, num_tries=1)


@case
async def do_signed_out(cast: Cast) -> Expected:
    sessions = await cast.by_bob("GET", "sessions")
    await cast.by_bob("POST", "accounts/sign-out")
    return about(cast.bob, cast.bob, session_id=sessions["items"][0]["id"])


@case
async def do_password_changed(cast: Cast) -> Expected:
    browser = await cast.world.browser()
    await cast.world.create_user_with_password("eve")
    signed_in = await browser.post(
        "/backend-api/accounts/sign-in", json={"name": "eve", "password": PASSWORD}
    )
    browser.headers["x-csrf-token"] = signed_in.json()["csrf_token"]
    browser.headers["user-agent"] = FIREFOX
    eve = Someone(browser, "eve", signed_in.json()["user"]["id"], "")
    body = {"current": PASSWORD, "new": "another good password"}
    answer = await browser.post("/backend-api/me/password", json=body)
    assert answer.status_code == 204, answer.text
    return about(eve, eve)


async def _sign_eve_in(cast: Cast) -> tuple[Browser, Someone]:
    await cast.world.create_user_with_password("eve")
    browser = await open_browser(cast.world)
    browser.name = "eve"
    browser.http.headers["user-agent"] = FIREFOX
    user_id = (await browser.give_password()).json()["user"]["id"]
    return browser, Someone(browser.http, "eve", user_id, "")


@case
async def do_second_factor_added(cast: Cast) -> Expected:
    browser, eve = await _sign_eve_in(cast)
    await browser.add_app()
    return about(eve, eve, factor="authenticator")


@case
async def do_second_factor_removed(cast: Cast) -> Expected:
    browser, eve = await _sign_eve_in(cast)
    await browser.add_app()
    assert (await browser.http.delete(FACTOR)).status_code == 204
    return about(eve, eve, factor="all")


@case
async def do_recovery_codes_replaced(cast: Cast) -> Expected:
    browser, eve = await _sign_eve_in(cast)
    await browser.add_app()
    assert (await browser.http.post(f"{FACTOR}/recovery-codes")).status_code == 200
    return about(eve, eve)


@case
async def do_recovery_code_used(cast: Cast) -> Expected:
    browser, eve = await _sign_eve_in(cast)
    _, codes = await browser.add_app()
    await browser.give_password()
    assert (await browser.give("recovery_code", code=codes[0])).status_code == 200
    [entry] = await cast.world.app.services.store.audit.list(1)
    assert entry.event == SignedIn(eve.user_id, "password", "recovery_code")
    return about(eve, None)


@case
async def do_account_created(cast: Cast) -> Expected:
    invite = await cast.by_ada("POST", "invites", {"role": "member"})
    browser = await cast.world.browser()
    body = {"invite": invite["token"], "name": "eve", "password": PASSWORD}
    answer = await browser.post(
        "/backend-api/accounts/sign-up", json=body, headers={"user-agent": FIREFOX}
    )
    eve = Someone(browser, "eve", answer.json()["user"]["id"], "")
    return about(eve, None, role="member", invite_id=invite["id"])


@case
async def do_account_renamed(cast: Cast) -> Expected:
    await cast.by_bob("PATCH", "me", {"name": "bert"})
    return {**about(cast.bob, cast.bob), "subject_name": "bert"}


@case
async def do_role_changed(cast: Cast) -> Expected:
    await cast.by_ada("PATCH", f"people/{cast.bob.user_id}", {"role": "admin"})
    return about(cast.bob, cast.ada, role="admin")


@case
async def do_account_disabled(cast: Cast) -> Expected:
    await cast.by_ada("PATCH", f"people/{cast.bob.user_id}", {"is_disabled": True})
    return about(cast.bob, cast.ada)


@case
async def do_account_enabled(cast: Cast) -> Expected:
    await do_account_disabled(cast)
    await cast.by_ada("PATCH", f"people/{cast.bob.user_id}", {"is_disabled": False})
    return about(cast.bob, cast.ada)


@case
async def do_account_deleted(cast: Cast) -> Expected:
    await cast.by_ada("DELETE", f"people/{cast.bob.user_id}")
    return {**about(cast.bob, cast.ada), "subject_name": None}


@case
async def do_group_created(cast: Cast) -> Expected:
    group = await cast.by_ada("POST", "groups", {"name": "Law"})
    return by(cast.ada, group_id=group["id"], group="Law")


@case
async def do_group_renamed(cast: Cast) -> Expected:
    group = await cast.by_ada("POST", "groups", {"name": "Law"})
    await cast.by_ada("PATCH", f"groups/{group['id']}", {"name": "Legal"})
    return by(cast.ada, group_id=group["id"], before="Law", group="Legal")


@case
async def do_group_features_changed(cast: Cast) -> Expected:
    group = await cast.by_ada("POST", "groups", {"name": "Law"})
    path = f"groups/{group['id']}/features"
    await cast.by_ada("PUT", path, {"features": ["web", "code"]})
    await cast.by_ada("PUT", path, {"features": ["code", "web"]})  # no change
    return by(cast.ada, group_id=group["id"], group="Law", before=None, after=["code", "web"])


@case
async def do_group_deleted(cast: Cast) -> Expected:
    group = await cast.by_ada("POST", "groups", {"name": "Law"})
    await cast.by_ada("DELETE", f"groups/{group['id']}")
    return by(cast.ada, group_id=group["id"], group="Law")


@case
async def do_group_joined(cast: Cast) -> Expected:
    group = await cast.by_ada("POST", "groups", {"name": "Law"})
    await cast.by_ada("PATCH", f"people/{cast.bob.user_id}", {"group_id": group["id"]})
    return about(cast.bob, cast.ada, group_id=group["id"], group="Law")


@case
async def do_group_left(cast: Cast) -> Expected:
    await do_group_joined(cast)
    await cast.by_ada("PATCH", f"people/{cast.bob.user_id}", {"group_id": None})
    return about(cast.bob, cast.ada)


@case
async def do_invite_created(cast: Cast) -> Expected:
    invite = await cast.by_ada("POST", "invites", {"role": "admin"})
    return by(cast.ada, invite_id=invite["id"], role="admin")


@case
async def do_invite_revoked(cast: Cast) -> Expected:
    invite = await cast.by_ada("POST", "invites", {"role": "member"})
    await cast.by_ada("DELETE", f"invites/{invite['id']}")
    return by(cast.ada, invite_id=invite["id"])


@case
async def do_key_created(cast: Cast) -> Expected:
    key = await cast.by_bob("POST", "keys", {"label": "my diary"})
    names = {"key_id": key["id"], "prefix": key["prefix"]}
    return about(cast.bob, cast.bob, **names, scopes=["chat", "read"])


@case
async def do_key_deleted(cast: Cast) -> Expected:
    key = await cast.by_bob("POST", "keys", {"label": "my diary"})
    await cast.by_bob("DELETE", f"keys/{key['id']}")
    return about(cast.bob, cast.bob, key_id=key["id"], prefix=key["prefix"])


@case
async def do_limit_changed(cast: Cast) -> Expected:
    await cast.by_ada("PUT", f"limits/user/{cast.bob.user_id}", LIMIT)
    return about(cast.bob, cast.ada, scope="user", target="", before=None, after=LIMIT)


@case
async def do_reset_link_created(cast: Cast) -> Expected:
    await cast.by_ada("POST", f"people/{cast.bob.user_id}/reset-password")
    return about(cast.bob, cast.ada)


@case
async def do_password_reset(cast: Cast) -> Expected:
    link = await cast.by_ada("POST", f"people/{cast.bob.user_id}/reset-password")
    body = {"token": link["path"].partition("=")[2], "password": "another good password"}
    browser = await cast.world.browser()
    browser.headers["user-agent"] = FIREFOX
    answer = await browser.post("/backend-api/accounts/reset", json=body)
    assert answer.status_code == 204, answer.text
    return about(cast.bob, None, method="link")


@case
async def do_price_changed(cast: Cast) -> Expected:
    price = {"input": 1.0, "cached": 0.5, "output": 2.0}
    await cast.by_ada("PUT", "prices/tiny", price)
    return by(cast.ada, model="tiny", after={"model": "tiny", **price})


@case
async def do_model_pulled(cast: Cast) -> Expected:
    await cast.by_ada("POST", "models/scripted-small/pull")
    return by(cast.ada, model="scripted-small")


@case
async def do_model_removed(cast: Cast) -> Expected:
    await cast.by_ada("POST", "models/scripted-small/pull")
    async with asyncio.timeout(20):
        while (await cast.by_ada("GET", "status"))["downloads"]:
            pass
    await cast.by_ada("DELETE", "models/scripted-small")
    return by(cast.ada, model="scripted-small")


@case
async def do_share_created(cast: Cast) -> Expected:
    chat = await cast.converse()
    await cast.by_bob("POST", f"conversation/{chat['id']}/shares", {"current_node": chat["answer"]})
    await cast.by_bob("POST", f"conversation/{chat['id']}/shares", {"current_node": chat["answer"]})
    return by(cast.bob, conversation_id=chat["id"])


@case
async def do_share_revoked(cast: Cast) -> Expected:
    chat = await cast.converse()
    body = {"current_node": chat["answer"]}
    share = await cast.by_bob("POST", f"conversation/{chat['id']}/shares", body)
    await cast.by_bob("DELETE", f"shares/{share['id']}")
    return by(cast.bob, conversation_id=chat["id"])


@case
async def do_conversations_deleted(cast: Cast) -> Expected:
    chat = await cast.converse()
    await cast.by_bob("PATCH", f"conversation/{chat['id']}", {"is_visible": False})
    await cast.by_bob("DELETE", f"conversation/{chat['id']}")
    return by(cast.bob, num_conversations=1, conversation_id=chat["id"])


@case
async def do_conversation_restored(cast: Cast) -> Expected:
    chat = await cast.converse()
    await cast.by_bob("PATCH", f"conversation/{chat['id']}", {"is_visible": False})
    await cast.by_bob("PATCH", f"conversation/{chat['id']}", {"is_visible": True})
    return by(cast.bob, conversation_id=chat["id"])


@case
async def do_memories_deleted(cast: Cast) -> Expected:
    await cast.by_bob("DELETE", "memories")
    return by(cast.bob)


@case
async def do_data_exported(cast: Cast) -> Expected:
    await cast.by_bob("GET", "export")
    return by(cast.bob, content="account")


@case
async def do_data_imported(cast: Cast) -> Expected:
    await cast.converse()
    exported = await cast.by_bob("GET", "export")
    kind = {"content-type": "application/zip"}
    await cast.bob.http.post("/backend-api/import", content=exported, headers=kind)
    return by(cast.bob, num_conversations=0)


@case
async def do_prompt_written(cast: Cast) -> Expected:
    template = "{{ instructions }} Be brief."
    await cast.by_ada("POST", "admin/prompts/system/versions", {"template": template, "note": "n"})
    return by(cast.ada, prompt="system", version=1001)


@case
async def do_prompt_activated(cast: Cast) -> Expected:
    await do_prompt_written(cast)
    await cast.by_ada("PUT", "admin/prompts/system", {"version": 1001})
    return by(cast.ada, prompt="system", version=1001)


@case
async def do_prompt_sampling_changed(cast: Cast) -> Expected:
    await cast.by_ada("PUT", "admin/prompts/system", {"sampling": {"temperature": 0.1}})
    return by(cast.ada, prompt="system", sampling={"temperature": 0.1})


@case
async def do_experiment_started(cast: Cast) -> Expected:
    await do_prompt_written(cast)
    shipped = (await cast.by_ada("GET", "admin/prompts"))["items"]
    version = next(one["active"] for one in shipped if one["name"] == "system")
    body = {"prompt": "system", "versions": [version, 1001]}
    started = await cast.by_ada("POST", "admin/experiments", body)
    return by(cast.ada, experiment_id=started["id"], **body)


@case
async def do_experiment_ended(cast: Cast) -> Expected:
    ids = (await do_experiment_started(cast))["event"]
    path = f"admin/experiments/{ids['experiment_id']}/end"
    await cast.by_ada("POST", path, {"winner": 1001})
    return by(cast.ada, experiment_id=ids["experiment_id"], prompt="system", winner=1001)


@case
async def do_mcp_server_added(cast: Cast) -> Expected:
    added = await cast.by_ada("POST", "mcp/servers", MCP_SERVER)
    about_it = {"server": "Wiki", "server_kind": "http", "audience": "everyone"}
    return by(cast.ada, server_id=added["id"], **about_it)


@case
async def do_mcp_server_changed(cast: Cast) -> Expected:
    server_id = (await do_mcp_server_added(cast))["event"]["server_id"]
    change = {"title": "Pages", "headers": {"X-Key": "secret"}}
    await cast.by_ada("PATCH", f"mcp/servers/{server_id}", change)
    about_it = {"server": "Pages", "fields": ["sealed", "title"], "audience": "everyone"}
    return by(cast.ada, server_id=server_id, **about_it)


@case
async def do_mcp_server_deleted(cast: Cast) -> Expected:
    server_id = (await do_mcp_server_added(cast))["event"]["server_id"]
    await cast.by_ada("DELETE", f"mcp/servers/{server_id}")
    return by(cast.ada, server_id=server_id, server="Wiki")


@case
async def do_mcp_tool_changed(cast: Cast) -> Expected:
    server_id = (await do_mcp_server_added(cast))["event"]["server_id"]
    store = cast.world.app.services.store.mcp_tools
    await store.record_listing(server_id, {"search": ToolDraft()}, is_whole=True)
    change = {"name": "search", "is_read_only": True}
    await cast.by_ada("PATCH", f"mcp/servers/{server_id}/tools", change)
    about_it = {"tool": "search", "is_on": True, "is_read_only": True, "is_confirmed": False}
    return by(cast.ada, server_id=server_id, **about_it)


@case
async def do_mcp_signed_in(cast: Cast) -> Expected:
    authority = Authority()
    routes = [*authority.app.routes, Mount("/", Wall(Starlette(), authority))]
    async with serve(Starlette(routes=routes)) as authority.url:
        authority.resource = f"{authority.url}/mcp"
        server = MCP_SERVER | {"url": authority.resource}
        server_id = (await cast.by_ada("POST", "mcp/servers", server))["id"]
        begun = await cast.by_bob("POST", f"mcp/servers/{server_id}/sign-in", {})
        browser = await cast.world.browser()
        sent_back = (await browser.get(begun["url"])).headers["location"]
        await cast.by_bob("POST", "mcp/sign-in", dict(httpx2.URL(sent_back).params))
    return by(cast.bob, server_id=server_id, server="Wiki")


@case
async def do_mcp_signed_out(cast: Cast) -> Expected:
    server_id = (await do_mcp_signed_in(cast))["event"]["server_id"]
    await cast.by_bob("DELETE", f"mcp/servers/{server_id}/sign-in")
    return by(cast.bob, server_id=server_id)


@case
async def do_safety_policy_changed(cast: Cast) -> Expected:
    policy = msgspec.structs.replace(DEFAULT_POLICY, denied=("purple monkey",))
    changed = await cast.by_ada("PUT", "safety/policies/everyone", msgspec.to_builtins(policy))
    return by(cast.ada, scope="everyone", group="", policy=changed["policy"])


@case
async def do_review_decided(cast: Cast) -> Expected:
    await do_safety_policy_changed(cast)
    await cast.bob.send("The purple monkey")
    [review] = (await cast.by_ada("GET", "safety/reviews"))["items"]
    await cast.by_ada("POST", f"safety/reviews/{review['id']}", {"decision": "uphold"})
    return about(cast.bob, cast.ada, review_id=review["id"], decision="uphold")


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return msgspec.structs.replace(settings, mcp_allow_http=True)


@pytest.fixture
async def cast(world: World) -> Cast:
    ada, bob = await world.someone("ada", "admin"), await world.someone("bob")
    for person in (ada, bob):
        person.http.headers["user-agent"] = FIREFOX
    return Cast(world, ada, bob)


ELSEWHERE = {"EarlierChange", "EntriesExpired", "BackupMade", "BackupRestored"}
"""Kinds that nobody on a page causes: they have tests of their own."""


@pytest.mark.parametrize("kind", sorted(KINDS - ELSEWHERE))
async def test_every_kind_of_entry_is_recorded_with_who_and_from_where(
    cast: Cast, kind: str
) -> None:
    expected = await CASES[kind](cast)
    listed = await cast.by_ada("GET", f"admin/audit?kinds={kind}&limit=1")
    [entry] = listed["items"]
    assert entry["event"].pop("kind") == kind
    assert {name: entry[name] for name in expected} == expected
    assert (entry["via"], entry["address"], entry["agent"]) == ("page", "127.0.0.1", "Firefox")
    assert (entry["session_id"] is None) == (expected["actor_name"] is None)
    assert verify_audit(cast.world.app.services.settings.database).problem is None


async def test_what_changes_nothing_is_not_recorded(cast: Cast) -> None:
    before = (await cast.by_ada("GET", "admin/audit"))["items"]
    bob = f"people/{cast.bob.user_id}"
    await cast.by_ada("PATCH", bob, {"role": "member", "group_id": None, "is_disabled": False})
    refused = await cast.ada.http.patch(f"/backend-api/people/{cast.bob.user_id}", json={"role": 1})
    assert refused.status_code == 400
    missing = await cast.ada.http.delete("/backend-api/limits/everyone")
    assert missing.status_code == 404
    chat = await cast.converse()
    for is_visible in (True, False, False):
        await cast.by_bob("PATCH", f"conversation/{chat['id']}", {"is_visible": is_visible})
    after = (await cast.by_ada("GET", "admin/audit"))["items"]
    assert [one["event"]["kind"] for one in after[: -len(before)]] == ["ConversationsDeleted"]


async def test_a_key_is_recorded_as_where_a_call_came_from(cast: Cast) -> None:
    chat = await cast.converse()
    client = await cast.world.browser()
    client.headers["authorization"] = f"Bearer {cast.bob.key}"
    await client.delete(f"/backend-api/conversation/{chat['id']}")
    entry = (await cast.by_ada("GET", "admin/audit?limit=1"))["items"][0]
    assert (entry["via"], entry["actor_name"], entry["session_id"]) == ("api", "bob", None)
    assert entry["key_id"] in {key["id"] for key in (await cast.by_bob("GET", "keys"))["items"]}


async def test_no_text_secret_or_typed_name_is_in_the_log(cast: Cast) -> None:
    await do_prompt_written(cast)
    await do_password_changed(cast)
    chat = await cast.converse()
    body = {"current_node": chat["answer"]}
    share = await cast.by_bob("POST", f"conversation/{chat['id']}/shares", body)
    key = await cast.by_bob("POST", "keys", {"label": "my diary"})
    invite = await cast.by_ada("POST", "invites", {"role": "member"})
    browser = await cast.world.browser()
    typed = {"name": "a password in the wrong field", "password": "p"}
    await browser.post("/backend-api/accounts/sign-in", json=typed)
    exported = (await cast.ada.http.get(f"{AUDIT}/export")).text
    assert chat["id"] in exported
    texts = PASSWORD, "another good password", "hello", "my diary", "Be brief", "wrong field"
    for secret in (*texts, share["id"], key["key"], invite["token"]):
        assert secret not in exported


async def test_entries_are_listed_by_kind_person_and_time(cast: Cast) -> None:
    await do_role_changed(cast)
    await do_group_created(cast)
    listed = await cast.by_ada("GET", f"admin/audit?user_id={cast.bob.user_id}")
    kinds = [one["event"]["kind"] for one in listed["items"]]
    assert kinds == ["RoleChanged", "SignedIn", "KeyCreated", "AccountCreated"]
    first, second = (await cast.by_ada("GET", "admin/audit?limit=2"))["items"]
    older = await cast.by_ada("GET", f"admin/audit?limit=1&before={first['position']}")
    assert older["items"] == [second]
    by_kind = await cast.by_ada("GET", "admin/audit?kinds=GroupCreated,RoleChanged")
    assert by_kind["items"] == [first, second]
    assert (await cast.by_ada("GET", "admin/audit?until=1000"))["items"] == []
    assert len((await cast.by_ada("GET", "admin/audit?since=1000"))["items"]) == 8
    for wrong in ("kinds=Nonsense", "since=yesterday", "limit=101", "before=-1"):
        assert (await cast.ada.http.get(f"{AUDIT}?{wrong}")).status_code == 400


async def test_an_export_has_every_entry_oldest_first_and_is_itself_recorded(
    cast: Cast,
) -> None:
    for name in ("Law", "Sales", "Research"):
        await cast.by_ada("POST", "groups", {"name": name})
    answer = await cast.ada.http.get(f"{AUDIT}/export")
    assert answer.headers["content-type"] == "application/jsonl"
    assert "attachment" in answer.headers["content-disposition"]
    entries = [msgspec.json.decode(line, type=AuditEntry) for line in answer.text.splitlines()]
    assert [entry.position for entry in entries] == list(range(1, len(entries) + 1))
    assert len({entry.hash for entry in entries}) == len(entries) == 10
    assert type(entries[-1].event).__name__ == "DataExported"
    groups = await cast.ada.http.get(f"{AUDIT}/export?kinds=GroupCreated")
    assert len(groups.text.splitlines()) == 3


async def test_only_administrators_read_the_log(cast: Cast) -> None:
    stranger, client = await cast.world.browser(), await cast.world.browser()
    client.headers["authorization"] = f"Bearer {cast.ada.key}"
    for path in (AUDIT, f"{AUDIT}/export"):
        assert (await stranger.get(path)).status_code == 401
        assert (await cast.bob.http.get(path)).status_code == 403
        assert (await client.get(path)).status_code == 403
        assert (await cast.ada.http.post(path)).status_code == 405
        assert (await cast.ada.http.delete(path)).status_code == 405


async def test_many_failed_sign_ins_are_two_entries(settings: Settings) -> None:
    async with (
        open_app(settings, ScriptedEngine()) as app,
        listen(app) as url,
        httpx2.AsyncClient(base_url=url) as browser,
    ):
        for n in range(12):
            body = {"name": f"nobody {n}", "password": "x"}
            await browser.post("/backend-api/accounts/sign-in", json=body)
    failures = list(read_entries(settings.database))
    assert [(one.event, one.address) for one in failures] == [
        (SignInFailed(None), "127.0.0.1"),
        (SignInFailed(None, num_tries=11), "127.0.0.1"),
    ]


@pytest.fixture
def clock() -> SimpleNamespace:
    return SimpleNamespace(now=0.0)


async def test_failures_from_ever_more_addresses_do_not_fill_the_log(
    clock: SimpleNamespace,
) -> None:
    recorded: list[tuple[SignInFailed, str]] = []

    async def record(event: SignInFailed, by: Actor) -> None:
        recorded.append((event, by.address))

    failures = SignInFailures(record, now=lambda: clock.now)
    for n in range(5_000):
        clock.now += 0.1
        with pytest.raises(Unauthenticated):
            async with failures.record_failures(Actor("page", address=f"192.0.2.{n}"), None):
                raise Unauthenticated("wrong")
    assert len(recorded) == MAX_ADDRESSES
    clock.now += 600
    await failures.write_counts()
    assert recorded[MAX_ADDRESSES:] == [(SignInFailed(None, 5_000 - MAX_ADDRESSES), "")]
    with pytest.raises(Unauthenticated):
        async with failures.record_failures(Actor("page", address="192.0.2.1"), None):
            raise Unauthenticated("wrong")
    assert recorded[-1] == (SignInFailed(None), "192.0.2.1")


async def test_failures_at_one_account_do_not_hide_those_at_another() -> None:
    recorded: list[SignInFailed] = []

    async def record(event: SignInFailed, _: Actor) -> None:
        recorded.append(event)

    failures = SignInFailures(record)
    for user_id in ("ada", "bob", "ada", None):
        with pytest.raises(TooFast):
            async with failures.record_failures(Actor("page", address="192.0.2.1"), user_id):
                raise TooFast("slow down")
    assert recorded == [SignInFailed("ada"), SignInFailed("bob"), SignInFailed(None)]
    await failures.write_counts(is_final=True)
    assert recorded[3:] == [SignInFailed("ada", 1)]


@pytest.mark.parametrize(
    ("user_agent", "family"),
    [
        (FIREFOX, "Firefox"),
        (f"{WEBKIT} Chrome/141.0 Safari/537.36", "Chrome"),
        (f"{WEBKIT} Chrome/141.0 Safari/537.36 Edg/141.0", "Edge"),
        (f"{WEBKIT} Version/18.0 Safari/605.1", "Safari"),
        ("curl/8.9.1", "curl"),
        ("OpenAI/Python 2.3.0", "OpenAI"),
        ("", ""),
        ("\u202e<script>", ""),
        ("x" * 500, "x" * 40),
    ],
)
def test_a_browser_is_named_by_its_family(user_agent: str, family: str) -> None:
    assert agent_family(user_agent) == family
