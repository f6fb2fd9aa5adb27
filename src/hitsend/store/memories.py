"""Memories: facts a person wants remembered, each with the embedding of its text.

A removed memory is not used any more, can be restored for a while, and is then deleted. A
suggested one is not used until the person accepts it. This module does not compute embeddings.
"""

import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple, TypeVar
from uuid import uuid4

from sqlalchemy import ColumnElement, Connection, and_, func, insert, or_, select, update

from hitsend.canonical import canonicalize
from hitsend.errors import Conflict, NotFound, Refused
from hitsend.store.context_schema import memories
from hitsend.store.database import Database, reads
from hitsend.store.erase_in_batches import erase_memories
from hitsend.store.profiles import read_profile
from hitsend.store.recent_changes import RecentChanges
from hitsend.store.rows import Memory, MemoryOrigin, MemoryPage
from hitsend.store.schema import conversations

MAX_MEMORIES = 10_000
"""Per person."""
MAX_SUGGESTED = 100
"""Suggestions per person."""
MAX_LISTED = MAX_MEMORIES + MAX_SUGGESTED
MAX_CHARS = 1_000
RESTORE_S = 600.0
"""How long a removed memory can be restored."""

MEMORY_COLUMNS = tuple(memories.c[name] for name in Memory.__struct_fields__)
NEWEST_FIRST = memories.c.created_at.desc(), memories.c.id

IS_ACCEPTED = memories.c.is_suggested.is_(False)

T = TypeVar("T")


class _AddResult(NamedTuple):
    memory: Memory
    is_new: bool
    """It did not exist, or only as a suggestion."""


