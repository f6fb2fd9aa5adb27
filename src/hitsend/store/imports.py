"""Imports many conversations.

They are written in small transactions, so other writes go on, and stay hidden until the last one
is stored: then all become visible at once. After a crash, the hidden ones are erased like deleted
conversations.
"""

from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from uuid import UUID, uuid4, uuid5

import msgspec
from sqlalchemy import ColumnElement, Connection, and_, func, insert, not_, select, update

from hitsend.errors import Conflict, NotFound
from hitsend.import_export.imported_conversation import ImportedConversation, ImportedMessage
from hitsend.messages import Text
from hitsend.store.conversations import GONE, can_restore
from hitsend.store.database import Database, split_batches, writes
from hitsend.store.erase_in_batches import erase_conversations
from hitsend.store.folders import MAX_FOLDERS
from hitsend.store.schema import conversations, folders, messages, turns, users
from hitsend.store.users import is_enabled
from hitsend.transcript import status_after

STAGED_S = 3_600.0
"""The longest an import may take. Later, its hidden conversations are erased."""


class ImportCounts(msgspec.Struct):
    num_conversations: int = 0
    num_messages: int = 0
    num_already_here: int = 0


class Imports:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(
        self, user_id: str, batches: AsyncIterator[Sequence[ImportedConversation]]
    ) -> ImportCounts:
        """Adds all of them or none. Skips those that were imported before."""
        job = _ImportJob(self._database, user_id)
        is_published = False
        try:
            async for batch in batches:
                await job.stage(batch)
            await job.publish()
            is_published = True
        finally:
            if not is_published:
                await job.discard()
        return job.counts


