"""Sessions: over days, and over TLS."""

import ssl
import time
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from pathlib import Path

import httpx2
import pytest
import trustme
from tests.server.world import PASSWORD, World

from hitsend.credentials import hash_token, new_token
from hitsend.engine import ScriptedEngine
from hitsend.server.app import open_house
from hitsend.server.people import COOKIE
from hitsend.server.serving import listening
from hitsend.settings import Settings
from hitsend.store import Store

TWO_DAYS_S = 2 * 86_400


async def test_an_old_token_is_replaced_and_holds_only_a_moment_longer(
    world: World, settings: Settings
) -> None:
    ada = await world.someone("ada")
    old = new_token()
    before = await Store.open(settings.database, now=lambda: time.time() - TWO_DAYS_S)
    await before.accounts.open_session(
        ada.user_id, hash_token(old), user_agent="", expires_at=time.time() + 3600
    )
    await before.close()

    browser = await world.browser()
    first = await browser.get("/backend-api/me", headers={"cookie": f"{COOKIE}={old}"})
    assert first.status_code == 200
    fresh = browser.cookies[COOKIE]
    assert fresh != old
    again = await browser.get("/backend-api/me", headers={"cookie": f"{COOKIE}={old}"})
    assert again.status_code == 200
    assert "set-cookie" not in again.headers

    later = await Store.open(settings.database, now=lambda: time.time() + 120)
    assert await later.accounts.by_session(hash_token(old)) is None
    assert await later.accounts.by_session(hash_token(fresh)) is not None
    await later.close()


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
        house = await stack.enter_async_context(open_house(settings, ScriptedEngine()))
        yield await stack.enter_async_context(listening(house)), trusting


async def test_over_tls_the_cookie_is_never_sent_in_the_clear(
    secure_url: tuple[str, ssl.SSLContext],
) -> None:
    url, trusting = secure_url
    async with httpx2.AsyncClient(base_url=url, verify=trusting) as browser:
        made = await browser.post(
            "/backend-api/accounts/first", json={"name": "ada", "password": PASSWORD}
        )
    assert url.startswith("https://")
    assert "Secure" in made.headers["set-cookie"]
