"""The audit log: who did what, when, and from where. An entry is stored in the transaction of what
it records.

Entries are only ever appended; triggers refuse anything else, and each entry has a hash that covers
all entries before it (`audit_chain.py`). The names of people are in a table of their own, of which
an entry holds salted hashes: so a deleted account's names can be erased.
"""

import secrets
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Connection, Row, Select, delete, or_, select, union
from sqlalchemy.dialects.sqlite import insert

from hitsend.store.audit_chain import Head, Link, Name, hash_link, hash_name, parse_head
from hitsend.store.audit_events import (
    SERVER,
    Actor,
    AnyAuditEvent,
    EntriesExpired,
    Via,
    subject_id,
)
from hitsend.store.context_schema import audit_log, audit_names
from hitsend.store.database import Database, reads, writes
from hitsend.store.schema import meta, users

HEAD_KEY = "audit_head"
DAY_S = 86_400
MAX_EXPIRED = 5_000
"""Entries removed in one transaction."""
NUM_SALT_BYTES = 16

LINK_COLUMNS = tuple(audit_log.c[name] for name in Link.__struct_fields__)
ACTOR_NAMES, SUBJECT_NAMES = audit_names.alias(), audit_names.alias()


class AuditEntry(msgspec.Struct, frozen=True):
    position: int
    at: float
    actor_id: str | None
    """The account that did it, if one did."""
    actor_name: str | None
    """The name at the time. None once the account is deleted."""
    subject_id: str | None
    """The account it was done to."""
    subject_name: str | None
    via: Via
    address: str
    session_id: str | None
    key_id: str | None
    agent: str
    event: AnyAuditEvent
    hash: str


class AuditFilter(msgspec.Struct, frozen=True):
    """Selects entries to read. A field that is left out selects all."""

    kinds: Sequence[str] = ()
    user_id: str | None = None
    """Matches the user who did it, and the user it was done to."""
    since: float | None = None
    until: float | None = None
    before: int | None = None
    """A position."""
    after: int | None = None


NO_FILTER = AuditFilter()