class _ImportJob:
    def __init__(self, database: Database, user_id: str) -> None:
        self.counts = ImportCounts()
        self._database = database
        self._user_id = user_id
        self._hidden_at = database.now() + STAGED_S
        self._to_restore: list[str] = []
        """Conversations in the file that the user deleted a moment ago."""
        self._folders: defaultdict[str, list[str]] = defaultdict(list)

    async def stage(self, batch: Sequence[ImportedConversation]) -> None:
        by_id = {self._id(conversation): conversation for conversation in batch}
        await self._erase_leftovers(by_id)
        existing = await self._insert_conversations(by_id)
        new_messages = (
            (conversation_id, message)
            for conversation_id, conversation in by_id.items()
            for message in conversation.messages
            if conversation_id not in existing
        )
        for rows in split_batches(new_messages, lambda row: row[1].num_bytes):
            await self._insert_messages([_message_row(*row) for row in rows])
        self._to_restore += filter(None, existing.values())
        self._count(by_id, existing)

    @writes
    def _insert_conversations(
        self, connection: Connection, by_id: Mapping[str, ImportedConversation]
    ) -> Mapping[str, str | None]:
        """Returns those that exist already, which it does not change."""
        self._check_account(connection)
        existing = self._find_existing(connection, by_id)
        if new := [item for item in by_id.items() if item[0] not in existing]:
            rows = [self._conversation_row(*item) for item in new]
            connection.execute(insert(conversations), rows)
            connection.execute(insert(turns), [self._turn_row(*item) for item in new])
        return existing

    @writes
    def _insert_messages(self, connection: Connection, rows: Sequence[dict[str, object]]) -> None:
        connection.execute(insert(messages), rows)

    @writes
    def publish(self, connection: Connection) -> None:
        self._check_account(connection)
        self._restore(connection)
        self._fill_folders(connection)
        connection.execute(
            update(conversations)
            .where(conversations.c.user_id == self._user_id, self._is_staged())
            .values(hidden_at=None)
        )

    @writes
    def discard(self, connection: Connection) -> None:
        """Marks the staged conversations for deletion now, instead of in an hour."""
        staged = update(conversations).where(
            conversations.c.user_id == self._user_id, self._is_staged()
        )
        connection.execute(staged.values(hidden_at=GONE))

    def _is_staged(self) -> ColumnElement[bool]:
        return conversations.c.hidden_at == self._hidden_at

    def _is_deleted(self) -> ColumnElement[bool]:
        """Hidden, but not staged by this import."""
        return and_(conversations.c.hidden_at.is_not(None), not_(self._is_staged()))

    def _id(self, conversation: ImportedConversation) -> str:
        """Returns the same id each time this user imports it."""
        return str(uuid5(UUID(self._user_id), conversation.source_id))

    def _check_account(self, connection: Connection) -> None:
        query = select(users.c.id).where(users.c.id == self._user_id, is_enabled())
        if connection.scalar(query) is None:
            raise NotFound("There is no such person.")

    async def _erase_leftovers(self, by_id: Mapping[str, ImportedConversation]) -> None:
        """Erases copies that were deleted for good, or left hidden by an import that failed."""
        is_leftover = and_(self._is_deleted(), not_(can_restore(self._database.now())))
        await erase_conversations(self._database, and_(self._is_own_copy(by_id), is_leftover))

    def _find_existing(
        self, connection: Connection, by_id: Mapping[str, ImportedConversation]
    ) -> Mapping[str, str | None]:
        """Returns those that exist already, from an earlier import or as the exported original,
        each with the id to restore if it was deleted."""
        ids_by_source = {
            conversation.source_id: conversation_id
            for conversation_id, conversation in by_id.items()
        }
        is_deleted = self._is_deleted().label("is_deleted")
        query = select(conversations.c.id, is_deleted).where(self._is_own_copy(by_id))
        # Deleted ones first, so an undeleted copy of the same conversation wins.
        rows = connection.execute(query.order_by(is_deleted.desc()))
        return {
            ids_by_source.get(row.id, row.id): row.id if row.is_deleted else None for row in rows
        }

    def _is_own_copy(self, by_id: Mapping[str, ImportedConversation]) -> ColumnElement[bool]:
        ids = [*by_id, *(conversation.source_id for conversation in by_id.values())]
        return and_(conversations.c.user_id == self._user_id, conversations.c.id.in_(ids))

    def _count(
        self, by_id: Mapping[str, ImportedConversation], existing: Mapping[str, str | None]
    ) -> None:
        added = [
            conversation
            for conversation_id, conversation in by_id.items()
            if existing.get(conversation_id, conversation_id)
        ]
        self.counts.num_already_here += len(by_id) - len(added)
        self.counts.num_conversations += len(added)
        self.counts.num_messages += sum(len(conversation.messages) for conversation in added)

    def _restore(self, connection: Connection) -> None:
        now = self._database.now()
        for ids in split_batches(self._to_restore):
            is_one = conversations.c.id.in_(ids)
            connection.execute(
                update(conversations).where(is_one, can_restore(now)).values(hidden_at=None)
            )
            visible = select(func.count()).where(is_one, conversations.c.hidden_at.is_(None))
            if connection.scalar(visible) != len(ids):
                raise Conflict("A conversation in it was being deleted. Import the file again.")

    def _conversation_row(
        self, conversation_id: str, conversation: ImportedConversation
    ) -> dict[str, object]:
        if conversation.folder:
            self._folders[conversation.folder].append(conversation_id)
        return {
            "id": conversation_id,
            "user_id": self._user_id,
            "title": conversation.title,
            "is_renamed": True,
            "created_at": conversation.created_at,
            "updated_at": conversation.updated_at,
            "current_node": _message_id(conversation_id, conversation.current_node),
            "is_archived": conversation.is_archived,
            "is_pinned": conversation.is_pinned,
            "hidden_at": self._hidden_at,
        }

    def _turn_row(
        self, conversation_id: str, conversation: ImportedConversation
    ) -> dict[str, object]:
        """Every message needs a turn. This one has no events."""
        return {
            "id": _turn_id(conversation_id),
            "user_id": self._user_id,
            "conversation_id": conversation_id,
            "surface": "import",
            "action": "next",
            "model": "",
            "answer_id": _message_id(conversation_id, conversation.current_node),
            "state": "stop",
            "created_at": conversation.created_at,
            "finished_at": conversation.updated_at,
            "num_input_tokens": 0,
            "num_cached_tokens": 0,
            "num_output_tokens": 0,
            "num_bytes": conversation.num_bytes,
        }

    def _fill_folders(self, connection: Connection) -> None:
        """Finds or creates folders by name, up to the maximum number of folders."""
        query = select(folders.c.name, folders.c.id).where(folders.c.user_id == self._user_id)
        known = {row.name: row.id for row in connection.execute(query)}
        for name, conversation_ids in self._folders.items():
            if name not in known and len(known) < MAX_FOLDERS:
                known[name] = self._create_folder(connection, name)
            for ids in split_batches(conversation_ids):
                connection.execute(
                    update(conversations)
                    .where(conversations.c.id.in_(ids))
                    .values(folder_id=known.get(name))
                )

    def _create_folder(self, connection: Connection, name: str) -> str:
        folder_id, now = str(uuid4()), self._database.now()
        row = {"id": folder_id, "user_id": self._user_id, "name": name, "created_at": now}
        connection.execute(insert(folders).values(row))
        return folder_id


def _message_row(conversation_id: str, message: ImportedMessage) -> dict[str, object]:
    parent = message.parent_id
    return {
        "conversation_id": conversation_id,
        "id": _message_id(conversation_id, message.id),
        "parent_id": None if parent is None else _message_id(conversation_id, parent),
        "turn_id": _turn_id(conversation_id),
        "role": message.role,
        "parts": (*((Text(message.text),) if message.text else ()), *message.other_parts),
        "status": status_after(message.ending) if message.ending else "finished",
        "ending": message.ending,
        "model": message.model,
        "problem": message.problem,
        "created_at": message.created_at,
    }


def _message_id(conversation_id: str, foreign: str) -> str:
    return str(uuid5(UUID(conversation_id), foreign))


def _turn_id(conversation_id: str) -> str:
    return str(uuid5(UUID(conversation_id), "import"))
