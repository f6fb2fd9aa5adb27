"""Tools of MCP servers, as somebody confirmed them, and recent calls of them."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec import structs
from sqlalchemy import ColumnElement, Connection, and_, delete, insert, or_, select, update

from hitsend.errors import Conflict, NotFound
from hitsend.store.audit import record
from hitsend.store.audit_events import Actor, McpToolChanged
from hitsend.store.database import Database, reads, writes
from hitsend.store.mcp_access import may_manage, may_use, read_server, read_servers
from hitsend.store.mcp_rows import CallOutcome, McpCall, McpServer, McpTool, ToolDraft
from hitsend.store.mcp_schema import mcp_calls, mcp_servers, mcp_tools
from hitsend.store.schema import users

MAX_CALLS = 300
"""Kept of each server."""

TOOL_COLUMNS = tuple(mcp_tools.c[name] for name in McpTool.__struct_fields__)


class UsableTool(NamedTuple):
    server: McpServer
    tool: McpTool


class McpTools:
    def __init__(self, database: Database) -> None:
        self._database = database

    @reads
    def list(self, connection: Connection, server_id: str) -> Sequence[McpTool]:
        """Returns all of the server, in its order. The caller has found the server before."""
        return _read_tools(connection, mcp_tools.c.server_id == server_id)

    @reads
    def list_seen(self, connection: Connection, user_id: str) -> Sequence[McpTool]:
        """Returns those of all servers that the person may use or manage."""
        seen = select(mcp_servers.c.id).where(or_(may_use(user_id), may_manage(user_id)))
        return _read_tools(connection, mcp_tools.c.server_id.in_(seen))

    @reads
    def list_usable(self, connection: Connection, user_id: str) -> Sequence[UsableTool]:
        """Returns those that are on, of servers that are on, in a stable order."""
        servers = {
            one.id: one
            for one in read_servers(connection, and_(may_use(user_id), mcp_servers.c.is_on))
        }
        if not servers:
            return ()
        is_on = mcp_tools.c.is_on, mcp_tools.c.server_id.in_(servers)
        tools = [one for one in _read_tools(connection, and_(*is_on)) if one.is_usable]
        order = sorted(servers.values(), key=lambda one: (one.created_at, one.id))
        return [
            UsableTool(server, one)
            for server in order
            for one in tools
            if one.server_id == server.id
        ]

    @reads
    def find_usable(
        self, connection: Connection, server_id: str, name: str, user_id: str
    ) -> UsableTool:
        """Raises NotFound, also if the tool is off now."""
        server = read_server(connection, server_id, and_(may_use(user_id), mcp_servers.c.is_on))
        return UsableTool(server, _usable_tool(connection, server_id, name))

    @writes
    def record_listing(
        self,
        connection: Connection,
        server_id: str,
        listing: Mapping[str, ToolDraft],
        *,
        is_whole: bool,
    ) -> bool:
        """Takes what a server says of its tools. All of the first time are on. A tool that comes
        later is off until somebody turns it on, and one that changes until somebody confirms it.
        Unless the listing is what everybody sees, none is missing because it is not in it.
        Returns whether anything changed."""
        found = select(mcp_servers.c.listed_at).where(mcp_servers.c.id == server_id)
        row = connection.execute(found).first()
        if row is None:
            return False
        is_first = row.listed_at is None
        known = {
            one.name: one for one in _read_tools(connection, mcp_tools.c.server_id == server_id)
        }
        has_changed = is_first
        for position, (name, draft) in enumerate(listing.items()):
            if name not in known:
                _add_tool(connection, server_id, name, draft, position, is_new=not is_first)
                has_changed = True
            else:
                has_changed |= _update_tool(connection, known[name], draft)
        missing = [one for name, one in known.items() if name not in listing]
        if is_whole:
            for one in missing:
                has_changed |= not one.is_missing
                _set_tool(connection, one, is_missing=True)
        if is_first:
            is_it = mcp_servers.c.id == server_id
            connection.execute(
                update(mcp_servers).where(is_it).values(listed_at=self._database.now())
            )
        return has_changed

    @writes
    def change(
        self,
        connection: Connection,
        server_id: str,
        name: str,
        user_id: str,
        by: Actor,
        *,
        is_on: bool | None = None,
        is_read_only: bool | None = None,
        confirmed_digest: str | None = None,
    ) -> McpTool:
        """Confirms a change of the tool if the digest is that of the change. Raises NotFound, and
        Conflict if the tool has changed again."""
        read_server(connection, server_id, may_manage(user_id))
        tool = _read_tool(connection, server_id, name)
        values: dict[str, object] = {"is_new": False}
        if is_on is not None:
            values["is_on"] = is_on
        if is_read_only is not None:
            values["is_read_only"] = is_read_only
        if confirmed_digest is not None and tool.draft is not None:
            if tool.draft.digest != confirmed_digest:
                raise Conflict("The tool has changed again. Look at it once more.")
            # What it does may have changed, too.
            values |= structs.asdict(tool.draft) | {"draft": None, "is_on": True}
            values.setdefault("is_read_only", False)
        _set_tool(connection, tool, **values)
        after = _read_tool(connection, server_id, name)
        event = McpToolChanged(
            server_id, name[:200], after.is_on, after.is_read_only, confirmed_digest is not None
        )
        record(connection, event, by, self._database.now())
        return after

    @writes
    def add_call(
        self,
        connection: Connection,
        server_id: str,
        user_id: str,
        tool: str,
        took_ms: float,
        outcome: CallOutcome,
        num_chars: int,
    ) -> None:
        """Does nothing if the server or the person was deleted meanwhile."""
        is_there = select(mcp_servers.c.id).where(
            mcp_servers.c.id == server_id, select(users.c.id).where(users.c.id == user_id).exists()
        )
        if connection.scalar(is_there) is None:
            return
        row = insert(mcp_calls).values(
            server_id=server_id,
            user_id=user_id,
            tool=tool,
            at=self._database.now(),
            took_ms=took_ms,
            outcome=outcome,
            num_chars=num_chars,
        )
        connection.execute(row)
        is_its = mcp_calls.c.server_id == server_id
        newest = select(mcp_calls.c.id).where(is_its).order_by(mcp_calls.c.id.desc())
        oldest_kept = newest.limit(1).offset(MAX_CALLS - 1).scalar_subquery()
        connection.execute(delete(mcp_calls).where(is_its, mcp_calls.c.id < oldest_kept))

    @reads
    def list_calls(self, connection: Connection, server_id: str, user_id: str) -> Sequence[McpCall]:
        """Returns the newest first: all of them to whoever manages the server, else the person's
        own. Raises NotFound."""
        read_server(connection, server_id, or_(may_use(user_id), may_manage(user_id)))
        is_managed = select(mcp_servers.c.id).where(
            mcp_servers.c.id == server_id, may_manage(user_id)
        )
        found = (
            select(
                mcp_calls.c.tool,
                users.c.name,
                mcp_calls.c.at,
                mcp_calls.c.took_ms,
                mcp_calls.c.outcome,
                mcp_calls.c.num_chars,
            )
            .join(users, users.c.id == mcp_calls.c.user_id)
            .where(mcp_calls.c.server_id == server_id)
            .order_by(mcp_calls.c.id.desc())
            .limit(100)
        )
        if connection.scalar(is_managed) is None:
            found = found.where(mcp_calls.c.user_id == user_id)
        return [McpCall(*row) for row in connection.execute(found)]


def _read_tools(connection: Connection, where: ColumnElement[bool]) -> Sequence[McpTool]:
    order = mcp_tools.c.server_id, mcp_tools.c.position, mcp_tools.c.name
    rows = connection.execute(select(*TOOL_COLUMNS).where(where).order_by(*order))
    return [McpTool(**dict(zip(McpTool.__struct_fields__, row, strict=True))) for row in rows]


def _read_tool(connection: Connection, server_id: str, name: str) -> McpTool:
    is_it = mcp_tools.c.server_id == server_id, mcp_tools.c.name == name
    if not (found := _read_tools(connection, and_(*is_it))):
        raise NotFound("There is no such tool.", param="name")
    return found[0]


def _usable_tool(connection: Connection, server_id: str, name: str) -> McpTool:
    tool = _read_tool(connection, server_id, name)
    if not tool.is_usable:
        raise NotFound("This tool is turned off now.", param="name")
    return tool


def _add_tool(
    connection: Connection,
    server_id: str,
    name: str,
    draft: ToolDraft,
    position: int,
    *,
    is_new: bool,
) -> None:
    row = insert(mcp_tools).values(
        **structs.asdict(draft),
        server_id=server_id,
        name=name,
        position=position,
        is_on=not is_new,
        is_missing=False,
        is_new=is_new,
        is_read_only=False,
        draft=None,
    )
    connection.execute(row)


def _update_tool(connection: Connection, tool: McpTool, draft: ToolDraft) -> bool:
    """A tool that is again as it was confirmed needs no confirmation."""
    changed = None if draft.digest == tool.digest else draft
    if tool.draft == changed and not tool.is_missing:
        return False
    _set_tool(connection, tool, draft=changed, is_missing=False)
    return True


def _set_tool(connection: Connection, tool: McpTool, **values: object) -> None:
    is_it = mcp_tools.c.server_id == tool.server_id, mcp_tools.c.name == tool.name
    connection.execute(update(mcp_tools).where(*is_it).values(**values))
