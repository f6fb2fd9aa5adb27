"""`hitsend admin`: accounts and API keys, directly in the database.

Works while a server runs: the database allows several writers.
"""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from getpass import getpass
from typing import Annotated, Literal, TypeAlias

from cyclopts import Parameter

from hitsend.cli.flags import with_settings
from hitsend.cli.output import print_note, stdout
from hitsend.credentials import (
    clean_name,
    hash_password,
    hash_token,
    key_prefix,
    name_key,
    new_key,
    new_token,
)
from hitsend.errors import NotFound, Refused
from hitsend.settings import Loaded, Settings, local_url
from hitsend.store import COMMAND_LINE, AccountItem, KeyScope, Store, User
from hitsend.store.keys import DEFAULT_SCOPES

DAY_S = 86_400

Role: TypeAlias = Literal["admin", "member"]
Name: TypeAlias = Annotated[str, Parameter(help="The account's name.")]


@with_settings("data_dir")
def create_user(
    loaded: Loaded,
    name: Name,
    /,
    *,
    role: Annotated[
        Role | None, Parameter(help="The first account is an admin, later ones members.")
    ] = None,
    password_stdin: Annotated[
        bool, Parameter(negative="", help="Read the password from standard input.")
    ] = False,
) -> int:
    user = asyncio.run(_create_user(loaded.settings, name, role, _password(password_stdin)))
    print_note(f"Created the {user.role} account {user.name}.")
    return 0


@with_settings("data_dir")
def create_key(
    loaded: Loaded,
    name: Name,
    /,
    *,
    label: Annotated[str, Parameter(help="What the key is for, to tell keys apart.")] = "",
    scope: Annotated[
        list[KeyScope] | None,
        Parameter(
            negative="",
            help="What the key may do: chat, read, memory or admin. Give it several times for "
            "several. [default: chat and read]",
        ),
    ] = None,
    days: Annotated[
        int | None, Parameter(help="After how many days it expires. [default: never]")
    ] = None,
) -> int:
    if days is not None and days < 1:
        raise Refused("A key is valid for at least one day.")
    expires_at = None if days is None else time.time() + days * DAY_S
    key = _create_key(loaded.settings, name, label, scope or DEFAULT_SCOPES, expires_at)
    stdout.write(asyncio.run(key))
    return 0


@with_settings("data_dir")
def list_users(loaded: Loaded) -> int:
    accounts = asyncio.run(_list_accounts(loaded.settings))
    heads = ("NAME", "ROLE", "", "CONVERSATIONS", "SINCE", "LAST SEEN")
    stdout.table(heads, [_table_row(account) for account in accounts])
    return 0


@with_settings("data_dir")
def disable(loaded: Loaded, name: Name, /) -> int:
    asyncio.run(_disable(loaded.settings, name))
    print_note(f"{name} is disabled: their password, sessions and keys are refused.")
    print_note("Answers that a running server has started for them will finish.")
    return 0


@with_settings("data_dir")
def enable(loaded: Loaded, name: Name, /) -> int:
    asyncio.run(_enable(loaded.settings, name))
    print_note(f"{name} is enabled.")
    return 0


@with_settings("data_dir")
def remove_second_factor(loaded: Loaded, name: Name, /) -> int:
    asyncio.run(_remove_second_factor(loaded.settings, name))
    print_note(f"{name} signs in with the password alone, and is signed out everywhere.")
    return 0


@with_settings("data_dir", "host", "port")
def setup_link(loaded: Loaded) -> int:
    stdout.write(asyncio.run(_read_setup_link(loaded.settings)))
    print_note("It works once. Put in the address under which people open hitsend.")
    return 0


@with_settings("data_dir", "host", "port")
def reset_password(
    loaded: Loaded,
    name: Name,
    /,
    *,
    link: Annotated[
        bool,
        Parameter(negative="", help="Print a link with which they choose a password themselves."),
    ] = False,
    revoke_keys: Annotated[
        bool, Parameter(negative="", help="Delete their API keys, too. Not with --link.")
    ] = False,
    password_stdin: Annotated[
        bool, Parameter(negative="", help="Read the new password from standard input.")
    ] = False,
) -> int:
    if link:
        stdout.write(asyncio.run(_create_reset_link(loaded.settings, name)))
        print_note("Valid for one day, once. Put in the address under which people open hitsend.")
        return 0
    password = _password(password_stdin)
    asyncio.run(_reset_password(loaded.settings, name, password, revokes_keys=revoke_keys))
    print_note(f"{name} has a new password, and is signed out everywhere.")
    return 0


