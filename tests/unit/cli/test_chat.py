"""The terminal chat, against a real server with the scripted engine."""

import asyncio
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from hitsend.safety.policy import Policy
from hitsend.store import Store
from hitsend.store.audit_events import COMMAND_LINE

Hitsend = Callable[..., subprocess.CompletedProcess[str]]

SLOW = "!script tokens=2000 pace=20ms\x1b\rtick tock"
"""An answer that takes long. Escape and Return together begin a new line."""


def test_a_question_from_a_pipe_gets_one_plain_answer(
    hitsend: Hitsend, serve: Callable[..., Any], data_dir: Path
) -> None:
    server = serve("--data-dir", str(data_dir))
    ran = hitsend("chat", "--port", server.port, "--data-dir", str(data_dir), stdin="hello there")
    assert ran.returncode == 0
    assert "**hello** is 5 letters long" in ran.stdout
    assert ran.stderr == ""


def test_a_pipe_shows_what_the_model_did_not_see_and_says_what_was_blocked(
    hitsend: Hitsend, serve: Callable[..., Any], data_dir: Path
) -> None:
    place = ("--port", serve("--data-dir", str(data_dir)).port, "--data-dir", str(data_dir))
    card = "4556 7375 8689 9855"
    words = f"!script\nIt is {card}, [as you said]."
    ran = hitsend("chat", *place, "--send-secrets", stdin=words)
    assert ran.stdout == f"It is {card}, [as you said].\n"
    policy = Policy(denied=("purple monkey",))
    asyncio.run(_set_policy(data_dir, policy))
    for _ in range(20):  # the server reads policies again after a second
        ran = hitsend("chat", *place, stdin="The purple monkey?")
        if ran.returncode:
            break
    assert ran.returncode == 1
    assert "A rule of this server stops this text." in ran.stdout
    assert "was not sent to a model" in ran.stderr


async def _set_policy(data_dir: Path, policy: Policy) -> None:
    store = await Store.open(data_dir / "hitsend.db")
    await store.safety_policies.change("everyone", policy, COMMAND_LINE)
    await store.close()


def test_without_a_server_one_is_started_and_ended_again(
    hitsend: Hitsend, data_dir: Path, tmp_path: Path
) -> None:
    place = ("--port", "1", "--data-dir", str(data_dir))
    ran = hitsend("chat", *place, stdin="hello", HITSEND_ENGINE="scripted")
    assert ran.returncode == 0
    assert "starting one for this chat" in ran.stderr
    assert "hello" in ran.stdout
    commands = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
    assert [line for line in commands if str(data_dir).encode() in line] == []


def test_a_server_that_cannot_start_is_told_with_its_reason(
    hitsend: Hitsend, data_dir: Path
) -> None:
    place = ("--port", "1", "--data-dir", str(data_dir))
    ran = hitsend("chat", *place, stdin="hello", HITSEND_TLS_CERT="/nowhere.pem")
    assert ran.returncode == 1
    assert "tls-key" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_the_key_it_makes_is_kept_private_and_used_again(
    hitsend: Hitsend, serve: Callable[..., Any], data_dir: Path, tmp_path: Path
) -> None:
    place = ("--port", serve("--data-dir", str(data_dir)).port, "--data-dir", str(data_dir))
    hitsend("chat", *place, stdin="hello")
    kept = tmp_path / ".local/state/hitsend/keys.json"
    first = kept.read_bytes()
    assert kept.stat().st_mode & 0o777 == 0o600
    hitsend("chat", *place, stdin="hello")
    assert kept.read_bytes() == first


def test_of_several_accounts_one_has_to_be_named(hitsend: Hitsend, data_dir: Path) -> None:
    words = ("admin", "create-user", "bob", "--password-stdin", "--data-dir", str(data_dir))
    hitsend(*words, stdin="correct horse battery\n")
    ran = hitsend("chat", "--data-dir", str(data_dir), stdin="hello")
    assert ran.returncode == 1
    assert "--user (ann, bob)" in ran.stderr


