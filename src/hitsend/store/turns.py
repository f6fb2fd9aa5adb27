"""Turns and their logs. What was accepted is stored before it runs; what was said is stored
before anyone hears it.

`append` is the busiest write there is: every word of every answer goes through it.
"""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from sqlalchemy import (
    ColumnElement,
    Integer,
    LargeBinary,
    Row,
    Select,
    and_,
    cast,
    exists,
    func,
    insert,
    literal_column,
    select,
    text,
    update,
)
from sqlalchemy.dialects.sqlite import insert as upsert
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from hitsend.crash import crash_here
from hitsend.errors import Conflict, NotFound, Unauthenticated
from hitsend.events import Stamped, decode, encode
from hitsend.messages import Usage
from hitsend.store.closings import close_turns
from hitsend.store.conversations import is_here, no_conversation, no_message
from hitsend.store.database import Database
from hitsend.store.experiments import take_part
from hitsend.store.ledger import Ledger
from hitsend.store.rows import Closing, Entry, NewTurn, TurnRow
from hitsend.store.schema import conversations, messages, meta, turn_events, turns, users
from hitsend.store.sends import (
    SentBefore,
    SentSend,
    check_new,
    find_same,
    find_send,
    forget_old,
    remember,
)
from hitsend.store.users import is_enabled

MAX_ROWS = 1000
"""Of one INSERT. SQLite allows 32,766 values in a statement, four to a row."""

INSERT = "INSERT OR IGNORE INTO turn_events (turn_id, seq, at_ms, data) VALUES "

INSERT_IF_THERE = text(
    "INSERT OR IGNORE INTO turn_events (turn_id, seq, at_ms, data) "
    "SELECT :turn_id, :seq, :at_ms, :data WHERE EXISTS (SELECT 1 FROM turns WHERE id = :turn_id)"
)

FEW_EVENTS = 200

MAX_SPEED_ANSWERS = 20
MAX_RECENT_ANSWERS = 500
MIN_SPEED_TOKENS = 16
"""Of an answer too short to tell how fast its model is."""
FRESH_S = 30.0

RECENT_USAGE = (
    select(messages.c.model, messages.c.usage)
    .where(messages.c.role == "assistant", messages.c.usage.is_not(None))
    .order_by(messages.c.position.desc())
    .limit(MAX_RECENT_ANSWERS)
)

BEGUN: ColumnElement[int] = literal_column("turns.rowid")
"""In the order they began, whatever the clock said."""

TURN = tuple(turns.c[name] for name in TurnRow.__struct_fields__)


