"""The tables of what people allow tools to do, and of the files that tools made."""

from sqlalchemy import Column, ForeignKey, Index, LargeBinary, Named, Table, Text, TypedColumns

from hitsend.store.schema import metadata, part_of


class ToolPermissionColumns(TypedColumns):
    """A tool that a person lets run without asking, in one conversation or in all."""

    id: Named[str] = Column(Text, primary_key=True)
    user_id: Named[str] = Column(Text, part_of("users.id"))
    conversation_id: Named[str | None] = Column(
        Text, ForeignKey("conversations.id", ondelete="CASCADE"), index=True
    )
    """None: in all conversations."""
    tool: Named[str] = Column(Text)
    server: Named[str] = Column(Text)
    fingerprint: Named[str] = Column(Text)
    """A hash of the tool as it was: one that changes is asked for again."""
    created_at: Named[float]


tool_permissions = Table("tool_permissions", metadata, ToolPermissionColumns)
Index(
    "ix_tool_permissions_fingerprint",
    tool_permissions.c.user_id,
    tool_permissions.c.fingerprint,
)


class ToolFileColumns(TypedColumns):
    """A file that a tool made in a conversation. It is erased with the conversation."""

    id: Named[str] = Column(Text, primary_key=True)
    user_id: Named[str] = Column(Text, part_of("users.id"), index=True)
    conversation_id: Named[str] = Column(Text, part_of("conversations.id"), index=True)
    name: Named[str] = Column(Text)
    media_type: Named[str] = Column(Text)
    num_bytes: Named[int]
    content: Named[bytes] = Column(LargeBinary)
    created_at: Named[float]


tool_files = Table("tool_files", metadata, ToolFileColumns)
