"""Prompts are checked in the form a chat has, and the check fails if there is no model."""

from pathlib import Path

import pytest
from scripts.check_prompts import build_conversation, main

from hitsend.prompts import Check, render, samples, shipped_prompts
from hitsend.settings import Settings

ASK = "What is my name?"


def render_in_chat(name: str) -> list[tuple[str, str]]:
    prompt = shipped_prompts()[name]
    messages = build_conversation(prompt, Check(values=samples(prompt), ask=ASK), "")
    return [(message.role, message.text) for message in messages]


def test_a_profile_follows_the_instructions_and_a_memory_precedes_the_question() -> None:
    [(role, system), question] = render_in_chat("profile_note")
    assert role == "system"
    assert system.startswith(Settings().instructions)
    assert "Ada" in system
    assert question == ("user", ASK)
    [instructions, (role, note)] = render_in_chat("memory_note")
    assert instructions[0] == "system"
    assert instructions[1].startswith(Settings().instructions)
    assert instructions[1].endswith(render(shipped_prompts()["safety_instructions"], {}))
    assert role == "user"
    assert note.endswith(f"\n\n{ASK}")


def test_a_prompt_outside_of_chats_is_sent_unchanged() -> None:
    assert [role for role, _ in render_in_chat("title")][-1] == "user"
    assert all(ASK not in text for _, text in render_in_chat("title"))


async def test_without_a_model_the_check_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await main(["title"], Settings(models_dir=tmp_path)) == 2
    assert "No model is here" in capsys.readouterr().out


async def test_an_unknown_prompt_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await main(["titel"], Settings(models_dir=tmp_path)) == 2
    assert "There is no prompt 'titel'. There are: " in capsys.readouterr().out
