"""Sessions of signed-in browsers. Tokens are stored as hashes, and rotated.

After a rotation the previous token stays valid until the browser has used the new one, because the
response that carried it may have been lost, and for a short grace period.
"""

import logging
from collections.abc import Collection
from functools import partial
from uuid import uuid4

from msgspec import structs
from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    and_,
    bindparam,
    insert,
    or_,
    select,
    update,
)

from hitsend.errors import NotFound, StoreDown
from hitsend.store.audit import record
from hitsend.store.audit_events import SERVER, Actor, FirstStep, SecondStep, SignedIn, SignedOut
from hitsend.store.database import Database, reads, writes
from hitsend.store.prepared import Prepared
from hitsend.store.rows import Session, User
from hitsend.store.schema import sessions, users
from hitsend.store.users import USER_COLUMNS, is_enabled

log = logging.getLogger(__name__)

GRACE_S = 60.0
"""How long the previous token is valid after the first use of the new one: other requests with the
previous one may be on their way."""

TOUCH_S = 60.0
"""Accuracy of `last_seen_at`. An exact time would be a write per request."""

SESSION_COLUMNS = (
    sessions.c.id,
    sessions.c.user_id,
    sessions.c.user_agent,
    sessions.c.created_at,
    sessions.c.last_seen_at,
    sessions.c.rotated_at,
    sessions.c.expires_at,
    sessions.c.confirmed_at,
    sessions.c.needs_second_factor,
)


class Sessions:
    _database: Database

    @writes
    def open_session(
        self,
        connection: Connection,
        user_id: str,
        token_hash: str,
        *,
        user_agent: str,
        expires_at: float,
        needs_second_factor: bool = False,
        method: FirstStep = "password",
        second_factor: SecondStep | None = None,
        by: Actor = SERVER,
    ) -> Session:
        now = self._database.now()
        session = Session(
            id=str(uuid4()),
            user_id=user_id,
            user_agent=user_agent,
            created_at=now,
            last_seen_at=now,
            rotated_at=now,
            expires_at=expires_at,
            confirmed_at=now,
            needs_second_factor=needs_second_factor,
        )
        row = {"token_hash": token_hash, "arrived_at": now, **structs.asdict(session)}
        connection.execute(insert(sessions).values(row))
        signed_in = structs.replace(by, user_id=user_id, session_id=session.id)
        record(connection, SignedIn(user_id, method, second_factor), signed_in, now)
        return session

    async def find_by_session(self, token_hash: str) -> tuple[Session, User] | None:
        now = self._database.now()
        find = partial(FIND_SESSION.first, token_hash=token_hash, now=now, grace_ends=now - GRACE_S)
        row = await self._database.read(find)
        if row is None:
            return None
        num = len(SESSION_COLUMNS)
        session, user, is_first = Session(*row[:num]), User(*row[num:-1]), row[-1]
        if is_first:
            await self._record_first_use(session.id, token_hash)
        return session, user

    async def _record_first_use(self, session_id: str, token_hash: str) -> None:
        query = update(sessions).where(
            sessions.c.id == session_id,
            sessions.c.token_hash == token_hash,
            sessions.c.arrived_at.is_(None),
        )
        try:
            record = query.values(arrived_at=self._database.now())
            await self._database.write(lambda connection: connection.execute(record).close())
        except StoreDown as error:  # the request itself is fine, and the next one tries again
            log.warning("A new session token could not be recorded: %s", error.message)

    @writes
    def rotate_session(
        self, connection: Connection, session_id: str, old_hash: str, new_hash: str
    ) -> bool:
        """Returns False if another request has rotated it: the token is no longer `old_hash`."""
        now = self._database.now()
        is_new_one_lost = and_(
            sessions.c.previous_token_hash == old_hash,
            sessions.c.arrived_at.is_(None),
            sessions.c.rotated_at <= now - GRACE_S,
        )
        query = update(sessions).where(
            sessions.c.id == session_id,
            or_(sessions.c.token_hash == old_hash, is_new_one_lost),
            *_is_valid(now),
        )
        values = {
            "token_hash": new_hash,
            "previous_token_hash": old_hash,
            "rotated_at": now,
            "arrived_at": None,
        }
        return connection.execute(query.values(values)).rowcount == 1

    @writes
    def touch_session(self, connection: Connection, session_id: str) -> None:
        now = self._database.now()
        query = update(sessions).where(
            sessions.c.id == session_id, sessions.c.last_seen_at <= now - TOUCH_S
        )
        connection.execute(query.values(last_seen_at=now))

    @writes
    def confirm_session(self, connection: Connection, session_id: str) -> None:
        """Records that the password was given again."""
        query = update(sessions).where(sessions.c.id == session_id)
        connection.execute(query.values(confirmed_at=self._database.now()))

    @reads
    def list_sessions(self, connection: Connection, user_id: str) -> list[Session]:
        query = select(*SESSION_COLUMNS).where(
            sessions.c.user_id == user_id, *_is_valid(self._database.now())
        )
        rows = connection.execute(query.order_by(sessions.c.last_seen_at.desc()))
        return [Session(*row) for row in rows]

    @reads
    def filter_sessions(self, connection: Connection, session_ids: Collection[str]) -> set[str]:
        """Returns those that are valid now."""
        query = (
            select(sessions.c.id)
            .join(users, users.c.id == sessions.c.user_id)
            .where(sessions.c.id.in_(session_ids), *_is_valid(self._database.now()), is_enabled())
        )
        return set(connection.scalars(query))

    @writes
    def revoke_session(
        self, connection: Connection, session_id: str, user_id: str, by: Actor = SERVER
    ) -> None:
        now = self._database.now()
        query = update(sessions).where(
            sessions.c.id == session_id, sessions.c.user_id == user_id, *_is_valid(now)
        )
        if connection.execute(query.values(revoked_at=now)).rowcount == 0:
            raise NotFound("There is no such session.")
        record(connection, SignedOut(user_id, session_id), by, now)


def _is_valid(now: float | BindParameter[float]) -> tuple[ColumnElement[bool], ...]:
    return sessions.c.revoked_at.is_(None), sessions.c.expires_at > now


IS_CURRENT = sessions.c.token_hash == bindparam("token_hash")
IS_PREVIOUS = and_(
    sessions.c.previous_token_hash == bindparam("token_hash"),
    or_(sessions.c.arrived_at.is_(None), sessions.c.arrived_at > bindparam("grace_ends")),
)
FIND_SESSION = Prepared(
    select(*SESSION_COLUMNS, *USER_COLUMNS, and_(IS_CURRENT, sessions.c.arrived_at.is_(None)))
    .join(users, users.c.id == sessions.c.user_id)
    .where(or_(IS_CURRENT, IS_PREVIOUS), *_is_valid(bindparam("now")), is_enabled())
)
