"""Conversations: trees of messages, each owned by one person."""

from collections.abc import Sequence
from typing import TypeAlias, TypedDict, Unpack

from cachetools import LRUCache
from msgspec import UNSET, UnsetType
from msgspec.structs import asdict, replace
from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    and_,
    bindparam,
    func,
    or_,
    select,
    update,
)

from hitsend.errors import NotFound, Refused
from hitsend.messages import Text as MessageText
from hitsend.store.audit import record
from hitsend.store.audit_events import SERVER, Actor, ConversationRestored, ConversationsDeleted
from hitsend.store.database import Database, reads, writes
from hitsend.store.erase_in_batches import erase_conversations
from hitsend.store.folders import check_folder
from hitsend.store.message_path import MessagePath
from hitsend.store.message_queries import (
    as_message_row,
    read_messages,
    select_messages,
    select_path,
    select_path_end,
    select_path_ids,
    select_recent_questions,
    select_sizes,
    select_tree,
)
from hitsend.store.prepared import Prepared, as_list
from hitsend.store.rows import (
    Conversation,
    ConversationItem,
    ConversationPage,
    MessageRow,
    MessageSize,
    PathLimit,
    RunningAnswer,
)
from hitsend.store.schema import conversations, messages
from hitsend.store.search import find_hits, match_expression, read_snippets

RESTORE_S = 60.0
"""How long a deleted conversation can be restored."""
TEMPORARY_S = 86_400.0
"""How long a temporary conversation is kept after its last use."""
MAX_CACHED_IDS = 50_000
NO_PATH = MessagePath()
GONE = 0.0
"""A `hidden_at` that can no longer be restored."""

ITEM_COLUMNS = (
    conversations.c.id,
    conversations.c.title,
    conversations.c.created_at,
    conversations.c.updated_at,
    conversations.c.is_archived,
    conversations.c.is_pinned,
    conversations.c.folder_id,
)
ITEM_FIELDS = ConversationItem.__struct_fields__[: len(ITEM_COLUMNS)]


class ConversationChange(TypedDict, total=False):
    """Fields to change. Missing ones stay as they are."""

    title: str
    is_archived: bool
    is_pinned: bool
    is_visible: bool
    folder_id: str | None
    """None removes it from its folder."""
    current_node: str


