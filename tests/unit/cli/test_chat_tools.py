"""Tools in the terminal chat: their lines, permissions, forms, and commands."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.browser.world import Server

NEW_LINE = "\x1b\r"
LETTER = {"to": "Grandma", "text": "Thank you."}


def call_line(tool: str, **arguments: object) -> str:
    return f"<tool_call>{json.dumps({'name': tool, 'arguments': arguments})}</tool_call>"


def typed(*rounds: str) -> str:
    """A message for the scripted engine, as it is typed."""
    return NEW_LINE.join(["!script", *f"{NEW_LINE}!then{NEW_LINE}".join(rounds).split("\n")]) + "\r"


@pytest.fixture
def server(data_dir: Path) -> Iterator[Server]:
    running = Server(
        data_dir, settings={"HITSEND_EMBEDDINGS": "off"}, program=("tests.browser.workshop",)
    )
    running.start()
    yield running
    running.stop()


@pytest.fixture
def chat(terminal: Callable[..., Any], server: Server, data_dir: Path) -> Callable[..., Any]:
    def start(*words: str) -> Any:
        place = ("--port", str(server.port), "--data-dir", str(data_dir))
        started = terminal("chat", *place, *words)
        started.expect_prompt()
        return started

    return start


def letters(data_dir: Path) -> str:
    path = data_dir / "letters.txt"
    return path.read_text(encoding="utf-8") if path.exists() else ""


def test_a_call_is_one_line_with_what_came_of_it(chat: Callable[..., Any]) -> None:
    window = chat("--tools", "calculator")
    window.type(typed("Let me see. " + call_line("calculate", expression="6*7"), "It is *42*."))
    window.expect('✓ calculate(expression="6*7") → 6*7 = 42')
    window.expect("42")
    window.expect_prompt()
    window.type("/retry\r")
    window.expect("✓ calculate(")
    window.expect_prompt()
    window.type("/list\r")
    window.expect_prompt()
    window.type("/open 1\r")
    window.expect('✓ calculate(expression="6*7") → 6*7 = 42')
    window.expect_prompt()


def test_tools_are_listed_and_turned_on_and_off(chat: Callable[..., Any]) -> None:
    window = chat("--tools", "calculator,time")
    for command, shown in (
        ("/tools", "* calculator  calculate"),
        ("/tools calculator", "  calculator  calculate"),
        ("/tools letters, odd", "* letters  post_letter"),
        ("/tools nonsense", "There is no tool nonsense. There are: calculator"),
    ):
        window.type(command + "\r")
        window.expect(shown)
        window.expect_prompt()


def test_an_unknown_tool_is_refused_at_the_start(
    hitsend: Callable[..., Any], server: Server, data_dir: Path
) -> None:
    place = ("--port", str(server.port), "--data-dir", str(data_dir))
    ran = hitsend("chat", *place, "--tools", "nonsense", stdin="hello")
    assert ran.returncode == 1
    assert "nonsense" in ran.stderr


def test_a_pipe_has_the_text_only_and_refuses_what_would_ask(
    hitsend: Callable[..., Any], server: Server, data_dir: Path
) -> None:
    place = ("--port", str(server.port), "--data-dir", str(data_dir))
    rounds = [
        "One moment." + call_line("post_letter", **LETTER) + call_line("order_tea", kind="green"),
        "Then not.",
    ]
    asked = "!script\n" + "\n!then\n".join(rounds)
    ran = hitsend("chat", *place, "--tools", "letters,shop", stdin=asked)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == "One moment.\n\nThen not.\n"
    assert "post_letter was refused: nobody can be asked in a pipe" in ran.stderr
    assert letters(data_dir) == ""


@pytest.mark.parametrize(("decision", "is_posted"), [("o", True), ("r not today", False)])
def test_a_tool_that_writes_asks(
    chat: Callable[..., Any], data_dir: Path, decision: str, is_posted: bool
) -> None:
    window = chat("--tools", "letters")
    window.type(typed(call_line("post_letter", **LETTER), "That is all."))
    window.expect("post_letter wants to run")
    window.expect('to: "Grandma"')
    window.expect_prompt()
    window.expect("[r]efuse")
    window.type("perhaps\r")
    window.expect_prompt()
    window.expect("[r]efuse")
    window.type(f"{decision}\r")
    window.expect("✓ post_letter" if is_posted else "They said: not today")
    window.expect("That is all.")
    window.expect_prompt()
    assert letters(data_dir) == ("Grandma: Thank you.\n" if is_posted else "")


def test_a_call_is_decided_after_a_restart_of_the_server(
    chat: Callable[..., Any], server: Server, data_dir: Path
) -> None:
    window = chat("--tools", "letters")
    window.type(typed(call_line("post_letter", **LETTER), "Sent."))
    window.expect("wants to run")
    window.expect_prompt()
    window.expect("[r]efuse")
    server.kill()
    server.start()
    window.type("o\r")
    window.expect("✓ post_letter")
    window.expect("Sent.")
    window.expect_prompt()
    assert letters(data_dir) == "Grandma: Thank you.\n"


def test_a_call_that_was_left_open_is_decided_when_its_conversation_is_opened(
    chat: Callable[..., Any], server: Server, data_dir: Path
) -> None:
    window = chat("--tools", "letters")
    window.type(typed(call_line("post_letter", **LETTER), "Sent."))
    window.expect("[r]efuse")
    server.kill()
    server.start()
    later = chat()
    later.type("/open 1\r")
    later.expect("post_letter(to=")
    later.expect("waits for you")
    later.expect("wants to run")
    later.expect_prompt()
    later.expect("[r]efuse")
    later.type("o\r")
    later.expect("Sent.")
    later.expect_prompt()
    assert letters(data_dir) == "Grandma: Thank you.\n"


def test_a_form_is_filled_in_line_by_line(chat: Callable[..., Any]) -> None:
    window = chat("--tools", "shop")
    window.type(typed(call_line("order_tea", kind="green"), "Ordered."))
    for question, reply in (
        ("Size [s (Small), l (Large)]: ", "large"),
        ("How many: ", "99"),
        ("How many: ", "2"),
        ("Note, may be left empty: ", ""),
        ("As a gift [y/n], may be left empty: ", "y"),
    ):
        window.expect_prompt()
        window.expect(question.strip())
        window.type(f"{reply}\r")
    window.expect('accept: {"size":"l","count":2')
    window.expect("Ordered.")
    window.expect_prompt()


def test_a_running_tool_shows_what_it_reports_and_is_stopped(chat: Callable[..., Any]) -> None:
    window = chat("--tools", "slow")
    window.type(typed("One moment." + call_line("wait_long", name="Ann"), "Done."))
    window.expect("wait_long… Ann is at the door.")
    window.type("\x03")
    window.expect('– wait_long(name="Ann") did not finish')
    window.expect("Stopped.")
    window.expect_prompt()


def test_ctrl_c_at_a_question_stops_the_answer(chat: Callable[..., Any], data_dir: Path) -> None:
    window = chat("--tools", "letters")
    window.type(typed(call_line("post_letter", **LETTER), "Sent."))
    window.expect("wants to run")
    window.expect_prompt()
    window.expect("[r]efuse")
    window.type("\x03")
    window.expect("Stopped.")
    window.expect_prompt()
    assert letters(data_dir) == ""
