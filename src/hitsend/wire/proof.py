"""A proof of work: a counter that somebody had to search for, and nobody has to believe.

The answer to a seed is a text whose hash, begun with the seed, is small enough. The text is the
base64 of a JSON array `[nonce, counter]`: it says nothing of the machine that found it. Who asks,
whom, and what the proof is good for is not known here.
"""

import base64
import hashlib
import re
from itertools import count

import msgspec

PREFIX = "hs1."
MAX_CHARS = 256
"""Of an answer. Ours has about forty."""

NUM_DIGITS = 6
MAX_BITS = 4 * NUM_DIGITS

ANSWER = re.compile(re.escape(PREFIX) + r"[A-Za-z0-9+/]+={0,2}")
DIFFICULTY = re.compile(r"[0-9a-f]{1,128}")


def difficulty_of(bits: int) -> str:
    """The largest beginning a hash may have, in hex, so that finding one takes 2^bits tries."""
    if not 0 <= bits <= MAX_BITS:
        raise ValueError(f"A proof takes 0 to {MAX_BITS} bits of work, not {bits}.")
    return f"{(1 << (MAX_BITS - bits)) - 1:0{NUM_DIGITS}x}"


def num_expected_hashes(difficulty: str) -> float:
    """How many tries it takes on average, for whoever wants to know before they begin."""
    _check(difficulty)
    return (1 << 4 * len(difficulty)) / (int(difficulty, 16) + 1)


def is_solved(seed: str, difficulty: str, answer: str) -> bool:
    """Whether the work was done. Too long or strange an answer is not even hashed."""
    _check(difficulty)
    if len(answer) > MAX_CHARS or not ANSWER.fullmatch(answer):
        return False
    return _is_small(seed.encode() + answer.removeprefix(PREFIX).encode(), difficulty)


def solve(seed: str, difficulty: str, nonce: str) -> str:
    """Does the work; takes as long as it takes, so not on an event loop."""
    _check(difficulty)
    payloads = (base64.b64encode(msgspec.json.encode((nonce, number))) for number in count())
    found = next(each for each in payloads if _is_small(seed.encode() + each, difficulty))
    return PREFIX + found.decode()


def _is_small(hashed: bytes, difficulty: str) -> bool:
    return hashlib.sha3_512(hashed).hexdigest()[: len(difficulty)] <= difficulty


def _check(difficulty: str) -> None:
    if not DIFFICULTY.fullmatch(difficulty):
        raise ValueError("A difficulty is 1 to 128 small hexadecimal digits.")