class Conversations:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._paths = LRUCache[tuple[str, str], MessagePath](MAX_CACHED_IDS, _cache_size)

    @reads
    def list(
        self,
        connection: Connection,
        user_id: str,
        *,
        offset: int = 0,
        limit: int = 28,
        is_archived: bool = False,
        is_pinned: bool | None = None,
        folder_id: str | None | UnsetType = UNSET,
    ) -> ConversationPage:
        """Newest first. A folder of None lists the conversations that are in no folder."""
        filters = [is_listed(user_id), conversations.c.is_archived == is_archived]
        if is_pinned is not None:
            filters.append(conversations.c.is_pinned == is_pinned)
        if folder_id is not UNSET:
            filters.append(conversations.c.folder_id == folder_id)
        return _page(connection, and_(*filters), offset, limit)

    @reads
    def search(
        self, connection: Connection, user_id: str, query: str, *, offset: int = 0, limit: int = 28
    ) -> ConversationPage:
        """Newest first, in all folders and in the archive."""
        match = match_expression(query)
        if match is None:
            return ConversationPage((), 0)
        is_theirs = is_listed(user_id)
        hits = find_hits(connection, match, is_theirs)
        page = _page(connection, and_(is_theirs, hits.is_found), offset, limit)
        positions = [hits.newest[item.id] for item in page.items if item.id in hits.newest]
        snippets = read_snippets(connection, match, positions)
        items = tuple(replace(item, found=snippets.get(item.id)) for item in page.items)
        return ConversationPage(items, page.total)

    @reads
    def get(self, connection: Connection, conversation_id: str, user_id: str) -> Conversation:
        conversation = _read_whole(connection, conversation_id, user_id)
        if conversation is None:
            raise conversation_not_found()
        return conversation

    @reads
    def get_some(
        self, connection: Connection, ids: Sequence[str], user_id: str, max_messages: int
    ) -> tuple[Sequence[Conversation], int]:
        """Reads the first ones, until they have `max_messages` together, and returns how many ids
        it took. Leaves out those that were deleted."""
        found: list[Conversation] = []
        num_messages = num_taken = 0
        while num_taken < len(ids) and num_messages < max_messages:
            conversation = _read_whole(connection, ids[num_taken], user_id)
            num_taken += 1
            if conversation is not None:
                found.append(conversation)
                num_messages += len(conversation.messages)
        return found, num_taken

    @reads
    def path(
        self,
        connection: Connection,
        conversation_id: str,
        user_id: str,
        leaf_id: str,
        limit: PathLimit | None = None,
    ) -> tuple[MessageRow, ...]:
        """Returns the messages from the root to this one, or only the end within the limit."""
        place = {"conversation_id": conversation_id, "user_id": user_id, "leaf_id": leaf_id}
        if limit is None:
            whole = select_path(leaf_id, is_visible_to(conversation_id, user_id))
            path = read_messages(connection, whole)
        else:
            rows = PATH_END.rows(connection, **place, **asdict(limit))
            path = tuple(map(as_message_row, rows))
        if not path:
            raise message_not_found()
        return path

    async def path_ids(self, conversation_id: str, user_id: str, leaf_id: str) -> MessagePath:
        """Returns the ids from the root to this message. The path to a message never changes, so
        the last path of each conversation is cached, and a longer one read from its end on.

        NOTE: the caller must have read the conversation, because a hit does not check it exists.
        """
        place = conversation_id, user_id
        known = self._paths.get(place, NO_PATH)
        if (at := known.place(leaf_id)) is not None:
            return known.prefix(at + 1)
        rows = await self._read_path_ids(*place, leaf_id, known.last or "")
        ids = [message_id for message_id, _ in rows]
        goes_on = known and rows and rows[0][1] == known.last
        path = known.extend(ids) if goes_on else MessagePath(ids)
        if path:
            self._paths[place] = path
        return path

    @reads
    def _read_path_ids(
        self,
        connection: Connection,
        conversation_id: str,
        user_id: str,
        leaf_id: str,
        known_id: str,
    ) -> Sequence[tuple[str, str | None]]:
        place = {"conversation_id": conversation_id, "user_id": user_id, "leaf_id": leaf_id}
        return [
            (one, parent) for one, parent in PATH_IDS.rows(connection, **place, known_id=known_id)
        ]

    @reads
    def messages(
        self, connection: Connection, conversation_id: str, user_id: str, ids: Sequence[str]
    ) -> tuple[MessageRow, ...]:
        """Returns the messages with these ids, in this order."""
        place = {"conversation_id": conversation_id, "user_id": user_id}
        rows = map(as_message_row, MESSAGES.rows(connection, **place, ids=as_list(ids)))
        found = {one.message_id: one for one in rows}
        return tuple(found[one] for one in ids if one in found)

    @reads
    def sizes(
        self, connection: Connection, conversation_id: str, user_id: str, ids: Sequence[str]
    ) -> Sequence[MessageSize]:
        """Returns the sizes of the messages with these ids, in the order they were written."""
        place = {"conversation_id": conversation_id, "user_id": user_id}
        return [MessageSize(*row) for row in SIZES.rows(connection, **place, ids=as_list(ids))]

    @writes
    def update(
        self,
        connection: Connection,
        conversation_id: str,
        user_id: str,
        by: Actor = SERVER,
        **change: Unpack[ConversationChange],
    ) -> None:
        """Changes the given fields. Making it invisible is a deletion that can be undone until
        `erase_hidden` runs; until then, it can only be made visible again."""
        if not change:
            raise Refused("Nothing was given to change.")
        now = self._database.now()
        is_it = is_visible_to(conversation_id, user_id)
        if "is_visible" in change:
            is_it = _is_restorable(conversation_id, user_id, now)
            _record_visibility(connection, conversation_id, is_it, change["is_visible"], by, now)
        if folder_id := change.get("folder_id"):
            check_folder(connection, folder_id, user_id)
        query = update(conversations).where(is_it).values(_values(change, now))
        if connection.execute(query).rowcount == 0:
            raise conversation_not_found()
        if "current_node" in change:
            _check_message(connection, conversation_id, change["current_node"])

    @reads
    def check(self, connection: Connection, conversation_id: str, user_id: str) -> None:
        """Raises NotFound if the person does not see such a conversation."""
        place = {"conversation_id": conversation_id, "user_id": user_id}
        if FIND_VISIBLE.first(connection, **place) is None:
            raise conversation_not_found()

    @reads
    def recent_questions(
        self, connection: Connection, conversation_id: str, user_id: str, leaf_id: str
    ) -> Sequence[str]:
        """Returns what the person said in the last few messages up to this one, the newest
        first."""
        place = {"conversation_id": conversation_id, "user_id": user_id, "leaf_id": leaf_id}
        rows = RECENT_QUESTIONS.rows(connection, **place)
        return [
            "".join(one.text for one in parts if isinstance(one, MessageText)) for (parts,) in rows
        ]

    @reads
    def is_unnamed(self, connection: Connection, conversation_id: str, user_id: str) -> bool:
        """Whether it exists and the person has not chosen its title."""
        place = {"conversation_id": conversation_id, "user_id": user_id}
        return IS_UNNAMED.first(connection, **place) is not None

    async def delete(self, conversation_id: str, user_id: str, by: Actor = SERVER) -> None:
        """Deletes it for good, with what a running turn still writes. It is invisible at once,
        however long erasing takes."""
        await self._hide_for_good(conversation_id, user_id, by)
        is_it = and_(is_owned_by(conversation_id, user_id), conversations.c.hidden_at == GONE)
        await erase_conversations(self._database, is_it)

    @writes
    def _hide_for_good(
        self, connection: Connection, conversation_id: str, user_id: str, by: Actor
    ) -> None:
        now = self._database.now()
        is_it = _is_restorable(conversation_id, user_id, now)
        _record_visibility(connection, conversation_id, is_it, False, by, now)
        hide = update(conversations).where(is_it).values(hidden_at=GONE)
        if connection.execute(hide).rowcount == 0:
            raise conversation_not_found()

    @reads
    def ids(self, connection: Connection, user_id: str) -> Sequence[str]:
        """Returns the ids of all listed conversations, oldest first."""
        query = select(conversations.c.id).where(is_listed(user_id))
        return connection.scalars(query.order_by(conversations.c.created_at)).all()

    async def hide_expired_temporary(self) -> None:
        """Hides temporary conversations unused for a day; `erase_hidden` deletes them. Reads
        first, because usually there are none and a write takes the lock."""
        is_unused = conversations.c.updated_at <= self._database.now() - TEMPORARY_S
        is_due = and_(conversations.c.is_temporary, is_unused, conversations.c.hidden_at.is_(None))
        any_due = select(conversations.c.id).where(is_due).limit(1)
        if await self._database.read(lambda connection: connection.scalar(any_due)) is None:
            return
        hide = update(conversations).where(is_due).values(hidden_at=GONE)
        await self._database.write(lambda connection: connection.execute(hide).close())

    async def erase_hidden(self, keep_s: float = 0) -> None:
        """Deletes everyone's hidden conversations that can no longer be restored, but keeps those
        that were hidden in the last `keep_s`. What was deleted for good is not kept."""
        until = self._database.now() - max(RESTORE_S, keep_s)
        is_due = conversations.c.hidden_at <= until
        await erase_conversations(self._database, is_due)


