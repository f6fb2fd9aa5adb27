"""What people want remembered. Whose it is, is part of every question.

What is removed is used by nothing from that moment on, can be brought back for a while, and is
then erased. What a memory means is not known here: others make vectors of its text and keep them
beside it.
"""

import unicodedata
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple
from uuid import uuid4

from sqlalchemy import ColumnElement, and_, func, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from hitsend.canonical import canonical
from hitsend.errors import Conflict, NotFound, Refused
from hitsend.store.changes import Changes
from hitsend.store.context_schema import memories
from hitsend.store.database import Database
from hitsend.store.erasure import erase_memories
from hitsend.store.profiles import profile_of
from hitsend.store.rows import Memory, MemoryOrigin, MemoryPage
from hitsend.store.schema import conversations

MOST_MEMORIES = 10_000
"""A person may have."""
MOST_SUGGESTED = 100
"""That wait for an answer."""
MOST_LISTED = MOST_MEMORIES + MOST_SUGGESTED
MOST_CHARS = 1_000
WAY_BACK_S = 600.0
"""How long what was removed can be brought back."""

MEMORY = tuple(memories.c[name] for name in Memory.__struct_fields__)
NEWEST_FIRST = memories.c.created_at.desc(), memories.c.id


class _Added(NamedTuple):
    memory: Memory
    is_new: bool
    """It was not there before, or only as a suggestion."""


