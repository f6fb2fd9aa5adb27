"""Who may use and who may manage which MCP server, as conditions of queries."""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, and_, or_, select

from hitsend.errors import NotFound
from hitsend.store.mcp_rows import McpServer
from hitsend.store.mcp_schema import mcp_server_groups, mcp_servers
from hitsend.store.schema import users

SERVER_FIELDS = tuple(name for name in McpServer.__struct_fields__ if name != "group_ids")
SERVER_COLUMNS = tuple(mcp_servers.c[name] for name in SERVER_FIELDS)


def is_shared() -> ColumnElement[bool]:
    return mcp_servers.c.owner_id.is_(None)


def may_manage(user_id: str) -> ColumnElement[bool]:
    """A command runs on this machine: only an administrator manages one, their own too."""
    is_admin = select(users.c.id).where(users.c.id == user_id, users.c.role == "admin").exists()
    is_own = and_(mcp_servers.c.owner_id == user_id, or_(mcp_servers.c.kind != "command", is_admin))
    return or_(is_own, and_(is_shared(), is_admin))


def may_use(user_id: str) -> ColumnElement[bool]:
    in_group = (
        select(mcp_server_groups.c.server_id)
        .join(users, users.c.group_id == mcp_server_groups.c.group_id)
        .where(mcp_server_groups.c.server_id == mcp_servers.c.id, users.c.id == user_id)
        .exists()
    )
    is_admin = select(users.c.id).where(users.c.id == user_id, users.c.role == "admin").exists()
    audience = mcp_servers.c.audience
    return or_(
        and_(
            audience == "owner",
            mcp_servers.c.owner_id == user_id,
            or_(mcp_servers.c.kind != "command", is_admin),
        ),
        and_(audience == "everyone", is_shared()),
        and_(audience == "groups", is_shared(), in_group),
    )


def read_servers(connection: Connection, where: ColumnElement[bool]) -> Sequence[McpServer]:
    rows = connection.execute(select(*SERVER_COLUMNS).where(where)).all()
    groups: dict[str, list[str]] = {}
    ids = [row.id for row in rows]
    for server_id, group_id in connection.execute(
        select(mcp_server_groups.c.server_id, mcp_server_groups.c.group_id).where(
            mcp_server_groups.c.server_id.in_(ids)
        )
    ):
        groups.setdefault(server_id, []).append(group_id)
    return [
        McpServer(
            **dict(zip(SERVER_FIELDS, row, strict=True)),
            group_ids=tuple(sorted(groups.get(row.id, ()))),
        )
        for row in rows
    ]


def read_server(
    connection: Connection, server_id: str, where: ColumnElement[bool] | None = None
) -> McpServer:
    is_it = mcp_servers.c.id == server_id
    found = read_servers(connection, is_it if where is None else and_(is_it, where))
    if not found:
        raise NotFound("There is no such server.", param="server_id")
    return found[0]
