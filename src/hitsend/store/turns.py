"""Turns and their event logs. A turn is stored before it runs, and an event before anyone sees it.

`append` is the busiest write: every word of every answer goes through it.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain

from sqlalchemy import (
    ColumnElement,
    Connection,
    Integer,
    LargeBinary,
    Select,
    and_,
    bindparam,
    cast,
    exists,
    insert,
    literal_column,
    select,
    update,
)
from sqlalchemy.dialects.sqlite import insert as upsert
from sqlalchemy.exc import IntegrityError

from hitsend.crash import crash_here
from hitsend.errors import Conflict, NotFound, Unauthenticated
from hitsend.events import Stamped, encode
from hitsend.messages import Usage
from hitsend.store.conversations import conversation_not_found, is_visible_to, message_not_found
from hitsend.store.database import Database, reads, writes
from hitsend.store.experiments import record_trials
from hitsend.store.finished_turns import finish_turns
from hitsend.store.ledger import Ledger
from hitsend.store.prepared import Prepared, driver_of
from hitsend.store.rows import FinishedTurn, LogEntry, NewTurn, TurnRow
from hitsend.store.schema import conversations, messages, meta, turns, users
from hitsend.store.screenings import record_screening
from hitsend.store.sends import (
    DuplicateSend,
    RecordedSend,
    check_not_sent,
    delete_expired,
    find_same_message,
    find_send,
    record_send,
)
from hitsend.store.turn_logs import read_last_seq, read_log, read_unpacked
from hitsend.store.users import is_enabled
from hitsend.transcript import worth_showing

MAX_INSERT_ROWS = 1000
"""SQLite allows 32,766 values in a statement, and a row has four."""

INSERT_EVENTS = "INSERT OR IGNORE INTO turn_events (turn_id, seq, at_ms, data) VALUES "

INSERT_EVENT_IF_TURN_EXISTS = (
    "INSERT OR IGNORE INTO turn_events (turn_id, seq, at_ms, data) "
    "SELECT ?, ?, ?, ? WHERE EXISTS (SELECT 1 FROM turns WHERE id = ?)"
)

MAX_SPEED_ANSWERS = 20
MAX_RECENT_ANSWERS = 500
MIN_SPEED_TOKENS = 16
"""Shorter answers say little about a model's speed."""
SPEEDS_TTL_S = 30.0

RECENT_USAGE = (
    select(messages.c.model, messages.c.usage)
    .where(messages.c.role == "assistant", messages.c.usage.is_not(None))
    .order_by(messages.c.position.desc())
    .limit(MAX_RECENT_ANSWERS)
)

START_ORDER: ColumnElement[int] = literal_column("turns.rowid")
"""Independent of the clock."""

TURN_COLUMNS = tuple(turns.c[name] for name in TurnRow.__struct_fields__)

FIND_ENABLED = Prepared(select(users.c.id).where(users.c.id == bindparam("user_id"), is_enabled()))

HAS_MESSAGE = Prepared(
    select(messages.c.id).where(
        messages.c.id == bindparam("message_id"),
        exists().where(
            conversations.c.id == messages.c.conversation_id,
            conversations.c.user_id == bindparam("user_id"),
        ),
    )
)
"""Not a join: SQLite would start from all conversations of the person."""

CREATE_CONVERSATION = Prepared(
    insert(conversations).values(is_renamed=False, is_archived=False),
    *("id", "user_id", "title", "created_at", "updated_at", "current_node", "is_temporary"),
)

IS_VISIBLE = is_visible_to(bindparam("conversation_id"), bindparam("user_id"))
IN_CONVERSATION = messages.c.conversation_id == conversations.c.id
FIND_PLACE = Prepared(
    select(
        exists().where(IN_CONVERSATION, messages.c.id == bindparam("parent_id")).label("parent"),
        exists().where(IN_CONVERSATION, messages.c.id == bindparam("message_id")).label("message"),
    )
    .select_from(conversations)
    .where(IS_VISIBLE)
)
"""Finds the conversation, and whether it has the parent and has the message already."""

CONTINUE_CONVERSATION = Prepared(
    update(conversations)
    .where(IS_VISIBLE)
    .values(current_node=bindparam("answer_id"), updated_at=bindparam("created_at"))
)

INSERT_TURN = Prepared(
    insert(turns).values(
        state="running", num_input_tokens=0, num_cached_tokens=0, num_output_tokens=0
    ),
    *("id", "user_id", "conversation_id", "surface", "action", "model", "answer_id"),
    *("created_at", "given", "epoch"),
)

INSERT_MESSAGE = Prepared(
    insert(messages),
    *("conversation_id", "turn_id", "created_at", "id", "parent_id", "role", "parts"),
    *("status", "model", "safety"),
)


