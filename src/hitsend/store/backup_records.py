"""What the database itself records of its backups: when the newest was made, and a restore."""

from sqlalchemy import Connection, delete, select
from sqlalchemy.dialects.sqlite import insert

from hitsend.store.audit import record
from hitsend.store.audit_events import COMMAND_LINE, BackupMade, BackupRestored
from hitsend.store.database import Database, reads, writes
from hitsend.store.schema import meta, sessions

NEWEST_KEY = "backed_up_at"


class BackupRecords:
    def __init__(self, database: Database) -> None:
        self._database = database

    @writes
    def record_backup(self, connection: Connection) -> None:
        now = self._database.now()
        row = insert(meta).values(key=NEWEST_KEY, value=str(now).encode())
        connection.execute(row.on_conflict_do_update(["key"], set_={"value": row.excluded.value}))
        record(connection, BackupMade(), COMMAND_LINE, now)

    @reads
    def newest_at(self, connection: Connection) -> float | None:
        """Returns when the newest backup was made."""
        value = connection.scalar(select(meta.c.value).where(meta.c.key == NEWEST_KEY))
        return float(value) if value else None

    @writes
    def finish_restore(self, connection: Connection, backup_made_at: str) -> None:
        """Signs everyone out: a session that was ended since the backup must not live again."""
        connection.execute(delete(sessions))
        record(connection, BackupRestored(backup_made_at), COMMAND_LINE, self._database.now())
