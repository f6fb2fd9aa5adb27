"""Password resets: links that let one person choose a new password, once, within a day.

A reset stays on record with who made it, and its person is told, so that nobody takes over an
account unnoticed.
"""

from uuid import uuid4

from sqlalchemy import Connection, func, insert, or_, select, update

from hitsend.errors import Refused
from hitsend.store.audit import record
from hitsend.store.audit_events import Actor, PasswordChanged, PasswordReset, ResetLinkCreated
from hitsend.store.database import Database, reads, writes
from hitsend.store.keys import revoke_keys
from hitsend.store.rows import Reset, User
from hitsend.store.schema import api_keys, password_resets, sessions, users
from hitsend.store.users import (
    USER_COLUMNS,
    is_admin,
    is_enabled,
    user_not_found,
)

NUM_LISTED = 200
RESET_COLUMNS = (
    password_resets.c.id,
    password_resets.c.made_by,
    password_resets.c.created_at,
    password_resets.c.expires_at,
    password_resets.c.used_at,
    password_resets.c.seen_at,
)
NOBODY = ""
"""`made_by` of a reset from the command line."""


class PasswordResets:
    def __init__(self, database: Database) -> None:
        self._database = database

    @writes
    def create(
        self,
        connection: Connection,
        user_id: str,
        token_hash: str,
        expires_at: float,
        *,
        admin: User | None,
        by: Actor,
    ) -> None:
        """Creates a link. Earlier ones of the same person become void. `admin` is None on the
        command line."""
        if connection.scalar(select(users.c.id).where(users.c.id == user_id, is_enabled())) is None:
            raise user_not_found()
        now = self._database.now()
        _void_links(connection, user_id, now)
        connection.execute(
            insert(password_resets).values(
                id=str(uuid4()),
                user_id=user_id,
                token_hash=token_hash,
                created_by=admin.id if admin else None,
                made_by=admin.name if admin else NOBODY,
                created_at=now,
                expires_at=expires_at,
            )
        )
        record(connection, ResetLinkCreated(user_id), by, now)

    @reads
    def check(self, connection: Connection, token_hash: str) -> tuple[User, int]:
        """Returns whose link it is, and the number of their API keys. Raises Refused."""
        _, user = self._find_usable(connection, token_hash)
        keys = select(func.count()).select_from(api_keys)
        is_theirs = api_keys.c.user_id == user.id, api_keys.c.revoked_at.is_(None)
        return user, connection.scalar(keys.where(*is_theirs)) or 0

    @writes
    def redeem(
        self,
        connection: Connection,
        token_hash: str,
        password_hash: str,
        *,
        revokes_keys: bool,
        by: Actor,
    ) -> None:
        """Sets the password, ends every session, and revokes the keys if wanted."""
        reset_id, user = self._find_usable(connection, token_hash)
        now = self._database.now()
        used = update(password_resets).where(password_resets.c.id == reset_id)
        connection.execute(used.values(used_at=now))
        event = PasswordReset(user.id, "link")
        replace_password(
            connection, user.id, password_hash, event, by, now, revokes_keys=revokes_keys
        )

    @writes
    def set_password(
        self,
        connection: Connection,
        user_id: str,
        password_hash: str,
        *,
        revokes_keys: bool,
        by: Actor,
    ) -> None:
        """Does the same without a link, for the command line."""
        now = self._database.now()
        row = {"id": str(uuid4()), "user_id": user_id, "made_by": NOBODY, "created_at": now}
        connection.execute(insert(password_resets).values(**row, expires_at=now, used_at=now))
        event = PasswordReset(user_id, "command line")
        replace_password(
            connection, user_id, password_hash, event, by, now, revokes_keys=revokes_keys
        )

    @reads
    def list(self, connection: Connection, user_id: str) -> list[Reset]:
        """Newest first, also links that were never used."""
        query = select(*RESET_COLUMNS).where(password_resets.c.user_id == user_id)
        newest = query.order_by(password_resets.c.created_at.desc()).limit(NUM_LISTED)
        return [Reset(*row) for row in connection.execute(newest)]

    @writes
    def mark_seen(self, connection: Connection, user_id: str) -> None:
        is_news = (
            password_resets.c.user_id == user_id,
            password_resets.c.used_at.is_not(None),
            password_resets.c.seen_at.is_(None),
        )
        mark = update(password_resets).where(*is_news)
        connection.execute(mark.values(seen_at=self._database.now()))

    def _find_usable(self, connection: Connection, token_hash: str) -> tuple[str, User]:
        """The administrator who made it must still be one."""
        admins = select(users.c.id).where(is_admin())
        query = (
            select(
                *USER_COLUMNS,
                password_resets.c.id.label("reset_id"),
                password_resets.c.expires_at,
                password_resets.c.used_at,
                password_resets.c.revoked_at,
            )
            .join(users, users.c.id == password_resets.c.user_id)
            .where(
                password_resets.c.token_hash == token_hash,
                or_(
                    password_resets.c.made_by == NOBODY,
                    password_resets.c.created_by.in_(admins.correlate(None)),
                ),
                is_enabled(),
            )
        )
        row = connection.execute(query).one_or_none()
        if row is None:
            raise Refused("This link is not valid. Ask for a new one.", param="token")
        if row.used_at is not None:
            raise Refused("This link was used already. Ask for a new one.", param="token")
        if row.revoked_at is not None:
            raise Refused("There is a newer link, or the password was changed.", param="token")
        if row.expires_at <= self._database.now():
            raise Refused("This link has expired. Ask for a new one.", param="token")
        return row.reset_id, User(*row[:3])


def replace_password(
    connection: Connection,
    user_id: str,
    password_hash: str,
    event: PasswordChanged | PasswordReset,
    by: Actor,
    now: float,
    *,
    kept_session_id: str = "",
    revokes_keys: bool,
) -> None:
    """Also ends the other sessions, voids open links, records the event, and revokes the API keys
    if asked to."""
    is_user = users.c.id == user_id, is_enabled()
    changed = connection.execute(update(users).where(*is_user).values(password_hash=password_hash))
    if changed.rowcount == 0:
        raise user_not_found()
    is_other = sessions.c.user_id == user_id, sessions.c.id != kept_session_id
    ended = update(sessions).where(*is_other, sessions.c.revoked_at.is_(None))
    connection.execute(ended.values(revoked_at=now))
    _void_links(connection, user_id, now)
    record(connection, event, by, now)
    if revokes_keys:
        revoke_keys(connection, api_keys.c.user_id == user_id, by, now)


def _void_links(connection: Connection, user_id: str, now: float) -> None:
    is_open = (
        password_resets.c.user_id == user_id,
        password_resets.c.used_at.is_(None),
        password_resets.c.revoked_at.is_(None),
    )
    connection.execute(update(password_resets).where(*is_open).values(revoked_at=now))
