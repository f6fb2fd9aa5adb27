"""Signing in at servers, against a real authorisation server that checks what it is sent."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlparse

import httpx2
import msgspec
import pytest
from tests.mcp_servers.everyday import build_server, serve
from tests.mcp_servers.sign_in import Authority, Wall
from tests.unit.tools.mcp.desk import Desk, open_desk

from hitsend.errors import NotFound, Refused, Unavailable
from hitsend.store import Actor
from hitsend.store.mcp_rows import McpServer, McpServerChange
from hitsend.tools.mcp.oauth import Callback, Tokens
from hitsend.tools.mcp.server_secrets import ServerSecrets
from hitsend.tools.mcp.vault import open_vault

BASE = "http://hitsend.test"


@dataclass
class Town:
    """A server behind a sign-in, and a person at a host."""

    desk: Desk
    server: McpServer
    authority: Authority
    wall: Wall
    database: Path

    async def begin(self, entered: ServerSecrets | None = None) -> str:
        sign_ins = self.desk.host.sign_ins
        return await sign_ins.begin(
            self.server, self.desk.user_id, BASE, entered or ServerSecrets()
        )

    async def visit(self, url: str) -> Callback:
        """Opens the address as a browser does, which comes back to hitsend's page."""
        async with httpx2.AsyncClient(trust_env=False) as browser:
            response = await browser.get(url)
        assert response.status_code == 302, response.text
        back = urlparse(response.headers["location"])
        assert f"{back.scheme}://{back.netloc}{back.path}" == f"{BASE}/oauth/callback"
        given = {key: values[0] for key, values in parse_qs(back.query).items()}
        return msgspec.convert(given, Callback)

    async def finish(self, callback: Callback, user_id: str = "") -> None:
        user_id = user_id or self.desk.user_id
        await self.desk.host.sign_ins.finish(callback, user_id, Actor("page", user_id))

    async def sign_in(self) -> None:
        await self.finish(await self.visit(await self.begin()))


@asynccontextmanager
async def open_town(database: Path, **changes: Any) -> AsyncGenerator[Town]:
    authority = Authority(**changes)
    wall = Wall(build_server().streamable_http_app(), authority)
    async with serve(wall) as url, serve(authority.app) as authority.url:
        authority.resource = f"{url}/mcp"
        trusted = authority.url.removeprefix("http://")
        async with open_desk(database, trusted_destinations=trusted) as desk:
            servers = await desk.store.mcp_servers.list(desk.user_id)
            shared = {"owner_id": None, "audience": "everyone"}
            server = servers[0] if servers else await desk.add("Town", url=f"{url}/mcp", **shared)
            yield Town(desk, server, authority, wall, database)
            await desk.host.connections.close()


@pytest.fixture
async def town(tmp_path: Path, copy_database: Callable[[Path], Path]) -> AsyncGenerator[Town]:
    async with open_town(copy_database(tmp_path / "data")) as town:
        yield town


async def test_a_server_behind_a_sign_in_says_so_until_the_person_signed_in(town: Town) -> None:
    desk = town.desk
    assert (await desk.host.connections.test(town.server, desk.user_id)).condition == "sign_in"
    await town.sign_in()
    assert (await desk.host.connections.test(town.server, desk.user_id)).condition == "connected"
    assert (await desk.call("town_add", a=1, b=2)).output == "3"
    assert town.authority.granted == ["authorization_code"]


async def test_the_sign_in_asks_with_pkce_for_this_server_only(town: Town) -> None:
    asked = parse_qs(urlparse(await town.begin()).query)
    assert asked["code_challenge_method"] == ["S256"]
    assert asked["resource"] == [town.authority.resource]
    assert asked["scope"] == ["tools:read"]
    assert len(asked["state"][0]) > 40
    [registered] = town.authority.clients.values()
    assert registered["redirect_uris"] == [f"{BASE}/oauth/callback"]
    assert registered["token_endpoint_auth_method"] == "none"


async def test_hitsend_registers_once_for_everyone(town: Town) -> None:
    eve = (await town.desk.store.accounts.create("eve", "", "member")).id
    await town.begin()
    await town.desk.host.sign_ins.begin(town.server, eve, BASE, ServerSecrets())
    assert len(town.authority.clients) == 1


async def test_tokens_are_each_persons_own(town: Town) -> None:
    eve = (await town.desk.store.accounts.create("eve", "", "member")).id
    await town.sign_in()
    await town.desk.host.connections.test(town.server, town.desk.user_id)
    with pytest.raises(Unavailable, match="You are not signed in at Town"):
        await town.desk.call("town_add", eve, a=1, b=2)


