"""Proof of work: solve and verify.

The answer to a seed is a text such that SHA3-512(seed + text) is below the difficulty. The text
is the base64 of a JSON array `[nonce, counter]` and tells nothing about the client's machine.
"""

import base64
import hashlib
import re
from itertools import count

import msgspec

PREFIX = "hs1."
MAX_CHARS = 256
"""Longest answer accepted. `solve` makes about forty characters."""

NUM_DIGITS = 6
MAX_BITS = 4 * NUM_DIGITS

ANSWER = re.compile(re.escape(PREFIX) + r"[A-Za-z0-9+/]+={0,2}")
DIFFICULTY = re.compile(r"[0-9a-f]{1,128}")


def difficulty_for_bits(bits: int) -> str:
    """Returns the largest hash prefix allowed, in hex, so that a solution takes 2^bits tries."""
    if not 0 <= bits <= MAX_BITS:
        raise ValueError(f"A proof takes 0 to {MAX_BITS} bits of work, not {bits}.")
    return f"{(1 << (MAX_BITS - bits)) - 1:0{NUM_DIGITS}x}"


def num_expected_hashes(difficulty: str) -> float:
    """Returns the mean number of tries."""
    _check_difficulty(difficulty)
    return (1 << 4 * len(difficulty)) / (int(difficulty, 16) + 1)


def is_solved(seed: str, difficulty: str, answer: str) -> bool:
    """Overlong and malformed answers are rejected before hashing."""
    _check_difficulty(difficulty)
    if len(answer) > MAX_CHARS or not ANSWER.fullmatch(answer):
        return False
    return _is_small(seed.encode() + answer.removeprefix(PREFIX).encode(), difficulty)


def solve(seed: str, difficulty: str, nonce: str) -> str:
    """Blocks until solved; run it in a thread."""
    _check_difficulty(difficulty)
    payloads = (base64.b64encode(msgspec.json.encode((nonce, number))) for number in count())
    found = next(each for each in payloads if _is_small(seed.encode() + each, difficulty))
    return PREFIX + found.decode()


def _is_small(hashed: bytes, difficulty: str) -> bool:
    return hashlib.sha3_512(hashed).hexdigest()[: len(difficulty)] <= difficulty


def _check_difficulty(difficulty: str) -> None:
    if not DIFFICULTY.fullmatch(difficulty):
        raise ValueError("A difficulty is 1 to 128 small hexadecimal digits.")