async def _list_accounts(settings: Settings) -> list[AccountItem]:
    async with open_store(settings) as store:
        return await store.accounts.list_accounts()


async def _disable(settings: Settings, name: str) -> None:
    async with open_store(settings) as store:
        account = await _find_account(store, name)
        if account.is_disabled:
            raise Refused(f"{account.name} is disabled already.")
        await store.accounts.disable(account.id, COMMAND_LINE)


async def _enable(settings: Settings, name: str) -> None:
    async with open_store(settings) as store:
        account = await _find_account(store, name)
        if not account.is_disabled:
            raise Refused(f"{account.name} is not disabled.")
        await store.accounts.enable(account.id, COMMAND_LINE)


async def _remove_second_factor(settings: Settings, name: str) -> None:
    async with open_store(settings) as store:
        account = await _find_account(store, name)
        if not await store.second_factors.reset(account.id, COMMAND_LINE):
            raise Refused(f"{account.name} has no second factor.")


async def _read_setup_link(settings: Settings) -> str:
    async with open_store(settings) as store:
        if not (await store.first_account.state()).needs_first_account:
            raise Refused("There are accounts already. See: hitsend admin list")
        return f"{local_url(settings)}/#setup={await store.first_account.token()}"


async def _create_reset_link(settings: Settings, name: str) -> str:
    token = new_token()
    async with open_store(settings) as store:
        account = await _find_enabled(store, name)
        await store.password_resets.create(
            account.id, hash_token(token), time.time() + DAY_S, admin=None, by=COMMAND_LINE
        )
    return f"{local_url(settings)}/#reset={token}"


async def _reset_password(
    settings: Settings, name: str, password: str, *, revokes_keys: bool
) -> None:
    async with open_store(settings) as store:
        account = await _find_enabled(store, name)
        password_hash = await hash_password(password, name=account.name)
        await store.password_resets.set_password(
            account.id, password_hash, revokes_keys=revokes_keys, by=COMMAND_LINE
        )


async def _find_enabled(store: Store, name: str) -> AccountItem:
    account = await _find_account(store, name)
    if account.is_disabled:
        raise Refused(f"{account.name} is disabled. Run this first: hitsend admin enable {name}")
    return account


async def _find_account(store: Store, name: str) -> AccountItem:
    for account in await store.accounts.list_accounts():
        if name_key(account.name) == name_key(name):
            return account
    raise NotFound(f"There is no account {name}. See: hitsend admin list")


def _table_row(account: AccountItem) -> tuple[str, ...]:
    return (
        account.name,
        account.role,
        "disabled" if account.is_disabled else "",
        str(account.num_conversations),
        _date(account.created_at),
        _date(account.last_seen_at) if account.last_seen_at else "never",
    )


def _date(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}"


async def _create_user(settings: Settings, name: str, role: Role | None, password: str) -> User:
    kept = clean_name(name)
    password_hash = await hash_password(password, name=kept)
    async with open_store(settings) as store:
        if await store.accounts.count_enabled() > 0:
            return await store.accounts.create(kept, password_hash, role or "member", COMMAND_LINE)
        if role == "member":
            raise Refused("The first account has to be an admin: create that one first.")
        return await store.accounts.create_first(kept, password_hash, COMMAND_LINE)


async def _create_key(
    settings: Settings,
    name: str,
    label: str,
    scopes: Sequence[KeyScope],
    expires_at: float | None,
) -> str:
    async with open_store(settings) as store:
        found = await store.accounts.find_by_name(name)
        if found is None:
            raise NotFound(
                f"There is no account {name}. Create it: hitsend admin create-user {name}"
            )
        return await create_api_key(store, found[0], label, scopes, expires_at)


async def create_api_key(
    store: Store,
    user: User,
    label: str,
    scopes: Sequence[KeyScope] = DEFAULT_SCOPES,
    expires_at: float | None = None,
) -> str:
    """Returns the key; only its hash is stored."""
    key = new_key()
    await store.accounts.create_key(
        user.id, hash_token(key), key_prefix(key), label, scopes, expires_at, COMMAND_LINE
    )
    return key


@asynccontextmanager
async def open_store(settings: Settings) -> AsyncIterator[Store]:
    store = await Store.open(settings.database, settings.sync)
    try:
        yield store
    finally:
        await store.close()


def _password(is_piped: bool) -> str:
    if is_piped:
        return sys.stdin.readline().rstrip("\r\n")
    if not sys.stdin.isatty():
        raise Refused("There is no terminal to ask for a password: pipe it, with --password-stdin.")
    password = getpass("Password: ")
    if getpass("Again: ") != password:
        raise Refused("The two passwords differ.")
    return password
