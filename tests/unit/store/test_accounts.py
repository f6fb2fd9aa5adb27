"""Accounts, sessions, keys and invites, and when each becomes invalid."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import event

from hitsend.errors import Conflict, KeyInvalid, NotAllowed, NotFound, Refused, StoreDown
from hitsend.store import AccountRole, Store, User
from hitsend.store.accounts import Accounts
from hitsend.store.database import Database


async def test_one_of_fifty_concurrent_first_accounts_is_created(store: Store) -> None:
    outcomes = await asyncio.gather(
        *(store.accounts.create_first(f"Person {n}", "hash") for n in range(50)),
        return_exceptions=True,
    )
    (admin,) = [outcome for outcome in outcomes if isinstance(outcome, User)]
    assert sum(isinstance(outcome, Conflict) for outcome in outcomes) == 49
    assert admin.role == "admin"
    assert await store.accounts.list_users() == [admin]
    assert await store.accounts.count_enabled() == 1


async def test_a_name_that_looks_the_same_is_taken(store: Store, ada: User) -> None:
    for name in ("Ada", "ADA", "ada", "\N{FULLWIDTH LATIN CAPITAL LETTER A}da"):
        with pytest.raises(Conflict, match="taken"):
            await store.accounts.create(name, "hash", "member")
    assert await store.accounts.find_by_name("aDa") == (ada, "hash")
    assert await store.accounts.find_by_name("Adam") is None


async def test_a_disabled_accounts_credentials_are_refused(
    store: Store, ada: User, eve: User
) -> None:
    await store.accounts.open_session(ada.id, "token", user_agent="", expires_at=2e6)
    await store.accounts.create_key(ada.id, "key", "hs-abc", "mine")
    await store.accounts.disable(ada.id)
    assert await store.accounts.find_by_name("Ada") is None
    assert await store.accounts.find_by_session("token") is None
    assert await store.accounts.find_by_key("key") is None
    assert await store.accounts.find_by_name("Eve") == (eve, "hash")
    await store.accounts.disable(ada.id)
    await store.accounts.enable(ada.id)
    await store.accounts.enable(ada.id)
    assert await store.accounts.find_by_name("Ada") == (ada, "hash")
    for change in (store.accounts.disable, store.accounts.enable):
        with pytest.raises(NotFound):
            await change("nobody")


async def test_an_account_change_is_atomic(store: Store, eve: User) -> None:
    ada = await store.accounts.create("Ada", "hash", "admin")
    await store.accounts.change_account(eve.id, role="admin", is_disabled=True)
    with pytest.raises(Conflict, match="last administrator"):
        await store.accounts.change_account(ada.id, role="member", is_disabled=False)
    assert await roles_and_states(store) == {"Ada": ("admin", False), "Eve": ("admin", True)}
    await store.accounts.change_account(eve.id, is_disabled=False)
    await store.accounts.change_account(ada.id, role="member", is_disabled=True)
    assert await roles_and_states(store) == {"Ada": ("member", True), "Eve": ("admin", False)}


async def roles_and_states(store: Store) -> dict[str, tuple[str, bool]]:
    people = await store.accounts.list_accounts()
    return {person.name: (person.role, person.is_disabled) for person in people}


async def test_a_session_is_valid_until_it_expires(
    store: Store, ada: User, clock: SimpleNamespace
) -> None:
    opened = await store.accounts.open_session(
        ada.id, "token", user_agent="Firefox", expires_at=clock.now + 100
    )
    assert await store.accounts.find_by_session("token") == (opened, ada)
    assert await store.accounts.list_sessions(ada.id) == [opened]
    assert await store.accounts.find_by_session("other") is None
    clock.now += 100
    assert await store.accounts.find_by_session("token") is None
    assert await store.accounts.list_sessions(ada.id) == []


async def test_a_revoked_session_is_invalid(store: Store, ada: User) -> None:
    opened = await store.accounts.open_session(ada.id, "token", user_agent="", expires_at=2e6)
    await store.accounts.revoke_session(opened.id, ada.id)
    assert await store.accounts.find_by_session("token") is None
    assert not await store.accounts.rotate_session(opened.id, "token", "new")
    with pytest.raises(NotFound):
        await store.accounts.revoke_session(opened.id, ada.id)


async def test_a_rotated_token_is_valid_for_a_minute_after_the_new_one_is_used(
    store: Store, ada: User, clock: SimpleNamespace
) -> None:
    opened = await store.accounts.open_session(ada.id, "old", user_agent="", expires_at=2e6)
    assert await store.accounts.rotate_session(opened.id, "old", "new")
    clock.now += 1000
    assert await store.accounts.find_by_session("old") is not None
    assert await store.accounts.find_by_session("new") is not None
    clock.now += 59
    assert await store.accounts.find_by_session("old") is not None
    assert await store.accounts.find_by_session("new") is not None
    clock.now += 1
    assert await store.accounts.find_by_session("old") is None
    assert await store.accounts.find_by_session("new") is not None


async def test_a_token_that_never_arrived_can_be_rotated_again(
    store: Store, ada: User, clock: SimpleNamespace
) -> None:
    opened = await store.accounts.open_session(ada.id, "old", user_agent="", expires_at=2e6)
    assert await store.accounts.rotate_session(opened.id, "old", "lost")
    assert not await store.accounts.rotate_session(opened.id, "old", "too soon")
    clock.now += 1000
    assert await store.accounts.rotate_session(opened.id, "old", "new")
    assert not await store.accounts.rotate_session(opened.id, "old", "too late")
    assert await store.accounts.find_by_session("lost") is None
    assert await store.accounts.find_by_session("old") is not None
    assert await store.accounts.find_by_session("new") is not None


async def test_a_token_is_rotated_once(store: Store, ada: User) -> None:
    opened = await store.accounts.open_session(ada.id, "old", user_agent="", expires_at=2e6)
    outcomes = await asyncio.gather(
        *(store.accounts.rotate_session(opened.id, "old", f"new {n}") for n in range(10))
    )
    assert outcomes.count(True) == 1


async def test_last_seen_is_accurate_to_a_minute(
    store: Store, ada: User, clock: SimpleNamespace
) -> None:
    opened = await store.accounts.open_session(ada.id, "token", user_agent="", expires_at=2e6)
    seen = []
    for seconds in (59, 1, 59, 1):
        clock.now += seconds
        await store.accounts.touch_session(opened.id)
        (session,) = await store.accounts.list_sessions(ada.id)
        seen.append(session.last_seen_at - opened.created_at)
    assert seen == [0, 60, 60, 120]


async def test_a_key_is_valid_until_it_is_revoked(
    store: Store, ada: User, clock: SimpleNamespace
) -> None:
    made = await store.accounts.create_key(ada.id, "hash of key", "hs-abc", "laptop")
    assert made.last_used_at is None
    assert await store.accounts.find_by_key("hash of key") == (made, ada)
    assert await store.accounts.find_by_key("another") is None
    used = []
    for seconds in (59, 1, 30):
        clock.now += seconds
        await store.accounts.find_by_key("hash of key")
        (key,) = await store.accounts.list_keys(ada.id)
        used.append((key.last_used_at or 0) - made.created_at)
    assert used == [0, 60, 60]
    await store.accounts.revoke_key(made.id, ada.id)
    assert await store.accounts.find_by_key("hash of key") is None
    assert await store.accounts.list_keys(ada.id) == []
    with pytest.raises(NotFound):
        await store.accounts.revoke_key(made.id, ada.id)


async def test_an_expired_key_is_refused_and_says_when_it_expired(
    store: Store, ada: User, clock: SimpleNamespace
) -> None:
    ends = clock.now + 100
    made = await store.accounts.create_key(ada.id, "hash", "hs-", "ci", ["read"], ends)
    assert await store.accounts.find_by_key("hash") == (made, ada)
    assert await store.accounts.filter_keys({made.id}) == {made.id}
    clock.now = ends
    with pytest.raises(KeyInvalid, match="expired on 1970"):
        await store.accounts.find_by_key("hash")
    assert await store.accounts.filter_keys({made.id}) == set()
    assert [key.id for key in await store.accounts.list_keys(ada.id)] == [made.id]


async def test_concurrent_uses_of_a_key_are_noted_once(
    store: Store, ada: User, clock: SimpleNamespace
) -> None:
    await store.accounts.create_key(ada.id, "hash", "hs-", "ci")
    with counted_writes(store.accounts) as writes:
        await asyncio.gather(*(store.accounts.find_by_key("hash") for _ in range(50)))
        clock.now += 59
        await store.accounts.find_by_key("hash")
    assert [statement.split()[0] for statement in writes] == ["BEGIN", "UPDATE"]
    (key,) = await store.accounts.list_keys(ada.id)
    assert key.last_used_at == clock.now - 59


@contextmanager
def counted_writes(accounts: Accounts) -> Iterator[list[str]]:
    statements: list[str] = []

    def count(*call: Any) -> None:
        statements.append(call[2])

    engine = accounts._database._writer_engine
    event.listen(engine, "before_cursor_execute", count)
    yield statements
    event.remove(engine, "before_cursor_execute", count)


async def test_a_members_key_does_not_administer(store: Store, ada: User) -> None:
    with pytest.raises(NotAllowed):
        await store.accounts.create_key(ada.id, "hash", "hs-", "ops", ["read", "admin"])
    chief = await store.accounts.create("Chief", "hash", "admin")
    made = await store.accounts.create_key(chief.id, "hash", "hs-", "ops", ["read", "admin"])
    assert made.scopes == ("admin", "read")


async def test_valid_credentials_are_filtered_from_invalid_ones(
    store: Store, ada: User, eve: User, clock: SimpleNamespace
) -> None:
    accounts = store.accounts
    kept, revoked, expired, disabled = [
        await accounts.open_session(user.id, token, user_agent="", expires_at=until)
        for user, token, until in (
            (ada, "1", 2e6),
            (ada, "2", 2e6),
            (ada, "3", 1.0),
            (eve, "4", 2e6),
        )
    ]
    keys = [await accounts.create_key(user.id, user.name, "hs-", "") for user in (ada, eve)]
    await accounts.revoke_session(revoked.id, ada.id)
    await accounts.disable(eve.id)
    asked = {one.id for one in (kept, revoked, expired, disabled)} | {key.id for key in keys}
    assert await accounts.filter_sessions(asked) == {kept.id}
    assert await accounts.filter_keys(asked) == {keys[0].id}
    await accounts.revoke_key(keys[0].id, ada.id)
    assert await accounts.filter_keys(asked) == set()


@pytest.fixture
async def unwritable(
    store: Store, clock: SimpleNamespace, tmp_path: Path
) -> AsyncIterator[Accounts]:
    database = Database(tmp_path / "data" / "hitsend.db", "normal", lambda: clock.now)
    await database.open()
    await database.write(lambda connection: connection.exec_driver_sql("PRAGMA query_only = ON"))
    yield Accounts(database)
    await database.close()


async def test_sign_in_works_while_the_database_cannot_be_written(
    store: Store, ada: User, unwritable: Accounts
) -> None:
    accounts = store.accounts
    opened = await accounts.open_session(ada.id, "old", user_agent="", expires_at=2e6)
    await accounts.rotate_session(opened.id, "old", "new")
    await accounts.create_key(ada.id, "key", "hs-", "")
    with pytest.raises(StoreDown):
        await unwritable.create("Grace", "hash", "member")
    assert await unwritable.find_by_key("key") is not None
    assert await unwritable.find_by_session("new") is not None


@pytest.fixture
async def chief(store: Store) -> User:
    return await store.accounts.create("Chief", "hash", "admin")


async def test_an_invite_creates_one_account(
    store: Store, chief: User, clock: SimpleNamespace
) -> None:
    made = await store.accounts.create_invite("link", "member", chief.id, clock.now + 100)
    assert await store.accounts.check_invite("link") == "member"
    outcomes = await asyncio.gather(
        *(store.accounts.redeem_invite("link", f"Guest {n}", "hash") for n in range(10)),
        return_exceptions=True,
    )
    (guest,) = [outcome for outcome in outcomes if isinstance(outcome, User)]
    assert sum(isinstance(outcome, Refused) for outcome in outcomes) == 9
    assert guest.role == "member"
    (invite,) = await store.accounts.list_invites()
    assert (invite.id, invite.used_by) == (made.id, guest.name)
    with pytest.raises(Refused, match="used already"):
        await store.accounts.check_invite("link")
    with pytest.raises(NotFound):
        await store.accounts.revoke_invite(made.id)


async def test_a_taken_name_does_not_use_up_an_invite(
    store: Store, chief: User, clock: SimpleNamespace
) -> None:
    await store.accounts.create_invite("link", "admin", chief.id, clock.now + 100)
    with pytest.raises(Conflict):
        await store.accounts.redeem_invite("link", "CHIEF", "hash")
    assert (await store.accounts.redeem_invite("link", "Grace", "hash")).role == "admin"


async def test_invites_expire_and_can_be_revoked(
    store: Store, chief: User, clock: SimpleNamespace
) -> None:
    await store.accounts.create_invite("late", "member", chief.id, clock.now + 100)
    revoked = await store.accounts.create_invite("back", "member", chief.id, clock.now + 900)
    clock.now += 100
    await store.accounts.revoke_invite(revoked.id)
    for link, why in (("late", "expired"), ("back", "not valid"), ("made up", "not valid")):
        with pytest.raises(Refused, match=why):
            await store.accounts.redeem_invite(link, "Grace", "hash")
    assert await store.accounts.find_by_name("Grace") is None
    assert len(await store.accounts.list_invites()) == 1


async def test_an_invite_is_valid_while_its_creator_is_an_administrator(
    store: Store, chief: User, clock: SimpleNamespace
) -> None:
    await store.accounts.create("Grace", "hash", "admin")
    await store.accounts.create_invite("link", "admin", chief.id, clock.now + 100)
    roles: list[AccountRole] = ["admin", "member"]
    for role in roles:
        await store.accounts.change_account(chief.id, role=role, is_disabled=role == "admin")
        with pytest.raises(Refused, match="not valid"):
            await store.accounts.check_invite("link")
        with pytest.raises(Refused, match="not valid"):
            await store.accounts.redeem_invite("link", "Eve", "hash")
    await store.accounts.change_account(chief.id, role="admin")
    assert (await store.accounts.redeem_invite("link", "Eve", "hash")).role == "admin"
