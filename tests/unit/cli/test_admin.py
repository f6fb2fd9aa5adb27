"""Accounts and keys made from the command line."""

import subprocess
from collections.abc import Callable
from pathlib import Path

from hitsend.credentials import hash_token, verify_password
from hitsend.store import COMMAND_LINE, Store

Hitsend = Callable[..., subprocess.CompletedProcess[str]]

PASSWORD = "correct horse battery\n"


def create_user(hitsend: Hitsend, data_dir: Path, *words: str, password: str = PASSWORD) -> str:
    ran = hitsend(
        *("admin", "create-user", *words, "--password-stdin", "--data-dir", str(data_dir)),
        stdin=password,
    )
    assert ran.stdout == ""
    return ran.stderr


async def test_the_first_account_is_an_admin_and_the_next_a_member(
    hitsend: Hitsend, tmp_path: Path
) -> None:
    assert "admin account ann" in create_user(hitsend, tmp_path, "ann")
    assert "member account bob" in create_user(hitsend, tmp_path, "bob")
    assert "admin account cid" in create_user(hitsend, tmp_path, "cid", "--role", "admin")
    store = await Store.open(tmp_path / "hitsend.db")
    found = await store.accounts.find_by_name("ann")
    await store.close()
    assert found is not None
    assert await verify_password(PASSWORD.strip(), found[1])


def test_an_invalid_account_is_refused(hitsend: Hitsend, tmp_path: Path) -> None:
    assert "has to be an admin" in create_user(hitsend, tmp_path, "ann", "--role", "member")
    assert "8 to 256" in create_user(hitsend, tmp_path, "ann", password="short\n")
    assert "8 to 256" in create_user(hitsend, tmp_path, "ann", password="")
    assert "easy to guess" in create_user(hitsend, tmp_path, "ann", password="annannann1\n")
    assert "in one alphabet" in create_user(hitsend, tmp_path, "\u0430nn")
    create_user(hitsend, tmp_path, "ann")
    assert "is taken" in create_user(hitsend, tmp_path, "ANN")


def test_without_a_terminal_a_password_has_to_be_piped(hitsend: Hitsend, tmp_path: Path) -> None:
    ran = hitsend("admin", "create-user", "ann", "--data-dir", str(tmp_path), stdin=PASSWORD)
    assert ran.returncode == 1
    assert "--password-stdin" in ran.stderr


async def test_a_new_key_is_the_only_output_and_is_valid(hitsend: Hitsend, tmp_path: Path) -> None:
    create_user(hitsend, tmp_path, "ann")
    place = ("--data-dir", str(tmp_path))
    ran = hitsend("admin", "create-key", "ann", "--label", "backup", *place)
    key = ran.stdout.removesuffix("\n")
    assert key.startswith("hs-")
    assert ran.stderr == ""
    store = await Store.open(tmp_path / "hitsend.db")
    found = await store.accounts.find_by_key(hash_token(key))
    await store.close()
    assert found is not None
    assert (found[0].label, found[1].name) == ("backup", "ann")


async def test_a_key_gets_the_scopes_and_days_of_the_flags(
    hitsend: Hitsend, tmp_path: Path
) -> None:
    create_user(hitsend, tmp_path, "ann")
    create_user(hitsend, tmp_path, "bob")
    place = ("--data-dir", str(tmp_path))
    flags = ("--scope", "read", "--scope", "admin", "--days", "30", *place)
    key = hitsend("admin", "create-key", "ann", *flags).stdout.strip()
    store = await Store.open(tmp_path / "hitsend.db")
    found = await store.accounts.find_by_key(hash_token(key))
    await store.close()
    assert found is not None
    assert found[0].scopes == ("admin", "read")
    assert round(((found[0].expires_at or 0) - found[0].created_at) / 86_400) == 30
    assert "administrator" in hitsend("admin", "create-key", "bob", *flags).stderr
    assert "at least one day" in hitsend("admin", "create-key", "ann", "--days", "0").stderr
    assert hitsend("admin", "create-key", "ann", "--scope", "all", *place).returncode != 0


def test_the_database_is_private(hitsend: Hitsend, tmp_path: Path) -> None:
    create_user(hitsend, tmp_path / "data", "ann")
    assert (tmp_path / "data").stat().st_mode & 0o077 == 0
    assert (tmp_path / "data/hitsend.db").stat().st_mode & 0o077 == 0


