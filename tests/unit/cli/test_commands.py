"""The command line from outside: what it prints, where, and with which exit code."""

import subprocess
import sys
from collections.abc import Callable

import msgspec
import pytest

from hitsend import __version__
from hitsend.settings import NAMES

Hitsend = Callable[..., subprocess.CompletedProcess[str]]


def test_the_version_is_told(hitsend: Hitsend) -> None:
    assert hitsend("--version").stdout == f"{__version__}\n"


def test_the_command_itself_loads_neither_server_nor_store_nor_engine(
    environ: dict[str, str],
) -> None:
    code = "import sys, hitsend.cli; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environ, check=True
    ).stdout.split()
    heavy = {"starlette", "sqlalchemy", "xllamacpp", "httpx2", "prompt_toolkit", "msgspec"}
    assert not heavy & set(loaded)


@pytest.mark.parametrize(
    "words",
    [
        ["nonsense"],
        ["serve", "--prot", "80"],
        ["serve", "--port", "eighty"],
        ["serve", "--engine", "steam"],
        ["models", "pull"],
        ["admin", "create-user"],
        ["admin", "create-user", "ann", "--role", "king"],
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(hitsend: Hitsend, words: list[str]) -> None:
    ran = hitsend(*words)
    assert ran.returncode == 2
    assert ran.stdout == ""
    assert ran.stderr.startswith("hitsend: ")
    assert ran.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "variables", "said"),
    [
        (["serve"], {"HITSEND_PORT": "eighty"}, "HITSEND_PORT is 'eighty'"),
        (["serve", "--port", "99999"], {}, "--port is 99999"),
        (["serve"], {"HITSEND_PROT": "80"}, "HITSEND_PROT"),
        (["serve", "--host", "0.0.0.0"], {}, "--insecure"),
        (["models", "pull", "nonsense"], {}, "nonsense"),
        (["models", "remove", "smollm2-135m"], {}, "not on this machine"),
        (["admin", "create-key", "nobody"], {}, "no account nobody"),
        (["chat"], {}, "There is no account yet"),
        (["chat", "--url", "http://chat.example"], {}, "asks for an API key"),
    ],
)
def test_what_cannot_be_done_is_one_sentence_and_exit_code_1(
    hitsend: Hitsend, words: list[str], variables: dict[str, str], said: str
) -> None:
    ran = hitsend(*words, **variables)
    assert ran.returncode == 1
    assert ran.stdout == ""
    assert said in ran.stderr
    assert ran.stderr.startswith("hitsend: ")
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize("command", ["serve", "chat", "models", "admin", "settings", "doctor"])
def test_every_command_is_explained(hitsend: Hitsend, command: str) -> None:
    assert command in hitsend("--help").stdout
    assert hitsend(command, "--help").returncode == 0


def test_every_setting_is_a_flag_of_serve(hitsend: Hitsend) -> None:
    explained = hitsend("serve", "--help").stdout
    assert [name for name in NAMES if f"--{name.replace('_', '-')} " not in explained] == []


def test_settings_says_where_each_value_came_from(hitsend: Hitsend) -> None:
    ran = hitsend("settings", "--json", "--port", "81", HITSEND_HOST="::1")
    rows = {row["setting"]: row for row in msgspec.json.decode(ran.stdout)}
    assert set(rows) == set(NAMES)
    assert rows["port"] == {"setting": "port", "value": 81, "from": "--port"}
    assert rows["host"] == {"setting": "host", "value": "::1", "from": "HITSEND_HOST"}
    assert rows["sync"]["from"] == "default"


def test_settings_is_a_table_for_people(hitsend: Hitsend) -> None:
    lines = hitsend("settings", HITSEND_PORT="82").stdout.splitlines()
    assert lines[0].split() == ["setting", "value", "from"]
    assert ["port", "82", "HITSEND_PORT"] in [line.split() for line in lines]


@pytest.mark.parametrize("words", [["settings"], ["settings", "--json"]])
def test_settings_never_shows_a_secret(hitsend: Hitsend, words: list[str]) -> None:
    ran = hitsend(*words, HITSEND_ENGINE_KEY="sk-very-secret")
    assert "sk-very-secret" not in ran.stdout
    assert "set, not shown" in ran.stdout