class Audit:
    def __init__(self, database: Database) -> None:
        self._database = database

    @writes
    def record(self, connection: Connection, event: AnyAuditEvent, by: Actor) -> None:
        """Records what has no transaction of its own. Others call `record` below."""
        record(connection, event, by, self._database.now())

    @reads
    def list(
        self,
        connection: Connection,
        limit: int,
        where: AuditFilter = NO_FILTER,
        *,
        is_oldest_first: bool = False,
    ) -> list[AuditEntry]:
        position = audit_log.c.position
        order = position if is_oldest_first else position.desc()
        query = select_entries(where).order_by(order).limit(limit)
        return [as_entry(row) for row in connection.execute(query)]

    async def expire(self, num_days: int) -> None:
        """Removes entries that are older, by whole days, unless there are none but records of
        earlier removals. Zero keeps all. Reads first, because a write takes the lock."""
        end = (self._database.now() // DAY_S - num_days) * DAY_S
        is_due = audit_log.c.at < end, audit_log.c.kind != EntriesExpired.__name__
        any_due = select(audit_log.c.position).where(*is_due).limit(1)
        if num_days and await self._database.read(lambda one: one.scalar(any_due)) is not None:
            await self._remove_until(end)

    @writes
    def _remove_until(self, connection: Connection, end: float) -> None:
        """Removes the oldest entries, and records that with the last one's hash."""
        expired = select(audit_log.c.position, audit_log.c.hash).where(audit_log.c.at < end)
        oldest = connection.execute(expired.order_by(audit_log.c.position).limit(MAX_EXPIRED))
        through, digest = oldest.all()[-1]
        record(connection, EntriesExpired(through, digest.hex()), SERVER, self._database.now())
        connection.execute(delete(audit_log).where(audit_log.c.position <= through))
        actors = select(audit_log.c.actor_name).where(audit_log.c.actor_name.is_not(None))
        subjects = select(audit_log.c.subject_name).where(audit_log.c.subject_name.is_not(None))
        unused = audit_names.c.hash.not_in(union(actors, subjects))
        connection.execute(delete(audit_names).where(unused))


def record(
    connection: Connection,
    event: AnyAuditEvent,
    by: Actor,
    at: float,
    *,
    subject_name: str | None = None,
) -> None:
    """Appends an entry, in the transaction of what it records. Call it while the accounts it names
    still have the names it should show; `subject_name` is another one for the subject."""
    head = read_head(connection)
    subject = subject_id(event)
    link = Link(
        position=head.position + 1,
        at=at,
        kind=type(event).__name__,
        actor_id=by.user_id,
        actor_name=_keep_name(connection, by.user_id),
        subject_id=subject,
        subject_name=_keep_name(connection, subject, subject_name),
        via=by.via,
        address=by.address,
        session_id=by.session_id,
        key_id=by.key_id,
        agent=by.agent,
        event=msgspec.json.encode(event).decode(),
    )
    head = Head(link.position, hash_link(head.hash, link))
    row = {**msgspec.structs.asdict(link), "hash": head.hash}
    connection.execute(insert(audit_log).values(row))
    _write_head(connection, head)


def erase_names(connection: Connection, user_id: str) -> None:
    connection.execute(delete(audit_names).where(audit_names.c.user_id == user_id))


def read_head(connection: Connection) -> Head:
    value = connection.scalar(select(meta.c.value).where(meta.c.key == HEAD_KEY))
    return parse_head(value.decode()) if value else Head()


def _write_head(connection: Connection, head: Head) -> None:
    row = insert(meta).values(key=HEAD_KEY, value=str(head).encode())
    connection.execute(row.on_conflict_do_update(["key"], set_={"value": row.excluded.value}))


def _keep_name(connection: Connection, user_id: str | None, name: str | None = None) -> str | None:
    """Returns the hash of the account's name, under which the name is found."""
    if user_id is None:
        return None
    name = name or connection.scalar(select(users.c.name).where(users.c.id == user_id))
    if name is None:
        return None
    is_it = audit_names.c.user_id == user_id, audit_names.c.name == name
    kept = connection.scalar(select(audit_names.c.hash).where(*is_it))
    if kept is not None:
        return kept
    salt = secrets.token_bytes(NUM_SALT_BYTES)
    new = Name(hash_name(salt, name), user_id, name, salt)
    connection.execute(insert(audit_names).values(msgspec.structs.asdict(new)))
    return new.hash


def select_entries(where: AuditFilter) -> Select[*tuple[Any, ...]]:
    return (
        select(
            *LINK_COLUMNS,
            audit_log.c.hash,
            ACTOR_NAMES.c.name.label("actor"),
            SUBJECT_NAMES.c.name.label("subject"),
        )
        .outerjoin(ACTOR_NAMES, ACTOR_NAMES.c.hash == audit_log.c.actor_name)
        .outerjoin(SUBJECT_NAMES, SUBJECT_NAMES.c.hash == audit_log.c.subject_name)
        .where(*_conditions(where))
    )


def _conditions(where: AuditFilter) -> Iterator[ColumnElement[bool]]:
    if where.kinds:
        yield audit_log.c.kind.in_(where.kinds)
    if where.user_id is not None:
        yield or_(audit_log.c.actor_id == where.user_id, audit_log.c.subject_id == where.user_id)
    if where.since is not None:
        yield audit_log.c.at >= where.since
    if where.until is not None:
        yield audit_log.c.at < where.until
    if where.before is not None:
        yield audit_log.c.position < where.before
    if where.after is not None:
        yield audit_log.c.position > where.after


def as_entry(row: Row[*tuple[Any, ...]]) -> AuditEntry:
    return AuditEntry(
        position=row.position,
        at=row.at,
        actor_id=row.actor_id,
        actor_name=row.actor,
        subject_id=row.subject_id,
        subject_name=row.subject,
        via=row.via,
        address=row.address,
        session_id=row.session_id,
        key_id=row.key_id,
        agent=row.agent,
        event=DECODER.decode(row.event),
        hash=row.hash.hex(),
    )


DECODER = msgspec.json.Decoder(AnyAuditEvent)