class Memories:
    def __init__(self, database: Database, max_memories: int = MAX_MEMORIES) -> None:
        self._database = database
        self._max_memories = max_memories
        self.changes = RecentChanges()
        """Changes of memories and their vectors, by person."""

    @reads
    def list(
        self,
        connection: Connection,
        user_id: str,
        query: str = "",
        *,
        offset: int = 0,
        limit: int = 50,
        is_accepted: bool = False,
    ) -> MemoryPage:
        """Newest first, with suggestions unless `is_accepted`. Each contains every word of
        `query`."""
        is_listed = _is_active(user_id) if is_accepted else _is_present(user_id)
        where = and_(is_listed, *map(_contains, query.split()))
        return _page(connection, where, offset, limit)

    @reads
    def get_many(
        self, connection: Connection, user_id: str, memory_ids: Collection[str]
    ) -> Sequence[Memory]:
        """Returns those that exist, in the order of the ids."""
        query = select(*MEMORY_COLUMNS).where(_is_one_of(user_id, memory_ids))
        found = {row.id: Memory(*row) for row in connection.execute(query)}
        return [found[memory_id] for memory_id in memory_ids if memory_id in found]

    async def texts(self, user_id: str, memory_ids: Collection[str]) -> Mapping[str, str]:
        """Returns the texts of the active ones: not removed, and not only suggested."""
        return await self._texts(and_(_is_one_of(user_id, memory_ids), IS_ACCEPTED))

    @reads
    def has_any(self, connection: Connection, user_id: str) -> bool:
        """Whether the person has an active memory."""
        query = select(memories.c.id).where(_is_active(user_id)).limit(1)
        return connection.scalar(query) is not None

    @reads
    def has_room(self, connection: Connection, user_id: str) -> bool:
        return _count(connection, _is_active(user_id)) < self._max_memories

    async def read_all_texts(
        self, user_id: str, *, include_suggested: bool = False
    ) -> Mapping[str, str]:
        """Returns the texts of all active ones, newest first."""
        return await self._texts(_is_present(user_id) if include_suggested else _is_active(user_id))

    async def read_all_known_texts(self, user_id: str) -> Mapping[str, str]:
        """Includes suggested and removed ones."""
        return await self._texts(memories.c.user_id == user_id)

    async def add(
        self, user_id: str, text: str, origin: MemoryOrigin, conversation_id: str | None = None
    ) -> Memory:
        """Returns the existing memory if there is one, and accepts it if it was suggested."""
        text = _clean(text)
        memory, _ = await self._database.write(
            lambda connection: self._add(connection, user_id, text, origin, conversation_id)
        )
        self.changes.record(user_id, [memory.id])
        return memory

    async def add_if_wanted(
        self, user_id: str, text: str, origin: MemoryOrigin, conversation_id: str
    ) -> Memory | None:
        """Adds a memory found in the background. Returns None if it exists, or if the person has
        turned memory or suggestions off meanwhile."""
        text = _clean(text)

        def add(connection: Connection) -> _AddResult | None:
            profile = read_profile(connection, user_id)
            is_wanted = origin == "asked" or profile.suggests_memories
            if not (profile.uses_memory and is_wanted):
                return None
            return self._add(connection, user_id, text, origin, conversation_id)

        added = await self._database.write(add)
        if added is None:
            return None
        self.changes.record(user_id, [added.memory.id])
        return added.memory if added.is_new else None

    async def change(self, memory_id: str, user_id: str, text: str) -> Memory:
        text = _clean(text)
        values = {"text": text, "folded": _fold(text), "vector": None}

        def change(connection: Connection) -> Memory:
            _check_new(connection, user_id, text, except_id=memory_id)
            return self._update(connection, memory_id, user_id, **values)

        return await self._write(change, user_id, memory_id)

    async def accept(self, memory_id: str, user_id: str) -> Memory:
        """Accepts a suggestion. Does nothing if it is accepted already."""

        def accept(connection: Connection) -> Memory:
            memory = _get(connection, _has_id(memory_id, user_id))
            return self._accept(connection, memory, user_id)

        return await self._write(accept, user_id, memory_id)

    async def remove(self, memory_id: str, user_id: str) -> None:
        """Removes it. It can be restored for a while."""

        def remove(connection: Connection) -> None:
            self._update(connection, memory_id, user_id, removed_at=self._database.now())

        await self._write(remove, user_id, memory_id)

    async def restore(self, memory_id: str, user_id: str) -> Memory:
        """Restores a removed memory. Does nothing if it is not removed."""
        since = self._database.now() - RESTORE_S
        can_restore = or_(memories.c.removed_at.is_(None), memories.c.removed_at > since)
        is_it = and_(memories.c.id == memory_id, memories.c.user_id == user_id, can_restore)
        removed_at = select(memories.c.removed_at).where(is_it)

        def restore(connection: Connection) -> Memory:
            memory = _get(connection, is_it)
            if connection.scalar(removed_at):
                _check_new(connection, user_id, memory.text, except_id=memory_id)
                self._check_room(connection, user_id, is_suggested=memory.is_suggested)
                connection.execute(update(memories).where(is_it).values(removed_at=None))
            return memory

        return await self._write(restore, user_id, memory_id)

    async def clear(self, user_id: str) -> None:
        """Deletes all, including removed ones."""
        await erase_memories(self._database, memories.c.user_id == user_id)
        self.changes.record(user_id)

    async def erase_removed(self) -> None:
        """Deletes everyone's removed memories that can no longer be restored."""
        is_due = memories.c.removed_at <= self._database.now() - RESTORE_S
        await erase_memories(self._database, is_due)

    @reads
    def vectors(
        self,
        connection: Connection,
        user_id: str,
        embedder: str,
        memory_ids: Collection[str] | None = None,
    ) -> tuple[Sequence[str], bytes]:
        """Returns ids of active memories, all or some, and their concatenated vectors."""
        has_vector = and_(memories.c.embedder == embedder, memories.c.vector.is_not(None))
        is_it = _is_present(user_id) if memory_ids is None else _is_one_of(user_id, memory_ids)
        query = select(memories.c.id, memories.c.vector).where(is_it, IS_ACCEPTED, has_vector)
        rows = connection.execute(query.order_by(*NEWEST_FIRST)).all()
        return [row.id for row in rows], b"".join(row.vector or b"" for row in rows)

    async def without_vectors(
        self, user_id: str, embedder: str, limit: int, memory_ids: Collection[str] | None = None
    ) -> Mapping[str, str]:
        """Returns texts of active memories that have no vector of this embedder, newest first."""
        is_it = _is_present(user_id) if memory_ids is None else _is_one_of(user_id, memory_ids)
        lacks_vector = or_(memories.c.vector.is_(None), memories.c.embedder != embedder)
        return await self._texts(and_(is_it, IS_ACCEPTED, lacks_vector), limit)

    async def set_vectors(
        self, user_id: str, embedder: str, texts: Mapping[str, str], vectors: Sequence[bytes]
    ) -> None:
        """Stores the vectors of `texts`, except where the text was changed meanwhile."""

        def write(connection: Connection) -> None:
            for (memory_id, text), vector in zip(texts.items(), vectors, strict=True):
                is_same = and_(_has_id(memory_id, user_id), memories.c.text == text)
                query = update(memories).where(is_same)
                connection.execute(query.values(embedder=embedder, vector=vector))

        await self._write(write, user_id, *texts)

    @reads
    def _texts(
        self, connection: Connection, where: ColumnElement[bool], limit: int | None = None
    ) -> dict[str, str]:
        query = select(memories.c.id, memories.c.text).where(where).order_by(*NEWEST_FIRST)
        return {row.id: row.text for row in connection.execute(query.limit(limit))}

    def _add(
        self,
        connection: Connection,
        user_id: str,
        text: str,
        origin: MemoryOrigin,
        conversation_id: str | None,
    ) -> _AddResult:
        is_suggested = origin == "suggested"
        if existing := _find_same(connection, user_id, text):
            is_new = existing.is_suggested and not is_suggested
            if is_new:
                existing = self._accept(connection, existing, user_id)
            return _AddResult(existing, is_new)
        self._check_room(connection, user_id, is_suggested=is_suggested)
        row = insert(memories).values(
            id=str(uuid4()),
            user_id=user_id,
            text=text,
            folded=_fold(text),
            origin=origin,
            conversation_id=_own_conversation(connection, conversation_id, user_id),
            is_suggested=is_suggested,
            created_at=self._database.now(),
            updated_at=self._database.now(),
        )
        return _AddResult(Memory(*connection.execute(row.returning(*MEMORY_COLUMNS)).one()), True)

    def _accept(self, connection: Connection, memory: Memory, user_id: str) -> Memory:
        if not memory.is_suggested:
            return memory
        self._check_room(connection, user_id)
        return self._update(connection, memory.id, user_id, is_suggested=False)

    def _check_room(
        self, connection: Connection, user_id: str, *, is_suggested: bool = False
    ) -> None:
        """Suggestions have a limit of their own."""
        is_counted = and_(_is_present(user_id), memories.c.is_suggested.is_(is_suggested))
        limit = MAX_SUGGESTED if is_suggested else self._max_memories
        if _count(connection, is_counted) >= limit:
            raise Conflict(
                f"You have {limit:,} memories, the most there can be. Delete some first."
            )

    def _update(
        self, connection: Connection, memory_id: str, user_id: str, **change: object
    ) -> Memory:
        values = {**change, "updated_at": self._database.now()}
        query = update(memories).where(_has_id(memory_id, user_id)).values(values)
        row = connection.execute(query.returning(*MEMORY_COLUMNS)).one_or_none()
        if row is None:
            raise memory_not_found()
        return Memory(*row)

    async def _write(self, body: Callable[[Connection], T], user_id: str, *memory_ids: str) -> T:
        """Records the change in `changes` after the commit."""
        result = await self._database.write(body)
        self.changes.record(user_id, memory_ids)
        return result


