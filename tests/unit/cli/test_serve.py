"""`hitsend serve` from outside."""

import signal
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

Hitsend = Callable[..., subprocess.CompletedProcess[str]]


def test_the_address_is_printed_once_it_can_be_opened(
    serve: Callable[..., Any], tmp_path: Path
) -> None:
    server = serve("--data-dir", str(tmp_path))
    assert httpx2.get(f"{server.url}/healthz", trust_env=False).status_code == 200


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_cleanly_when_asked_to(
    serve: Callable[..., Any], tmp_path: Path, number: signal.Signals
) -> None:
    process = serve("--data-dir", str(tmp_path)).process
    process.send_signal(number)
    _, said = process.communicate(timeout=20)
    assert process.returncode == 0
    assert "Traceback" not in said


def test_every_start_without_accounts_prints_the_link_that_makes_the_first(
    serve: Callable[..., Any], tmp_path: Path
) -> None:
    first, again = [said_at_start(serve("--data-dir", str(tmp_path))) for _ in range(2)]
    token, token_again = (said.partition("/#setup=")[2].split()[0] for said in (first, again))
    assert "administrator" in first
    assert token == token_again
    server = serve("--data-dir", str(tmp_path))
    account = {"name": "ann", "password": "correct horse", "setup_token": token}
    address = f"{server.url}/backend-api/accounts/first"
    behind_a_proxy = {"x-forwarded-for": "192.0.2.7"}
    made = httpx2.post(address, json=account, headers=behind_a_proxy, trust_env=False)
    assert made.status_code == 201
    assert "setup=" in said_at_start(server)
    assert "setup=" not in said_at_start(serve("--data-dir", str(tmp_path)))


def test_a_start_without_the_database_it_had_says_to_restore_a_backup(
    serve: Callable[..., Any], hitsend: Hitsend, data_dir: Path
) -> None:
    assert "setup=" not in said_at_start(serve("--data-dir", str(data_dir)))
    for file in data_dir.glob("hitsend.db*"):
        file.unlink()
    place = ("--data-dir", str(data_dir), "--engine", "scripted", "--port", "1")
    assert "is missing." in hitsend("doctor", *place).stdout
    said = said_at_start(serve("--data-dir", str(data_dir)))
    assert f"the database {data_dir / 'hitsend.db'} is missing or empty" in said
    assert "restore a backup" in said
    assert "are gone." in hitsend("doctor", *place).stdout


def test_a_damaged_database_stops_the_start_and_says_what_to_do(
    hitsend: Hitsend, data_dir: Path
) -> None:
    database = data_dir / "hitsend.db"
    whole = database.read_bytes()
    database.write_bytes(whole[: len(whole) // 2] + b"\xff" * (len(whole) // 2))
    place = ("--data-dir", str(data_dir), "--engine", "scripted", "--port", "0")
    ran = hitsend("serve", *place)
    assert ran.returncode == 1
    assert f"The database {database} is damaged" in ran.stderr
    assert "hitsend restore" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert "fail  The database" in hitsend("doctor", *place).stdout


def said_at_start(server: Any) -> str:
    """Stops the server, and returns what it said on standard error."""
    server.process.terminate()
    said: str = server.process.communicate(timeout=20)[1]
    return said


def test_a_port_that_is_taken_is_one_sentence(hitsend: Hitsend, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        ran = hitsend("serve", "--port", port, "--data-dir", str(tmp_path))
    assert ran.returncode == 1
    assert ran.stderr.startswith(f"hitsend: Cannot listen on 127.0.0.1 port {port}")
    assert ran.stderr.count("\n") == 1


def test_a_secret_in_the_instructions_stops_the_start(hitsend: Hitsend, tmp_path: Path) -> None:
    told = f"Use the key sk-{'a1' * 20} for it."
    ran = hitsend("serve", "--data-dir", str(tmp_path), "--instructions", told)
    assert ran.returncode == 1
    assert ran.stderr == (
        "hitsend: There is an API key in HITSEND_INSTRUCTIONS, which no model may see. Remove it.\n"
    )
