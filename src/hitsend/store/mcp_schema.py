"""The tables of MCP servers, their tools, and who is signed in at them."""

from sqlalchemy import (
    Boolean,
    Column,
    Index,
    Integer,
    LargeBinary,
    Named,
    Table,
    Text,
    TypedColumns,
)

from hitsend.store.mcp_rows import Audience, CallOutcome, ServerKind, ToolDraft
from hitsend.store.schema import Json, LiteralText, metadata, part_of


class McpServerColumns(TypedColumns):
    id: Named[str] = Column(Text, primary_key=True)
    owner_id: Named[str | None] = Column(Text, part_of("users.id"), index=True)
    """The only person who may use it. None: administrators manage it for everyone or for groups."""
    audience: Named[Audience] = Column(LiteralText[Audience]())
    title: Named[str] = Column(Text)
    prefix: Named[str] = Column(Text)
    """What the names of its tools begin with. A person sees no two servers with the same."""
    kind: Named[ServerKind] = Column(LiteralText[ServerKind]())
    command: Named[tuple[str, ...]] = Column(Json(tuple[str, ...]))
    url: Named[str] = Column(Text)
    sealed: Named[bytes | None] = Column(LargeBinary)
    """The environment, headers and OAuth client that someone entered, encrypted."""
    is_on: Named[bool] = Column(Boolean)
    timeout_s: Named[float]
    created_at: Named[float]
    listed_at: Named[float | None]
    """When it told its tools first."""


mcp_servers = Table("mcp_servers", metadata, McpServerColumns)


class McpServerGroupColumns(TypedColumns):
    """A group that may use a server whose audience is `groups`."""

    server_id: Named[str] = Column(Text, part_of("mcp_servers.id"), primary_key=True)
    group_id: Named[str] = Column(Text, part_of("groups.id"), primary_key=True)


mcp_server_groups = Table("mcp_server_groups", metadata, McpServerGroupColumns)


class McpToolColumns(TypedColumns):
    server_id: Named[str] = Column(Text, part_of("mcp_servers.id"), primary_key=True)
    name: Named[str] = Column(Text, primary_key=True)
    """As the server calls it."""
    position: Named[int] = Column(Integer)
    title: Named[str] = Column(Text)
    description: Named[str] = Column(Text)
    schema: Named[str] = Column(Text)
    digest: Named[str] = Column(Text)
    """Of what the server said when the tool was confirmed last."""
    problem: Named[str] = Column(Text)
    is_on: Named[bool] = Column(Boolean)
    is_missing: Named[bool] = Column(Boolean)
    """The server did not name it the last time."""
    is_new: Named[bool] = Column(Boolean)
    """It came later than the server, and nobody has looked at it."""
    is_read_only: Named[bool] = Column(Boolean)
    """An administrator says that it only reads. Its calls are not asked about."""
    is_read_only_hint: Named[bool] = Column(Boolean)
    """The server says so, which changes nothing."""
    draft: Named[ToolDraft | None] = Column(Json(ToolDraft))
    """What the server says of it now, until somebody confirms the change."""


mcp_tools = Table("mcp_tools", metadata, McpToolColumns)


class McpCallColumns(TypedColumns):
    """A call, without its arguments and its result."""

    id: Named[int] = Column(Integer, primary_key=True)
    server_id: Named[str] = Column(Text, part_of("mcp_servers.id"))
    user_id: Named[str] = Column(Text, part_of("users.id"), index=True)
    tool: Named[str] = Column(Text)
    at: Named[float]
    took_ms: Named[float]
    outcome: Named[CallOutcome] = Column(LiteralText[CallOutcome]())
    num_chars: Named[int] = Column(Integer)
    """Of its result."""


mcp_calls = Table("mcp_calls", metadata, McpCallColumns)
Index("ix_mcp_calls_server_id", mcp_calls.c.server_id, mcp_calls.c.id)


class McpTokenColumns(TypedColumns):
    """A person's sign-in at a server."""

    server_id: Named[str] = Column(Text, part_of("mcp_servers.id"), primary_key=True)
    user_id: Named[str] = Column(Text, part_of("users.id"), primary_key=True, index=True)
    sealed: Named[bytes] = Column(LargeBinary)
    updated_at: Named[float]


mcp_tokens = Table("mcp_tokens", metadata, McpTokenColumns)


class McpSignInColumns(TypedColumns):
    """A sign-in that has begun."""

    state_hash: Named[str] = Column(Text, primary_key=True)
    server_id: Named[str] = Column(Text, part_of("mcp_servers.id"), index=True)
    user_id: Named[str] = Column(Text, part_of("users.id"), index=True)
    sealed: Named[bytes] = Column(LargeBinary)
    expires_at: Named[float]


mcp_sign_ins = Table("mcp_sign_ins", metadata, McpSignInColumns)


class McpClientColumns(TypedColumns):
    """How hitsend is registered at the authorisation server of a server."""

    server_id: Named[str] = Column(Text, part_of("mcp_servers.id"), primary_key=True)
    sealed: Named[bytes] = Column(LargeBinary)
    updated_at: Named[float]


mcp_clients = Table("mcp_clients", metadata, McpClientColumns)