class Turns:
    def __init__(self, database: Database, ledger: Ledger) -> None:
        self._database = database
        self._ledger = ledger
        self._speeds: Mapping[str, float] = {}
        self._speeds_until = 0.0
        self.epoch = 0
        """Which start of the server this is. 0 for a program that runs no turns."""

    async def begin_epoch(self) -> None:
        """The server has started: its turns can be told from those of the start before."""
        counted = upsert(meta).values(key="epoch", value=b"1")
        more = cast(cast(meta.c.value, Integer) + 1, LargeBinary)
        counting = counted.on_conflict_do_update(["key"], set_={"value": more})
        async with self._database.write() as connection:
            self.epoch = int((await connection.scalars(counting.returning(meta.c.value))).one())

    async def accept(self, new: NewTurn) -> int:
        """Asks again who may come in: someone may have been shut out while the prompt was read.
        Gives back how many tokens its answer may have. Raises SentBefore, KeyReused, and TooFast
        where it would take more than there is left."""
        async with self._database.write() as connection:
            await _check_enabled(connection, new.user_id)
            await check_new(connection, new, self._database.now())
            if new.creates_conversation:
                await _create_conversation(connection, new)
            elif new.conversation_id is not None:
                await _continue_conversation(connection, new)
            await connection.execute(insert(turns).values(_turn(new) | {"epoch": self.epoch}))
            await remember(connection, new, self._database.now())
            await take_part(connection, new.turn_id, new.prompts)
            if new.conversation_id is not None:
                await connection.execute(insert(messages), list(_messages(new)))
            crash_here("inserted")
            return await self._ledger.reserve(connection, new)

    async def sent(self, user_id: str, key: str) -> SentSend | None:
        """What the person asked for under this key, within a day."""
        async with self._database.read() as connection:
            return await find_send(connection, user_id, key, self._database.now())

    async def forget_sends(self) -> None:
        """Those that are too old to be asked for again."""
        await forget_old(self._database)

    async def append(self, entries: Sequence[Entry], closings: Sequence[Closing] = ()) -> None:
        """All of it or nothing. What belongs to a turn that was deleted is left out."""
        if not closings and 0 < len(entries) <= MAX_ROWS:
            try:
                return await self._append_alone(entries)
            except IntegrityError:
                # A turn among them was deleted, perhaps. The others' words are kept below;
                # if it was anything else, the same error comes again.
                return await self._append(entries, closings)
        return await self._append(entries, closings)

    async def _append_alone(self, entries: Sequence[Entry]) -> None:
        values: list[object] = []
        for entry in entries:
            stamped = entry.stamped
            values += (entry.turn_id, stamped.seq, stamped.at_ms, encode(stamped.event))
        rows = ",".join(["(?,?,?,?)"] * len(entries))
        await self._database.write_one(INSERT + rows, values)

    async def _append(self, entries: Sequence[Entry], closings: Sequence[Closing]) -> None:
        rows = [
            {
                "turn_id": entry.turn_id,
                "seq": entry.stamped.seq,
                "at_ms": entry.stamped.at_ms,
                "data": encode(entry.stamped.event),
            }
            for entry in entries
        ]
        async with self._database.write() as connection:
            if rows:
                await connection.execute(INSERT_IF_THERE, rows)
            if closings:
                crash_here("mid-commit")
                await close_turns(connection, closings)

    async def get(self, turn_id: str, user_id: str) -> TurnRow:
        theirs = _theirs(turn_id, user_id).with_only_columns(*TURN)
        async with self._database.read() as connection:
            row = (await connection.execute(theirs)).one_or_none()
        if row is None:
            raise no_turn()
        return TurnRow(*row)

    async def events(
        self, turn_id: str, user_id: str, after: int = 0, most: int | None = None
    ) -> list[Stamped]:
        async with self._database.read() as connection:
            if await connection.scalar(_theirs(turn_id, user_id)) is None:
                raise no_turn()
            rows = await _log(connection, turn_id, after, most)
        return await _decoded(rows)

    async def newest(self, conversation_id: str, user_id: str) -> str | None:
        """The turn that began last in a conversation, if any was begun here. Raises NotFound."""
        in_it = turns.c.conversation_id == conversations.c.id
        begun_here = and_(in_it, turns.c.surface != "import")
        latest = (
            select(turns.c.id)
            .outerjoin_from(conversations, turns, begun_here)
            .where(is_here(conversation_id, user_id))
            .order_by(BEGUN.desc())
            .limit(1)
        )
        async with self._database.read() as connection:
            row = (await connection.execute(latest)).one_or_none()
        if row is None:
            raise no_conversation()
        return row[0]

    async def last_seq(self, turn_id: str, user_id: str) -> int:
        """The number of the newest event that is stored. Raises NotFound."""
        last = select(func.max(turn_events.c.seq)).where(turn_events.c.turn_id == turn_id)
        async with self._database.read() as connection:
            if await connection.scalar(_theirs(turn_id, user_id)) is None:
                raise no_turn()
            return await connection.scalar(last) or 0

    async def speeds(self) -> Mapping[str, float]:
        """Tokens a second of each model's last answers, as it decoded them. At most 30 s old."""
        if self._database.now() >= self._speeds_until:
            self._speeds = _speeds(await self.usages())
            self._speeds_until = self._database.now() + FRESH_S
        return self._speeds

    async def usages(self) -> list[tuple[str, Usage]]:
        """What the last answers in conversations took, and of which model; the newest first."""
        async with self._database.read() as connection:
            rows = await connection.execute(RECENT_USAGE)
            return [(model, usage) for model, usage in rows if model and usage]

    async def logs(self, turn_ids: Collection[str]) -> dict[str, list[Stamped]]:
        """For recovery at start, many in one read: asks nobody's leave, so no route may use it."""
        ordered = (turn_events.c.turn_id, turn_events.c.seq)
        wanted = (
            select(*ordered, turn_events.c.at_ms, turn_events.c.data)
            .where(turn_events.c.turn_id.in_(turn_ids))
            .order_by(*ordered)
        )
        async with self._database.read() as connection:
            rows = (await connection.execute(wanted)).all()
        return await asyncio.to_thread(_logs, turn_ids, rows)

    async def unfinished(self) -> list[TurnRow]:
        """Turns a crash left running, the oldest first."""
        left = select(*TURN).where(turns.c.state == "running").order_by(BEGUN)
        async with self._database.read() as connection:
            return [TurnRow(*row) for row in await connection.execute(left)]


async def _sent_already(connection: AsyncConnection, new: NewTurn) -> SentBefore | Conflict:
    """Under another key the same message is the same turn, as long as nothing else is asked."""
    if turn_id := await find_same(connection, new):
        return SentBefore(turn_id)
    return Conflict("This message was sent already.", param="messages")


def no_turn() -> NotFound:
    return NotFound("There is no such turn.", param="turn_exchange_id")


def _theirs(turn_id: str, user_id: str) -> Select[str]:
    """Of an API call, or of a conversation that is not hidden."""
    in_conversation = turns.c.conversation_id == conversations.c.id
    return (
        select(turns.c.id)
        .outerjoin_from(turns, conversations, in_conversation)
        .where(turns.c.id == turn_id, turns.c.user_id == user_id)
        .where(conversations.c.hidden_at.is_(None))
    )