async def test_a_sign_in_survives_a_restart(
    tmp_path: Path, copy_database: Callable[[Path], Path]
) -> None:
    database = copy_database(tmp_path / "data")
    async with open_town(database) as town:
        callback = await town.visit(await town.begin())
        # The server stops while the person types their password elsewhere.
        trusted = town.authority.url.removeprefix("http://")
        await town.desk.host.connections.close()
        async with open_desk(database, trusted_destinations=trusted) as again:
            by = Actor("page", again.user_id)
            await again.host.sign_ins.finish(callback, again.user_id, by)
        async with open_desk(database, trusted_destinations=trusted) as later:
            assert (
                await later.host.connections.test(town.server, later.user_id)
            ).condition == "connected"
            assert (await later.call("town_add", a=1, b=2)).output == "3"
            await later.host.connections.close()


async def test_tokens_are_renewed_before_they_expire(
    tmp_path: Path, copy_database: Callable[[Path], Path]
) -> None:
    async with open_town(copy_database(tmp_path / "data"), lifetime_s=30.0) as town:
        await town.sign_in()
        await town.desk.host.connections.test(town.server, town.desk.user_id)
        assert (await town.desk.call("town_add", a=1, b=2)).output == "3"
        assert "refresh_token" in town.authority.granted


async def test_a_token_that_is_refused_is_renewed_in_mid_call(town: Town) -> None:
    await town.sign_in()
    await town.desk.host.connections.test(town.server, town.desk.user_id)
    town.authority.expire_access()
    assert (await town.desk.call("town_add", a=1, b=2)).output == "3"
    assert town.authority.granted == ["authorization_code", "refresh_token"]


async def test_a_sign_in_that_was_revoked_asks_for_a_new_one(town: Town) -> None:
    await town.sign_in()
    await town.desk.host.connections.test(town.server, town.desk.user_id)
    town.authority.revoke_all()
    with pytest.raises(Unavailable, match="wants a sign-in"):
        await town.desk.call("town_add", a=1, b=2)
    assert town.desk.host.connections.status(town.server, town.desk.user_id).condition == "sign_in"
    await town.sign_in()
    assert (await town.desk.call("town_add", a=1, b=2)).output == "3"


async def test_nothing_of_a_sign_in_can_be_read_in_the_database(town: Town) -> None:
    await town.begin()
    await town.sign_in()
    [access] = town.authority.access
    [refresh] = town.authority.refresh
    stored = b"".join(path.read_bytes() for path in town.database.parent.glob("hitsend.db*"))
    for secret in (access, refresh, *town.authority.codes):
        assert secret.encode() not in stored
    key = town.database.parent / "mcp.key"
    assert key.stat().st_mode & 0o777 == 0o600


async def test_a_sign_in_counts_once_and_only_for_the_person_who_began_it(town: Town) -> None:
    eve = (await town.desk.store.accounts.create("eve", "", "member")).id
    callback = await town.visit(await town.begin())
    with pytest.raises(NotFound, match="begun by somebody else"):
        await town.finish(callback, eve)
    await town.finish(callback)
    with pytest.raises(NotFound, match="expired"):
        await town.finish(callback)


async def test_a_redirect_of_another_issuer_is_refused(
    tmp_path: Path, copy_database: Callable[[Path], Path]
) -> None:
    database = copy_database(tmp_path / "data")
    async with open_town(database, iss="https://evil.example") as town:
        callback = await town.visit(await town.begin())
        with pytest.raises(Refused, match="another place"):
            await town.finish(callback)
        assert town.authority.granted == []


async def test_a_missing_issuer_is_refused_where_it_was_promised(town: Town) -> None:
    callback = await town.visit(await town.begin())
    with pytest.raises(Refused, match="another place"):
        await town.finish(msgspec.structs.replace(callback, iss=None))


async def test_a_person_who_says_no_is_told(town: Town) -> None:
    callback = await town.visit(await town.begin())
    denied = Callback(callback.state, iss=callback.iss, error="access_denied")
    with pytest.raises(Refused, match="not signed in at Town: access_denied"):
        await town.finish(denied)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"methods": ("plain",)}, "PKCE"),
        ({"registers": False}, "enter the client id"),
        ({"issuer": "https://evil.example"}, "names itself https://evil.example"),
    ],
)
async def test_a_sign_in_that_is_not_safe_is_not_begun(
    tmp_path: Path,
    copy_database: Callable[[Path], Path],
    changes: dict[str, Any],
    said: str,
) -> None:
    async with open_town(copy_database(tmp_path / "data"), **changes) as town:
        with pytest.raises(Unavailable, match=said):
            await town.begin()


