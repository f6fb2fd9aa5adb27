"""Accounts: users with their sessions, API keys and invites, and what an administrator does with
them. Start at `Accounts`; each kind of credential has its own file."""

from functools import partial

from cachetools import LRUCache
from msgspec import UNSET, UnsetType
from sqlalchemy import Connection, Row, delete, func, select, update

from hitsend.errors import Conflict
from hitsend.store.audit import erase_names, record
from hitsend.store.audit_events import (
    SERVER,
    AccountDeleted,
    AccountDisabled,
    AccountEnabled,
    Actor,
    AnyAuditEvent,
    GroupJoined,
    GroupLeft,
    PasswordChanged,
    RoleChanged,
)
from hitsend.store.context_schema import memories
from hitsend.store.database import Database, reads, writes
from hitsend.store.erase_in_batches import (
    erase_conversations,
    erase_in_batches,
    erase_memories,
    erase_turns,
    erase_usage,
)
from hitsend.store.first_account import forget_deleted_accounts
from hitsend.store.groups import check_group
from hitsend.store.invites import Invites
from hitsend.store.keys import MAX_TOUCHES, Keys
from hitsend.store.password_resets import replace_password
from hitsend.store.rows import AccountItem, AccountRole
from hitsend.store.schema import api_keys, conversations, sessions, turns, users
from hitsend.store.sessions import Sessions
from hitsend.store.users import Users, is_admin, user_not_found

LAST_SEEN = (
    select(func.max(sessions.c.last_seen_at))
    .where(sessions.c.user_id == users.c.id)
    .scalar_subquery()
)
LAST_KEY_USE = (
    select(func.max(api_keys.c.last_used_at))
    .where(api_keys.c.user_id == users.c.id)
    .scalar_subquery()
)
NUM_CONVERSATIONS = (
    select(func.count())
    .select_from(conversations)
    .where(
        conversations.c.user_id == users.c.id,
        conversations.c.hidden_at.is_(None),
        conversations.c.is_temporary.is_(False),
    )
    .scalar_subquery()
)
ACCOUNT_ITEM = select(
    users.c.id,
    users.c.name,
    users.c.role,
    users.c.created_at,
    users.c.disabled_at.is_not(None),
    # SQLite's max of two values is null when either is null.
    func.max(func.coalesce(LAST_SEEN, LAST_KEY_USE), func.coalesce(LAST_KEY_USE, LAST_SEEN)),
    NUM_CONVERSATIONS,
    users.c.group_id,
)


class Accounts(Users, Sessions, Keys, Invites):
    def __init__(self, database: Database) -> None:
        self._database = database
        self._key_touches = LRUCache(MAX_TOUCHES)

    @reads
    def list_accounts(self, connection: Connection) -> list[AccountItem]:
        """Returns all accounts, oldest first."""
        rows = connection.execute(ACCOUNT_ITEM.order_by(users.c.created_at, users.c.id))
        return [AccountItem(*row) for row in rows]

    @writes
    def change_password(
        self,
        connection: Connection,
        user_id: str,
        password_hash: str,
        session_id: str,
        by: Actor = SERVER,
        *,
        revokes_keys: bool = False,
    ) -> None:
        """Also revokes every session but this one, open links to reset the password, and all API
        keys if asked to."""
        replace_password(
            connection,
            user_id,
            password_hash,
            PasswordChanged(user_id),
            by,
            self._database.now(),
            kept_session_id=session_id,
            revokes_keys=revokes_keys,
        )

    @writes
    def change_account(
        self,
        connection: Connection,
        user_id: str,
        *,
        role: AccountRole | None = None,
        is_disabled: bool | None = None,
        group_id: str | None | UnsetType = UNSET,
        by: Actor = SERVER,
    ) -> None:
        """Changes the given fields.

        A disabled account's password, sessions and keys are refused. Enabling it makes its
        password and keys valid again; browsers have to sign in again.
        """
        before = _find_standing(connection, user_id)
        if role == "member" or is_disabled:
            _check_not_last_admin(connection, user_id)
        change, events = update(users).where(users.c.id == user_id), list[AnyAuditEvent]()
        if role is not None and role != before.role:
            connection.execute(change.values(role=role))
            events.append(RoleChanged(user_id, role))
        if group_id is not UNSET and group_id != before.group_id:
            events.append(_group_event(connection, user_id, group_id))
            connection.execute(change.values(group_id=group_id))
        if is_disabled is False and before.disabled_at is not None:
            connection.execute(change.values(disabled_at=None))
            events.append(AccountEnabled(user_id))
        if is_disabled and before.disabled_at is None:
            self._disable(connection, user_id)
            events.append(AccountDisabled(user_id))
        for event in events:
            record(connection, event, by, self._database.now())

    async def disable(self, user_id: str, by: Actor = SERVER) -> None:
        await self.change_account(user_id, is_disabled=True, by=by)

    async def enable(self, user_id: str, by: Actor = SERVER) -> None:
        await self.change_account(user_id, is_disabled=False, by=by)

    @writes
    def close_account(self, connection: Connection, user_id: str, by: Actor = SERVER) -> None:
        """Disables the account before `erase`. The last administrator can close theirs only when
        no other account is left."""
        others = select(users.c.id).where(users.c.id != user_id).limit(1)
        _find_standing(connection, user_id)
        if connection.scalar(others) is not None:
            _check_not_last_admin(connection, user_id)
        record(connection, AccountDeleted(user_id), by, self._database.now())
        self._disable(connection, user_id)

    async def erase(self, user_id: str) -> None:
        """Deletes the account and everything it owns, in small transactions."""
        await erase_conversations(self._database, conversations.c.user_id == user_id)
        await erase_turns(self._database, turns.c.user_id == user_id)
        await erase_usage(self._database, user_id)
        await erase_memories(self._database, memories.c.user_id == user_id)
        await self._database.write(lambda connection: erase_names(connection, user_id))
        await erase_in_batches(self._database, delete(users).where(users.c.id == user_id))
        forget = partial(forget_deleted_accounts, database=self._database.path)
        await self._database.write(forget)

    def _disable(self, connection: Connection, user_id: str) -> None:
        now = self._database.now()
        disabled_at = func.coalesce(users.c.disabled_at, now)
        is_user, is_live = users.c.id == user_id, sessions.c.revoked_at.is_(None)
        connection.execute(update(users).where(is_user).values(disabled_at=disabled_at))
        revoke = update(sessions).where(sessions.c.user_id == user_id, is_live)
        connection.execute(revoke.values(revoked_at=now))


def _find_standing(
    connection: Connection, user_id: str
) -> Row[AccountRole, str | None, float | None]:
    query = select(users.c.role, users.c.group_id, users.c.disabled_at)
    row = connection.execute(query.where(users.c.id == user_id)).one_or_none()
    if row is None:
        raise user_not_found()
    return row


def _group_event(
    connection: Connection, user_id: str, group_id: str | None
) -> GroupJoined | GroupLeft:
    """Raises NotFound for a group that does not exist."""
    if group_id is None:
        return GroupLeft(user_id)
    return GroupJoined(user_id, group_id, check_group(connection, group_id))


def _check_not_last_admin(connection: Connection, user_id: str) -> None:
    admins = connection.scalars(select(users.c.id).where(is_admin()))
    if set(admins) == {user_id}:
        raise Conflict("This is the last administrator. Make someone else an administrator first.")
