"""Files that tools made, such as plots."""

from collections.abc import Sequence
from uuid import uuid4

import msgspec
from sqlalchemy import Connection, insert, select

from hitsend.errors import NotFound
from hitsend.messages import FileRef
from hitsend.store.conversations import is_listed, is_visible_to
from hitsend.store.database import Database, reads, writes
from hitsend.store.schema import conversations
from hitsend.store.tool_schema import tool_files


class NewFile(msgspec.Struct, frozen=True):
    name: str
    media_type: str
    content: bytes


class ToolFiles:
    def __init__(self, database: Database) -> None:
        self._database = database

    @writes
    def add(
        self, connection: Connection, user_id: str, conversation_id: str, files: Sequence[NewFile]
    ) -> Sequence[FileRef]:
        """Returns what was stored: nothing if the conversation was deleted meanwhile."""
        is_there = select(conversations.c.id).where(is_visible_to(conversation_id, user_id))
        if connection.scalar(is_there) is None:
            return ()
        refs = [
            FileRef(str(uuid4()), file.name, file.media_type, len(file.content)) for file in files
        ]
        rows = [
            {
                "id": ref.file_id,
                "user_id": user_id,
                "conversation_id": conversation_id,
                "num_bytes": ref.num_bytes,
                "created_at": self._database.now(),
                **msgspec.structs.asdict(file),
            }
            for ref, file in zip(refs, files, strict=True)
        ]
        connection.execute(insert(tool_files), rows)
        return refs

    @reads
    def list_ids(self, connection: Connection, user_id: str) -> Sequence[str]:
        """Returns the files of all listed conversations, oldest first."""
        found = (
            select(tool_files.c.id)
            .join(conversations, conversations.c.id == tool_files.c.conversation_id)
            .where(is_listed(user_id))
            .order_by(tool_files.c.created_at, tool_files.c.id)
        )
        return connection.scalars(found).all()

    @reads
    def get(self, connection: Connection, file_id: str, user_id: str) -> NewFile:
        """Raises NotFound, also for a file of a conversation that was deleted."""
        found = select(tool_files.c.name, tool_files.c.media_type, tool_files.c.content).where(
            tool_files.c.id == file_id,
            tool_files.c.user_id == user_id,
            conversations.c.id == tool_files.c.conversation_id,
            conversations.c.hidden_at.is_(None),
        )
        row = connection.execute(found).first()
        if row is None:
            raise NotFound("There is no such file.", param="file_id")
        return NewFile(*row)
