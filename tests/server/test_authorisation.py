"""Every route, with every kind of credential. A route without an entry here fails."""

import re
from itertools import combinations
from typing import get_args
from uuid import uuid4

import httpx2
import pytest
from tests.server.world import Someone, World

from hitsend.credentials import hash_token, new_token
from hitsend.server.auth.session_cookie import COOKIE
from hitsend.server.call import KEY_SCOPES, Access, Endpoint, SocketEndpoint
from hitsend.server.routes import ROUTES, SOCKETS
from hitsend.store import SERVER, KeyScope, NewFile
from hitsend.store.mcp_rows import NewMcpServer

FEEDBACK = "/backend-api/conversation/{conversation_id}/messages/{message_id}/feedback"
CONTEXT = "/backend-api/conversation/{conversation_id}/message/{message_id}/context"
SAFETY = "/backend-api/safety"
APPEAL = "/backend-api/conversation/{conversation_id}/messages/{message_id}/appeal"
MCP_SERVER = "/backend-api/mcp/servers/{server_id}"
EXPECTED = {
    "GET /": Access.ANYONE,
    "GET /c/{conversation_id}": Access.ANYONE,
    "GET /invite/{token}": Access.ANYONE,
    "GET /share/{share_id}": Access.ANYONE,
    "GET /tokens": Access.ANYONE,
    "GET /oauth/callback": Access.ANYONE,
    "GET /oauth/client.json": Access.ANYONE,
    "GET /assets/{name}": Access.ANYONE,
    "GET /icons/{name}": Access.ANYONE,
    "GET /manifest.webmanifest": Access.ANYONE,
    "GET /sw.js": Access.ANYONE,
    "GET /healthz": Access.ANYONE,
    "GET /readyz": Access.ANYONE,
    "GET /metrics": Access.METRICS,
    "GET /backend-api/accounts/check": Access.ANYONE,
    "POST /backend-api/accounts/first": Access.ANYONE,
    "POST /backend-api/accounts/sign-in": Access.ANYONE,
    "POST /backend-api/accounts/sign-up": Access.ANYONE,
    "POST /backend-api/accounts/sign-out": Access.SESSION,
    "GET /backend-api/me": Access.USER,
    "PATCH /backend-api/me": Access.SESSION,
    "POST /backend-api/me/password": Access.SESSION,
    "DELETE /backend-api/me": Access.SESSION,
    "POST /backend-api/me/confirm": Access.SESSION,
    "POST /backend-api/accounts/sign-in/second-factor": Access.ANYONE,
    "GET /backend-api/me/second-factor": Access.SESSION,
    "DELETE /backend-api/me/second-factor": Access.CONFIRMED,
    "POST /backend-api/me/second-factor/authenticator/setup": Access.CONFIRMED,
    "PUT /backend-api/me/second-factor/authenticator": Access.CONFIRMED,
    "DELETE /backend-api/me/second-factor/authenticator": Access.CONFIRMED,
    "POST /backend-api/me/second-factor/passkeys/setup": Access.CONFIRMED,
    "POST /backend-api/me/second-factor/passkeys": Access.CONFIRMED,
    "PATCH /backend-api/me/second-factor/passkeys/{passkey_id}": Access.CONFIRMED,
    "DELETE /backend-api/me/second-factor/passkeys/{passkey_id}": Access.CONFIRMED,
    "POST /backend-api/me/second-factor/recovery-codes": Access.CONFIRMED,
    "GET /backend-api/export": Access.SESSION,
    "POST /backend-api/import": Access.SESSION,
    "GET /backend-api/people": Access.ADMIN,
    "PATCH /backend-api/people/{user_id}": Access.ADMIN,
    "DELETE /backend-api/people/{user_id}": Access.ADMIN,
    "POST /backend-api/people/{user_id}/reset-password": Access.ADMIN_SESSION,
    "POST /backend-api/accounts/reset/check": Access.ANYONE,
    "POST /backend-api/accounts/reset": Access.ANYONE,
    "GET /backend-api/me/password-resets": Access.SESSION,
    "POST /backend-api/me/password-resets/seen": Access.SESSION,
    "GET /backend-api/user_system_messages": Access.SESSION,
    "PUT /backend-api/user_system_messages": Access.SESSION,
    "GET /backend-api/memories": Access.SESSION,
    "POST /backend-api/memories": Access.SESSION,
    "GET /backend-api/memories/export": Access.SESSION,
    "PATCH /backend-api/memories/{memory_id}": Access.SESSION,
    "DELETE /backend-api/memories/{memory_id}": Access.SESSION,
    "POST /backend-api/memories/{memory_id}/restore": Access.SESSION,
    "POST /backend-api/memories/{memory_id}/accept": Access.SESSION,
    "DELETE /backend-api/memories": Access.SESSION,
    "GET /backend-api/sessions": Access.SESSION,
    "DELETE /backend-api/sessions/{session_id}": Access.SESSION,
    "GET /backend-api/keys": Access.SESSION,
    "POST /backend-api/keys": Access.SESSION,
    "DELETE /backend-api/keys/{key_id}": Access.SESSION,
    "GET /backend-api/invites": Access.ADMIN,
    "POST /backend-api/invites": Access.ADMIN,
    "DELETE /backend-api/invites/{invite_id}": Access.ADMIN,
    "GET /backend-api/models": Access.USER,
    "POST /backend-api/models/{name:path}/pull": Access.ADMIN,
    "DELETE /backend-api/models/{name:path}": Access.ADMIN,
    "GET /backend-api/rules": Access.USER,
    "GET /backend-api/limits/mine": Access.USER,
    "GET /backend-api/storage": Access.USER,
    "GET /backend-api/limits": Access.ADMIN,
    "PUT /backend-api/limits/{scope}": Access.ADMIN,
    "PUT /backend-api/limits/{scope}/{target}": Access.ADMIN,
    "DELETE /backend-api/limits/{scope}": Access.ADMIN,
    "DELETE /backend-api/limits/{scope}/{target}": Access.ADMIN,
    "GET /backend-api/groups": Access.ADMIN,
    "POST /backend-api/groups": Access.ADMIN,
    "PATCH /backend-api/groups/{group_id}": Access.ADMIN,
    "DELETE /backend-api/groups/{group_id}": Access.ADMIN,
    "GET /backend-api/groups/features": Access.ADMIN,
    "PUT /backend-api/groups/{group_id}/features": Access.ADMIN,
    "GET /backend-api/usage": Access.READ,
    "GET /backend-api/usage/everyone": Access.ADMIN,
    "GET /backend-api/prices": Access.ADMIN,
    "PUT /backend-api/prices/{model:path}": Access.ADMIN,
    "DELETE /backend-api/prices/{model:path}": Access.ADMIN,
    "GET /backend-api/admin/prompts": Access.ADMIN,
    "POST /backend-api/admin/prompts/{name}/versions": Access.ADMIN,
    "PUT /backend-api/admin/prompts/{name}": Access.ADMIN,
    "POST /backend-api/admin/prompts/{name}/try": Access.ADMIN,
    "GET /backend-api/admin/experiments": Access.ADMIN,
    "POST /backend-api/admin/experiments": Access.ADMIN,
    "GET /backend-api/admin/experiments/{experiment_id}": Access.ADMIN,
    "POST /backend-api/admin/experiments/{experiment_id}/end": Access.ADMIN,
    "GET /backend-api/admin/audit": Access.ADMIN,
    "GET /backend-api/admin/audit/export": Access.ADMIN,
    f"GET {SAFETY}/policies": Access.ADMIN,
    f"PUT {SAFETY}/policies/{{scope}}": Access.ADMIN,
    f"DELETE {SAFETY}/policies/{{scope}}": Access.ADMIN,
    f"GET {SAFETY}/statistics": Access.ADMIN,
    f"POST {SAFETY}/try": Access.ADMIN,
    f"GET {SAFETY}/reviews": Access.REVIEW,
    f"GET {SAFETY}/reviews/count": Access.REVIEW,
    f"GET {SAFETY}/reviews/export": Access.ADMIN,
    f"GET {SAFETY}/reviews/{{review_id}}": Access.REVIEW,
    f"POST {SAFETY}/reviews/{{review_id}}": Access.REVIEW,
    f"GET {SAFETY}/help": Access.USER,
    f"POST {APPEAL}": Access.CHAT_AND_READ,
    "GET /backend-api/conversation/{conversation_id}/appeals": Access.READ,
    "POST /v1/moderations": Access.KEY,
    "GET /backend-api/status": Access.USER,
    "POST /backend-api/sentinel/chat-requirements/prepare": Access.CHAT,
    "POST /backend-api/sentinel/req": Access.CHAT,
    "POST /backend-api/sentinel/chat-requirements/finalize": Access.CHAT,
    "POST /backend-api/sentinel/ping": Access.CHAT,
    "POST /backend-api/lat/r": Access.USER,
    "POST /backend-api/telemetry": Access.USER,
    "GET /backend-api/latency": Access.ADMIN,
    "GET /backend-api/conversations": Access.READ,
    "GET /backend-api/conversation/{conversation_id}": Access.READ,
    "PATCH /backend-api/conversation/{conversation_id}": Access.CHAT_AND_READ,
    "DELETE /backend-api/conversation/{conversation_id}": Access.CHAT_AND_READ,
    f"GET {CONTEXT}": Access.SESSION,
    f"PUT {FEEDBACK}": Access.CHAT_AND_READ,
    f"DELETE {FEEDBACK}": Access.CHAT_AND_READ,
    "GET /backend-api/folders": Access.READ,
    "POST /backend-api/folders": Access.CHAT_AND_READ,
    "PATCH /backend-api/folders/{folder_id}": Access.CHAT_AND_READ,
    "DELETE /backend-api/folders/{folder_id}": Access.CHAT_AND_READ,
    "POST /backend-api/conversation/{conversation_id}/shares": Access.SESSION,
    "GET /backend-api/shares": Access.SESSION,
    "DELETE /backend-api/shares/{share_id}": Access.SESSION,
    "GET /backend-api/share/{share_id}": Access.ANYONE,
    "POST /backend-api/f/conversation": Access.CHAT,
    "POST /backend-api/f/conversation/prepare": Access.CHAT,
    "POST /backend-api/conversation/experimental/generate_autocompletions": Access.CHAT,
    "POST /backend-api/tokenize": Access.READ,
    "POST /backend-api/conversation/{conversation_id}/run": Access.SESSION,
    "POST /backend-api/f/conversation/resume": Access.CHAT,
    "GET /backend-api/f/conversation/{turn_id}/events": Access.CHAT,
    "GET /backend-api/conversation/{conversation_id}/stream_status": Access.CHAT,
    "POST /backend-api/stop_conversation": Access.CHAT,
    "GET /backend-api/tools": Access.READ,
    "GET /backend-api/files/{file_id}/content": Access.READ,
    "POST /backend-api/f/conversation/approve": Access.CHAT,
    "POST /backend-api/f/conversation/form": Access.CHAT,
    "GET /backend-api/tools/permissions": Access.SESSION,
    "DELETE /backend-api/tools/permissions/{permission_id}": Access.SESSION,
    "GET /backend-api/celsius/ws/user": Access.CHAT_AND_READ,
    "WS /backend-api/celsius/ws/connect": Access.TICKET,
    "GET /backend-api/turn/{turn_id}": Access.READ,
    "GET /backend-api/mcp/servers": Access.SESSION,
    "POST /backend-api/mcp/servers": Access.SESSION,
    "POST /backend-api/mcp/commands": Access.CONFIRMED,
    f"PATCH {MCP_SERVER}": Access.SESSION,
    f"PUT {MCP_SERVER}/command": Access.CONFIRMED,
    f"DELETE {MCP_SERVER}": Access.SESSION,
    f"POST {MCP_SERVER}/test": Access.SESSION,
    f"PATCH {MCP_SERVER}/tools": Access.SESSION,
    f"GET {MCP_SERVER}/calls": Access.SESSION,
    f"GET {MCP_SERVER}/log": Access.SESSION,
    "GET /backend-api/mcp/sources": Access.SESSION,
    f"GET {MCP_SERVER}/resources": Access.SESSION,
    f"POST {MCP_SERVER}/resources/read": Access.SESSION,
    f"GET {MCP_SERVER}/prompts": Access.SESSION,
    f"POST {MCP_SERVER}/prompts/get": Access.SESSION,
    f"POST {MCP_SERVER}/sign-in": Access.SESSION,
    f"DELETE {MCP_SERVER}/sign-in": Access.SESSION,
    "POST /backend-api/mcp/sign-in": Access.SESSION,
    "POST /v1/chat/completions": Access.KEY,
    "GET /v1/models": Access.KEY,
    "GET /v1/models/{model:path}": Access.KEY,
    "POST /mcp": Access.ANY_KEY,
}
BODIES = {
    f"PATCH {MCP_SERVER}": {"title": "mine now"},
    f"PUT {MCP_SERVER}/command": {"command": "mine now"},
    f"PATCH {MCP_SERVER}/tools": {"name": "mine now"},
    f"POST {MCP_SERVER}/resources/read": {"uri": "mine://now"},
    f"POST {MCP_SERVER}/prompts/get": {"name": "mine now"},
    "POST /backend-api/keys": {"label": ""},
    "POST /backend-api/invites": {},
    "PATCH /backend-api/conversation/{conversation_id}": {"title": "mine now"},
    f"PUT {FEEDBACK}": {"rating": "down", "text": "mine now"},
    "PATCH /backend-api/me/second-factor/passkeys/{passkey_id}": {"name": "mine now"},
    "POST /backend-api/folders": {"name": "Work"},
    "PATCH /backend-api/folders/{folder_id}": {"name": "mine now"},
    "POST /backend-api/conversation/{conversation_id}/shares": {"current_node": "{message_id}"},
    "POST /backend-api/memories": {"text": "mine now"},
    "PATCH /backend-api/memories/{memory_id}": {"text": "mine now"},
    "POST /backend-api/conversation/{conversation_id}/run": {"code": "1"},
    "POST /backend-api/tokenize": {"conversation_id": "{conversation_id}"},
    "POST /backend-api/f/conversation/resume": {"conversation_id": "{conversation_id}"},
    "POST /backend-api/stop_conversation": {"conversation_id": "{conversation_id}"},
}
CANARY = "canary-5f1d"

