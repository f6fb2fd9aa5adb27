"""Canonical text: one spelling, no invisible characters, all visible ones kept."""

import time
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hitsend.canonical import MAX_MARKS, canonicalize

SHAPING = "\u200c\u200d\ufe00\ufe0e\ufe0f\U000e0100\u180b\U000e0067\U000e007f"
TROUBLE = SHAPING + "\u200b\u2060\ufeff\xad\u202e\u2069\u200f\r\n\t\x00\x9f\ud800"
BESIDE = "a0#é=\u0338e\u0301\u0316کक्ष한\u1112\u1161漢😀👩🏻🏴♂↔\u1820\u1fef\u2adc\U0001d15e ]"

troubled = st.text(st.sampled_from(TROUBLE + BESIDE) | st.characters(codec=None), max_size=30)

KEPT = [
    "Hello, wörld. Ça va? Ελληνικά, русский, עברית, ไทย, 日本語、中文。",
    "👩‍👩‍👧‍👦 🧑🏽‍🚀 🏳️‍🌈 🏴‍☠️ ❤️‍🔥 🙂‍↔️ 🕵🏻‍♂️ 1️⃣ #️⃣ ©️ ☎︎ 😀",
    "🇩🇪 🏴󠁧󠁢󠁳󠁣󠁴󠁿 🏴󠁧󠁢󠁥󠁮󠁧󠁿",
    "नमस्ते क्‍ष क्‌ष ശ്രീ ന്‍ ක්‍ර",
    "السلام عليكم، ١٢٣ ه‍.",
    "می‌خواهم کتاب‌ها را بخوانم",
    "שָׁלוֹם עולם",
    "葛\U000e0100城 ᠠ᠋",
    "def f(x):\n\treturn {'a': x[0] ** 2}  # ≠ ≤ → λ\n",
    "https://example.org/a%20b?q=ü&x=1#:~:text=über",
    "한국어 ㄱㄴㄷ",
    "",
]
CHANGED = {
    "e\u0301": "é",
    "\u1112\u1161\u11ab": "한",
    "a\r\nb\rc": "a\nb\nc",
    "a\x00b\x1b[31m\x7f\x85": "ab[31m",
    "pay\u200bpal\u2060.com\ufeff so\xadft": "paypal.com soft",
    "a\u200db Auf\u200clage": "ab Auflage",
    "e\u200d\u0301": "é",
    "x\ufe0f\ufe0f y\U000e0100": "x y",
    "😀\ufe0f\ufe0f\ufe0e": "😀\ufe0f",
    "hi\U000e0069\U000e0067\U000e006e": "hi",
    "🏴\U000e0067\U000e0062": "🏴",
    "a\u202eb\u2066c\u200f": "a[U+202E]b[U+2066]c[U+200F]",
    "\u061cabc": "[U+061C]abc",
    "a\ud800b": "ab",
}


@pytest.mark.parametrize("text", KEPT)
def test_visible_text_stays_as_it_is(text: str) -> None:
    assert canonicalize(text) == text


@pytest.mark.parametrize(("text", "expected"), CHANGED.items())
def test_invisible_characters_are_removed_or_spelled_out(text: str, expected: str) -> None:
    assert canonicalize(text) == expected


@given(troubled)
@example("\u2adc\ufe0f")
@example("\u1fef\ufe0f")
@example("\u0344" * 40)
@example("👩\u200d\U000e0067👩")
def test_canonicalize_is_idempotent(text: str) -> None:
    once = canonicalize(text)
    assert canonicalize(once) == once


@given(troubled)
def test_the_result_is_nfc_and_can_be_encoded(text: str) -> None:
    kept = canonicalize(text)
    assert unicodedata.is_normalized("NFC", kept)
    kept.encode()


@given(troubled, troubled)
def test_no_direction_mark_or_control_character_is_left(before: str, after: str) -> None:
    kept = canonicalize(f"{before}\u202e\r\x07{after}")
    assert not set(kept) & set("\u202e\u2069\u200f\r\x00\x07\u200b\ufeff\xad")


@given(st.text(st.characters(codec="ascii", exclude_categories=["Cc"])))
def test_plain_text_stays_as_it_is(text: str) -> None:
    assert canonicalize(f"{text}\n\t{text}") == f"{text}\n\t{text}"


@given(st.text(st.characters(categories=["L", "N", "P", "S", "Zs"])))
def test_letters_numbers_and_signs_are_only_composed(text: str) -> None:
    assert canonicalize(text) == unicodedata.normalize("NFC", text)


@pytest.mark.parametrize("text", ["\u0316\u0301" * 100_000, ("\u0316" * 20 + "\u200d") * 10_000])
def test_many_marks_on_a_letter_are_cut_quickly(text: str) -> None:
    began = time.process_time()
    assert len(canonicalize(f"a{text}")) <= MAX_MARKS + 1
    assert time.process_time() - began < 2
