"""Passwords, tokens, keys and names."""

import asyncio
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitsend import credentials
from hitsend.errors import Refused


async def test_a_password_verifies_against_its_own_hash_only() -> None:
    hashed = await credentials.hash_password("correct horse", name="ada")
    assert hashed.startswith("$argon2id$")
    assert "correct" not in hashed
    assert await credentials.verify_password("correct horse", hashed)
    assert not await credentials.verify_password("correct horsf", hashed)
    assert not await credentials.verify_password("", hashed)
    assert not await credentials.verify_password("correct horse" * 100, hashed)


async def test_the_same_password_typed_on_another_keyboard_verifies() -> None:
    hashed = await credentials.hash_password(
        "caf\N{LATIN SMALL LETTER E WITH ACUTE} at noon", name="ada"
    )
    assert await credentials.verify_password("cafe\N{COMBINING ACUTE ACCENT} at noon", hashed)


async def test_no_password_verifies_for_an_unknown_user() -> None:
    assert not await credentials.verify_password("anything at all", None)
    assert not await credentials.verify_password("", None)


async def test_hashing_leaves_the_event_loop_free() -> None:
    hashing = asyncio.create_task(credentials.hash_password("correct horse", name="ada"))
    num_turns = 0
    while not hashing.done():
        await asyncio.sleep(0)
        num_turns += 1
    assert num_turns > 10


@pytest.mark.parametrize("password", ["", "seven77", "x" * 257])
async def test_a_password_too_short_or_too_long_is_refused(password: str) -> None:
    with pytest.raises(Refused, match="8 to 256"):
        await credentials.hash_password(password, name="ada")


@pytest.mark.parametrize(
    "password",
    [
        "xk4 pq8vz",
        "correct horse battery" * 12,
        "\0\1\2x\3y\4z",
        "\ud800\ud801" * 4 + "kqzx",
        "🐧🦊🐙🦉🐝🦀🐌🦔",
    ],
)
async def test_a_password_may_have_any_characters(password: str) -> None:
    hashed = await credentials.hash_password(password, name="ada")
    assert await credentials.verify_password(password, hashed)


def test_names_are_trimmed_and_composed() -> None:
    assert credentials.clean_name("  Ada Lovelace\n") == "Ada Lovelace"
    assert (
        credentials.clean_name("Zoe\N{COMBINING DIAERESIS}")
        == "Zo\N{LATIN SMALL LETTER E WITH DIAERESIS}"
    )
    assert credentials.clean_name("李小龍") == "李小龍"


@pytest.mark.parametrize(
    "name",
    [
        "",
        "   ",
        "x" * 65,
        "a\0b",
        "a\nb",
        "a\u202eb",
        "a\u200bb",
        "a\u2066b",
        "a\ud800b",
        "a\u2028b",
    ],
)
def test_a_name_with_invisible_characters_is_refused(name: str) -> None:
    with pytest.raises(Refused):
        credentials.clean_name(name)


def test_a_name_with_very_many_marks_is_refused_quickly() -> None:
    started = time.process_time()
    with pytest.raises(Refused, match="64"):
        credentials.clean_name("a" + "\N{COMBINING ACUTE ACCENT}\N{COMBINING DOT BELOW}" * 20_000)
    assert time.process_time() - started < 0.1


@given(st.text())
def test_a_name_and_its_other_spellings_have_one_key(name: str) -> None:
    key = credentials.name_key(name)
    assert credentials.name_key(key) == key
    assert credentials.name_key(name.strip()) == key


def test_names_that_look_alike_have_one_key() -> None:
    assert credentials.name_key("STRASSE") == credentials.name_key("straße")
    assert credentials.name_key("\N{FULLWIDTH LATIN CAPITAL LETTER A}da") == credentials.name_key(
        "ada"
    )
    assert credentials.name_key("ada") != credentials.name_key("adam")


def test_tokens_and_keys_are_unique() -> None:
    made = {make() for make in (credentials.new_token, credentials.new_key) for _ in range(100)}
    assert len(made) == 200
    assert len({credentials.hash_token(token) for token in made}) == 200


def test_only_the_prefix_of_a_key_is_shown() -> None:
    key = credentials.new_key()
    prefix = credentials.key_prefix(key)
    assert key.startswith("hs-")
    assert key.startswith(prefix)
    assert len(key) - len(prefix) > 30


def test_a_csrf_token_belongs_to_one_session_and_one_secret() -> None:
    token = credentials.csrf_token(b"secret", "session")
    assert credentials.is_valid_csrf_token(token, b"secret", "session")
    assert not credentials.is_valid_csrf_token(token, b"secret", "another")
    assert not credentials.is_valid_csrf_token(token, b"another", "session")
    assert not credentials.is_valid_csrf_token("", b"secret", "session")
    assert not credentials.is_valid_csrf_token("\ud800", b"secret", "session")