KEYS_ONLY = (Access.KEY, Access.ANY_KEY)

guarded = [route for route in ROUTES if route.access is not Access.ANYONE]


def name(route: Endpoint | SocketEndpoint) -> str:
    return f"{route.method} {route.path}"


def test_every_route_has_its_entry() -> None:
    every: list[Endpoint | SocketEndpoint] = [*ROUTES, *SOCKETS]
    assert {name(route): route.access for route in every} == EXPECTED


def error_code(answer: httpx2.Response) -> str:
    error = answer.json()["error"]
    return str(error["data"]["code"] if "jsonrpc" in answer.json() else error["code"])


async def call(route: Endpoint, http: httpx2.AsyncClient, **ids: str) -> httpx2.Response:
    unknown = str(uuid4())
    path = re.sub(r"{(\w+)(?::path)?}", lambda part: ids.get(part[1], unknown), route.path)
    body = {
        key: ids.get(value.strip("{}"), unknown) if value.startswith("{") else value
        for key, value in BODIES.get(name(route), {}).items()
    }
    content = None if route.method in ("GET", "DELETE") else body
    return await http.request(route.method, path, json=content)


async def with_header(world: World, value: str) -> httpx2.AsyncClient:
    http = await world.browser()
    http.headers["authorization"] = value
    return http


