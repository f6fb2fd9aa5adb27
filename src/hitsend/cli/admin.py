"""`hitsend admin`: accounts and keys, written straight into the database.

Works whether or not a server runs on it: the database allows several writers.
"""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from getpass import getpass
from typing import Annotated, Literal, TypeAlias

from cyclopts import Parameter

from hitsend.cli.flags import with_settings
from hitsend.cli.screen import out, say
from hitsend.credentials import (
    clean_name,
    hash_password,
    hash_token,
    key_prefix,
    name_key,
    new_key,
)
from hitsend.errors import NotFound, Refused
from hitsend.settings import Loaded, Settings
from hitsend.store import PersonLine, Store, User

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
    say(f"Made the {user.role} account {user.name}.")
    return 0


@with_settings("data_dir")
def create_key(
    loaded: Loaded,
    name: Name,
    /,
    *,
    label: Annotated[str, Parameter(help="What the key is for, to tell keys apart.")] = "",
) -> int:
    out.write(asyncio.run(_create_key(loaded.settings, name, label)))
    return 0


@with_settings("data_dir")
def list_people(loaded: Loaded) -> int:
    people = asyncio.run(_people(loaded.settings))
    heads = ("NAME", "ROLE", "", "CONVERSATIONS", "SINCE", "LAST SEEN")
    out.table(heads, [_line(person) for person in people])
    return 0


@with_settings("data_dir")
def disable(loaded: Loaded, name: Name, /) -> int:
    asyncio.run(_disable(loaded.settings, name))
    say(f"{name} is kept out: neither their password, sessions nor keys hold.")
    say("What a running server has begun to answer them, it answers to the end.")
    return 0


@with_settings("data_dir")
def enable(loaded: Loaded, name: Name, /) -> int:
    asyncio.run(_enable(loaded.settings, name))
    say(f"{name} may come in again.")
    return 0


async def _people(settings: Settings) -> list[PersonLine]:
    async with open_store(settings) as store:
        return await store.accounts.people()


async def _disable(settings: Settings, name: str) -> None:
    async with open_store(settings) as store:
        person = await _named(store, name)
        if person.is_disabled:
            raise Refused(f"{person.name} is disabled already.")
        await store.accounts.disable(person.id)


async def _enable(settings: Settings, name: str) -> None:
    async with open_store(settings) as store:
        person = await _named(store, name)
        if not person.is_disabled:
            raise Refused(f"{person.name} is not disabled.")
        await store.accounts.enable(person.id)


async def _named(store: Store, name: str) -> PersonLine:
    for person in await store.accounts.people():
        if name_key(person.name) == name_key(name):
            return person
    raise NotFound(f"There is no account {name}. See: hitsend admin list")


def _line(person: PersonLine) -> tuple[str, ...]:
    return (
        person.name,
        person.role,
        "disabled" if person.is_disabled else "",
        str(person.num_conversations),
        _date(person.created_at),
        _date(person.last_seen_at) if person.last_seen_at else "never",
    )


def _date(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}"


async def _create_user(settings: Settings, name: str, role: Role | None, password: str) -> User:
    kept, password_hash = clean_name(name), await hash_password(password)
    async with open_store(settings) as store:
        if await store.accounts.count() > 0:
            return await store.accounts.create(kept, password_hash, role or "member")
        if role == "member":
            raise Refused("The first account has to be an admin: make that one first.")
        return await store.accounts.create_first(kept, password_hash)


async def _create_key(settings: Settings, name: str, label: str) -> str:
    async with open_store(settings) as store:
        found = await store.accounts.by_name(name)
        if found is None:
            raise NotFound(f"There is no account {name}. Make it: hitsend admin create-user {name}")
        return await make_key(store, found[0], label)


async def make_key(store: Store, user: User, label: str) -> str:
    """The key itself; only its hash is kept."""
    key = new_key()
    await store.accounts.create_key(user.id, hash_token(key), key_prefix(key), label)
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
