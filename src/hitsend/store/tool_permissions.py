"""What people allow tools to do without asking again."""

from collections.abc import Sequence
from uuid import uuid4

from sqlalchemy import Connection, delete, insert, or_, select

from hitsend.errors import NotFound
from hitsend.store.conversations import is_visible_to
from hitsend.store.database import Database, reads, writes
from hitsend.store.rows import ToolPermission
from hitsend.store.schema import conversations
from hitsend.store.tool_schema import tool_permissions

COLUMNS = tuple(tool_permissions.c[name] for name in ToolPermission.__struct_fields__)


class ToolPermissions:
    def __init__(self, database: Database) -> None:
        self._database = database

    @reads
    def is_allowed(
        self, connection: Connection, user_id: str, conversation_id: str, fingerprint: str
    ) -> bool:
        place = tool_permissions.c.conversation_id
        found = select(tool_permissions.c.id).where(
            tool_permissions.c.user_id == user_id,
            tool_permissions.c.fingerprint == fingerprint,
            or_(place.is_(None), place == conversation_id),
        )
        return connection.execute(found.limit(1)).first() is not None

    @writes
    def allow(
        self,
        connection: Connection,
        user_id: str,
        tool: str,
        server: str,
        fingerprint: str,
        conversation_id: str | None,
    ) -> None:
        """Does nothing if the conversation was deleted meanwhile."""
        if conversation_id is not None:
            is_own = is_visible_to(conversation_id, user_id)
            if connection.scalar(select(conversations.c.id).where(is_own)) is None:
                return
        row = insert(tool_permissions).values(
            id=str(uuid4()),
            user_id=user_id,
            conversation_id=conversation_id,
            tool=tool,
            server=server,
            fingerprint=fingerprint,
            created_at=self._database.now(),
        )
        connection.execute(row)

    @reads
    def list(self, connection: Connection, user_id: str) -> Sequence[ToolPermission]:
        """Returns the newest first."""
        own = select(*COLUMNS).where(tool_permissions.c.user_id == user_id)
        newest = own.order_by(tool_permissions.c.created_at.desc(), tool_permissions.c.id)
        return [ToolPermission(*row) for row in connection.execute(newest)]

    @writes
    def revoke(self, connection: Connection, permission_id: str, user_id: str) -> None:
        """Raises NotFound."""
        own = delete(tool_permissions).where(
            tool_permissions.c.id == permission_id, tool_permissions.c.user_id == user_id
        )
        if not connection.execute(own).rowcount:
            raise NotFound("There is no such permission.", param="permission_id")
