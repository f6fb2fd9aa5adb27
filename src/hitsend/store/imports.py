"""Conversations that come from elsewhere, many at once.

They are written in small steps, so that nobody else's words wait for long, and stay hidden until
the last one is there: then all of them appear together. What a crash leaves hidden is erased
like anything that was deleted.
"""

from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from uuid import UUID, uuid4, uuid5

import msgspec
from sqlalchemy import ColumnElement, and_, func, insert, not_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from hitsend.errors import Conflict, NotFound
from hitsend.messages import Text
from hitsend.store.conversations import GONE, can_come_back
from hitsend.store.database import Database
from hitsend.store.erasure import erase_conversations
from hitsend.store.folders import MOST_FOLDERS
from hitsend.store.portions import portions
from hitsend.store.schema import conversations, folders, messages, turns, users
from hitsend.store.users import is_enabled
from hitsend.takeout.taken import TakenConversation, TakenMessage
from hitsend.transcript import status_at

STAGED_S = 3_600.0
"""Within this time an import is through. Later, what it left hidden is erased."""


class Imported(msgspec.Struct):
    num_conversations: int = 0
    num_messages: int = 0
    num_already_here: int = 0


class Imports:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(
        self, user_id: str, batches: AsyncIterator[Sequence[TakenConversation]]
    ) -> Imported:
        """All of them or none. What was imported before is not touched."""
        importing = _Importing(self._database, user_id)
        is_through = False
        try:
            async for batch in batches:
                await importing.stage(batch)
            await importing.publish()
            is_through = True
        finally:
            if not is_through:
                await importing.give_up()
        return importing.done