async def test_a_client_that_was_registered_by_hand_is_used(
    tmp_path: Path, copy_database: Callable[[Path], Path]
) -> None:
    async with open_town(copy_database(tmp_path / "data"), registers=False) as town:
        town.authority.clients["by-hand"] = {"redirect_uris": [f"{BASE}/oauth/callback"]}
        await town.finish(await town.visit(await town.begin(ServerSecrets(client_id="by-hand"))))
        status = await town.desk.host.connections.test(town.server, town.desk.user_id)
        assert status.condition == "connected"


async def test_our_own_document_is_preferred_to_registering(
    tmp_path: Path, copy_database: Callable[[Path], Path]
) -> None:
    async with open_town(copy_database(tmp_path / "data"), knows_documents=True) as town:
        url = await town.desk.host.sign_ins.begin(
            town.server, town.desk.user_id, "https://chat.example", ServerSecrets()
        )
        assert parse_qs(urlparse(url).query)["client_id"] == [
            "https://chat.example/oauth/client.json"
        ]
        assert town.authority.clients == {}


async def test_a_server_that_wants_more_rights_asks_for_the_old_and_the_new_ones(
    town: Town,
) -> None:
    await town.sign_in()
    await town.desk.host.connections.test(town.server, town.desk.user_id)
    town.authority.required_scope = "tools:write"
    with pytest.raises(Unavailable, match="does not allow this"):
        await town.desk.call("town_add", a=1, b=2)
    assert town.desk.host.connections.status(town.server, town.desk.user_id).condition == "sign_in"
    url = await town.begin()
    assert parse_qs(urlparse(url).query)["scope"] == ["tools:read tools:write"]
    await town.finish(await town.visit(url))
    assert (await town.desk.call("town_add", a=1, b=2)).output == "3"


async def test_people_sign_in_again_where_the_key_file_is_lost(
    tmp_path: Path, copy_database: Callable[[Path], Path]
) -> None:
    database = copy_database(tmp_path / "data")
    async with open_town(database) as town:
        await town.sign_in()
        await town.desk.host.connections.test(town.server, town.desk.user_id)
        (database.parent / "mcp.key").unlink()
        trusted = town.authority.url.removeprefix("http://")
        await town.desk.host.connections.close()
        async with open_desk(database, trusted_destinations=trusted) as restored:
            with pytest.raises(Unavailable, match="mcp.key"):
                await restored.call("town_add", a=1, b=2)
            again = Town(restored, town.server, town.authority, town.wall, database)
            await again.sign_in()
            await restored.host.connections.test(town.server, restored.user_id)
            assert (await restored.call("town_add", a=1, b=2)).output == "3"
            await restored.host.connections.close()


async def test_signing_out_forgets_the_tokens(town: Town) -> None:
    await town.sign_in()
    desk = town.desk
    await desk.host.sign_ins.sign_out(town.server.id, desk.user_id, Actor("page", desk.user_id))
    assert await desk.store.mcp_sign_ins.token(town.server.id, desk.user_id) is None
    assert (await desk.host.connections.test(town.server, desk.user_id)).condition == "sign_in"


async def test_tokens_go_only_to_the_server_they_are_for(town: Town) -> None:
    await town.sign_in()
    await town.desk.host.connections.test(town.server, town.desk.user_id)
    [access] = town.authority.access
    assert f"Bearer {access}" in town.wall.seen
    await town.desk.store.mcp_servers.change(
        town.server.id,
        town.desk.user_id,
        McpServerChange(url="https://elsewhere.example/mcp"),
        Actor("page", town.desk.user_id),
    )
    assert await town.desk.store.mcp_sign_ins.token(town.server.id, town.desk.user_id) is None


async def test_a_token_sealed_for_one_person_opens_for_nobody_else(town: Town) -> None:
    vault = open_vault(town.database.parent / "mcp.key")
    tokens = Tokens(access_token="a", resource="r", token_endpoint="t", issuer="i", client_id="c")
    sealed = vault.seal(tokens, "token:s:ada")
    assert vault.open(sealed, Tokens, "token:s:ada") == tokens
    with pytest.raises(Unavailable, match="mcp.key"):
        vault.open(sealed, Tokens, "token:s:eve")