async def with_cookie(world: World, value: str) -> httpx2.AsyncClient:
    http = await world.browser()
    http.cookies.set(COOKIE, value)
    return http


@pytest.mark.parametrize("route", guarded, ids=name)
async def test_an_invalid_credential_is_refused_on_every_route(
    world: World, route: Endpoint
) -> None:
    ada = await world.someone("ada", "admin")
    accounts = world.app.services.store.accounts
    revoked = (await accounts.list_keys(ada.user_id))[0]
    await accounts.revoke_key(revoked.id, ada.user_id)
    expired = new_token()
    await accounts.open_session(ada.user_id, hash_token(expired), user_agent="", expires_at=1.0)
    for stranger in (
        await world.browser(),
        await with_header(world, "Bearer hs-wrong"),
        await with_header(world, "Bearer"),
        await with_header(world, f"Basic {ada.key}"),
        await with_header(world, ada.key),
        await with_header(world, f"Bearer {ada.key}"),
        await with_cookie(world, "wrong"),
        await with_cookie(world, expired),
        await with_cookie(world, ada.key),
    ):
        answer = await call(route, stranger)
        assert answer.status_code == 401, name(route)
        code = "invalid_api_key" if route.access in KEYS_ONLY else "unauthenticated"
        assert error_code(answer) == code


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
async def test_the_bearer_scheme_is_case_insensitive(world: World, scheme: str) -> None:
    ada = await world.someone("ada")
    program = await with_header(world, f"{scheme} {ada.key}")
    assert (await program.get("/backend-api/me")).status_code == 200


