"""Counts in how many ways a regular expression may match at one place.

Python tries them one by one until one fits or none is left, so their number bounds how slow a
pattern can be. The count is too high rather than too low.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf

MAX_WAYS = 20_000
TOKEN = re.compile(
    r"(?P<open>\((?:\?(?:[:=!>]|<[=!]|P<\w+>|[a-z]+:))?)|(?P<close>\))|(?P<or>\|)"
    r"|(?P<repeat>[*+?]|\{(?P<least>[0-9]*)(?P<comma>,?)(?P<most>[0-9]*)\})[?+]?"
    r"|(?P<atom>\\(?:u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|x[0-9A-Fa-f]{2}|[0-7]{1,3}|.)"
    r"|\[\^?\]?(?:\\.|[^\]\\])*\]|.)",
    re.DOTALL,
)
CONTROL = {"\\n": "\n", "\\t": "\t", "\\r": "\r"}


@dataclass
class _Branch:
    """One of the alternatives of a group."""

    ways: float = 1.0
    text: str = ""
    is_literal: bool = True


def count_ways(pattern: str) -> float:
    """Returns infinity for a repetition without an end. The pattern has to be valid."""
    tokens = [*TOKEN.finditer(pattern)]
    return _count_group(iter(range(len(tokens))), tokens)


def _count_group(positions: Iterator[int], tokens: Sequence[re.Match[str]]) -> float:
    branches = [_Branch()]
    last = 1.0
    for at in positions:
        token, branch = tokens[at], branches[-1]
        if token["repeat"]:
            last = _count_repeated(last, at, tokens)
            branch.is_literal = False
            continue
        branch.ways, last = branch.ways * last, 1.0
        if token["close"]:
            break
        if token["or"]:
            branches.append(_Branch())
        elif token["open"]:
            last = _count_group(positions, tokens)
            branch.is_literal = False
        elif (char := _read_literal(token)) is None:
            branch.is_literal = False
        else:
            branch.text += char.lower()
    branches[-1].ways *= last
    return _join(branches)


def _join(branches: Sequence[_Branch]) -> float:
    """Of different words, only those that others begin with can match the same text."""
    words = [branch.text for branch in branches if branch.is_literal]
    same = max((sum(map(word.startswith, words)) for word in words), default=0)
    return same + sum(branch.ways for branch in branches if not branch.is_literal)


def _count_repeated(ways: float, at: int, tokens: Sequence[re.Match[str]]) -> float:
    least, most = _read_limits(tokens[at])
    if most > MAX_WAYS or ways == inf:
        return inf
    if ways == 1 and _is_ended_by_next(at, tokens):
        return 1.0
    if ways == 1:
        return most - least + 1
    return sum(ways**num for num in range(int(least), int(min(most, 64)) + 1))


def _is_ended_by_next(at: int, tokens: Sequence[re.Match[str]]) -> bool:
    """Whether the character that follows a repeated one differs from it: `[0-9]{1,9}:`"""
    following = _read_literal(tokens[at + 1]) if at + 1 < len(tokens) else None
    repeated = tokens[at - 1]["atom"]
    return (
        following is not None
        and repeated is not None
        and re.fullmatch(repeated, following, re.IGNORECASE) is None
    )


def _read_literal(token: re.Match[str]) -> str | None:
    """Returns the only character that an atom matches."""
    atom = token["atom"]
    if atom is None or atom in ".^$" or atom.startswith("["):
        return None
    if len(atom) == 1:
        return atom
    return CONTROL.get(atom) or (atom[1:] if len(atom) == 2 and not atom[1].isalnum() else None)


def _read_limits(token: re.Match[str]) -> tuple[float, float]:
    if token["repeat"] in "*+?":
        return 0, 1 if token["repeat"] == "?" else inf
    least = float(token["least"] or 0)
    return least, float(token["most"] or inf) if token["comma"] else least
