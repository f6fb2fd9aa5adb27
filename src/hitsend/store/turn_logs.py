"""Reads the logs of turns: rows while a turn runs, packed soon after it has finished.

A log is read from both: a title may be stored after it was packed. Rows are read first, because
they may be packed between the two queries.
"""

from collections.abc import Collection

from sqlalchemy import Connection, func, select

from hitsend.events import Stamped, decode
from hitsend.store.packed_log import unpack
from hitsend.store.schema import packed_events, turn_events

EVENT_COLUMNS = turn_events.c.seq, turn_events.c.at_ms, turn_events.c.data


def read_log(
    connection: Connection, turn_id: str, after: int = 0, limit: int | None = None
) -> list[Stamped]:
    """Returns events past number `after`, in order."""
    rows = (
        select(*EVENT_COLUMNS)
        .where(turn_events.c.turn_id == turn_id, turn_events.c.seq > after)
        .order_by(turn_events.c.seq)
        .limit(limit)
    )
    newest = [Stamped(seq, at_ms, decode(data)) for seq, at_ms, data in connection.execute(rows)]
    packed = _read_packed(connection, turn_id, after, limit)
    last_seq = packed[-1].seq if packed else after
    return [*packed, *(stamped for stamped in newest if stamped.seq > last_seq)][:limit]


def read_last_seq(connection: Connection, turn_id: str) -> int:
    last = (
        select(func.max(column)).where(table.c.turn_id == turn_id).scalar_subquery()
        for table, column in (
            (turn_events, turn_events.c.seq),
            (packed_events, packed_events.c.last_seq),
        )
    )
    return connection.scalar(select(func.max(*(func.coalesce(seq, 0) for seq in last)))) or 0


def read_unpacked(connection: Connection, turn_ids: Collection[str]) -> dict[str, list[Stamped]]:
    """Returns the rows of many turns at once. Running turns have nothing else."""
    query = (
        select(turn_events.c.turn_id, *EVENT_COLUMNS)
        .where(turn_events.c.turn_id.in_(turn_ids))
        .order_by(turn_events.c.turn_id, turn_events.c.seq)
    )
    logs: dict[str, list[Stamped]] = {turn_id: [] for turn_id in turn_ids}
    for turn_id, seq, at_ms, data in connection.execute(query):
        logs[turn_id].append(Stamped(seq, at_ms, decode(data)))
    return logs


def _read_packed(
    connection: Connection, turn_id: str, after: int, limit: int | None
) -> list[Stamped]:
    """Unpacks no more than it needs: a reader gets a long log in portions."""
    packs = (
        select(packed_events.c.data)
        .where(packed_events.c.turn_id == turn_id, packed_events.c.last_seq > after)
        .order_by(packed_events.c.last_seq)
    )
    events: list[Stamped] = []
    with connection.execute(packs) as found:
        for (data,) in found:
            events += [stamped for stamped in unpack(data) if stamped.seq > after]
            if limit is not None and len(events) >= limit:
                break
    return events
