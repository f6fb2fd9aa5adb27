"""A proof of work: hard to find, easy to check, and silent about who found it."""

import base64
import hashlib

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitsend.wire.proof import (
    MAX_BITS,
    MAX_CHARS,
    PREFIX,
    difficulty_of,
    is_solved,
    num_expected_hashes,
    solve,
)

SEED = "000102030405060708090a0b0c0d0e0f"

seeds = st.binary(min_size=16, max_size=16).map(bytes.hex)
few_bits = st.integers(0, 6)


@given(st.integers(0, MAX_BITS))
def test_each_bit_doubles_the_work(bits: int) -> None:
    assert num_expected_hashes(difficulty_of(bits)) == 2**bits


@pytest.mark.parametrize(
    ("bits", "difficulty"), [(0, "ffffff"), (4, "0fffff"), (12, "000fff"), (24, "000000")]
)
def test_a_difficulty_reads_as_the_largest_hash(bits: int, difficulty: str) -> None:
    assert difficulty_of(bits) == difficulty


@pytest.mark.parametrize("bits", [-1, MAX_BITS + 1])
def test_no_other_difficulty_can_be_asked_for(bits: int) -> None:
    with pytest.raises(ValueError, match="bits of work"):
        difficulty_of(bits)


@given(seeds, few_bits, st.text(st.characters(codec="utf-8"), max_size=24))
def test_what_was_solved_holds(seed: str, bits: int, nonce: str) -> None:
    difficulty = difficulty_of(bits)
    assert is_solved(seed, difficulty, solve(seed, difficulty, nonce))


@given(seeds, few_bits)
def test_who_did_more_has_also_done_less(seed: str, bits: int) -> None:
    answer = solve(seed, difficulty_of(bits), "n")
    assert all(is_solved(seed, difficulty_of(fewer), answer) for fewer in range(bits))


@given(seeds, st.text(max_size=40), st.integers(0, MAX_BITS))
def test_whatever_is_shown_is_a_yes_or_a_no(seed: str, answer: str, bits: int) -> None:
    assert is_solved(seed, difficulty_of(bits), answer) in (True, False)
    assert is_solved(seed, difficulty_of(0), PREFIX + answer) in (True, False)


def test_it_is_the_published_test() -> None:
    difficulty = difficulty_of(10)
    payload = solve(SEED, difficulty, "n").removeprefix(PREFIX)
    hashed = hashlib.sha3_512((SEED + payload).encode()).hexdigest()
    assert hashed[: len(difficulty)] <= difficulty


def test_an_answer_holds_for_its_own_seed_alone() -> None:
    difficulty = difficulty_of(12)
    answer = solve(SEED, difficulty, "n")
    assert is_solved(SEED, difficulty, answer)
    assert not is_solved(SEED[::-1], difficulty, answer)


def test_an_answer_holds_a_nonce_and_a_counter_and_nothing_else() -> None:
    payload = solve(SEED, difficulty_of(6), "abc").removeprefix(PREFIX)
    nonce, counter = msgspec.json.decode(base64.b64decode(payload))
    assert nonce == "abc"
    assert isinstance(counter, int)


@pytest.mark.parametrize(
    "answer",
    ["", "hs1", PREFIX, "WzFd", "gAAAAABWzFd", PREFIX + "Wz Fd", PREFIX + "WzFd\n", PREFIX + "é"],
)
def test_what_is_no_answer_solves_nothing_however_easy(answer: str) -> None:
    assert not is_solved(SEED, difficulty_of(0), answer)


def test_a_long_answer_is_not_even_hashed() -> None:
    longest = PREFIX + "A" * (MAX_CHARS - len(PREFIX))
    assert is_solved(SEED, difficulty_of(0), longest)
    assert not is_solved(SEED, difficulty_of(0), longest + "A")


@pytest.mark.parametrize("difficulty", ["", "FFFF", "xyz", "0x1", "0" * 129])
def test_what_is_no_difficulty_is_not_worked_on(difficulty: str) -> None:
    for ask in (
        lambda: solve(SEED, difficulty, "n"),
        lambda: is_solved(SEED, difficulty, PREFIX + "WzFd"),
        lambda: num_expected_hashes(difficulty),
    ):
        with pytest.raises(ValueError, match="hexadecimal"):
            ask()
