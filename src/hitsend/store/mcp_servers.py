"""MCP servers: listed, added, changed, deleted.

A person manages their own servers, an administrator those of everyone and of groups. Knows neither
the protocol nor how to decrypt what is sealed.
"""

from collections.abc import Sequence

from msgspec import UNSET, structs
from sqlalchemy import Connection, delete, func, insert, or_, select, update

from hitsend.errors import Conflict
from hitsend.store.audit import record
from hitsend.store.audit_events import Actor, McpServerAdded, McpServerChanged, McpServerDeleted
from hitsend.store.database import Database, reads, writes
from hitsend.store.groups import check_group
from hitsend.store.mcp_access import is_shared, may_manage, may_use, read_server, read_servers
from hitsend.store.mcp_rows import McpServer, McpServerChange, NewMcpServer
from hitsend.store.mcp_schema import (
    mcp_clients,
    mcp_server_groups,
    mcp_servers,
    mcp_sign_ins,
    mcp_tokens,
)

MAX_OWN = 20
"""Servers of one person."""
MAX_SHARED = 100


class McpServers:
    def __init__(self, database: Database) -> None:
        self._database = database

    @reads
    def list(self, connection: Connection, user_id: str) -> Sequence[McpServer]:
        """Returns those that the person may use or manage, by title."""
        found = read_servers(connection, or_(may_use(user_id), may_manage(user_id)))
        return sorted(found, key=lambda one: (one.title.casefold(), one.id))

    @reads
    def usable_ids(self, connection: Connection, user_id: str) -> frozenset[str]:
        found = select(mcp_servers.c.id).where(may_use(user_id))
        return frozenset(connection.scalars(found))

    @reads
    def find_usable(self, connection: Connection, server_id: str, user_id: str) -> McpServer:
        """Raises NotFound."""
        return read_server(connection, server_id, may_use(user_id))

    @reads
    def find_seen(self, connection: Connection, server_id: str, user_id: str) -> McpServer:
        """Finds one that the person may use or manage. Raises NotFound."""
        return read_server(connection, server_id, or_(may_use(user_id), may_manage(user_id)))

    @reads
    def find_managed(self, connection: Connection, server_id: str, user_id: str) -> McpServer:
        """Raises NotFound."""
        return read_server(connection, server_id, may_manage(user_id))

    @writes
    def add(self, connection: Connection, new: NewMcpServer, by: Actor) -> McpServer:
        """Raises Conflict if there are too many, NotFound for an unknown group."""
        now = self._database.now()
        is_beside = mcp_servers.c.owner_id == new.owner_id if new.owner_id else is_shared()
        num_servers = connection.scalar(select(func.count()).where(is_beside)) or 0
        if num_servers >= (MAX_OWN if new.owner_id else MAX_SHARED):
            raise Conflict(f"There are {num_servers} servers, the most there can be.")
        values = structs.asdict(new)
        group_ids = values.pop("group_ids")
        values["prefix"] = _free_prefix(connection, new.prefix, new.owner_id, "")
        row = insert(mcp_servers).values(**values, is_on=True, created_at=now, listed_at=None)
        connection.execute(row)
        _set_groups(connection, new.id, group_ids)
        event = McpServerAdded(new.id, new.title, new.kind, new.audience)
        record(connection, event, by, now)
        return read_server(connection, new.id)

    @writes
    def change(
        self,
        connection: Connection,
        server_id: str,
        user_id: str,
        change: McpServerChange,
        by: Actor,
    ) -> McpServer:
        """Raises NotFound."""
        before = read_server(connection, server_id, may_manage(user_id))
        values = {
            name: value for name, value in structs.asdict(change).items() if value is not UNSET
        }
        changed = tuple(sorted(values))
        if (group_ids := values.pop("group_ids", None)) is not None:
            _set_groups(connection, server_id, group_ids)
        if (audience := values.get("audience")) is not None:
            owner_id = user_id if audience == "owner" else None
            prefix = _free_prefix(connection, before.prefix, owner_id, server_id)
            values |= {"owner_id": owner_id, "prefix": prefix}
            if audience != "groups":
                _set_groups(connection, server_id, ())
            if owner_id is not None:
                others = mcp_tokens.c.server_id == server_id, mcp_tokens.c.user_id != owner_id
                connection.execute(delete(mcp_tokens).where(*others))
        if "url" in values and values["url"] != before.url:
            # The tokens of one server are never shown to another.
            for table in (mcp_tokens, mcp_clients, mcp_sign_ins):
                connection.execute(delete(table).where(table.c.server_id == server_id))
        if values:
            is_it = mcp_servers.c.id == server_id
            connection.execute(update(mcp_servers).where(is_it).values(**values))
        after = read_server(connection, server_id)
        event = McpServerChanged(server_id, after.title, changed, after.audience)
        record(connection, event, by, self._database.now())
        return after

    @writes
    def delete(self, connection: Connection, server_id: str, user_id: str, by: Actor) -> None:
        """Raises NotFound."""
        server = read_server(connection, server_id, may_manage(user_id))
        connection.execute(delete(mcp_servers).where(mcp_servers.c.id == server_id))
        record(connection, McpServerDeleted(server_id, server.title), by, self._database.now())


def _set_groups(connection: Connection, server_id: str, group_ids: Sequence[str]) -> None:
    """Raises NotFound."""
    for group_id in group_ids:
        check_group(connection, group_id)
    is_its = mcp_server_groups.c.server_id == server_id
    connection.execute(delete(mcp_server_groups).where(is_its))
    rows = [{"server_id": server_id, "group_id": one} for one in dict.fromkeys(group_ids)]
    if rows:
        connection.execute(insert(mcp_server_groups), rows)


def _free_prefix(connection: Connection, wished: str, owner_id: str | None, except_id: str) -> str:
    """A person sees the shared servers and their own: a shared one differs from all."""
    others = select(mcp_servers.c.prefix).where(mcp_servers.c.id != except_id)
    if owner_id is not None:
        others = others.where(or_(is_shared(), mcp_servers.c.owner_id == owner_id))
    taken = set(connection.scalars(others))
    number, prefix = 1, wished
    while prefix in taken:
        number += 1
        prefix = f"{wished}{number}"
    return prefix
