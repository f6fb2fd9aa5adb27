"""Sign-ins at MCP servers: the tokens of people, sign-ins under way, and how hitsend is registered.

All of it is sealed: nothing here knows how to decrypt it.
"""

from sqlalchemy import ColumnElement, Connection, and_, delete, insert, select, update
from sqlalchemy.dialects.sqlite import insert as upsert

from hitsend.errors import NotFound
from hitsend.store.audit import record
from hitsend.store.audit_events import Actor, McpSignedIn, McpSignedOut
from hitsend.store.database import Database, reads, writes
from hitsend.store.mcp_access import may_use, read_server
from hitsend.store.mcp_rows import SignInState
from hitsend.store.mcp_schema import mcp_clients, mcp_sign_ins, mcp_tokens

MAX_SIGN_INS = 10
"""Begun by one person."""


class McpSignIns:
    def __init__(self, database: Database) -> None:
        self._database = database

    @reads
    def token(self, connection: Connection, server_id: str, user_id: str) -> bytes | None:
        found = select(mcp_tokens.c.sealed).where(_is_token(server_id, user_id))
        return connection.scalar(found)

    @reads
    def signed_in_ids(self, connection: Connection, user_id: str) -> frozenset[str]:
        found = select(mcp_tokens.c.server_id).where(mcp_tokens.c.user_id == user_id)
        return frozenset(connection.scalars(found))

    @writes
    def set_token(
        self,
        connection: Connection,
        server_id: str,
        user_id: str,
        sealed: bytes,
        *,
        by: Actor | None = None,
        replaces: bytes | None = None,
    ) -> bool:
        """Stores the tokens of a sign-in, which `by` made, or of a refresh. A refresh counts only
        while the tokens it replaces are there. Returns whether they are stored."""
        now = self._database.now()
        if by is None:
            is_same = _is_token(server_id, user_id), mcp_tokens.c.sealed == replaces
            refreshed = update(mcp_tokens).where(*is_same).values(sealed=sealed, updated_at=now)
            return connection.execute(refreshed).rowcount == 1
        server = read_server(connection, server_id, may_use(user_id))
        values = {"sealed": sealed, "updated_at": now}
        row = upsert(mcp_tokens).values(server_id=server_id, user_id=user_id, **values)
        connection.execute(row.on_conflict_do_update(["server_id", "user_id"], set_=values))
        record(connection, McpSignedIn(server_id, server.title), by, now)
        return True

    @writes
    def delete_token(
        self, connection: Connection, server_id: str, user_id: str, by: Actor | None = None
    ) -> None:
        """Forgets a person's sign-in. Without `by`, because the server refuses it now."""
        removed = connection.execute(delete(mcp_tokens).where(_is_token(server_id, user_id)))
        if by is not None and removed.rowcount:
            record(connection, McpSignedOut(server_id), by, self._database.now())

    @writes
    def begin(
        self,
        connection: Connection,
        state_hash: str,
        server_id: str,
        user_id: str,
        sealed: bytes,
        expires_at: float,
    ) -> None:
        read_server(connection, server_id, may_use(user_id))
        table, now = mcp_sign_ins, self._database.now()
        connection.execute(delete(table).where(table.c.expires_at < now))
        own = select(table.c.state_hash).where(table.c.user_id == user_id)
        newest = own.order_by(table.c.expires_at.desc()).limit(MAX_SIGN_INS - 1)
        is_too_old = table.c.user_id == user_id, table.c.state_hash.not_in(newest)
        connection.execute(delete(table).where(*is_too_old))
        row = insert(table).values(
            state_hash=state_hash,
            server_id=server_id,
            user_id=user_id,
            sealed=sealed,
            expires_at=expires_at,
        )
        connection.execute(row)

    @writes
    def take(self, connection: Connection, state_hash: str, user_id: str) -> SignInState:
        """Returns what a person began, once. Raises NotFound."""
        table = mcp_sign_ins
        is_it = (
            table.c.state_hash == state_hash,
            table.c.user_id == user_id,
            table.c.expires_at >= self._database.now(),
        )
        row = connection.execute(select(table.c.server_id, table.c.sealed).where(*is_it)).first()
        if row is None:
            raise NotFound("This sign-in has expired, or was begun by somebody else. Begin again.")
        connection.execute(delete(table).where(table.c.state_hash == state_hash))
        return SignInState(*row)

    @reads
    def client(self, connection: Connection, server_id: str) -> bytes | None:
        found = select(mcp_clients.c.sealed).where(mcp_clients.c.server_id == server_id)
        return connection.scalar(found)

    @writes
    def set_client(self, connection: Connection, server_id: str, sealed: bytes) -> None:
        values = {"sealed": sealed, "updated_at": self._database.now()}
        row = upsert(mcp_clients).values(server_id=server_id, **values)
        connection.execute(row.on_conflict_do_update(["server_id"], set_=values))


def _is_token(server_id: str, user_id: str) -> ColumnElement[bool]:
    return and_(mcp_tokens.c.server_id == server_id, mcp_tokens.c.user_id == user_id)