class Memories:
    def __init__(self, database: Database, most: int = MOST_MEMORIES) -> None:
        self._database = database
        self._most = most
        self.changes = Changes()
        """Of what a person has, or a vector of it."""

    async def list(
        self, user_id: str, query: str = "", *, offset: int = 0, limit: int = 50
    ) -> MemoryPage:
        """The newest first, suggested ones among them; those that have every word of `query`."""
        wanted = and_(_is_here(user_id), *map(_has, query.split()))
        async with self._database.read() as connection:
            return await _page(connection, wanted, offset, limit)

    async def some(self, user_id: str, memory_ids: Collection[str]) -> Sequence[Memory]:
        """Those of them that are there, in their order."""
        named = select(*MEMORY).where(_is_named(user_id, memory_ids))
        async with self._database.read() as connection:
            found = {row.id: Memory(*row) for row in await connection.execute(named)}
        return [found[memory_id] for memory_id in memory_ids if memory_id in found]

    async def texts(self, user_id: str, memory_ids: Collection[str]) -> Mapping[str, str]:
        """Of those that are kept: not removed, and no mere suggestions."""
        is_kept = memories.c.is_suggested.is_(False)
        return await self._texts(and_(_is_named(user_id, memory_ids), is_kept))

    async def has_any(self, user_id: str) -> bool:
        """Whether anything is kept. Most people ask for nothing to be remembered."""
        some = select(memories.c.id).where(_is_kept(user_id)).limit(1)
        async with self._database.read() as connection:
            return await connection.scalar(some) is not None

    async def has_room(self, user_id: str) -> bool:
        async with self._database.read() as connection:
            return await _num(connection, _is_kept(user_id)) < self._most

    async def every_text(self, user_id: str, *, and_suggested: bool = False) -> Mapping[str, str]:
        """Of all that are kept, the newest first."""
        return await self._texts(_is_here(user_id) if and_suggested else _is_kept(user_id))

    async def every_known_text(self, user_id: str) -> Mapping[str, str]:
        """Also of suggestions, and of what was removed and can be brought back."""
        return await self._texts(memories.c.user_id == user_id)

    async def add(
        self, user_id: str, text: str, origin: MemoryOrigin, conversation_id: str | None = None
    ) -> Memory:
        """What is there already is not added again; what was only suggested is accepted so."""
        text = _clean(text)
        async with self._database.write() as connection:
            memory, _ = await self._added(connection, user_id, text, origin, conversation_id)
        self.changes.note(user_id, [memory.id])
        return memory

    async def add_heard(
        self, user_id: str, text: str, origin: MemoryOrigin, conversation_id: str
    ) -> Memory | None:
        """What was said a while ago. None where it is there already, or where by now the person
        wants nothing remembered, or suggested."""
        text = _clean(text)
        async with self._database.write() as connection:
            profile = await profile_of(connection, user_id)
            is_wanted = origin == "asked" or profile.suggests_memories
            if not (profile.uses_memory and is_wanted):
                return None
            added = await self._added(connection, user_id, text, origin, conversation_id)
        self.changes.note(user_id, [added.memory.id])
        return added.memory if added.is_new else None

    async def change(self, memory_id: str, user_id: str, text: str) -> Memory:
        text = _clean(text)
        said = {"text": text, "folded": _folded(text), "vector": None}
        async with self._changing(user_id, memory_id) as connection:
            await _check_new(connection, user_id, text, besides=memory_id)
            return await self._changed(connection, memory_id, user_id, **said)

    async def accept(self, memory_id: str, user_id: str) -> Memory:
        """A suggestion. Accepting what is kept already changes nothing."""
        async with self._changing(user_id, memory_id) as connection:
            memory = await _get(connection, _is_it(memory_id, user_id))
            return await self._accepted(connection, memory, user_id)

    async def remove(self, memory_id: str, user_id: str) -> None:
        """With a way back."""
        async with self._changing(user_id, memory_id) as connection:
            now = self._database.now()
            await self._changed(connection, memory_id, user_id, removed_at=now)

    async def bring_back(self, memory_id: str, user_id: str) -> Memory:
        """What was removed a moment ago. Bringing back what is there changes nothing."""
        since = self._database.now() - WAY_BACK_S
        can_come_back = or_(memories.c.removed_at.is_(None), memories.c.removed_at > since)
        meant = and_(memories.c.id == memory_id, memories.c.user_id == user_id, can_come_back)
        removed = select(memories.c.removed_at).where(meant)
        async with self._changing(user_id, memory_id) as connection:
            memory = await _get(connection, meant)
            if await connection.scalar(removed):
                await _check_new(connection, user_id, memory.text, besides=memory_id)
                await self._check_room(connection, user_id, is_suggested=memory.is_suggested)
                await connection.execute(update(memories).where(meant).values(removed_at=None))
            return memory

    async def clear(self, user_id: str) -> None:
        """All of them, for good, also those that could have been brought back."""
        await erase_memories(self._database, memories.c.user_id == user_id)
        self.changes.note(user_id)

    async def erase_removed(self) -> None:
        """For good, everyone's whose way back has ended."""
        is_due = memories.c.removed_at <= self._database.now() - WAY_BACK_S
        await erase_memories(self._database, is_due)

    async def vectors(
        self, user_id: str, embedder: str, memory_ids: Collection[str] | None = None
    ) -> tuple[Sequence[str], bytes]:
        """Of all that are kept and that `embedder` has seen, or some of them: whose, and one after
        another."""
        seen = and_(memories.c.embedder == embedder, memories.c.vector.is_not(None))
        meant = _is_here(user_id) if memory_ids is None else _is_named(user_id, memory_ids)
        is_kept = memories.c.is_suggested.is_(False)
        theirs = select(memories.c.id, memories.c.vector).where(meant, is_kept, seen)
        async with self._database.read() as connection:
            rows = (await connection.execute(theirs.order_by(*NEWEST_FIRST))).all()
        return [row.id for row in rows], b"".join(row.vector or b"" for row in rows)

    async def unseen(
        self, user_id: str, embedder: str, limit: int, memory_ids: Collection[str] | None = None
    ) -> Mapping[str, str]:
        """Texts of some that `embedder` has yet to see, the newest first; or of some of these."""
        meant = _is_here(user_id) if memory_ids is None else _is_named(user_id, memory_ids)
        is_kept = memories.c.is_suggested.is_(False)
        is_unseen = or_(memories.c.vector.is_(None), memories.c.embedder != embedder)
        return await self._texts(and_(meant, is_kept, is_unseen), limit)

    async def learn(
        self, user_id: str, embedder: str, texts: Mapping[str, str], vectors: Sequence[bytes]
    ) -> None:
        """`vectors` are those of `texts`. What says something else by now is left alone."""
        async with self._changing(user_id, *texts) as connection:
            for (memory_id, text), vector in zip(texts.items(), vectors, strict=True):
                same = and_(_is_it(memory_id, user_id), memories.c.text == text)
                learning = update(memories).where(same)
                await connection.execute(learning.values(embedder=embedder, vector=vector))

    async def _texts(self, wanted: ColumnElement[bool], limit: int | None = None) -> dict[str, str]:
        theirs = select(memories.c.id, memories.c.text).where(wanted).order_by(*NEWEST_FIRST)
        async with self._database.read() as connection:
            return {row.id: row.text for row in await connection.execute(theirs.limit(limit))}

    async def _added(
        self,
        connection: AsyncConnection,
        user_id: str,
        text: str,
        origin: MemoryOrigin,
        conversation_id: str | None,
    ) -> _Added:
        is_suggested = origin == "suggested"
        if known := await _same(connection, user_id, text):
            is_new = known.is_suggested and not is_suggested
            return _Added(
                await self._accepted(connection, known, user_id) if is_new else known, is_new
            )
        await self._check_room(connection, user_id, is_suggested=is_suggested)
        adding = insert(memories).values(
            id=str(uuid4()),
            user_id=user_id,
            text=text,
            folded=_folded(text),
            origin=origin,
            conversation_id=await _lasting(connection, conversation_id, user_id),
            is_suggested=is_suggested,
            created_at=self._database.now(),
            updated_at=self._database.now(),
        )
        return _Added(Memory(*(await connection.execute(adding.returning(*MEMORY))).one()), True)

    async def _accepted(self, connection: AsyncConnection, memory: Memory, user_id: str) -> Memory:
        if not memory.is_suggested:
            return memory
        await self._check_room(connection, user_id)
        return await self._changed(connection, memory.id, user_id, is_suggested=False)

    async def _check_room(
        self, connection: AsyncConnection, user_id: str, *, is_suggested: bool = False
    ) -> None:
        """Suggestions take no room from what is kept."""
        alike = and_(_is_here(user_id), memories.c.is_suggested.is_(is_suggested))
        most = MOST_SUGGESTED if is_suggested else self._most
        if await _num(connection, alike) >= most:
            raise Conflict(f"You have {most:,} memories, the most there can be. Delete some first.")

    async def _changed(
        self, connection: AsyncConnection, memory_id: str, user_id: str, **change: object
    ) -> Memory:
        values = {**change, "updated_at": self._database.now()}
        changing = update(memories).where(_is_it(memory_id, user_id)).values(values)
        row = (await connection.execute(changing.returning(*MEMORY))).one_or_none()
        if row is None:
            raise no_memory()
        return Memory(*row)

    @asynccontextmanager
    async def _changing(self, user_id: str, *memory_ids: str) -> AsyncIterator[AsyncConnection]:
        async with self._database.write() as connection:
            yield connection
        self.changes.note(user_id, memory_ids)


