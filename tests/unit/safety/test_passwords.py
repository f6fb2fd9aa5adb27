"""Passwords that are easy to guess. The page's tests read tests/passwords.json too."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitsend.safety import is_easy_to_guess
from hitsend.safety.passwords import WORDS

CASES = json.loads((Path(__file__).parents[2] / "passwords.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["password"])
def test_what_everybody_tries_first_counts_for_little(case: dict[str, Any]) -> None:
    assert is_easy_to_guess(case["password"], case["name"]) is case["is_easy"]


@pytest.mark.parametrize("word", WORDS)
def test_a_common_word_with_usual_endings_is_easy_to_guess(word: str) -> None:
    for variant in (word, word.upper(), f"{word}1!", f"{word}123", f"2024{word}", word * 3):
        assert is_easy_to_guess(variant)


@given(st.text(max_size=256), st.text(max_size=64))
def test_any_text_can_be_judged(password: str, name: str) -> None:
    is_easy_to_guess(password, name)


@pytest.mark.parametrize("password", ["ab" * 127 + "c", "a" * 256, "abcdefgh " * 28])
def test_long_passwords_are_judged_quickly(password: str) -> None:
    started = time.process_time()
    for _ in range(10):
        is_easy_to_guess(password, "ada")
    assert time.process_time() - started < 0.1