SCOPES: dict[Access, set[str]] = {
    Access.USER: set(),
    Access.CHAT: {"chat"},
    Access.READ: {"read"},
    Access.CHAT_AND_READ: {"chat", "read"},
    Access.KEY: {"chat"},
    Access.ANY_KEY: set(),
    Access.ADMIN: {"admin"},
    Access.METRICS: {"admin"},
}
"""The scopes a key needs. No key may call any other route."""
EVERY_KEY: tuple[tuple[KeyScope, ...], ...] = tuple(
    scopes for size in (1, 2, 3, 4) for scopes in combinations(get_args(KeyScope), size)
)


def test_every_kind_of_access_says_what_a_key_needs() -> None:
    for_no_key = {
        Access.ANYONE,
        Access.SESSION,
        Access.CONFIRMED,
        Access.ADMIN_SESSION,
        Access.REVIEW,
        Access.TICKET,
    }
    assert {access: set(scopes) for access, scopes in KEY_SCOPES.items()} == SCOPES
    assert SCOPES.keys() | for_no_key == set(Access)


@pytest.mark.parametrize("route", guarded, ids=name)
async def test_a_key_may_do_what_its_scopes_say_and_nothing_else(
    world: World, route: Endpoint
) -> None:
    ada = await world.someone("ada", "admin")
    for scopes in EVERY_KEY:
        program = await with_header(world, f"Bearer {await world.create_key(ada.user_id, scopes)}")
        answer = await call(route, program)
        needed = SCOPES.get(route.access)
        if needed is not None and needed <= set(scopes):
            is_let_in = answer.status_code not in (401, 403) or "token_invalid" in answer.text
            assert is_let_in, (name(route), scopes)
            continue
        assert answer.status_code == 403, (name(route), scopes)
        code = "not_allowed" if needed is None else "insufficient_scope"
        assert answer.json()["error"]["code"] == code
        for scope in (needed or set()) - set(scopes):
            assert scope in answer.json()["error"]["message"]