class Turns:
    def __init__(self, database: Database, ledger: Ledger) -> None:
        self._database = database
        self._ledger = ledger
        self._speeds: Mapping[str, float] = {}
        self._speeds_until = 0.0
        self.epoch = 0
        """Counts the starts of the server. 0 in a program that runs no turns."""

    @writes
    def begin_epoch(self, connection: Connection) -> None:
        """Counts a start of the server, so its turns differ from those of earlier starts."""
        first = upsert(meta).values(key="epoch", value=b"1")
        next_epoch = cast(cast(meta.c.value, Integer) + 1, LargeBinary)
        increment = first.on_conflict_do_update(["key"], set_={"value": next_epoch})
        self.epoch = int(connection.scalars(increment.returning(meta.c.value)).one())

    @writes
    def accept(self, connection: Connection, new: NewTurn) -> int:
        """Stores a turn and returns the number of tokens its answer may have.

        Checks again that the account is enabled: it may have been disabled since the request
        arrived. Raises DuplicateSend, KeyReused, or TooFast when too few tokens are left.
        """
        _check_enabled(connection, new.user_id)
        check_not_sent(connection, new, self._database.now())
        if new.creates_conversation:
            _create_conversation(connection, new)
        elif new.conversation_id is not None:
            _continue_conversation(connection, new)
        INSERT_TURN.run(connection, **_turn_row(new), epoch=self.epoch)
        record_send(connection, new, self._database.now())
        record_trials(connection, new.turn_id, new.prompts)
        record_screening(connection, new)
        if new.conversation_id is not None:
            INSERT_MESSAGE.run_many(connection, _message_rows(new))
        crash_here("inserted")
        return self._ledger.reserve(connection, new)

    @reads
    def find_send(self, connection: Connection, user_id: str, key: str) -> RecordedSend | None:
        """Returns the Send accepted under this idempotency key within a day."""
        return find_send(connection, user_id, key, self._database.now())

    async def delete_expired_sends(self) -> None:
        await delete_expired(self._database)

    async def append(
        self, entries: Sequence[LogEntry], finished: Sequence[FinishedTurn] = ()
    ) -> None:
        """Stores everything or nothing, except that entries of deleted turns are dropped."""
        if not finished and 0 < len(entries) <= MAX_INSERT_ROWS:
            try:
                return await self._insert_events(entries)
            except IntegrityError:
                # Probably one of the turns was deleted: the transaction below keeps the other
                # turns' events. Any other cause raises the same error again.
                return await self._append_in_transaction(entries, finished)
        return await self._append_in_transaction(entries, finished)

    async def _insert_events(self, entries: Sequence[LogEntry]) -> None:
        values = list(chain.from_iterable(map(_event_row, entries)))
        rows = ",".join(["(?,?,?,?)"] * len(entries))
        await self._database.write_statement(INSERT_EVENTS + rows, values)

    @writes
    def _append_in_transaction(
        self, connection: Connection, entries: Sequence[LogEntry], finished: Sequence[FinishedTurn]
    ) -> None:
        rows = ((*_event_row(entry), entry.turn_id) for entry in entries)
        driver_of(connection).executemany(INSERT_EVENT_IF_TURN_EXISTS, rows)
        if finished:
            crash_here("mid-commit")
            finish_turns(connection, finished)

    @reads
    def get(self, connection: Connection, turn_id: str, user_id: str) -> TurnRow:
        query = _select_own(turn_id, user_id).with_only_columns(*TURN_COLUMNS)
        row = connection.execute(query).one_or_none()
        if row is None:
            raise turn_not_found()
        return TurnRow(*row)

    @reads
    def events(
        self,
        connection: Connection,
        turn_id: str,
        user_id: str,
        after: int = 0,
        limit: int | None = None,
    ) -> list[Stamped]:
        if connection.scalar(_select_own(turn_id, user_id)) is None:
            raise turn_not_found()
        return read_log(connection, turn_id, after, limit)

    @reads
    def find_newest(self, connection: Connection, conversation_id: str, user_id: str) -> str | None:
        """Returns the last turn of a conversation, or None when all of it was imported. Raises
        NotFound."""
        in_conversation = turns.c.conversation_id == conversations.c.id
        is_native = and_(in_conversation, turns.c.surface != "import")
        newest = (
            select(turns.c.id)
            .outerjoin_from(conversations, turns, is_native)
            .where(is_visible_to(conversation_id, user_id))
            .order_by(START_ORDER.desc())
            .limit(1)
        )
        row = connection.execute(newest).one_or_none()
        if row is None:
            raise conversation_not_found()
        return row[0]

    @reads
    def last_seq(self, connection: Connection, turn_id: str, user_id: str) -> int:
        """Returns the number of the newest stored event. Raises NotFound."""
        if connection.scalar(_select_own(turn_id, user_id)) is None:
            raise turn_not_found()
        return read_last_seq(connection, turn_id)

    async def speeds(self) -> Mapping[str, float]:
        """Returns each model's decoding speed in tokens a second, cached for 30 s."""
        if self._database.now() >= self._speeds_until:
            self._speeds = _average_speeds(await self.usages())
            self._speeds_until = self._database.now() + SPEEDS_TTL_S
        return self._speeds

    @reads
    def usages(self, connection: Connection) -> list[tuple[str, Usage]]:
        """Returns model and usage of the last answers in conversations, newest first."""
        rows = connection.execute(RECENT_USAGE)
        return [(model, usage) for model, usage in rows if model and usage]

    @reads
    def logs(self, connection: Connection, turn_ids: Collection[str]) -> dict[str, list[Stamped]]:
        """Reads many logs at once, for recovery at start.

        NOTE: does not check the owner, so no route may use it.
        """
        return read_unpacked(connection, turn_ids)

    @reads
    def list_running(self, connection: Connection) -> list[TurnRow]:
        """Returns the running turns, oldest first. At start, a crash left them."""
        is_running = turns.c.state == "running", turns.c.finished_at.is_(None)
        is_unpacked = turns.c.num_bytes.is_(None)  # says which index to use
        running = select(*TURN_COLUMNS).where(*is_running, is_unpacked).order_by(START_ORDER)
        return [TurnRow(*row) for row in connection.execute(running)]


