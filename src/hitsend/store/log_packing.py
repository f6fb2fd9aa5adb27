"""Packs the logs of finished turns, forgets their tokens, and erases them when they are old.

Each method is a step that takes some milliseconds and returns whether there was anything to do.
Repeating one after a crash does no harm.
"""

import logging
from collections.abc import Collection, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    LargeBinary,
    bindparam,
    cast,
    delete,
    exists,
    func,
    insert,
    select,
    update,
)

from hitsend.allowance import DAY_S
from hitsend.events import Stamped, TextArrived, decode
from hitsend.store.database import Database
from hitsend.store.packed_log import pack, unpack, without_tokens
from hitsend.store.prepared import Prepared, as_list, is_one_of
from hitsend.store.schema import messages, packed_events, turn_events, turns
from hitsend.store.turn_logs import EVENT_COLUMNS

log = logging.getLogger(__name__)

PACK_AFTER_S = 10.0
"""After a turn has finished, because a title may follow."""
PACK_EVENTS = 200
"""Events of a pack. A reader unpacks it as a whole."""
MAX_EVENTS = 400
"""A step unpacks so many at once, in about 2 ms, for which other threads may have to wait."""
MAX_TURNS = 50
MAX_PACKS = 20
"""Most packs that one step writes."""

OF_TURN: BindParameter[str] = bindparam("of_turn")
OF_SEQ: BindParameter[int] = bindparam("of_seq")
IS_PACK = packed_events.c.turn_id == OF_TURN, packed_events.c.last_seq == OF_SEQ

PACK_COLUMNS = packed_events.c.last_seq, packed_events.c.data, packed_events.c.has_tokens
INSERT_PACK = insert(packed_events).from_select(
    ["turn_id", *(column.name for column in PACK_COLUMNS), "finished_at"],
    select(
        turns.c.id,
        *(bindparam(column.name, type_=column.type) for column in PACK_COLUMNS),
        turns.c.finished_at,
    ).where(turns.c.id == OF_TURN),
)
"""Unless the turn was deleted meanwhile."""
DELETE_ROWS = delete(turn_events).where(
    turn_events.c.turn_id == OF_TURN, turn_events.c.seq <= OF_SEQ
)


READ_EVENTS = Prepared(
    select(turn_events.c.turn_id, *EVENT_COLUMNS)
    .where(is_one_of(turn_events.c.turn_id, "ids"))
    .order_by(turn_events.c.turn_id, turn_events.c.seq)
    .limit(MAX_EVENTS)
)


def _bytes_of(column: ColumnElement[Any], turn_id: ColumnElement[str]) -> ColumnElement[int]:
    size = select(func.sum(func.length(cast(column, LargeBinary)))).where(turn_id == turns.c.id)
    return func.coalesce(size.scalar_subquery(), 0)


NUM_BYTES = (
    _bytes_of(packed_events.c.data, packed_events.c.turn_id)
    + _bytes_of(turn_events.c.data, turn_events.c.turn_id)
    + _bytes_of(messages.c.parts, messages.c.turn_id)
    + func.coalesce(func.length(cast(turns.c.given, LargeBinary)), 0)
)
COUNT_BYTES = update(turns).where(turns.c.id == OF_TURN).values(num_bytes=NUM_BYTES)
HAS_NEWER_ROWS = exists().where(turn_events.c.turn_id == turns.c.id, turn_events.c.seq > OF_SEQ)


class _Packed(NamedTuple):
    packs: list[dict[str, object]]
    whole: list[dict[str, object]]
    """The turns that these packs complete."""


