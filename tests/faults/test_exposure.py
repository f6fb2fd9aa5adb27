"""A running hitsend shows little to the network and to other users of its machine."""

import os
import ssl
import stat
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
import trustme
from tests.faults.process import Served, serve_process

OPEN = {"HITSEND_HOST": "0.0.0.0", "HITSEND_INSECURE": "true"}
NAMED = OPEN | {"HITSEND_ALLOWED_HOSTS": "chat.example"}


async def status_under(served: Served, name: str) -> int:
    async with httpx2.AsyncClient(base_url=served.url, trust_env=False) as http:
        return (await http.get("/healthz", headers={"host": name})).status_code


@pytest.mark.parametrize(
    ("settings", "allowed", "refused"),
    [
        ({}, ["localhost", "127.0.0.1:80", "[::1]:80"], ["evil.example", "192.168.1.2"]),
        (OPEN, ["localhost", "192.168.1.2:80", "[2001:db8::1]"], ["evil.example", "1.evil"]),
        (NAMED, ["chat.example", "Chat.Example:443", "localhost"], ["evil.example", "10.0.0.1"]),
    ],
    ids=["loopback", "insecure", "insecure with names"],
)
async def test_hitsend_answers_only_to_its_names_and_addresses(
    tmp_path: Path, settings: dict[str, str], allowed: list[str], refused: list[str]
) -> None:
    async with serve_process(tmp_path, settings) as served:
        assert [await status_under(served, name) for name in allowed] == [200] * len(allowed)
        assert [await status_under(served, name) for name in refused] == [403] * len(refused)


@asynccontextmanager
async def serve_tls(
    data_dir: Path, **settings: str
) -> AsyncGenerator[tuple[Served, ssl.SSLContext]]:
    authority, trusting = trustme.CA(), ssl.create_default_context()
    authority.configure_trust(trusting)
    certificate = authority.issue_cert("127.0.0.1")
    chain, key = data_dir / "chain.pem", data_dir / "key.pem"
    certificate.cert_chain_pems[0].write_to_path(chain)
    certificate.private_key_pem.write_to_path(key)
    files = {"HITSEND_TLS_CERT": str(chain), "HITSEND_TLS_KEY": str(key)}
    async with serve_process(data_dir, files | settings) as served:
        yield served, trusting


async def test_with_a_certificate_browsers_are_told_to_use_https_only(tmp_path: Path) -> None:
    async with (
        serve_tls(tmp_path) as (served, trusting),
        httpx2.AsyncClient(base_url=served.url, verify=trusting) as http,
    ):
        answer = await http.get("/healthz")
    assert answer.status_code == 200
    assert answer.headers["strict-transport-security"] == "max-age=31536000"


async def test_without_one_or_where_it_is_turned_off_they_are_not(tmp_path: Path) -> None:
    async with (
        serve_tls(tmp_path, HITSEND_HSTS_S="0") as (served, trusting),
        httpx2.AsyncClient(base_url=served.url, verify=trusting) as http,
    ):
        answers = [await http.get("/healthz")]
    async with (
        serve_process(tmp_path) as served,
        httpx2.AsyncClient(base_url=served.url) as http,
    ):
        answers.append(await http.get("/healthz"))
    assert not any("strict-transport-security" in answer.headers for answer in answers)


@pytest.mark.parametrize(("oldest", "is_spoken"), [(None, False), ("1.2", True)])
async def test_tls_1_2_is_spoken_only_if_it_is_allowed(
    tmp_path: Path, oldest: str | None, is_spoken: bool
) -> None:
    settings = {} if oldest is None else {"HITSEND_TLS_MIN": oldest}
    async with serve_tls(tmp_path, **settings) as (served, trusting):
        async with httpx2.AsyncClient(base_url=served.url, verify=trusting) as http:
            assert (await http.get("/healthz")).status_code == 200
        trusting.maximum_version = ssl.TLSVersion.TLSv1_2
        async with httpx2.AsyncClient(base_url=served.url, verify=trusting) as http:
            if is_spoken:
                assert (await http.get("/healthz")).status_code == 200
                return
            with pytest.raises(httpx2.ConnectError):
                await http.get("/healthz")


async def test_only_its_own_user_can_read_what_hitsend_writes(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    data_dir.mkdir(mode=0o755)
    (data_dir / "lock").touch(0o644)
    async with serve_process(data_dir) as served, httpx2.AsyncClient(base_url=served.url) as http:
        first = {"name": "ada", "password": "correct horse battery"}
        await http.post("/backend-api/accounts/first", json=first)
        files = [path for path in data_dir.iterdir() if path != served.log]
        assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
        assert {"hitsend.db", "hitsend.db-wal", "lock"} <= {path.name for path in files}
    said = served.log.read_text()
    assert f"chmod 700 {data_dir}\n" in said
    assert ("as root" in said) is (os.geteuid() == 0)


async def test_a_private_directory_is_no_cause_for_a_warning(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    data_dir.mkdir(mode=0o700)
    async with serve_process(data_dir) as served:
        assert await status_under(served, "localhost") == 200
    assert "chmod" not in served.log.read_text()


@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_a_lock_that_is_no_plain_file_is_refused(tmp_path: Path, kind: str) -> None:
    data_dir, target = tmp_path / "data", tmp_path / "precious"
    data_dir.mkdir(mode=0o700)
    target.write_text("precious")
    lock = data_dir / "lock"
    if kind == "link":
        lock.symlink_to(target)
    else:
        os.mkfifo(lock)
    ran = subprocess.run(
        [sys.executable, "-m", "hitsend", "serve", "--engine", "scripted", "--port", "0",
         "--data-dir", str(data_dir)],
        capture_output=True, text=True, timeout=60, check=False,
        env=os.environ | {"PYTHONPATH": "src"},
    )  # fmt: skip
    assert ran.returncode != 0
    assert f"{lock} is " in ran.stderr
    assert "Traceback" not in ran.stderr
    assert target.read_text() == "precious"
