"""Conversations as trees of messages. Whose they are is part of every question."""

from collections.abc import Sequence
from typing import TypeAlias, TypedDict, Unpack

from msgspec import UNSET, UnsetType
from msgspec.structs import asdict
from sqlalchemy import BindParameter, ColumnElement, and_, bindparam, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from hitsend.errors import NotFound, Refused
from hitsend.recent import Recent
from hitsend.store.database import Database
from hitsend.store.erasure import erase_conversations
from hitsend.store.folders import check_folder
from hitsend.store.rows import Conversation, ConversationLine, Page, Reach, Running, StoredMessage
from hitsend.store.schema import conversations, messages
from hitsend.store.search import is_found, match_expression, snippets
from hitsend.store.trees import end_of_path, ids_on_path, path_to, read_messages, whole_tree

WAY_BACK_S = 60.0
"""How long what was hidden can be brought back."""
TEMPORARY_S = 86_400.0
"""How long a temporary conversation stays after it was last used."""
MOST_KEPT_IDS = 50_000
GONE = 0.0
"""Hidden so long ago that nothing brings it back."""

LINE = (
    conversations.c.id,
    conversations.c.title,
    conversations.c.created_at,
    conversations.c.updated_at,
    conversations.c.is_archived,
    conversations.c.is_pinned,
    conversations.c.folder_id,
)


class ConversationChange(TypedDict, total=False):
    """What is not in it stays as it is."""

    title: str
    is_archived: bool
    is_pinned: bool
    is_visible: bool
    folder_id: str | None
    """None takes it out of its folder."""
    current_node: str


class Conversations:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._before = Recent[tuple[str, str, str], Sequence[str]](MOST_KEPT_IDS, len)
        """Those used last come last."""

    async def list(
        self,
        user_id: str,
        *,
        offset: int = 0,
        limit: int = 28,
        is_archived: bool = False,
        is_pinned: bool | None = None,
        folder_id: str | None | UnsetType = UNSET,
    ) -> Page:
        """The last changed first. A folder of None is that of those that are in no folder."""
        wanted = [_of(user_id), conversations.c.is_archived == is_archived]
        if is_pinned is not None:
            wanted.append(conversations.c.is_pinned == is_pinned)
        if folder_id is not UNSET:
            wanted.append(conversations.c.folder_id == folder_id)
        async with self._database.read() as connection:
            return await _page(connection, and_(*wanted), offset, limit)

    async def search(self, user_id: str, query: str, *, offset: int = 0, limit: int = 28) -> Page:
        """The last changed first, wherever they are kept: archived ones too."""
        match = match_expression(query)
        if match is None:
            return Page((), 0)
        async with self._database.read() as connection:
            wanted = and_(_of(user_id), is_found(match))
            return await _page(connection, wanted, offset, limit, match)

    async def get(self, conversation_id: str, user_id: str) -> Conversation:
        more = conversations.c.current_node, conversations.c.is_temporary
        line = select(*LINE, *more).where(is_here(conversation_id, user_id))
        async with self._database.read() as connection:
            row = (await connection.execute(line)).one_or_none()
            if row is None:
                raise no_conversation()
            said = await read_messages(connection, whole_tree(conversation_id))
        return Conversation(**row._mapping, messages=said, running=_running(said))

    async def path(
        self, conversation_id: str, user_id: str, leaf_id: str, reach: Reach | None = None
    ) -> tuple[StoredMessage, ...]:
        """From the first message to this one, or only as much of its end as is within reach."""
        asked = {"conversation_id": conversation_id, "user_id": user_id, "leaf_id": leaf_id}
        async with self._database.read() as connection:
            if reach is None:
                whole = path_to(leaf_id, is_here(conversation_id, user_id))
                path = await read_messages(connection, whole)
            else:
                path = await read_messages(connection, END_OF_PATH, **asked, **asdict(reach))
        if not path:
            raise no_message()
        return path

    async def path_ids(self, conversation_id: str, user_id: str, leaf_id: str) -> Sequence[str]:
        """From the first message to this one."""
        asked = {"conversation_id": conversation_id, "user_id": user_id, "leaf_id": leaf_id}
        async with self._database.read() as connection:
            return (await connection.scalars(PATH_IDS, asked)).all()

    async def ids_before(self, conversation_id: str, user_id: str, leaf_id: str) -> Sequence[str]:
        """The same, of a message that many turns go back to. What leads to it never changes, so
        it is kept in memory for a while; the caller has just read what follows it."""
        place = conversation_id, user_id, leaf_id
        ids = self._before.get(place) or await self.path_ids(*place)
        self._before[place] = ids
        return ids

    async def update(
        self, conversation_id: str, user_id: str, **change: Unpack[ConversationChange]
    ) -> None:
        """What is made invisible is deleted with a way back: until `erase_hidden` comes by,
        nothing but making it visible can be done with it."""
        if not change:
            raise Refused("Nothing was given to change.")
        async with self._database.write() as connection:
            now = self._database.now()
            meant = is_here(conversation_id, user_id)
            if "is_visible" in change:
                meant = _is_in_reach(conversation_id, user_id, now)
            if folder_id := change.get("folder_id"):
                await check_folder(connection, folder_id, user_id)
            changing = update(conversations).where(meant).values(_values(change, now))
            if (await connection.execute(changing)).rowcount == 0:
                raise no_conversation()
            if "current_node" in change:
                await _check_message(connection, conversation_id, change["current_node"])

    async def is_unnamed(self, conversation_id: str, user_id: str) -> bool:
        """Whether it is there, and nobody has given it a title."""
        unnamed = select(conversations.c.id).where(
            is_here(conversation_id, user_id), conversations.c.is_renamed.is_(False)
        )
        async with self._database.read() as connection:
            return await connection.scalar(unnamed) is not None

    async def delete(self, conversation_id: str, user_id: str) -> None:
        """For good, with everything in it, also what a running turn has yet to say. It is out of
        sight at once, however long it takes to erase."""
        async with self._database.write() as connection:
            meant = _is_in_reach(conversation_id, user_id, self._database.now())
            hiding = update(conversations).where(meant).values(hidden_at=GONE)
            if (await connection.execute(hiding)).rowcount == 0:
                raise no_conversation()
        is_it = and_(is_theirs(conversation_id, user_id), conversations.c.hidden_at == GONE)
        await erase_conversations(self._database, is_it)

    async def ids(self, user_id: str) -> Sequence[str]:
        """Of all their conversations, the oldest first."""
        theirs = select(conversations.c.id).where(_of(user_id)).order_by(conversations.c.created_at)
        async with self._database.read() as connection:
            return (await connection.scalars(theirs)).all()

    async def end_temporary(self) -> None:
        """Out of sight, everyone's that nobody has used for a day. `erase_hidden` does the rest.
        Looks first: most of the time there is nothing to write."""
        unused = conversations.c.updated_at <= self._database.now() - TEMPORARY_S
        is_due = and_(conversations.c.is_temporary, unused, conversations.c.hidden_at.is_(None))
        async with self._database.read() as connection:
            if await connection.scalar(select(conversations.c.id).where(is_due).limit(1)) is None:
                return
        async with self._database.write() as connection:
            await connection.execute(update(conversations).where(is_due).values(hidden_at=GONE))

    async def erase_hidden(self) -> None:
        """For good, everyone's whose way back has ended."""
        is_due = conversations.c.hidden_at <= self._database.now() - WAY_BACK_S
        await erase_conversations(self._database, is_due)


