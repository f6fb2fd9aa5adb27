"""Signed-in browsers. Only hashes of their tokens are kept.

A token that is replaced holds until the browser has used the new one, which may have been lost
on the way, and for a moment more.
"""

import logging
from collections.abc import Collection
from uuid import uuid4

from msgspec import structs
from sqlalchemy import ColumnElement, and_, insert, or_, select, update

from hitsend.errors import NotFound, StoreDown
from hitsend.store.database import Database
from hitsend.store.rows import Session, User
from hitsend.store.schema import sessions, users
from hitsend.store.users import USER, is_enabled

log = logging.getLogger(__name__)

GRACE_S = 60.0
"""How long the old token holds once the new one is used: requests sent before are on their way."""

TOUCH_S = 60.0
"""How stale the time a session was last seen may be. Exact would be a write per request."""

SESSION = (
    sessions.c.id,
    sessions.c.user_id,
    sessions.c.user_agent,
    sessions.c.created_at,
    sessions.c.last_seen_at,
    sessions.c.rotated_at,
    sessions.c.expires_at,
)


class Sessions:
    _database: Database

    async def open_session(
        self, user_id: str, token_hash: str, *, user_agent: str, expires_at: float
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
        )
        row = {"token_hash": token_hash, "arrived_at": now, **structs.asdict(session)}
        async with self._database.write() as connection:
            await connection.execute(insert(sessions).values(row))
        return session

    async def by_session(self, token_hash: str) -> tuple[Session, User] | None:
        now = self._database.now()
        is_current = sessions.c.token_hash == token_hash
        was_current = and_(
            sessions.c.previous_token_hash == token_hash,
            or_(sessions.c.arrived_at.is_(None), sessions.c.arrived_at > now - GRACE_S),
        )
        has_arrived = and_(is_current, sessions.c.arrived_at.is_(None))
        found = (
            select(*SESSION, *USER, has_arrived)
            .join(users, users.c.id == sessions.c.user_id)
            .where(or_(is_current, was_current), *_is_live(now), is_enabled())
        )
        async with self._database.read() as connection:
            row = (await connection.execute(found)).one_or_none()
        if row is None:
            return None
        session, user, has_arrived_now = Session(*row[:7]), User(*row[7:10]), row[10]
        if has_arrived_now:
            await self._note_arrival(session.id, token_hash)
        return session, user

    async def _note_arrival(self, session_id: str, token_hash: str) -> None:
        arriving = update(sessions).where(
            sessions.c.id == session_id,
            sessions.c.token_hash == token_hash,
            sessions.c.arrived_at.is_(None),
        )
        try:
            async with self._database.write() as connection:
                await connection.execute(arriving.values(arrived_at=self._database.now()))
        except StoreDown as error:  # no reason to turn anyone away: the next request notes it
            log.warning("A new session token could not be noted: %s", error.message)

    async def rotate_session(self, session_id: str, old_hash: str, new_hash: str) -> bool:
        """False when another request was quicker: the token is no longer `old_hash`."""
        now = self._database.now()
        was_lost = and_(
            sessions.c.previous_token_hash == old_hash,
            sessions.c.arrived_at.is_(None),
            sessions.c.rotated_at <= now - GRACE_S,
        )
        rotating = update(sessions).where(
            sessions.c.id == session_id,
            or_(sessions.c.token_hash == old_hash, was_lost),
            *_is_live(now),
        )
        values = {
            "token_hash": new_hash,
            "previous_token_hash": old_hash,
            "rotated_at": now,
            "arrived_at": None,
        }
        async with self._database.write() as connection:
            return (await connection.execute(rotating.values(values))).rowcount == 1

    async def touch_session(self, session_id: str) -> None:
        now = self._database.now()
        touching = update(sessions).where(
            sessions.c.id == session_id, sessions.c.last_seen_at <= now - TOUCH_S
        )
        async with self._database.write() as connection:
            await connection.execute(touching.values(last_seen_at=now))

    async def sessions(self, user_id: str) -> list[Session]:
        theirs = select(*SESSION).where(
            sessions.c.user_id == user_id, *_is_live(self._database.now())
        )
        async with self._database.read() as connection:
            rows = await connection.execute(theirs.order_by(sessions.c.last_seen_at.desc()))
        return [Session(*row) for row in rows]

    async def live_sessions(self, session_ids: Collection[str]) -> set[str]:
        """Those of them that hold now."""
        live = (
            select(sessions.c.id)
            .join(users, users.c.id == sessions.c.user_id)
            .where(sessions.c.id.in_(session_ids), *_is_live(self._database.now()), is_enabled())
        )
        async with self._database.read() as connection:
            return set(await connection.scalars(live))

    async def revoke_session(self, session_id: str, user_id: str) -> None:
        now = self._database.now()
        revoking = update(sessions).where(
            sessions.c.id == session_id, sessions.c.user_id == user_id, *_is_live(now)
        )
        async with self._database.write() as connection:
            if (await connection.execute(revoking.values(revoked_at=now))).rowcount == 0:
                raise NotFound("There is no such session.")


def _is_live(now: float) -> tuple[ColumnElement[bool], ...]:
    return sessions.c.revoked_at.is_(None), sessions.c.expires_at > now