class _Importing:
    def __init__(self, database: Database, user_id: str) -> None:
        self.done = Imported()
        self._database = database
        self._user_id = user_id
        self._hidden_at = database.now() + STAGED_S
        self._deleted: list[str] = []
        """What the person has, but deleted a moment ago: it comes back with the import."""
        self._folders: defaultdict[str, list[str]] = defaultdict(list)

    async def stage(self, batch: Sequence[TakenConversation]) -> None:
        named = {self._id(taken): taken for taken in batch}
        await self._clear(named)
        async with self._database.write() as connection:
            await self._check_person(connection)
            known = await self._known(connection, named)
            fresh = {own: taken for own, taken in named.items() if own not in known}
            if fresh:
                await connection.execute(
                    insert(conversations), [self._conversation(*one) for one in fresh.items()]
                )
                await connection.execute(insert(turns), [self._turn(*one) for one in fresh.items()])
        said = ((own, message) for own, taken in fresh.items() for message in taken.messages)
        for portion in portions(said, lambda one: len(one[1].text)):
            async with self._database.write() as connection:
                await connection.execute(insert(messages), [_message(*one) for one in portion])
        self._deleted += filter(None, known.values())
        self._count(named, known)

    async def publish(self) -> None:
        async with self._database.write() as connection:
            await self._check_person(connection)
            await self._bring_back(connection)
            await self._fill_folders(connection)
            await connection.execute(
                update(conversations)
                .where(conversations.c.user_id == self._user_id, self._is_staged())
                .values(hidden_at=None)
            )

    async def give_up(self) -> None:
        """What is staged goes at once, and not in an hour."""
        due = update(conversations).where(
            conversations.c.user_id == self._user_id, self._is_staged()
        )
        async with self._database.write() as connection:
            await connection.execute(due.values(hidden_at=GONE))

    def _is_staged(self) -> ColumnElement[bool]:
        return conversations.c.hidden_at == self._hidden_at

    def _is_deleted(self) -> ColumnElement[bool]:
        """Hidden, and not by this import."""
        return and_(conversations.c.hidden_at.is_not(None), not_(self._is_staged()))

    def _id(self, taken: TakenConversation) -> str:
        """The same each time this person imports it."""
        return str(uuid5(UUID(self._user_id), taken.source_id))

    async def _check_person(self, connection: AsyncConnection) -> None:
        theirs = select(users.c.id).where(users.c.id == self._user_id, is_enabled())
        if await connection.scalar(theirs) is None:
            raise NotFound("There is no such person.")

    async def _clear(self, named: Mapping[str, TakenConversation]) -> None:
        """What is gone for good, and what an import left behind that broke off, make room."""
        is_left = and_(self._is_deleted(), not_(can_come_back(self._database.now())))
        await erase_conversations(self._database, and_(self._is_theirs(named), is_left))

    async def _known(
        self, connection: AsyncConnection, named: Mapping[str, TakenConversation]
    ) -> Mapping[str, str | None]:
        """Which of them the person has, from an earlier import or because they are the original;
        and the id of what was deleted and will come back."""
        own = {taken.source_id: own for own, taken in named.items()}
        is_deleted = self._is_deleted().label("is_deleted")
        theirs = select(conversations.c.id, is_deleted).where(self._is_theirs(named))
        # If one of the two is deleted and the other is not, the person has it.
        rows = await connection.execute(theirs.order_by(is_deleted.desc()))
        return {own.get(row.id, row.id): row.id if row.is_deleted else None for row in rows}

    def _is_theirs(self, named: Mapping[str, TakenConversation]) -> ColumnElement[bool]:
        ids = [*named, *(taken.source_id for taken in named.values())]
        return and_(conversations.c.user_id == self._user_id, conversations.c.id.in_(ids))

    def _count(
        self, named: Mapping[str, TakenConversation], known: Mapping[str, str | None]
    ) -> None:
        coming = [taken for own, taken in named.items() if known.get(own, own) is not None]
        self.done.num_already_here += len(named) - len(coming)
        self.done.num_conversations += len(coming)
        self.done.num_messages += sum(len(taken.messages) for taken in coming)

    async def _bring_back(self, connection: AsyncConnection) -> None:
        now = self._database.now()
        for ids in portions(self._deleted):
            is_one = conversations.c.id.in_(ids)
            await connection.execute(
                update(conversations).where(is_one, can_come_back(now)).values(hidden_at=None)
            )
            shown = select(func.count()).where(is_one, conversations.c.hidden_at.is_(None))
            if await connection.scalar(shown) != len(ids):
                raise Conflict("A conversation in it was being deleted. Import the file again.")

    def _conversation(self, own: str, taken: TakenConversation) -> dict[str, object]:
        if taken.folder:
            self._folders[taken.folder].append(own)
        return {
            "id": own,
            "user_id": self._user_id,
            "title": taken.title,
            "is_renamed": True,
            "created_at": taken.created_at,
            "updated_at": taken.updated_at,
            "current_node": _message_id(own, taken.current_node),
            "is_archived": taken.is_archived,
            "is_pinned": taken.is_pinned,
            "hidden_at": self._hidden_at,
        }

    def _turn(self, own: str, taken: TakenConversation) -> dict[str, object]:
        """Every message belongs to a turn. This one has no events: nothing happened here."""
        return {
            "id": _turn_id(own),
            "user_id": self._user_id,
            "conversation_id": own,
            "surface": "import",
            "action": "next",
            "model": "",
            "answer_id": _message_id(own, taken.current_node),
            "state": "stop",
            "created_at": taken.created_at,
            "finished_at": taken.updated_at,
            "num_input_tokens": 0,
            "num_cached_tokens": 0,
            "num_output_tokens": 0,
        }

    async def _fill_folders(self, connection: AsyncConnection) -> None:
        """By name. A folder that is one too many is not made."""
        theirs = select(folders.c.name, folders.c.id).where(folders.c.user_id == self._user_id)
        known = {row.name: row.id for row in await connection.execute(theirs)}
        for name, inside in self._folders.items():
            if name not in known and len(known) < MOST_FOLDERS:
                known[name] = await self._make_folder(connection, name)
            for ids in portions(inside):
                await connection.execute(
                    update(conversations)
                    .where(conversations.c.id.in_(ids))
                    .values(folder_id=known.get(name))
                )

    async def _make_folder(self, connection: AsyncConnection, name: str) -> str:
        folder_id, now = str(uuid4()), self._database.now()
        row = {"id": folder_id, "user_id": self._user_id, "name": name, "created_at": now}
        await connection.execute(insert(folders).values(row))
        return folder_id


def _message(own: str, message: TakenMessage) -> dict[str, object]:
    parent = message.parent_id
    return {
        "conversation_id": own,
        "id": _message_id(own, message.id),
        "parent_id": None if parent is None else _message_id(own, parent),
        "turn_id": _turn_id(own),
        "role": message.role,
        "parts": (Text(message.text),) if message.text else (),
        "status": status_at(message.ending) if message.ending else "finished",
        "ending": message.ending,
        "model": message.model,
        "problem": message.problem,
        "created_at": message.created_at,
    }


def _message_id(own: str, foreign: str) -> str:
    return str(uuid5(UUID(own), foreign))


def _turn_id(own: str) -> str:
    return str(uuid5(UUID(own), "import"))