def test_a_server_with_other_data_is_told_apart(
    hitsend: Hitsend, serve: Callable[..., Any], data_dir: Path, tmp_path: Path
) -> None:
    server = serve("--data-dir", str(tmp_path / "other"))
    ran = hitsend("chat", "--port", server.port, "--data-dir", str(data_dir), stdin="hello")
    assert ran.returncode == 1
    assert "keeps its data elsewhere" in ran.stderr


def test_ctrl_c_stops_the_answer_and_not_the_program(
    terminal: Callable[..., Any], serve: Callable[..., Any], data_dir: Path
) -> None:
    server = serve("--data-dir", str(data_dir))
    chat = terminal("chat", "--port", server.port, "--data-dir", str(data_dir))
    chat.expect_prompt()
    chat.type(SLOW + "\r")
    chat.expect("tocktick")
    chat.type("\x03")
    chat.expect("Stopped.")
    chat.type("hello again\r")
    chat.expect("Ask me anything else.")
    chat.expect_prompt()
    chat.type("\x04")
    assert chat.exit_code() == 0


def test_commands_of_the_chat(
    terminal: Callable[..., Any], serve: Callable[..., Any], data_dir: Path
) -> None:
    server = serve("--data-dir", str(data_dir))
    chat = terminal("chat", "--port", server.port, "--data-dir", str(data_dir))
    chat.expect_prompt()
    for typed, shown in (
        ("/retry", "no answer to retry"),
        ("/list", "none yet"),
        ("first question", "Ask me anything else."),
        ("/retry", "Ask me anything else."),
        ("/new", "A new conversation"),
        ("second question", "Ask me anything else."),
        ("/list", "first question"),
        ("/open 3", "a number from 1 to 2"),
        ("/open 2", "Ask me anything else."),
        ("/model nonsense", "no model nonsense"),
        ("/model", "* scripted"),
        ("/nonsense", "no command /nonsense"),
        ("/help", "Ctrl-D quits"),
    ):
        chat.type(typed + "\r")
        chat.expect(shown)
        chat.expect_prompt()
    chat.type("\x04")
    assert chat.exit_code() == 0


def test_ctrl_c_clears_what_was_typed_and_twice_quits(
    terminal: Callable[..., Any], serve: Callable[..., Any], data_dir: Path
) -> None:
    server = serve("--data-dir", str(data_dir))
    chat = terminal("chat", "--port", server.port, "--data-dir", str(data_dir))
    chat.expect_prompt()
    chat.type("half a thought")
    chat.expect("half a thought")
    chat.type("\x03")
    chat.expect_prompt()
    chat.type("\x03")
    chat.expect("again, or Ctrl-D, to quit")
    chat.expect_prompt()
    chat.type("\x03")
    assert chat.exit_code() == 0


def test_pasted_lines_are_one_message(
    terminal: Callable[..., Any], serve: Callable[..., Any], data_dir: Path
) -> None:
    server = serve("--data-dir", str(data_dir))
    chat = terminal("chat", "--port", server.port, "--data-dir", str(data_dir))
    chat.expect_prompt()
    chat.type("\x1b[200~one two\nthree four\x1b[201~\r")
    chat.expect("You said 4 words")


def test_the_history_is_kept_private(
    terminal: Callable[..., Any], serve: Callable[..., Any], data_dir: Path, tmp_path: Path
) -> None:
    server = serve("--data-dir", str(data_dir))
    chat = terminal("chat", "--port", server.port, "--data-dir", str(data_dir))
    chat.expect_prompt()
    chat.type("/list\r")
    chat.expect("none yet")
    history = tmp_path / ".local/state/hitsend/history"
    assert "/list" in history.read_text()
    assert history.stat().st_mode & 0o777 == 0o600


