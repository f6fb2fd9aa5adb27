"""Refusals are recognised by the beginning of an answer, in the languages of the page and others.

`refusals.toml` says which of its lines were in sight when the patterns were written.
"""

import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from hitsend.safety.refusals import MAX_CHARS, is_refusal

CASES = Path(__file__).parent / "refusals.toml"
LANGUAGES = ("en", "de", "es", "fr", "pt", "it", "nl")


class Case(NamedTuple):
    language: str
    text: str
    declines: bool
    is_held_out: bool


def read_cases() -> Iterator[Case]:
    for language, lists in tomllib.loads(CASES.read_text()).items():
        for name, texts in lists.items():
            for number, text in enumerate(texts.strip().splitlines()):
                yield Case(language, text, name == "declines", number % 2 == 1)


CASE_LIST = tuple(read_cases())


def f1(cases: list[Case]) -> float:
    num_found = sum(case.declines and is_refusal(case.text) for case in cases)
    num_wrong = sum(case.declines != is_refusal(case.text) for case in cases)
    return 2 * num_found / (2 * num_found + num_wrong)


def test_there_are_a_hundred_of_each_kind_and_every_language() -> None:
    assert sum(case.declines for case in CASE_LIST) >= 100
    assert sum(not case.declines for case in CASE_LIST) >= 100
    assert {case.language for case in CASE_LIST} == set(LANGUAGES)
    assert len({case.text for case in CASE_LIST}) == len(CASE_LIST)


def test_f1_is_at_least_95_percent_on_cases_that_no_pattern_was_written_for() -> None:
    """Measured: 0.959. 59 found, 4 missed, 1 taken for a refusal."""
    assert f1([case for case in CASE_LIST if case.is_held_out]) >= 0.95


@pytest.mark.parametrize("language", LANGUAGES)
def test_f1_is_at_least_90_percent_in_every_language(language: str) -> None:
    assert f1([case for case in CASE_LIST if case.language == language]) >= 0.9


def test_markup_and_curly_quotes_do_not_hide_a_refusal() -> None:
    assert is_refusal("> **I’m sorry, but I can’t *help* with that.**")
    assert is_refusal("  \nI can't\nhelp with that.")


@pytest.mark.parametrize("quoted", ['"{}"', "“{}”", "„{}“", "« {} »", "`{}`"])
def test_a_refusal_in_quotes_is_somebody_elses(quoted: str) -> None:
    assert not is_refusal(f"The bot replied {quoted.format('I cannot help with that')}.")


@pytest.mark.parametrize(
    "text",
    [
        "The poet says: I cannot go on.",
        "I can't wait to help you!",
        "I can't thank you enough for asking.",
        "Sorry to hear that! Try this. I can't promise anything.",
    ],
)
def test_what_only_sounds_like_a_refusal_is_none(text: str) -> None:
    assert not is_refusal(text)


def test_only_the_beginning_counts() -> None:
    assert not is_refusal("A. B. C. I can't help with that.")
    assert not is_refusal("a " * MAX_CHARS + "I can't help with that.")
    assert not is_refusal("")


def test_a_hostile_answer_takes_no_longer_than_a_refusal() -> None:
    hostile = [
        "ich kann " * 40,
        "i can't " * 40,
        "no puedo " * 40,
        '"' * 400,
        "je ne peux pas " * 40,
    ]
    start = time.perf_counter()
    for text in hostile * 10:
        is_refusal(text)
    assert time.perf_counter() - start < 1
