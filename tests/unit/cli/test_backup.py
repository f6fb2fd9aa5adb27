"""`hitsend backup` and `hitsend restore` as a person runs them: the drill of docs/hosting.md."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

Hitsend = Callable[..., subprocess.CompletedProcess[str]]
Serve = Callable[..., Any]

ASKED = {"model": "auto", "messages": [{"role": "user", "content": "!script\nbread"}]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "backup"


def create_key(hitsend: Hitsend, data_dir: Path) -> str:
    return hitsend("admin", "create-key", "ann", "--data-dir", str(data_dir)).stdout.strip()


def ask(url: str, key: str) -> str:
    headers = {"authorization": f"Bearer {key}"}
    with httpx2.Client(base_url=url, headers=headers, timeout=30) as http:
        answer = http.post("/v1/chat/completions", json=ASKED)
        answer.raise_for_status()
        return str(answer.json()["choices"][0]["message"]["content"])


def test_a_backup_made_while_a_server_runs_is_served_elsewhere(
    hitsend: Hitsend, serve: Serve, data_dir: Path, folder: Path, tmp_path: Path
) -> None:
    key = create_key(hitsend, data_dir)
    running = serve("--data-dir", str(data_dir))
    assert ask(running.url, key) == "bread"
    made = hitsend("backup", str(folder), "--data-dir", str(data_dir))
    assert made.returncode == 0, made.stderr
    assert "is whole: 1 users" in made.stderr
    assert ask(running.url, key) == "bread", "the server goes on"
    assert "BackupMade" in hitsend("audit", "export", "--data-dir", str(data_dir)).stdout

    checked = hitsend("restore", str(folder), "--check")
    assert checked.returncode == 0, checked.stderr
    drill = tmp_path / "drill"
    restored = hitsend("restore", str(folder), "--data-dir", str(drill))
    assert restored.returncode == 0, restored.stderr
    assert "Everyone has to sign in again" in restored.stderr
    assert hitsend("audit", "verify", "--data-dir", str(drill)).returncode == 0
    assert ask(serve("--data-dir", str(drill)).url, key) == "bread"


def test_nothing_is_restored_under_a_running_server(
    hitsend: Hitsend, serve: Serve, data_dir: Path, folder: Path
) -> None:
    assert hitsend("backup", str(folder), "--data-dir", str(data_dir)).returncode == 0
    serve("--data-dir", str(data_dir))
    refused = hitsend("restore", str(folder), "--data-dir", str(data_dir))
    assert refused.returncode == 1
    assert "Another hitsend is serving" in refused.stderr


def test_nothing_is_restored_over_a_database(
    hitsend: Hitsend, data_dir: Path, folder: Path
) -> None:
    assert hitsend("backup", str(folder), "--data-dir", str(data_dir)).returncode == 0
    before = (data_dir / "hitsend.db").read_bytes()
    refused = hitsend("restore", str(folder), "--data-dir", str(data_dir))
    assert refused.returncode == 1
    assert "nothing was changed" in refused.stderr
    assert (data_dir / "hitsend.db").read_bytes() == before


def test_the_settings_file_is_in_the_backup_and_named_when_it_is_restored(
    hitsend: Hitsend, data_dir: Path, folder: Path, tmp_path: Path
) -> None:
    config = tmp_path / "given.toml"
    config.write_text("port = 9999\n")
    made = hitsend("backup", str(folder), "--data-dir", str(data_dir), HITSEND_CONFIG=str(config))
    assert made.returncode == 0, made.stderr
    assert (folder / "config.toml").read_text() == "port = 9999\n"
    restored = hitsend("restore", str(folder), "--data-dir", str(tmp_path / "new"))
    assert str(folder / "config.toml") in restored.stderr
    assert not (tmp_path / "new" / "config.toml").exists()


def test_what_is_no_backup_is_refused(hitsend: Hitsend, tmp_path: Path) -> None:
    for words in (("--check",), ("--data-dir", str(tmp_path / "new"))):
        refused = hitsend("restore", str(tmp_path), *words)
        assert refused.returncode == 1
        assert "is no backup" in refused.stderr
    assert not (tmp_path / "new" / "hitsend.db").exists()
    nothing = hitsend("backup", str(tmp_path / "b"), "--data-dir", str(tmp_path / "new"))
    assert nothing.returncode == 1
    assert "There is no database" in nothing.stderr
