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


def test_the_first_start_says_who_becomes_the_administrator(
    serve: Callable[..., Any], tmp_path: Path
) -> None:
    for is_first in (True, False):
        process = serve("--data-dir", str(tmp_path)).process
        process.terminate()
        assert ("administrator" in process.communicate(timeout=20)[1]) is is_first


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
        "hitsend: There is an API key in HITSEND_INSTRUCTIONS, and no model is told one. "
        "Take it out.\n"
    )