Id: TypeAlias = str | BindParameter[str]
"""A value, or a parameter of a query that is built once."""


def is_owned_by(conversation_id: Id, user_id: Id) -> ColumnElement[bool]:
    return and_(conversations.c.id == conversation_id, conversations.c.user_id == user_id)


def is_visible_to(conversation_id: Id, user_id: Id) -> ColumnElement[bool]:
    """The person owns it, and it is not hidden."""
    return and_(is_owned_by(conversation_id, user_id), conversations.c.hidden_at.is_(None))


IS_VISIBLE = is_visible_to(bindparam("conversation_id"), bindparam("user_id"))
PATH_END, PATH_IDS = Prepared(select_path_end(IS_VISIBLE)), Prepared(select_path_ids(IS_VISIBLE))
GET = Prepared(
    select(*ITEM_COLUMNS, conversations.c.current_node, conversations.c.is_temporary).where(
        IS_VISIBLE
    )
)
TREE = Prepared(select_tree())
MESSAGES, SIZES = Prepared(select_messages(IS_VISIBLE)), Prepared(select_sizes(IS_VISIBLE))
RECENT_QUESTIONS = Prepared(select_recent_questions(IS_VISIBLE))
FIND_VISIBLE = Prepared(select(conversations.c.id).where(IS_VISIBLE))
IS_UNNAMED = Prepared(
    select(conversations.c.id).where(IS_VISIBLE, conversations.c.is_renamed.is_(False))
)


