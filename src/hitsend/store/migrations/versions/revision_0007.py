"""Repairs databases made by early forms of revisions 0001, 0003 and 0005, which were edited later.

Looks at what a database has, and does nothing to one that is whole. SQLite cannot add a column
between others, or one that is NOT NULL without a default, so a table that differs is copied.
"""

import unicodedata
from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

COLUMNS = {
    "sessions": """
        id TEXT NOT NULL,
        user_id TEXT NOT NULL,
        token_hash TEXT NOT NULL,
        previous_token_hash TEXT,
        rotated_at DOUBLE NOT NULL,
        arrived_at DOUBLE,
        created_at DOUBLE NOT NULL,
        last_seen_at DOUBLE NOT NULL,
        expires_at DOUBLE NOT NULL,
        revoked_at DOUBLE,
        user_agent TEXT NOT NULL,
        PRIMARY KEY (id),
        FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
        UNIQUE (token_hash)
    """,
    "messages": """
        position INTEGER NOT NULL,
        conversation_id TEXT NOT NULL,
        id TEXT NOT NULL,
        parent_id TEXT,
        turn_id TEXT NOT NULL,
        role TEXT NOT NULL,
        parts TEXT NOT NULL,
        status TEXT NOT NULL,
        ending TEXT,
        model TEXT,
        usage TEXT,
        problem TEXT,
        created_at DOUBLE NOT NULL,
        seen TEXT,
        PRIMARY KEY (position),
        UNIQUE (conversation_id, id),
        FOREIGN KEY(conversation_id, parent_id) REFERENCES messages (conversation_id, id),
        FOREIGN KEY(conversation_id) REFERENCES conversations (id) ON DELETE CASCADE,
        FOREIGN KEY(turn_id) REFERENCES turns (id) ON DELETE CASCADE
    """,
    "memories": """
        id TEXT NOT NULL,
        user_id TEXT NOT NULL,
        text TEXT NOT NULL,
        folded TEXT NOT NULL,
        origin TEXT NOT NULL,
        conversation_id TEXT,
        is_suggested BOOLEAN NOT NULL,
        removed_at DOUBLE,
        created_at DOUBLE NOT NULL,
        updated_at DOUBLE NOT NULL,
        embedder TEXT,
        vector BLOB,
        PRIMARY KEY (id),
        FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
        FOREIGN KEY(conversation_id) REFERENCES conversations (id) ON DELETE SET NULL
    """,
}

TOKENS = ("num_reserved_tokens", "num_input_tokens", "num_output_tokens")
INDEXES = {
    "ix_messages_id": ("messages", ("id",)),
    "ix_ledger_user_id_at": ("ledger", ("user_id", "at", *TOKENS)),
    "ix_ledger_group_id_at": ("ledger", ("group_id", "at", *TOKENS)),
    "ix_ledger_key_id_at": ("ledger", ("key_id", "at", *TOKENS)),
}


def upgrade() -> None:
    connection = op.get_bind()
    for table, columns in COLUMNS.items():
        _repair_table(connection, table, columns)
    for index, (table, names) in INDEXES.items():
        _repair_index(connection, index, table, names)


def _repair_table(connection: sa.Connection, table: str, columns: str) -> None:
    connection.exec_driver_sql(f"CREATE TABLE repaired ({columns})")
    found, wanted = _columns(connection, table), _columns(connection, "repaired")
    if found == wanted:
        connection.exec_driver_sql("DROP TABLE repaired")
    else:
        _replace_table(connection, table, [row[0] for row in found], [row[0] for row in wanted])


def _replace_table(
    connection: sa.Connection, table: str, found: Sequence[str], wanted: Sequence[str]
) -> None:
    """Foreign keys are off, so dropping the table deletes no rows that refer to it."""
    indexes_and_triggers = connection.exec_driver_sql(
        "SELECT sql FROM sqlite_master WHERE tbl_name = ? AND type <> 'table' AND sql IS NOT NULL",
        (table,),
    ).all()
    missing = {name: "NULL" for name in wanted if name not in found}
    if "folded" in missing:
        _define_fold(connection)
        missing["folded"] = "fold(text)"
    values = ", ".join(missing.get(name, name) for name in wanted)
    connection.exec_driver_sql(
        f"INSERT INTO repaired ({', '.join(wanted)}) SELECT {values} FROM {table} ORDER BY rowid"
    )
    connection.exec_driver_sql(f"DROP TABLE {table}")
    connection.exec_driver_sql(f"ALTER TABLE repaired RENAME TO {table}")
    for (statement,) in indexes_and_triggers:
        connection.exec_driver_sql(statement)


def _define_fold(connection: sa.Connection) -> None:
    driver = connection.connection.driver_connection
    assert driver is not None
    driver.create_function("fold", 1, _fold, deterministic=True)


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _columns(connection: sa.Connection, table: str) -> list[tuple[str, ...]]:
    """Returns name, type, NOT NULL, default and place in the key of each column, in order."""
    info = connection.exec_driver_sql(f"PRAGMA table_info({table})")
    return [tuple(row)[1:] for row in info]


def _repair_index(connection: sa.Connection, index: str, table: str, names: Sequence[str]) -> None:
    found = connection.exec_driver_sql(f"PRAGMA index_info({index})").all()
    if [row[2] for row in found] != list(names):
        connection.exec_driver_sql(f"DROP INDEX IF EXISTS {index}")
        connection.exec_driver_sql(f"CREATE INDEX {index} ON {table} ({', '.join(names)})")