@pytest.mark.parametrize("route", guarded, ids=name)
async def test_the_wrong_kind_of_credential_is_refused(world: World, route: Endpoint) -> None:
    ada = await world.someone("ada")
    by_session = await call(route, ada.http)
    if route.access in KEYS_ONLY:
        assert by_session.status_code == 401
    if route.access in (Access.ADMIN, Access.ADMIN_SESSION, Access.REVIEW, Access.METRICS):
        assert by_session.status_code == 403


async def test_a_reviewer_reviews_and_administers_nothing(world: World) -> None:
    ada = await world.someone("ada", "reviewer")
    for route in guarded:
        if route.access in (Access.REVIEW, Access.ADMIN, Access.ADMIN_SESSION):
            is_refused = (await call(route, ada.http)).status_code == 403
            assert is_refused == (route.access is not Access.REVIEW), name(route)


@pytest.mark.parametrize(
    "route", [route for route in guarded if route.access is Access.ADMIN], ids=name
)
async def test_the_key_of_a_former_administrator_administers_nothing(
    world: World, route: Endpoint
) -> None:
    ada, _ = await world.someone("ada", "admin"), await world.someone("eve", "admin")
    key = await world.create_key(ada.user_id, ["admin"])
    program = await with_header(world, f"Bearer {key}")
    await world.app.services.store.accounts.change_account(ada.user_id, role="member")
    assert (await call(route, program)).status_code == 403