def memory_not_found() -> NotFound:
    return NotFound("There is no such memory.", param="memory_id")


def _is_present(user_id: str) -> ColumnElement[bool]:
    return and_(memories.c.user_id == user_id, memories.c.removed_at.is_(None))


def _is_active(user_id: str) -> ColumnElement[bool]:
    """Not removed and not only suggested: a model may see it."""
    return and_(_is_present(user_id), IS_ACCEPTED)


def _is_one_of(user_id: str, memory_ids: Collection[str]) -> ColumnElement[bool]:
    """The concatenation keeps SQLite from using the index on `user_id`, which would read all of the
    person's memories and take ten times as long."""
    is_owner = memories.c.user_id.concat("") == user_id
    return and_(memories.c.id.in_(memory_ids), is_owner, memories.c.removed_at.is_(None))


def _has_id(memory_id: str, user_id: str) -> ColumnElement[bool]:
    return and_(memories.c.id == memory_id, _is_present(user_id))


def _contains(word: str) -> ColumnElement[bool]:
    """Ignores case, which SQLite does for ASCII only."""
    spellings = {word, word.lower(), word.capitalize(), word.upper()}
    return or_(*[memories.c.text.contains(one, autoescape=True) for one in sorted(spellings)])


def _clean(text: str) -> str:
    """Puts the text on one line in canonical form, so that equal texts compare equal."""
    text = " ".join(canonicalize(text).split())
    if not text:
        raise Refused("There is nothing to remember.", param="text")
    if len(text) > MAX_CHARS:
        raise Refused(
            f"This has {len(text):,} characters; a memory has at most {MAX_CHARS:,}.",
            param="text",
        )
    return text


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _get(connection: Connection, where: ColumnElement[bool]) -> Memory:
    row = connection.execute(select(*MEMORY_COLUMNS).where(where)).one_or_none()
    if row is None:
        raise memory_not_found()
    return Memory(*row)


def _page(
    connection: Connection, where: ColumnElement[bool], offset: int, limit: int
) -> MemoryPage:
    query = select(*MEMORY_COLUMNS).where(where).order_by(*NEWEST_FIRST)
    rows = connection.execute(query.offset(offset).limit(limit))
    return MemoryPage(tuple(Memory(*row) for row in rows), _count(connection, where))


def _find_same(
    connection: Connection, user_id: str, text: str, except_id: str = ""
) -> Memory | None:
    is_same = and_(memories.c.folded == _fold(text), memories.c.id != except_id)
    row = connection.execute(select(*MEMORY_COLUMNS).where(_is_present(user_id), is_same)).first()
    return Memory(*row) if row else None


def _check_new(connection: Connection, user_id: str, text: str, except_id: str) -> None:
    if _find_same(connection, user_id, text, except_id):
        raise Conflict("You have this memory already.")


def _count(connection: Connection, where: ColumnElement[bool]) -> int:
    return connection.scalar(select(func.count()).select_from(memories).where(where)) or 0


def _own_conversation(
    connection: Connection, conversation_id: str | None, user_id: str
) -> str | None:
    """Returns the id if the conversation exists and is the person's."""
    is_own = conversations.c.id == conversation_id, conversations.c.user_id == user_id
    return connection.scalar(select(conversations.c.id).where(*is_own))
