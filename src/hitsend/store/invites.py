"""Invite links. An administrator creates them; each creates one account."""

from uuid import uuid4

from sqlalchemy import Connection, insert, select, update

from hitsend.errors import NotFound, Refused
from hitsend.store.audit import record
from hitsend.store.audit_events import SERVER, AccountCreated, Actor, InviteCreated, InviteRevoked
from hitsend.store.database import Database, reads, writes
from hitsend.store.rows import AccountRole, Invite, User
from hitsend.store.schema import invites, users
from hitsend.store.users import add_user, is_admin

INVITE_COLUMNS = (
    invites.c.id,
    invites.c.role,
    invites.c.created_by,
    invites.c.created_at,
    invites.c.expires_at,
    users.c.name,
)


class Invites:
    _database: Database

    @writes
    def create_invite(
        self,
        connection: Connection,
        token_hash: str,
        role: AccountRole,
        created_by: str,
        expires_at: float,
        by: Actor = SERVER,
    ) -> Invite:
        invite = Invite(str(uuid4()), role, created_by, self._database.now(), expires_at, None)
        connection.execute(
            insert(invites).values(
                id=invite.id,
                token_hash=token_hash,
                role=role,
                created_by=created_by,
                created_at=invite.created_at,
                expires_at=expires_at,
            )
        )
        record(connection, InviteCreated(invite.id, role), by, invite.created_at)
        return invite

    @reads
    def list_invites(self, connection: Connection) -> list[Invite]:
        """Returns all invites that were not revoked, including used ones."""
        query = (
            select(*INVITE_COLUMNS)
            .outerjoin(users, users.c.id == invites.c.used_by)
            .where(invites.c.revoked_at.is_(None))
            .order_by(invites.c.created_at.desc())
        )
        return [Invite(*row) for row in connection.execute(query)]

    @reads
    def check_invite(self, connection: Connection, token_hash: str) -> AccountRole:
        """Returns the role of the account it would create. Raises Refused if it is invalid."""
        return self._find_usable(connection, token_hash)[1]

    @writes
    def redeem_invite(
        self,
        connection: Connection,
        token_hash: str,
        name: str,
        password_hash: str,
        by: Actor = SERVER,
    ) -> User:
        now = self._database.now()
        invite_id, role = self._find_usable(connection, token_hash)
        user = add_user(connection, name, password_hash, role, now)
        connection.execute(
            update(invites).where(invites.c.id == invite_id).values(used_by=user.id, used_at=now)
        )
        record(connection, AccountCreated(user.id, role, invite_id), by, now)
        return user

    @writes
    def revoke_invite(self, connection: Connection, invite_id: str, by: Actor = SERVER) -> None:
        query = update(invites).where(
            invites.c.id == invite_id, invites.c.revoked_at.is_(None), invites.c.used_at.is_(None)
        )
        result = connection.execute(query.values(revoked_at=self._database.now()))
        if result.rowcount == 0:
            raise NotFound("There is no such invite, or it was used.")
        record(connection, InviteRevoked(invite_id), by, self._database.now())

    def _find_usable(self, connection: Connection, token_hash: str) -> tuple[str, AccountRole]:
        """Refuses an invitation whose creator is no longer an administrator."""
        query = (
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
        row = connection.execute(query).one_or_none()
        if row is None or row.revoked_at is not None:
            raise Refused("This invite link is not valid. Ask for a new one.", param="invite")
        if row.used_at is not None:
            raise Refused("This invite link was used already. Ask for a new one.", param="invite")
        if row.expires_at <= self._database.now():
            raise Refused("This invite link has expired. Ask for a new one.", param="invite")
        return row.id, row.role