def test_a_data_folder_that_cannot_be_made_is_one_sentence(
    hitsend: Hitsend, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    said = create_user(hitsend, tmp_path / "file", "ann")
    assert said.startswith("hitsend: ")
    assert "Traceback" not in said


async def test_a_password_is_reset_from_standard_input_or_by_a_link(
    hitsend: Hitsend, tmp_path: Path
) -> None:
    create_user(hitsend, tmp_path, "ann")
    place = ("--data-dir", str(tmp_path))
    key = hitsend("admin", "create-key", "ann", *place).stdout.strip()
    reset = ("admin", "reset-password", "ann", *place)
    assert "easy to guess" in hitsend(*reset, "--password-stdin", stdin="ann12345\n").stderr
    done = hitsend(*reset, "--password-stdin", "--revoke-keys", stdin="another long one\n")
    assert "signed out everywhere" in done.stderr
    made = hitsend(*reset, "--link", "--port", "9000")
    address, _, token = made.stdout.strip().partition("/#reset=")
    assert address == "http://127.0.0.1:9000"
    assert "no account" in hitsend("admin", "reset-password", "bob", *place, "--link").stderr
    hitsend("admin", "create-user", "bob", "--password-stdin", *place, stdin=PASSWORD)
    hitsend("admin", "disable", "bob", *place)
    assert "admin enable" in hitsend("admin", "reset-password", "bob", *place, "--link").stderr
    store = await Store.open(tmp_path / "hitsend.db")
    found = await store.accounts.find_by_name("ann")
    assert found is not None
    assert await verify_password("another long one", found[1])
    assert await store.accounts.find_by_key(hash_token(key)) is None
    assert (await store.password_resets.check(hash_token(token)))[0].name == "ann"
    resets = await store.password_resets.list(found[0].id)
    await store.close()
    assert [(one.made_by, one.used_at is None) for one in resets] == [("", True), ("", False)]


async def test_the_setup_link_is_the_same_until_there_is_an_account(
    hitsend: Hitsend, tmp_path: Path
) -> None:
    place = ("--data-dir", str(tmp_path), "--port", "9000")
    first, again = [hitsend("admin", "setup-link", *place).stdout for _ in range(2)]
    assert first == again
    assert first.startswith("http://127.0.0.1:9000/#setup=")
    store = await Store.open(tmp_path / "hitsend.db")
    assert first.strip().endswith(f"#setup={await store.first_account.token()}")
    await store.close()
    create_user(hitsend, tmp_path, "ann")
    assert "accounts already" in hitsend("admin", "setup-link", *place).stderr


def test_users_are_listed_disabled_and_enabled(hitsend: Hitsend, tmp_path: Path) -> None:
    create_user(hitsend, tmp_path, "ann")
    create_user(hitsend, tmp_path, "bob")
    place = ("--data-dir", str(tmp_path))
    assert "sessions and keys are refused" in hitsend("admin", "disable", "BOB", *place).stderr
    listed = hitsend("admin", "list", *place).stdout.splitlines()
    assert [line.split()[:3] for line in listed[1:]] == [
        ["ann", "admin", "0"],
        ["bob", "member", "disabled"],
    ]
    assert "disabled already" in hitsend("admin", "disable", "bob", *place).stderr
    assert "bob is enabled" in hitsend("admin", "enable", "bob", *place).stderr
    assert "is not disabled" in hitsend("admin", "enable", "bob", *place).stderr
    assert "no account eve" in hitsend("admin", "disable", "eve", *place).stderr


def test_the_last_administrator_cannot_be_disabled(hitsend: Hitsend, tmp_path: Path) -> None:
    create_user(hitsend, tmp_path, "ann")
    ran = hitsend("admin", "disable", "ann", "--data-dir", str(tmp_path))
    assert ran.returncode == 1
    assert "last administrator" in ran.stderr


async def test_a_lost_second_factor_is_removed_and_every_session_ended(
    hitsend: Hitsend, tmp_path: Path
) -> None:
    create_user(hitsend, tmp_path, "ann")
    store = await Store.open(tmp_path / "hitsend.db")
    found = await store.accounts.find_by_name("ann")
    assert found is not None
    user_id = found[0].id
    await store.second_factors.set_authenticator(user_id, "SECRET", 1, ["hash"], COMMAND_LINE)
    await store.accounts.open_session(user_id, "token", user_agent="", expires_at=4e9)
    place = ("--data-dir", str(tmp_path))
    removed = hitsend("admin", "remove-second-factor", "Ann", *place)
    assert "password alone" in removed.stderr
    assert not (await store.second_factors.get(user_id)).is_on
    assert await store.accounts.list_sessions(user_id) == []
    await store.close()
    again = hitsend("admin", "remove-second-factor", "ann", *place)
    assert (again.returncode, "no second factor" in again.stderr) == (1, True)