@pytest.mark.parametrize(
    "route",
    [route for route in guarded if route.method != "GET" and route.access not in KEYS_ONLY],
    ids=name,
)
async def test_a_cookie_alone_changes_nothing(world: World, route: Endpoint) -> None:
    ada = await world.someone("ada", "admin")
    del ada.http.headers["x-csrf-token"]
    assert (await call(route, ada.http)).status_code == 403


async def test_anothers_and_a_missing_object_get_the_same_response(world: World) -> None:
    ada, eve = await world.someone("ada"), await world.someone("eve")
    stream = await ada.send(f"!script\n{CANARY}")
    hers = {
        "conversation_id": stream.conversation_id,
        "turn_id": stream.turn_id,
        "session_id": (await ada.http.get("/backend-api/sessions")).json()["items"][0]["id"],
        "key_id": (await ada.http.get("/backend-api/keys")).json()["items"][0]["id"],
        "message_id": stream.of_type("input_message")["input_message"]["id"],
        "folder_id": (await world.app.services.store.folders.create(ada.user_id, CANARY)).id,
        "memory_id": (
            await world.app.services.store.memories.add(ada.user_id, CANARY, "written")
        ).id,
    }
    server = NewMcpServer(
        id=str(uuid4()),
        owner_id=ada.user_id,
        audience="owner",
        title=CANARY,
        prefix="canary",
        kind="http",
        url=f"https://{CANARY}.example",
    )
    hers["server_id"] = (await world.app.services.store.mcp_servers.add(server, SERVER)).id
    hers["share_id"] = await shared(ada, hers)
    permissions = world.app.services.store.tool_permissions
    await permissions.allow(ada.user_id, CANARY, "", "fingerprint", None)
    (file,) = await world.app.services.store.tool_files.add(
        ada.user_id, stream.conversation_id, [NewFile("plot.png", "image/png", CANARY.encode())]
    )
    hers["file_id"] = file.file_id
    hers["permission_id"] = (await permissions.list(ada.user_id))[0].id
    await check_same_response(eve, hers)
    await check_same_response(
        Someone(await with_header(world, f"Bearer {eve.key}"), "", "", ""), hers
    )
    tree = await ada.http.get(f"/backend-api/conversation/{stream.conversation_id}")
    folders = await ada.http.get("/backend-api/folders")
    memories = await ada.http.get("/backend-api/memories")
    assert len(await permissions.list(ada.user_id)) == 1
    assert "mine now" not in tree.text + folders.text + memories.text
    assert memories.json()["total"] == 1
    assert len(folders.json()["items"]) == 1
    assert (await eve.http.get(f"/backend-api/share/{hers['share_id']}")).status_code == 200


async def shared(ada: Someone, hers: dict[str, str]) -> str:
    made = await ada.http.post(
        f"/backend-api/conversation/{hers['conversation_id']}/shares",
        json={"current_node": hers["message_id"]},
    )
    return str(made.json()["id"])


async def check_same_response(eve: Someone, hers: dict[str, str]) -> None:
    for route in guarded:
        names_something = "_id}" in route.path or "_id}" in str(BODIES.get(name(route)))
        if not names_something or route.access is Access.ADMIN:
            continue
        not_yours, not_there = await call(route, eve.http, **hers), await call(route, eve.http)
        assert not_yours.status_code == not_there.status_code, name(route)
        assert without_id(not_yours) == without_id(not_there), name(route)
        assert CANARY.encode() not in not_yours.content


def without_id(response: httpx2.Response) -> bytes:
    """The body but for the id of its request, which is random."""
    return response.content.replace(response.headers["x-request-id"].encode(), b"")


async def test_a_stranger_cannot_answer_in_a_conversation_or_stop_one(world: World) -> None:
    ada, eve = await world.someone("ada"), await world.someone("eve")
    stream = await ada.send("!script tokens=100000 pace=5ms", until_chars=10)
    await eve.http.post(
        "/backend-api/stop_conversation",
        json={"conversation_id": stream.conversation_id, "turn_exchange_id": stream.turn_id},
    )
    tree = await ada.conversation(stream.conversation_id)
    assert tree["running"]["turn_exchange_id"] == stream.turn_id
    followed = await eve.http.get(f"/backend-api/f/conversation/{stream.turn_id}/events")
    assert followed.status_code == 404