async def _check_enabled(connection: AsyncConnection, user_id: str) -> None:
    enabled = select(users.c.id).where(users.c.id == user_id, is_enabled())
    if await connection.scalar(enabled) is None:
        raise Unauthenticated("This account may no longer come in. Ask an administrator.")


def _speeds(recent: Iterable[tuple[str, Usage]]) -> Mapping[str, float]:
    """Of whatever is recent, the newest first."""
    told: dict[str, list[Usage]] = defaultdict(list)
    for model, usage in recent:
        if usage.num_output_tokens >= MIN_SPEED_TOKENS and usage.decode_ms > 0:
            told[model].append(usage)
    return {model: _speed(usages[:MAX_SPEED_ANSWERS]) for model, usages in told.items()}


def _speed(usages: Sequence[Usage]) -> float:
    num_tokens = sum(usage.num_output_tokens for usage in usages)
    return round(1000 * num_tokens / sum(usage.decode_ms for usage in usages), 1)


async def _log(
    connection: AsyncConnection, turn_id: str, after: int, most: int | None
) -> Sequence[Row[int, float, bytes]]:
    log = (
        select(turn_events.c.seq, turn_events.c.at_ms, turn_events.c.data)
        .where(turn_events.c.turn_id == turn_id, turn_events.c.seq > after)
        .order_by(turn_events.c.seq)
        .limit(most)
    )
    return (await connection.execute(log)).all()


async def _decoded(rows: Sequence[Row[int, float, bytes]]) -> list[Stamped]:
    """A long log takes a tenth of a second: not on the event loop, where everyone would wait."""
    if len(rows) <= FEW_EVENTS:
        return _events(rows)
    return await asyncio.to_thread(_events, rows)


def _events(rows: Sequence[Row[int, float, bytes]]) -> list[Stamped]:
    return [Stamped(seq, at_ms, decode(data)) for seq, at_ms, data in rows]


def _logs(
    turn_ids: Collection[str], rows: Sequence[Row[str, int, float, bytes]]
) -> dict[str, list[Stamped]]:
    logs: dict[str, list[Stamped]] = {turn_id: [] for turn_id in turn_ids}
    for turn_id, seq, at_ms, data in rows:
        logs[turn_id].append(Stamped(seq, at_ms, decode(data)))
    return logs


async def _create_conversation(connection: AsyncConnection, new: NewTurn) -> None:
    is_sent = exists().where(
        messages.c.id == new.message_id,
        messages.c.conversation_id == conversations.c.id,
        conversations.c.user_id == new.user_id,
    )
    if await connection.scalar(select(is_sent)):
        raise await _sent_already(connection, new)
    await connection.execute(
        insert(conversations).values(
            id=new.conversation_id,
            user_id=new.user_id,
            title=new.title,
            is_renamed=False,
            created_at=new.created_at,
            updated_at=new.created_at,
            current_node=new.answer_id,
            is_archived=False,
            is_temporary=new.is_temporary,
        )
    )


async def _continue_conversation(connection: AsyncConnection, new: NewTurn) -> None:
    assert new.conversation_id is not None
    theirs = is_here(new.conversation_id, new.user_id)
    in_it = messages.c.conversation_id == conversations.c.id
    has_parent = exists().where(in_it, messages.c.id == new.parent_id)
    has_message = exists().where(in_it, messages.c.id == new.message_id)
    found = await connection.execute(
        select(has_parent, has_message).select_from(conversations).where(theirs)
    )
    row = found.one_or_none()
    if row is None:
        raise no_conversation()
    if new.parent_id is not None and not row[0]:
        raise no_message()
    if row[1]:
        raise await _sent_already(connection, new)
    await connection.execute(
        update(conversations)
        .where(theirs)
        .values(current_node=new.answer_id, updated_at=new.created_at)
    )


def _turn(new: NewTurn) -> dict[str, object]:
    return {
        "id": new.turn_id,
        "user_id": new.user_id,
        "conversation_id": new.conversation_id,
        "surface": "api" if new.conversation_id is None else "chat",
        "action": new.action,
        "model": new.model,
        "answer_id": new.answer_id,
        "state": "running",
        "created_at": new.created_at,
        "num_input_tokens": 0,
        "num_cached_tokens": 0,
        "num_output_tokens": 0,
        "given": new.given or None,
    }


def _messages(new: NewTurn) -> Iterable[dict[str, object]]:
    """What the person says, if anything, and the answer that is yet to be written."""
    both = {
        "conversation_id": new.conversation_id,
        "turn_id": new.turn_id,
        "created_at": new.created_at,
    }
    if new.message_id is not None:
        yield both | {
            "id": new.message_id,
            "parent_id": new.parent_id,
            "role": "user",
            "parts": new.parts,
            "status": "finished",
            "model": None,
        }
    yield both | {
        "id": new.answer_id,
        "parent_id": new.message_id or new.parent_id,
        "role": "assistant",
        "parts": (),
        "status": "in_progress",
        "model": new.model,
    }
