"""Proof of work: slow to solve, fast to verify, and reveals nothing about the solver."""

import base64
import hashlib

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitsend.wire.proof_of_work import (
    MAX_BITS,
    MAX_CHARS,
    PREFIX,
    difficulty_for_bits,
    is_solved,
    num_expected_hashes,
    solve,
)

SEED = "000102030405060708090a0b0c0d0e0f"

seeds = st.binary(min_size=16, max_size=16).map(bytes.hex)
few_bits = st.integers(0, 6)


@given(st.integers(0, MAX_BITS))
def test_each_bit_doubles_the_work(bits: int) -> None:
    assert num_expected_hashes(difficulty_for_bits(bits)) == 2**bits


@pytest.mark.parametrize(
    ("bits", "difficulty"), [(0, "ffffff"), (4, "0fffff"), (12, "000fff"), (24, "000000")]
)
def test_a_difficulty_is_the_largest_hash_prefix(bits: int, difficulty: str) -> None:
    assert difficulty_for_bits(bits) == difficulty


@pytest.mark.parametrize("bits", [-1, MAX_BITS + 1])
def test_bits_outside_the_range_are_refused(bits: int) -> None:
    with pytest.raises(ValueError, match="bits of work"):
        difficulty_for_bits(bits)


@given(seeds, few_bits, st.text(st.characters(codec="utf-8"), max_size=24))
def test_a_solution_is_verified(seed: str, bits: int, nonce: str) -> None:
    difficulty = difficulty_for_bits(bits)
    assert is_solved(seed, difficulty, solve(seed, difficulty, nonce))


@given(seeds, few_bits)
def test_a_harder_proof_also_solves_an_easier_difficulty(seed: str, bits: int) -> None:
    answer = solve(seed, difficulty_for_bits(bits), "n")
    assert all(is_solved(seed, difficulty_for_bits(fewer), answer) for fewer in range(bits))


@given(seeds, st.text(max_size=40), st.integers(0, MAX_BITS))
def test_any_text_can_be_verified(seed: str, answer: str, bits: int) -> None:
    assert is_solved(seed, difficulty_for_bits(bits), answer) in (True, False)
    assert is_solved(seed, difficulty_for_bits(0), PREFIX + answer) in (True, False)


def test_verification_is_the_documented_hash_comparison() -> None:
    difficulty = difficulty_for_bits(10)
    payload = solve(SEED, difficulty, "n").removeprefix(PREFIX)
    hashed = hashlib.sha3_512((SEED + payload).encode()).hexdigest()
    assert hashed[: len(difficulty)] <= difficulty


def test_an_answer_is_valid_for_its_own_seed_only() -> None:
    difficulty = difficulty_for_bits(12)
    answer = solve(SEED, difficulty, "n")
    assert is_solved(SEED, difficulty, answer)
    assert not is_solved(SEED[::-1], difficulty, answer)


def test_an_answer_contains_only_a_nonce_and_a_counter() -> None:
    payload = solve(SEED, difficulty_for_bits(6), "abc").removeprefix(PREFIX)
    nonce, counter = msgspec.json.decode(base64.b64decode(payload))
    assert nonce == "abc"
    assert isinstance(counter, int)


@pytest.mark.parametrize(
    "answer",
    ["", "hs1", PREFIX, "WzFd", "gAAAAABWzFd", PREFIX + "Wz Fd", PREFIX + "WzFd\n", PREFIX + "é"],
)
def test_a_malformed_answer_never_solves(answer: str) -> None:
    assert not is_solved(SEED, difficulty_for_bits(0), answer)


def test_a_long_answer_is_rejected_before_hashing() -> None:
    longest = PREFIX + "A" * (MAX_CHARS - len(PREFIX))
    assert is_solved(SEED, difficulty_for_bits(0), longest)
    assert not is_solved(SEED, difficulty_for_bits(0), longest + "A")


@pytest.mark.parametrize("difficulty", ["", "FFFF", "xyz", "0x1", "0" * 129])
def test_a_malformed_difficulty_is_refused(difficulty: str) -> None:
    for ask in (
        lambda: solve(SEED, difficulty, "n"),
        lambda: is_solved(SEED, difficulty, PREFIX + "WzFd"),
        lambda: num_expected_hashes(difficulty),
    ):
        with pytest.raises(ValueError, match="hexadecimal"):
            ask()
