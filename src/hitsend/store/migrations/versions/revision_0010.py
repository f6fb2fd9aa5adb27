"""One audit log: append-only, with a hash chain. It takes over the log of administrators' changes.

The form of an entry and of its hash is written out here once more, because a migration never
changes while the code may.
"""

import hashlib
import json
import secrets
from collections.abc import Mapping

import msgspec
import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0007"

TABLES = (
    """
    CREATE TABLE audit_log (
        position INTEGER NOT NULL,
        at DOUBLE NOT NULL,
        kind TEXT NOT NULL,
        actor_id TEXT,
        actor_name TEXT,
        subject_id TEXT,
        subject_name TEXT,
        via TEXT NOT NULL,
        address TEXT NOT NULL,
        session_id TEXT,
        key_id TEXT,
        agent TEXT NOT NULL,
        event TEXT NOT NULL,
        hash BLOB NOT NULL,
        PRIMARY KEY (position)
    )
    """,
    "CREATE INDEX ix_audit_log_at ON audit_log (at)",
    "CREATE INDEX ix_audit_log_kind ON audit_log (kind)",
    "CREATE INDEX ix_audit_log_actor_id ON audit_log (actor_id)",
    "CREATE INDEX ix_audit_log_subject_id ON audit_log (subject_id)",
    """
    CREATE TABLE audit_names (
        hash TEXT NOT NULL,
        user_id TEXT NOT NULL,
        name TEXT NOT NULL,
        salt BLOB NOT NULL,
        PRIMARY KEY (hash)
    )
    """,
    "CREATE INDEX ix_audit_names_user_id ON audit_names (user_id)",
)

REFUSE = "BEGIN SELECT RAISE(ABORT, 'Entries of the audit log are only ever appended.'); END"
EXPIRED = """
    SELECT coalesce(max(json_extract(event, '$.through')), 0)
    FROM audit_log WHERE kind = 'EntriesExpired'
"""
TRIGGERS = (
    f"CREATE TRIGGER audit_changed BEFORE UPDATE ON audit_log {REFUSE}",
    "CREATE TRIGGER audit_removed BEFORE DELETE ON audit_log "
    f"WHEN old.position > ({EXPIRED}) {REFUSE}",
    # An INSERT OR REPLACE deletes without the trigger above.
    "CREATE TRIGGER audit_replaced BEFORE INSERT ON audit_log "
    f"WHEN new.position <= (SELECT coalesce(max(position), 0) FROM audit_log) {REFUSE}",
    f"CREATE TRIGGER audit_name_changed BEFORE UPDATE ON audit_names {REFUSE}",
)

INSERT = (
    "INSERT INTO audit_log VALUES (?, ?, ?, ?, ?, NULL, NULL, 'page', '', NULL, NULL, '', ?, ?)"
)
INSERT_HEAD = "INSERT OR REPLACE INTO meta (key, value) VALUES ('audit_head', ?)"


def upgrade() -> None:
    for statement in (*TABLES, *TRIGGERS):
        op.execute(statement)
    _take_over(op.get_bind())
    op.drop_table("audit")


def _take_over(connection: sa.Connection) -> None:
    rows = connection.exec_driver_sql(
        "SELECT at, audit.user_id, users.name, action, subject, detail "
        "FROM audit LEFT JOIN users ON users.id = audit.user_id ORDER BY position"
    ).all()
    digest, names = bytes(32), dict[str, str]()
    for position, (at, user_id, name, action, subject, detail) in enumerate(rows, 1):
        if user_id is not None and user_id not in names:
            names[user_id] = _keep_name(connection, user_id, name)
        event = _event(action, subject, json.loads(detail))
        kind, text = event["kind"], msgspec.json.encode(event).decode()
        actor = user_id, names.get(user_id)
        link = (position, at, kind, *actor, None, None, "page", "", None, None, "", text)
        digest = hashlib.sha256(digest + msgspec.json.encode(link)).digest()
        connection.exec_driver_sql(INSERT, (position, at, kind, *actor, text, digest))
    if rows:
        connection.exec_driver_sql(INSERT_HEAD, (f"{len(rows)}:{digest.hex()}".encode(),))


def _keep_name(connection: sa.Connection, user_id: str, name: str) -> str:
    salt = secrets.token_bytes(16)
    digest = hashlib.sha256(salt + name.encode()).hexdigest()
    row = digest, user_id, name, salt
    connection.exec_driver_sql("INSERT INTO audit_names VALUES (?, ?, ?, ?)", row)
    return digest


def _event(action: str, subject: str, detail: Mapping[str, str]) -> dict[str, object]:
    try:
        return _known_event(action, subject, detail)
    except (KeyError, ValueError):
        return {"kind": "EarlierChange", "action": action, "subject": subject, "detail": detail}


def _known_event(action: str, subject: str, detail: Mapping[str, str]) -> dict[str, object]:
    match action:
        case "prompt.written":
            version = int(detail["version"])
            return {"kind": "PromptWritten", "prompt": subject, "version": version}
        case "prompt.activated":
            chosen = None if detail["version"] == "shipped" else int(detail["version"])
            return {"kind": "PromptActivated", "prompt": subject, "version": chosen}
        case "prompt.decoding":
            shown = detail["sampling"]
            sampling = None if shown == "shipped" else json.loads(shown)
            return {"kind": "PromptSamplingChanged", "prompt": subject, "sampling": sampling}
        case "experiment.started":
            versions = [int(one) for one in detail["versions"].split(", ")]
            ids = {"experiment_id": detail["experiment"], "prompt": subject}
            return {"kind": "ExperimentStarted", **ids, "versions": versions}
        case "experiment.ended":
            winner = None if detail["winner"] == "none" else int(detail["winner"])
            ids = {"experiment_id": detail["experiment"], "prompt": subject}
            return {"kind": "ExperimentEnded", **ids, "winner": winner}
        case _:
            raise ValueError(action)
