"""`hitsend compact` as a person runs it."""

import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

Hitsend = Callable[..., subprocess.CompletedProcess[str]]


def test_an_old_database_becomes_small_and_keeps_its_rows(hitsend: Hitsend, data_dir: Path) -> None:
    database = data_dir / "hitsend.db"
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA auto_vacuum = NONE")
        connection.execute("VACUUM")
        connection.execute("CREATE TABLE big AS SELECT zeroblob(5000000) AS data")
        connection.execute("DROP TABLE big")
        connection.commit()
    before = database.stat().st_size
    ran = hitsend("compact", "--data-dir", str(data_dir))
    assert ran.returncode == 0, ran.stderr
    assert "MB" in ran.stderr
    assert database.stat().st_size < before / 2
    assert "ann" in hitsend("admin", "list", "--data-dir", str(data_dir)).stdout


def test_compacting_is_refused_while_a_server_runs(
    hitsend: Hitsend, serve: Callable[..., object], data_dir: Path
) -> None:
    serve("--data-dir", str(data_dir))
    ran = hitsend("compact", "--data-dir", str(data_dir))
    assert ran.returncode == 1
    assert "Another hitsend is serving" in ran.stderr


def test_compacting_nothing_says_so(hitsend: Hitsend, tmp_path: Path) -> None:
    ran = hitsend("compact", "--data-dir", str(tmp_path))
    assert ran.returncode == 1
    assert "There is no database" in ran.stderr
    assert not (tmp_path / "hitsend.db").exists()