def no_memory() -> NotFound:
    return NotFound("There is no such memory.", param="memory_id")


def _is_here(user_id: str) -> ColumnElement[bool]:
    return and_(memories.c.user_id == user_id, memories.c.removed_at.is_(None))


def _is_kept(user_id: str) -> ColumnElement[bool]:
    """What a model may be shown."""
    return and_(_is_here(user_id), memories.c.is_suggested.is_(False))


def _is_named(user_id: str, memory_ids: Collection[str]) -> ColumnElement[bool]:
    """Theirs, and one of these. Found by id: by person, SQLite would look at all they have, which
    takes ten times as long."""
    is_theirs = memories.c.user_id.concat("") == user_id
    return and_(memories.c.id.in_(memory_ids), is_theirs, memories.c.removed_at.is_(None))


def _is_it(memory_id: str, user_id: str) -> ColumnElement[bool]:
    return and_(memories.c.id == memory_id, _is_here(user_id))


def _has(word: str) -> ColumnElement[bool]:
    """However it is written: the database knows large and small letters of ASCII alone."""
    ways = {word, word.lower(), word.capitalize(), word.upper()}
    return or_(*[memories.c.text.contains(way, autoescape=True) for way in sorted(ways)])


def _clean(text: str) -> str:
    """On one line, so that two that read alike are alike."""
    text = " ".join(canonical(text).split())
    if not text:
        raise Refused("There is nothing to remember.", param="text")
    if len(text) > MOST_CHARS:
        raise Refused(
            f"This has {len(text):,} characters; a memory has at most {MOST_CHARS:,}.",
            param="text",
        )
    return text


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


async def _get(connection: AsyncConnection, which: ColumnElement[bool]) -> Memory:
    row = (await connection.execute(select(*MEMORY).where(which))).one_or_none()
    if row is None:
        raise no_memory()
    return Memory(*row)


async def _page(
    connection: AsyncConnection, wanted: ColumnElement[bool], offset: int, limit: int
) -> MemoryPage:
    shown = select(*MEMORY).where(wanted).order_by(*NEWEST_FIRST).offset(offset).limit(limit)
    rows = await connection.execute(shown)
    return MemoryPage(tuple(Memory(*row) for row in rows), await _num(connection, wanted))


async def _same(
    connection: AsyncConnection, user_id: str, text: str, besides: str = ""
) -> Memory | None:
    says_it = and_(memories.c.folded == _folded(text), memories.c.id != besides)
    row = (await connection.execute(select(*MEMORY).where(_is_here(user_id), says_it))).first()
    return Memory(*row) if row else None


async def _check_new(connection: AsyncConnection, user_id: str, text: str, besides: str) -> None:
    if await _same(connection, user_id, text, besides):
        raise Conflict("You have this memory already.")


async def _num(connection: AsyncConnection, which: ColumnElement[bool]) -> int:
    return await connection.scalar(select(func.count()).select_from(memories).where(which)) or 0


async def _lasting(
    connection: AsyncConnection, conversation_id: str | None, user_id: str
) -> str | None:
    """Only a conversation that is there, and theirs, can be pointed at."""
    theirs = conversations.c.id == conversation_id, conversations.c.user_id == user_id
    return await connection.scalar(select(conversations.c.id).where(*theirs))
