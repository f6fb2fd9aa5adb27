"""The doctor finds problems and says how to fix them."""

import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

Hitsend = Callable[..., subprocess.CompletedProcess[str]]


def test_the_doctor_tries_an_answer_and_finds_nothing_failing(
    hitsend: Hitsend, data_dir: Path
) -> None:
    ran = hitsend("doctor", "--engine", "scripted", "--data-dir", str(data_dir), "--port", "1")
    levels = {line.split()[0] for line in ran.stdout.splitlines() if not line.startswith(" ")}
    assert "The engine answers, with Scripted, and its prompts are exact" in ran.stdout
    assert "1 account(s)" in ran.stdout
    assert levels <= {"ok", "warn", "fail"}
    assert (ran.returncode == 1) is ("fail" in levels)


def test_missing_weights_are_a_warning_with_the_command_that_fetches_them(
    hitsend: Hitsend, data_dir: Path
) -> None:
    ran = hitsend("doctor", "--data-dir", str(data_dir), "--port", "1")
    assert "warn  There are no weights" in ran.stdout
    assert "hitsend models pull" in ran.stdout


def test_what_fails_is_named_and_the_exit_code_says_so(hitsend: Hitsend, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        taken.settimeout(0.1)
        port = str(taken.getsockname()[1])
        place = ("--data-dir", str(tmp_path / "file"), "--host", "0.0.0.0", "--port", port)
        ran = hitsend(
            *("doctor", "--engine", "remote", "--engine-url"),
            "http://127.0.0.1:9",
            *("--engine-wait-s", "0.2", *place),
        )
    assert ran.returncode == 1
    assert "fail  Listening on 0.0.0.0" in ran.stdout
    assert f"fail  {tmp_path}/file cannot be written" in ran.stdout
    assert "fail  The engine does not answer" in ran.stdout
    assert "fail  Something that is not hitsend answers" in ran.stdout
    assert "Traceback" not in ran.stdout + ran.stderr


def test_a_damaged_database_is_found(hitsend: Hitsend, tmp_path: Path) -> None:
    (tmp_path / "hitsend.db").write_bytes(b"not a database" * 100)
    ran = hitsend("doctor", "--engine", "scripted", "--data-dir", str(tmp_path), "--port", "1")
    assert ran.returncode == 1
    assert "fail  The file is not a database" in ran.stdout


def test_the_doctor_asks_for_a_backup(hitsend: Hitsend, data_dir: Path, tmp_path: Path) -> None:
    place = ("--data-dir", str(data_dir))
    words = ("doctor", "--engine", "scripted", *place, "--port", "1")
    assert "1 account(s), but no backup." in hitsend(*words).stdout
    assert hitsend("backup", str(tmp_path / "backup"), *place).returncode == 0
    assert "no backup" not in hitsend(*words).stdout
