"""Prompts are checked as they are told in a chat, and a check that asked nobody does not pass."""

from pathlib import Path

import pytest
from scripts.check_prompts import conversation, main

from hitsend.prompts import Check, samples, shipped
from hitsend.settings import Settings

ASK = "What is my name?"


def told(name: str) -> list[tuple[str, str]]:
    prompt = shipped()[name]
    messages = conversation(prompt, Check(values=samples(prompt), ask=ASK), "")
    return [(message.role, message.text) for message in messages]


def test_a_profile_is_told_after_the_instructions_and_a_memory_before_the_question() -> None:
    [(role, system), question] = told("profile_note")
    assert role == "system"
    assert system.startswith(Settings().instructions)
    assert "Ada" in system
    assert question == ("user", ASK)
    [instructions, (role, note)] = told("memory_note")
    assert instructions == ("system", Settings().instructions)
    assert role == "user"
    assert note.endswith(f"\n\n{ASK}")


def test_a_prompt_that_asks_by_itself_is_told_as_it_is() -> None:
    assert [role for role, _ in told("title")][-1] == "user"
    assert all(ASK not in text for _, text in told("title"))


async def test_without_a_model_nothing_was_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await main(["title"], Settings(models_dir=tmp_path)) == 2
    assert "No model is here" in capsys.readouterr().out


async def test_a_prompt_that_is_not_there_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await main(["titel"], Settings(models_dir=tmp_path)) == 2
    assert "There is no prompt 'titel'. There are: " in capsys.readouterr().out
