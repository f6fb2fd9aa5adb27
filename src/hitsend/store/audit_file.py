"""Reads the audit log straight from the database file, whether a server runs or not."""

from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import Connection, inspect, select

from hitsend.errors import StoreDown
from hitsend.store.audit import (
    LINK_COLUMNS,
    NO_FILTER,
    AuditEntry,
    AuditFilter,
    as_entry,
    read_head,
    select_entries,
)
from hitsend.store.audit_chain import Head, Link, Name, Verdict, verify
from hitsend.store.audit_events import EntriesExpired
from hitsend.store.context_schema import audit_log, audit_names
from hitsend.store.database import open_read_only

ROWS_AT_ONCE = 1_000


def verify_audit(path: Path, expected: Head | None = None) -> Verdict:
    with open_read_only(path) as connection:
        _check_schema(connection, path)
        rows = connection.execution_options(yield_per=ROWS_AT_ONCE).execute(
            select(*LINK_COLUMNS, audit_log.c.hash).order_by(audit_log.c.position)
        )
        return verify(
            ((Link(*row[:-1]), row[-1]) for row in rows),
            _read_names(connection),
            start=_read_start(connection),
            end=read_head(connection),
            expected=expected,
        )


def read_entries(path: Path, where: AuditFilter = NO_FILTER) -> Iterator[AuditEntry]:
    """Oldest first."""
    with open_read_only(path) as connection:
        _check_schema(connection, path)
        query = select_entries(where).order_by(audit_log.c.position)
        for row in connection.execution_options(yield_per=ROWS_AT_ONCE).execute(query):
            yield as_entry(row)


def _check_schema(connection: Connection, path: Path) -> None:
    if not inspect(connection).has_table(audit_log.name):
        raise StoreDown(f"{path} has no audit log yet: start hitsend with it once.")


def _read_names(connection: Connection) -> dict[str, Name]:
    columns = tuple(audit_names.c[name] for name in Name.__struct_fields__)
    names = (Name(*row) for row in connection.execute(select(*columns)))
    return {name.hash: name for name in names}


def _read_start(connection: Connection) -> Head:
    """Returns the last entry that was removed because of its age, as the log itself says it."""
    is_it = audit_log.c.kind == EntriesExpired.__name__
    newest = select_entries(NO_FILTER).where(is_it).order_by(audit_log.c.position.desc()).limit(1)
    row = connection.execute(newest).one_or_none()
    event = as_entry(row).event if row else None
    if not isinstance(event, EntriesExpired):
        return Head()
    return Head(event.through, bytes.fromhex(event.hash))