def _event_row(entry: LogEntry) -> tuple[str, int, float, bytes]:
    stamped = entry.stamped
    return entry.turn_id, stamped.seq, stamped.at_ms, encode(stamped.event)


def _duplicate_error(connection: Connection, new: NewTurn) -> DuplicateSend | Conflict:
    """The same request under another idempotency key is a duplicate; a different request with
    the same message id is a conflict."""
    if turn_id := find_same_message(connection, new):
        return DuplicateSend(turn_id)
    return Conflict("This message was sent already.", param="messages")


def turn_not_found() -> NotFound:
    return NotFound("There is no such turn.", param="turn_exchange_id")


def _select_own(turn_id: str, user_id: str) -> Select[str]:
    """Selects the turn if it is the person's and its conversation, if any, is not hidden."""
    in_conversation = turns.c.conversation_id == conversations.c.id
    return (
        select(turns.c.id)
        .outerjoin_from(turns, conversations, in_conversation)
        .where(turns.c.id == turn_id, turns.c.user_id == user_id)
        .where(conversations.c.hidden_at.is_(None))
    )


def _check_enabled(connection: Connection, user_id: str) -> None:
    if FIND_ENABLED.first(connection, user_id=user_id) is None:
        raise Unauthenticated("This account is disabled. Ask an administrator.")


def _average_speeds(newest_first: Iterable[tuple[str, Usage]]) -> Mapping[str, float]:
    by_model: dict[str, list[Usage]] = defaultdict(list)
    for model, usage in newest_first:
        if usage.num_output_tokens >= MIN_SPEED_TOKENS and usage.decode_ms > 0:
            by_model[model].append(usage)
    return {
        model: _tokens_per_second(usages[:MAX_SPEED_ANSWERS]) for model, usages in by_model.items()
    }


def _tokens_per_second(usages: Sequence[Usage]) -> float:
    num_tokens = sum(usage.num_output_tokens for usage in usages)
    return round(1000 * num_tokens / sum(usage.decode_ms for usage in usages), 1)


def _create_conversation(connection: Connection, new: NewTurn) -> None:
    if HAS_MESSAGE.first(connection, message_id=new.message_id, user_id=new.user_id):
        raise _duplicate_error(connection, new)
    CREATE_CONVERSATION.run(
        connection,
        id=new.conversation_id,
        user_id=new.user_id,
        title=new.title,
        created_at=new.created_at,
        updated_at=new.created_at,
        current_node=new.answer_id,
        is_temporary=new.is_temporary,
    )


def _continue_conversation(connection: Connection, new: NewTurn) -> None:
    conversation = {"conversation_id": new.conversation_id, "user_id": new.user_id}
    row = FIND_PLACE.first(
        connection, parent_id=new.parent_id, message_id=new.message_id, **conversation
    )
    if row is None:
        raise conversation_not_found()
    has_parent, has_message = row
    if new.parent_id is not None and not has_parent:
        raise message_not_found()
    if has_message:
        raise _duplicate_error(connection, new)
    CONTINUE_CONVERSATION.run(
        connection, answer_id=new.answer_id, created_at=new.created_at, **conversation
    )


def _turn_row(new: NewTurn) -> dict[str, object]:
    return {
        "id": new.turn_id,
        "user_id": new.user_id,
        "conversation_id": new.conversation_id,
        "surface": "api" if new.conversation_id is None else "chat",
        "action": new.action,
        "model": new.model,
        "answer_id": new.answer_id,
        "created_at": new.created_at,
        "given": new.given or None,
    }


def _message_rows(new: NewTurn) -> Iterable[dict[str, object]]:
    """The person's message, if there is one, and the empty answer."""
    common = {
        "conversation_id": new.conversation_id,
        "turn_id": new.turn_id,
        "created_at": new.created_at,
    }
    if new.message_id is not None:
        yield common | {
            "id": new.message_id,
            "parent_id": new.parent_id,
            "role": "user",
            "parts": new.parts,
            "status": "finished",
            "model": None,
            "safety": worth_showing(new.screening),
        }
    yield common | {
        "id": new.answer_id,
        "parent_id": new.message_id or new.parent_id,
        "role": "assistant",
        "parts": (),
        "status": "in_progress",
        "model": new.model,
        "safety": None,
    }
