"""Names that mix alphabets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitsend.safety import find_mixed_scripts

CYRILLIC_A = "\N{CYRILLIC SMALL LETTER A}"
GREEK_O = "\N{GREEK SMALL LETTER OMICRON}"


@pytest.mark.parametrize(
    ("name", "scripts"),
    [
        (f"p{CYRILLIC_A}yp{CYRILLIC_A}l", ("Cyrillic", "Latin")),
        (f"b{GREEK_O}b", ("Greek", "Latin")),
        (f"{CYRILLIC_A}{GREEK_O}", ("Cyrillic", "Greek")),
        ("Иван Smith", ("Cyrillic", "Latin")),
        ("\N{MICRO SIGN}da", ("Greek", "Latin")),
        ("ひらがな한글", ("Hangul", "Hiragana")),
    ],
)
def test_letters_of_alphabets_that_are_not_written_together_are_found(
    name: str, scripts: tuple[str, ...]
) -> None:
    assert find_mixed_scripts(name) == scripts


@pytest.mark.parametrize(
    "name",
    [
        "Ada Lovelace 2",
        "José Núñez-Łukasz",
        "Иван Иванов",
        "Ιωάννης",
        "محمد ١٢",
        "नरेन्द्र",
        "田中 けんタロー",
        "佐々木",
        "Ken 田中",
        "김철수 金",
        "Kim 철수",
        "ㄅㄆ 李",
        "\N{MODIFIER LETTER TURNED COMMA}Okina",
        "\N{FULLWIDTH LATIN SMALL LETTER A}da",
        "ada 🐧",
    ],
)
def test_a_name_in_one_script_or_in_scripts_of_one_language_is_fine(name: str) -> None:
    assert find_mixed_scripts(name) == ()


@given(st.text())
def test_any_name_can_be_read(name: str) -> None:
    find_mixed_scripts(name)