class LogPacking:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def pack_finished(self) -> bool:
        """Moves the events of some finished turns from their rows to packs, and counts the bytes of
        each turn."""
        packed = await self._database.read(self._pack_next)
        if packed.packs or packed.whole:
            await self._database.write(lambda connection: _replace_rows(connection, packed))
        return bool(packed.packs or packed.whole)

    async def forget_tokens(self, days: int) -> bool:
        """Takes the token records out of logs of turns that finished so many days ago."""
        before = self._database.now() - days * DAY_S
        query = (
            select(packed_events.c.turn_id, packed_events.c.last_seq, packed_events.c.data)
            .where(packed_events.c.has_tokens, packed_events.c.finished_at <= before)
            .limit(MAX_PACKS)
        )
        found = await self._database.read(
            lambda connection: [_pack_without_tokens(*row) for row in connection.execute(query)]
        )
        if found:
            await self._database.write(lambda connection: _replace_packs(connection, found))
        return bool(found)

    async def erase_logs(self, days: int) -> bool:
        """Erases the logs of turns that finished so many days ago. The conversations stay; of a
        call over the API nothing is left but its row in the ledger."""
        before = self._database.now() - days * DAY_S
        query = (
            select(packed_events.c.turn_id)
            .where(packed_events.c.has_tokens.in_((False, True)))  # says which index to use
            .where(packed_events.c.finished_at <= before)
            .limit(MAX_PACKS)
        )
        ids = await self._database.read(lambda connection: connection.scalars(query).all())
        if ids:
            await self._database.write(lambda connection: _erase_logs(connection, ids))
        return bool(ids)

    def _pack_next(self, connection: Connection) -> _Packed:
        before = self._database.now() - PACK_AFTER_S
        due = (
            select(turns.c.id)
            .where(turns.c.num_bytes.is_(None), turns.c.finished_at <= before)
            .order_by(turns.c.finished_at)
            .limit(MAX_TURNS)
        )
        ids = connection.scalars(due).all()
        rows = READ_EVENTS.rows(connection, ids=as_list(ids))
        cut = rows[-1][0] if len(rows) == MAX_EVENTS else None
        last_seqs = dict.fromkeys(ids, 0)
        packs = []
        for turn_id, own in groupby(rows, itemgetter(0)):
            events = [row[1:] for row in own]
            packs += _pack_rows(turn_id, events)
            last_seqs[turn_id] = events[-1][0]
        whole = [id_ for id_ in ids if cut is None or id_ < cut]
        return _Packed(packs, [{"of_turn": id_, "of_seq": last_seqs[id_]} for id_ in whole])


def _pack_rows(turn_id: str, rows: Sequence[tuple[Any, ...]]) -> list[dict[str, object]]:
    try:
        events = [Stamped(seq, at_ms, decode(data)) for seq, at_ms, data in rows]
        return [
            _pack_row(turn_id, events[start : start + PACK_EVENTS])
            for start in range(0, len(events), PACK_EVENTS)
        ]
    except (ValueError, OverflowError, msgspec.MsgspecError):
        log.exception("the log of turn %s cannot be packed, and stays as it is", turn_id)
        return []


def _pack_row(turn_id: str, events: Sequence[Stamped]) -> dict[str, object]:
    return {
        "of_turn": turn_id,
        "last_seq": events[-1].seq,
        "data": pack(events),
        "has_tokens": any(
            isinstance(one.event, TextArrived) and bool(one.event.tokens) for one in events
        ),
    }


def _replace_rows(connection: Connection, packed: _Packed) -> None:
    """A turn whose title came meanwhile is not whole, and is due again."""
    if packed.packs:
        connection.execute(INSERT_PACK, packed.packs)
        deleted = [{"of_turn": row["of_turn"], "of_seq": row["last_seq"]} for row in packed.packs]
        connection.execute(DELETE_ROWS, deleted)
    if packed.whole:
        connection.execute(COUNT_BYTES.where(~HAS_NEWER_ROWS), packed.whole)


def _pack_without_tokens(turn_id: str, last_seq: int, data: bytes) -> dict[str, object]:
    shorter = pack(without_tokens(unpack(data)))
    return {"of_turn": turn_id, "of_seq": last_seq, "shorter": shorter}


def _replace_packs(connection: Connection, packs: Sequence[dict[str, object]]) -> None:
    replace = update(packed_events).where(*IS_PACK)
    connection.execute(replace.values(data=bindparam("shorter"), has_tokens=False), packs)
    _count_bytes(connection, {str(row["of_turn"]) for row in packs})


def _erase_logs(connection: Connection, turn_ids: Sequence[str]) -> None:
    is_call = turns.c.id.in_(turn_ids), turns.c.surface == "api"
    connection.execute(delete(turns).where(*is_call))
    connection.execute(delete(packed_events).where(packed_events.c.turn_id.in_(turn_ids)))
    _count_bytes(connection, set(turn_ids))


def _count_bytes(connection: Connection, turn_ids: Collection[str]) -> None:
    connection.execute(COUNT_BYTES, [{"of_turn": turn_id} for turn_id in turn_ids])
