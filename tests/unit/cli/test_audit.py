"""`hitsend audit`, beside a running server and without one."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from tests.unit.cli.conftest import Hitsend, Serve
from tests.unit.cli.test_admin import create_user


def test_a_log_is_verified_and_exported_also_while_a_server_runs(
    hitsend: Hitsend, serve: Serve, tmp_path: Path
) -> None:
    place = "--data-dir", str(tmp_path)
    create_user(hitsend, tmp_path, "ann")
    hitsend("admin", "create-key", "ann", *place)
    at_rest = hitsend("audit", "verify", *place)
    assert (at_rest.returncode, at_rest.stdout[:2]) == (0, "2:")
    serve(*place)
    create_user(hitsend, tmp_path, "bob")
    running = hitsend("audit", "verify", "--expect", at_rest.stdout.strip(), *place)
    assert (running.returncode, running.stdout[:2]) == (0, "3:")
    assert "All 3 entries are whole." in running.stderr
    lines = hitsend("audit", "export", *place).stdout.splitlines()
    entries = [json.loads(line) for line in lines]
    kinds = [(entry["event"]["kind"], entry["subject_name"], entry["via"]) for entry in entries]
    assert kinds == [
        ("AccountCreated", "ann", "command line"),
        ("KeyCreated", "ann", "command line"),
        ("AccountCreated", "bob", "command line"),
    ]
    assert running.stdout.strip() == f"3:{entries[-1]['hash']}"


def test_a_changed_log_fails_and_the_entry_is_named(hitsend: Hitsend, tmp_path: Path) -> None:
    place = "--data-dir", str(tmp_path)
    for name in ("ann", "bob", "cid"):
        create_user(hitsend, tmp_path, name)
    with closing(sqlite3.connect(tmp_path / "hitsend.db")) as connection, connection:
        connection.execute("DROP TRIGGER audit_changed")
        connection.execute("UPDATE audit_log SET via = 'page' WHERE position = 2")
    ran = hitsend("audit", "verify", *place)
    assert (ran.returncode, ran.stdout) == (1, "")
    assert "Entry 2 was changed" in ran.stderr
    assert "The 1 entries before it" not in ran.stderr
    other = hitsend("audit", "verify", "--expect", "nonsense", *place)
    assert other.returncode == 1
    assert "a position, a colon and a hash" in other.stderr


def test_nothing_is_written_or_made(hitsend: Hitsend, tmp_path: Path) -> None:
    ran = hitsend("audit", "verify", "--data-dir", str(tmp_path / "nowhere"))
    assert ran.returncode == 1
    assert "cannot be opened" in ran.stderr
    assert not (tmp_path / "nowhere").exists()