def test_an_answer_survives_a_server_that_is_killed_and_started_again(
    terminal: Callable[..., Any], serve: Callable[..., Any], data_dir: Path
) -> None:
    server = serve("--data-dir", str(data_dir))
    chat = terminal("chat", "--port", server.port, "--data-dir", str(data_dir))
    chat.expect_prompt()
    chat.type(SLOW + "\r")
    chat.expect("tocktick")
    server.process.kill()
    server.process.wait()
    serve("--data-dir", str(data_dir), port=server.port)
    chat.expect("interrupted here")
    chat.type("still there\r")
    chat.expect("Ask me anything else.")


def test_closing_the_window_ends_the_chat_and_its_server(
    terminal: Callable[..., Any], environ: dict[str, str], data_dir: Path
) -> None:
    environ["HITSEND_ENGINE"] = "scripted"
    chat = terminal("chat", "--port", "1", "--data-dir", str(data_dir))
    chat.expect_prompt()
    os.kill(chat.pid, signal.SIGHUP)
    chat.exit_code()
    running = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
    assert not [line for line in running if re.search(rb"serve.*" + bytes(data_dir), line)]


def test_ctrl_c_on_a_pipe_stops_the_answer_on_the_server(
    environ: dict[str, str], serve: Callable[..., Any], data_dir: Path
) -> None:
    server = serve("--data-dir", str(data_dir))
    words = ["chat", "--port", server.port, "--data-dir", str(data_dir)]
    with subprocess.Popen(
        [sys.executable, "-m", "hitsend", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environ,
        # As a terminal starts it: what runs these tests in the background may ignore Ctrl-C.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    ) as chat:
        assert chat.stdin is not None
        assert chat.stdout is not None
        chat.stdin.write(b"!script tokens=2000 pace=20ms\ntick")
        chat.stdin.close()
        chat.stdout.read(4)
        chat.send_signal(signal.SIGINT)
        assert chat.wait(timeout=20) == 130
    assert asyncio.run(endings(data_dir)) == ["stopped"]


async def endings(data_dir: Path) -> list[str | None]:
    """How the answers in the database ended."""
    store = await Store.open(data_dir / "hitsend.db")
    try:
        (user,) = await store.accounts.list_users()
        page = await store.conversations.list(user.id, offset=0, limit=9)
        found = [await store.conversations.get(line.id, user.id) for line in page.items]
        return [said.ending for one in found for said in one.messages if said.role == "assistant"]
    finally:
        await store.close()


KEY = "sk-ant-Zk3vQ81bLmN0pRsTuVwXyZ12"


def test_a_message_with_a_secret_is_sent_only_after_a_question(
    terminal: Callable[..., Any], serve: Callable[..., Any], data_dir: Path, tmp_path: Path
) -> None:
    server = serve("--data-dir", str(data_dir))
    chat = terminal("chat", "--port", server.port, "--data-dir", str(data_dir))
    chat.expect_prompt()
    for reply, shown in (("", "Not sent."), ("y", "You said")):
        chat.type(f"my key {KEY}\r")
        chat.expect("contains an API key (sk-a…yZ12). Send it anyway? [y/N]")
        chat.type(f"{reply}\r")
        chat.expect(shown)
        chat.expect_prompt()
    assert KEY not in (tmp_path / ".local/state/hitsend/history").read_text()


def test_a_piped_secret_is_sent_only_on_request(
    hitsend: Hitsend, serve: Callable[..., Any], data_dir: Path
) -> None:
    server = serve("--data-dir", str(data_dir))
    place = ("--port", server.port, "--data-dir", str(data_dir))
    refused = hitsend("chat", *place, stdin=f"my key {KEY}")
    assert refused.returncode == 1
    assert "an API key (sk-a…yZ12). Nothing was sent." in refused.stderr
    sent = hitsend("chat", "--send-secrets", *place, stdin=f"my key {KEY}")
    assert sent.returncode == 0
    assert "You said" in sent.stdout
