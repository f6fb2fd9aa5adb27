"""Until someone chooses a better one, the first words are the title."""

import pytest

from hitsend.titles import title_from


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Hello", "Hello"),
        ("  two\n lines ", "two lines"),
        ("word " * 40, "word word word word word word word word word word word word…"),
        ("x" * 100, "x" * 60 + "…"),
    ],
)
def test_a_title_is_short_and_on_one_line(text: str, title: str) -> None:
    assert title_from(text) == title
