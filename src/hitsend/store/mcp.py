"""MCP servers: who may use which, their tools as somebody confirmed them, and recent calls.

A person manages their own servers, an administrator those of everyone and of groups. Knows neither
the protocol nor how to decrypt what is sealed.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec import UNSET, structs
from sqlalchemy import (
    ColumnElement,
    Connection,
    and_,
    delete,
    func,
    insert,
    or_,
    select,
    update,
)
from sqlalchemy.dialects.sqlite import insert as upsert

from hitsend.errors import Conflict, NotFound
from hitsend.store.audit import record
from hitsend.store.audit_events import (
    Actor,
    McpServerAdded,
    McpServerChanged,
    McpServerDeleted,
    McpSignedIn,
    McpSignedOut,
    McpToolChanged,
)
from hitsend.store.database import Database, reads, writes
from hitsend.store.groups import check_group
from hitsend.store.mcp_rows import (
    CallOutcome,
    McpCall,
    McpServer,
    McpServerChange,
    McpTool,
    NewMcpServer,
    SignInState,
    ToolDraft,
)
from hitsend.store.mcp_schema import (
    mcp_calls,
    mcp_clients,
    mcp_server_groups,
    mcp_servers,
    mcp_sign_ins,
    mcp_tokens,
    mcp_tools,
)
from hitsend.store.schema import users

MAX_OWN = 20
"""Servers of one person."""
MAX_SHARED = 100
MAX_CALLS = 300
"""Kept of each server."""
MAX_SIGN_INS = 10
"""Begun by one person."""

SERVER_FIELDS = tuple(name for name in McpServer.__struct_fields__ if name != "group_ids")
SERVER_COLUMNS = tuple(mcp_servers.c[name] for name in SERVER_FIELDS)
TOOL_COLUMNS = tuple(mcp_tools.c[name] for name in McpTool.__struct_fields__)


class UsableTool(NamedTuple):
    server: McpServer
    tool: McpTool


class McpServers:
    def __init__(self, database: Database) -> None:
        self._database = database

    # Servers

    @reads
    def list(self, connection: Connection, user_id: str) -> Sequence[McpServer]:
        """Returns those that the person may use or manage, by title."""
        found = _read_servers(connection, or_(_may_use(user_id), _may_manage(user_id)))
        return sorted(found, key=lambda one: (one.title.casefold(), one.id))

    @reads
    def usable_ids(self, connection: Connection, user_id: str) -> frozenset[str]:
        found = select(mcp_servers.c.id).where(_may_use(user_id))
        return frozenset(connection.scalars(found))

    @reads
    def find_usable(self, connection: Connection, server_id: str, user_id: str) -> McpServer:
        """Raises NotFound."""
        return _read_server(connection, server_id, _may_use(user_id))

    @reads
    def find_seen(self, connection: Connection, server_id: str, user_id: str) -> McpServer:
        """Finds one that the person may use or manage. Raises NotFound."""
        return _read_server(connection, server_id, or_(_may_use(user_id), _may_manage(user_id)))

    @reads
    def find_managed(self, connection: Connection, server_id: str, user_id: str) -> McpServer:
        """Raises NotFound."""
        return _read_server(connection, server_id, _may_manage(user_id))

    @writes
    def add(self, connection: Connection, new: NewMcpServer, by: Actor) -> McpServer:
        """Raises Conflict if there are too many, NotFound for an unknown group."""
        now = self._database.now()
        is_beside = mcp_servers.c.owner_id == new.owner_id if new.owner_id else _is_shared()
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
        return _read_server(connection, new.id)

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
        before = _read_server(connection, server_id, _may_manage(user_id))
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
        after = _read_server(connection, server_id)
        event = McpServerChanged(server_id, after.title, changed, after.audience)
        record(connection, event, by, self._database.now())
        return after

    @writes
    def delete(self, connection: Connection, server_id: str, user_id: str, by: Actor) -> None:
        """Raises NotFound."""
        server = _read_server(connection, server_id, _may_manage(user_id))
        connection.execute(delete(mcp_servers).where(mcp_servers.c.id == server_id))
        record(connection, McpServerDeleted(server_id, server.title), by, self._database.now())

    # Tools

    @reads
    def tools(self, connection: Connection, server_id: str) -> Sequence[McpTool]:
        """Returns all of the server, in its order. The caller has found the server before."""
        return _read_tools(connection, mcp_tools.c.server_id == server_id)

    @reads
    def tools_of(self, connection: Connection, user_id: str) -> Sequence[McpTool]:
        """Returns those of all servers that the person may use or manage."""
        seen = select(mcp_servers.c.id).where(or_(_may_use(user_id), _may_manage(user_id)))
        return _read_tools(connection, mcp_tools.c.server_id.in_(seen))

    @reads
    def usable_tools(self, connection: Connection, user_id: str) -> Sequence[UsableTool]:
        """Returns those that are on, of servers that are on, in a stable order."""
        servers = {
            one.id: one
            for one in _read_servers(connection, and_(_may_use(user_id), mcp_servers.c.is_on))
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
    def find_usable_tool(
        self, connection: Connection, server_id: str, name: str, user_id: str
    ) -> UsableTool:
        """Raises NotFound, also if the tool is off now."""
        server = _read_server(connection, server_id, and_(_may_use(user_id), mcp_servers.c.is_on))
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
    def set_tool(
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
        _read_server(connection, server_id, _may_manage(user_id))
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

    # Calls

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
    def calls(self, connection: Connection, server_id: str, user_id: str) -> Sequence[McpCall]:
        """Returns the newest first: all of them to whoever manages the server, else the person's
        own. Raises NotFound."""
        _read_server(connection, server_id, or_(_may_use(user_id), _may_manage(user_id)))
        is_managed = select(mcp_servers.c.id).where(
            mcp_servers.c.id == server_id, _may_manage(user_id)
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

    # Sign-in

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
        server = _read_server(connection, server_id, _may_use(user_id))
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
    def begin_sign_in(
        self,
        connection: Connection,
        state_hash: str,
        server_id: str,
        user_id: str,
        sealed: bytes,
        expires_at: float,
    ) -> None:
        _read_server(connection, server_id, _may_use(user_id))
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
    def take_sign_in(self, connection: Connection, state_hash: str, user_id: str) -> SignInState:
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


def _is_shared() -> ColumnElement[bool]:
    return mcp_servers.c.owner_id.is_(None)


def _may_manage(user_id: str) -> ColumnElement[bool]:
    """A command runs on this machine: only an administrator manages one, their own too."""
    is_admin = select(users.c.id).where(users.c.id == user_id, users.c.role == "admin").exists()
    is_own = and_(mcp_servers.c.owner_id == user_id, or_(mcp_servers.c.kind != "command", is_admin))
    return or_(is_own, and_(_is_shared(), is_admin))


def _may_use(user_id: str) -> ColumnElement[bool]:
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
        and_(audience == "everyone", _is_shared()),
        and_(audience == "groups", _is_shared(), in_group),
    )


def _is_token(server_id: str, user_id: str) -> ColumnElement[bool]:
    return and_(mcp_tokens.c.server_id == server_id, mcp_tokens.c.user_id == user_id)


def _read_servers(connection: Connection, where: ColumnElement[bool]) -> Sequence[McpServer]:
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


def _read_server(
    connection: Connection, server_id: str, where: ColumnElement[bool] | None = None
) -> McpServer:
    is_it = mcp_servers.c.id == server_id
    found = _read_servers(connection, is_it if where is None else and_(is_it, where))
    if not found:
        raise NotFound("There is no such server.", param="server_id")
    return found[0]


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
        others = others.where(or_(_is_shared(), mcp_servers.c.owner_id == owner_id))
    taken = set(connection.scalars(others))
    number, prefix = 1, wished
    while prefix in taken:
        number += 1
        prefix = f"{wished}{number}"
    return prefix