Id: TypeAlias = str | BindParameter[str]
"""Known, or yet to be given to a question that is made once."""


def is_theirs(conversation_id: Id, user_id: Id) -> ColumnElement[bool]:
    return and_(conversations.c.id == conversation_id, conversations.c.user_id == user_id)


def is_here(conversation_id: Id, user_id: Id) -> ColumnElement[bool]:
    """Theirs, and not hidden."""
    return and_(is_theirs(conversation_id, user_id), conversations.c.hidden_at.is_(None))


ASKED = is_here(bindparam("conversation_id"), bindparam("user_id"))
END_OF_PATH, PATH_IDS = end_of_path(ASKED), ids_on_path(ASKED)
"""Every turn asks them, and to word them takes longer than to answer them."""


def can_come_back(now: float) -> ColumnElement[bool]:
    """Hidden, not for too long, and not because its import is not through."""
    return and_(conversations.c.hidden_at > now - WAY_BACK_S, conversations.c.hidden_at <= now)


def no_conversation() -> NotFound:
    return NotFound("There is no such conversation.", param="conversation_id")


def no_message() -> NotFound:
    return NotFound("There is no such message in this conversation.", param="message_id")


def _is_in_reach(conversation_id: str, user_id: str, now: float) -> ColumnElement[bool]:
    """Theirs, and not hidden for good."""
    is_not_gone = or_(conversations.c.hidden_at.is_(None), can_come_back(now))
    return and_(is_theirs(conversation_id, user_id), is_not_gone)


def _values(change: ConversationChange, now: float) -> dict[str, object]:
    values = dict[str, object](change)
    if "title" in change:
        values["is_renamed"] = True
    if values.pop("is_visible", None) is not None:
        # Hiding it once more gives it no more time.
        hidden_at = func.coalesce(conversations.c.hidden_at, now)
        values["hidden_at"] = None if change["is_visible"] else hidden_at
    return values


def _of(user_id: str) -> ColumnElement[bool]:
    """What a list may show."""
    return and_(
        conversations.c.user_id == user_id,
        conversations.c.hidden_at.is_(None),
        conversations.c.is_temporary.is_(False),
    )


async def _page(
    connection: AsyncConnection,
    wanted: ColumnElement[bool],
    offset: int,
    limit: int,
    match: str | None = None,
) -> Page:
    total = await connection.scalar(select(func.count()).select_from(conversations).where(wanted))
    newest_first = conversations.c.updated_at.desc(), conversations.c.position.desc()
    lines = select(*LINE).where(wanted).order_by(*newest_first).offset(offset).limit(limit)
    rows = (await connection.execute(lines)).all()
    found = await snippets(connection, match, [row.id for row in rows]) if match else {}
    return Page(tuple(ConversationLine(*row, found.get(row.id)) for row in rows), total or 0)


async def _check_message(
    connection: AsyncConnection, conversation_id: str, message_id: str
) -> None:
    named = select(messages.c.position).where(
        messages.c.conversation_id == conversation_id, messages.c.id == message_id
    )
    if await connection.scalar(named) is None:
        raise no_message()


def _running(said: tuple[StoredMessage, ...]) -> Running | None:
    """The newest answer that is still being written."""
    writing = [message for message in said if message.status == "in_progress"]
    return Running(writing[-1].turn_id, writing[-1].message_id) if writing else None
