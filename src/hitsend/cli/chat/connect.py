"""Connects the terminal chat to a server.

Locally it creates an API key, given write access to the database, and starts a server if none runs.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
import msgspec

from hitsend.cli.admin import create_api_key, open_store
from hitsend.cli.chat import keyring
from hitsend.cli.chat.local_server import run_server
from hitsend.cli.output import print_note
from hitsend.client import Client
from hitsend.credentials import hash_token
from hitsend.errors import NotFound, Refused, Unauthenticated
from hitsend.settings import Settings, is_loopback, local_url
from hitsend.store import Store, User

KEY_LABEL = "terminal"


class ChatTarget(msgspec.Struct, frozen=True):
    """The server and account given on the command line."""

    url: str | None = None
    key: str | None = None
    user: str | None = None


@asynccontextmanager
async def connect(settings: Settings, wanted: ChatTarget) -> AsyncIterator[Client]:
    """Yields a client with a valid key."""
    key = wanted.key or await _local_key(settings, wanted)
    async with _server_url(settings, wanted.url) as url, Client(url, key) as client:
        await _check_key(client, is_own_key=wanted.key is None)
        yield client


async def _local_key(settings: Settings, wanted: ChatTarget) -> str:
    """Returns the saved key if it is still valid, else a new one."""
    if wanted.url and not is_loopback(httpx2.URL(wanted.url).host):
        raise Refused(f"{wanted.url} asks for an API key: give --key, or set HITSEND_KEY.")
    if not settings.database.exists():
        raise _no_account()
    async with open_store(settings) as store:
        user = await _choose_user(store, wanted.user)
        kept = keyring.load_key(settings.database, user.name)
        if kept and await store.accounts.find_by_key(hash_token(kept)):
            return kept
        key = await create_api_key(store, user, KEY_LABEL)
        keyring.save_key(settings.database, user.name, key)
        return key


async def _choose_user(store: Store, name: str | None) -> User:
    if name is not None:
        if (found := await store.accounts.find_by_name(name)) is None:
            raise NotFound(f"There is no account {name}.")
        return found[0]
    match await store.accounts.list_users():
        case []:
            raise _no_account()
        case [user]:
            return user
        case users:
            names = ", ".join(user.name for user in users)
            raise Refused(f"There are several accounts: say which with --user ({names}).")


def _no_account() -> Refused:
    return Refused(
        "There is no account yet. Create one: run `hitsend serve` and open the page, "
        "or `hitsend admin create-user NAME`."
    )


@asynccontextmanager
async def _server_url(settings: Settings, given_url: str | None) -> AsyncIterator[str]:
    url = given_url or local_url(settings)
    if given_url or await is_hitsend(url):
        yield url
        return
    print_note("No server is running: starting one for this chat.")
    async with run_server(settings) as own_url:
        yield own_url


async def is_hitsend(url: str) -> bool:
    """False if nothing listens there. Raises Refused if something else does."""
    try:
        async with httpx2.AsyncClient(trust_env=False, timeout=5.0) as http:
            answer = await http.get(f"{url}/backend-api/accounts/check")
            return bool(msgspec.json.decode(answer.content, type=_Check).version)
    except httpx2.ConnectError:
        return False
    except (httpx2.HTTPError, msgspec.DecodeError):
        raise Refused(
            f"Something that is not hitsend answers at {url}. Give another --port, or --url."
        ) from None


class _Check(msgspec.Struct, frozen=True):
    version: str


async def _check_key(client: Client, *, is_own_key: bool) -> None:
    try:
        await client.me()
    except Unauthenticated:
        if not is_own_key:
            raise
        raise Refused(
            f"The server at {client.url} keeps its data elsewhere: give its --data-dir, or --key."
        ) from None