def can_restore(now: float) -> ColumnElement[bool]:
    """Hidden a short time ago. An unfinished import is hidden in the future."""
    return and_(conversations.c.hidden_at > now - RESTORE_S, conversations.c.hidden_at <= now)


def conversation_not_found() -> NotFound:
    return NotFound("There is no such conversation.", param="conversation_id")


def message_not_found() -> NotFound:
    return NotFound("There is no such message in this conversation.", param="message_id")


def _cache_size(path: MessagePath) -> int:
    return min(len(path) + 1, MAX_CACHED_IDS)  # a longer path takes the whole cache


def _is_restorable(conversation_id: str, user_id: str, now: float) -> ColumnElement[bool]:
    """The person owns it, and it is visible or can be restored."""
    is_not_gone = or_(conversations.c.hidden_at.is_(None), can_restore(now))
    return and_(is_owned_by(conversation_id, user_id), is_not_gone)


def _record_visibility(
    connection: Connection,
    conversation_id: str,
    is_it: ColumnElement[bool],
    is_visible: bool,
    by: Actor,
    now: float,
) -> None:
    """Records a deletion, or that it is taken back. Call it before the change."""
    is_changed = conversations.c.hidden_at.is_(None) != is_visible
    if connection.scalar(select(conversations.c.id).where(is_it, is_changed)) is None:
        return
    deleted = ConversationsDeleted(1, conversation_id)
    record(connection, ConversationRestored(conversation_id) if is_visible else deleted, by, now)


def _values(change: ConversationChange, now: float) -> dict[str, object]:
    values = dict[str, object](change)
    if "title" in change:
        values["is_renamed"] = True
    if values.pop("is_visible", None) is not None:
        # Hiding it again does not extend the time to restore it.
        hidden_at = func.coalesce(conversations.c.hidden_at, now)
        values["hidden_at"] = None if change["is_visible"] else hidden_at
    return values


def is_listed(user_id: str) -> ColumnElement[bool]:
    """The person owns it, and it is neither hidden nor temporary."""
    return and_(
        conversations.c.user_id == user_id,
        conversations.c.hidden_at.is_(None),
        conversations.c.is_temporary.is_(False),
    )


def _read_whole(connection: Connection, conversation_id: str, user_id: str) -> Conversation | None:
    row = GET.first(connection, conversation_id=conversation_id, user_id=user_id)
    if row is None:
        return None
    rows = TREE.rows(connection, conversation_id=conversation_id)
    tree = tuple(map(as_message_row, rows))
    *item, current_node, is_temporary = row
    return Conversation(
        **dict(zip(ITEM_FIELDS, item, strict=True)),
        current_node=current_node,
        is_temporary=is_temporary,
        messages=tree,
        running=_running_answer(tree),
    )


def _page(
    connection: Connection, where: ColumnElement[bool], offset: int, limit: int
) -> ConversationPage:
    total = connection.scalar(select(func.count()).select_from(conversations).where(where))
    newest_first = conversations.c.updated_at.desc(), conversations.c.position.desc()
    items = select(*ITEM_COLUMNS).where(where).order_by(*newest_first).offset(offset).limit(limit)
    return ConversationPage(
        tuple(ConversationItem(*row) for row in connection.execute(items)), total or 0
    )


def _check_message(connection: Connection, conversation_id: str, message_id: str) -> None:
    query = select(messages.c.position).where(
        messages.c.conversation_id == conversation_id, messages.c.id == message_id
    )
    if connection.scalar(query) is None:
        raise message_not_found()


def _running_answer(tree: tuple[MessageRow, ...]) -> RunningAnswer | None:
    running = [message for message in tree if message.status == "in_progress"]
    return RunningAnswer(running[-1].turn_id, running[-1].message_id) if running else None
