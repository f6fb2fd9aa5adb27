"""Links an admin makes, each of which lets one person in, once."""

from uuid import uuid4

from sqlalchemy import insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from hitsend.errors import NotFound, Refused
from hitsend.store.database import Database
from hitsend.store.rows import AccountRole, Invite, User
from hitsend.store.schema import invites, users
from hitsend.store.users import add_user, is_admin

INVITE = (
    invites.c.id,
    invites.c.role,
    invites.c.created_by,
    invites.c.created_at,
    invites.c.expires_at,
    users.c.name,
)


class Invites:
    _database: Database

    async def create_invite(
        self, token_hash: str, role: AccountRole, created_by: str, expires_at: float
    ) -> Invite:
        invite = Invite(str(uuid4()), role, created_by, self._database.now(), expires_at, None)
        async with self._database.write() as connection:
            await connection.execute(
                insert(invites).values(
                    id=invite.id,
                    token_hash=token_hash,
                    role=role,
                    created_by=created_by,
                    created_at=invite.created_at,
                    expires_at=expires_at,
                )
            )
        return invite

    async def invites(self) -> list[Invite]:
        """All that were not taken back, used ones too."""
        kept = (
            select(*INVITE)
            .outerjoin(users, users.c.id == invites.c.used_by)
            .where(invites.c.revoked_at.is_(None))
            .order_by(invites.c.created_at.desc())
        )
        async with self._database.read() as connection:
            return [Invite(*row) for row in await connection.execute(kept)]

    async def check_invite(self, token_hash: str) -> AccountRole:
        """What it would make of a person. Refused when it lets nobody in."""
        async with self._database.read() as connection:
            return (await self._usable(connection, token_hash))[1]

    async def redeem_invite(self, token_hash: str, name: str, password_hash: str) -> User:
        now = self._database.now()
        async with self._database.write() as connection:
            invite_id, role = await self._usable(connection, token_hash)
            user = await add_user(connection, name, password_hash, role, now)
            await connection.execute(
                update(invites)
                .where(invites.c.id == invite_id)
                .values(used_by=user.id, used_at=now)
            )
        return user

    async def revoke_invite(self, invite_id: str) -> None:
        revoking = update(invites).where(
            invites.c.id == invite_id, invites.c.revoked_at.is_(None), invites.c.used_at.is_(None)
        )
        async with self._database.write() as connection:
            done = await connection.execute(revoking.values(revoked_at=self._database.now()))
            if done.rowcount == 0:
                raise NotFound("There is no such invite, or it was used.")

    async def _usable(
        self, connection: AsyncConnection, token_hash: str
    ) -> tuple[str, AccountRole]:
        """Whoever made it has to be an administrator still."""
        found = (
            select(
                invites.c.id,
                invites.c.role,
                invites.c.expires_at,
                invites.c.used_at,
                invites.c.revoked_at,
            )
            .join(users, users.c.id == invites.c.created_by)
            .where(invites.c.token_hash == token_hash, is_admin())
        )
        row = (await connection.execute(found)).one_or_none()
        if row is None or row.revoked_at is not None:
            raise Refused("This invite link is not valid. Ask for a new one.", param="invite")
        if row.used_at is not None:
            raise Refused("This invite link was used already. Ask for a new one.", param="invite")
        if row.expires_at <= self._database.now():
            raise Refused("This invite link has expired. Ask for a new one.", param="invite")
        return row.id, row.role
