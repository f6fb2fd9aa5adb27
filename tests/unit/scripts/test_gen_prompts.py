"""A prompt whose text changed has a new version, or the check fails."""

import pytest
from scripts.gen_prompts import find_problems, format_lock, parse_lock

LOCKED = {"system": (2, "aaa"), "title": (1, "bbb")}


@pytest.mark.parametrize(
    ("now", "problem"),
    [
        ({"system": (2, "xxx")}, ["system: its text has changed. Make its version 3."]),
        ({"system": (1, "aaa")}, ["system: version 1 was 2 before."]),
        ({"system": (3, "xxx")}, []),
        ({"system": (2, "aaa")}, []),
        ({"new": (1, "ccc")}, []),
    ],
)
def test_a_text_is_known_by_its_version(
    now: dict[str, tuple[int, str]], problem: list[str]
) -> None:
    assert find_problems(LOCKED, LOCKED | now) == problem


def test_what_is_written_is_read_again() -> None:
    assert parse_lock(format_lock(LOCKED)) == LOCKED
