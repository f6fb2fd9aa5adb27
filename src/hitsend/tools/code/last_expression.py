"""Finds the last expression of a program, so that its value can be shown as a REPL shows it.

It reads tokens and builds no syntax tree: a hostile program can exhaust the C stack of a parser.
"""

import io
import keyword
import tokenize
from collections.abc import Iterator
from typing import NamedTuple

BLOCKS = frozenset(["if", "for", "while", "with", "try", "def", "class", "async"])
STATEMENTS = frozenset(keyword.kwlist) - {"None", "True", "False", "not", "lambda", "await"}
"""Words that an expression does not begin with."""
BRACKETS = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}


class Split(NamedTuple):
    before: str
    last: str
    """The last statement. It is an expression if it still parses within parentheses."""


def split_last_statement(code: str) -> Split | None:
    """Returns None if the program cannot end with an expression."""
    try:
        starts = list(_find_statements(code))
    except (tokenize.TokenError, SyntaxError):
        return None
    if not starts or starts[-1] is None:
        return None
    row, column = starts[-1]
    lines = code.split("\n")
    before, last = lines[row - 1][:column], lines[row - 1][column:]
    return Split("\n".join([*lines[: row - 1], before]), "\n".join([last, *lines[row:]]))


def _find_statements(code: str) -> Iterator[tuple[int, int] | None]:
    """Yields the row and the column of each statement at the top level, or None for one that is
    certainly no expression."""
    num_indents = num_brackets = 0
    is_start, line_is_block = True, False
    for kind, text, start, _, line in tokenize.generate_tokens(io.StringIO(code).readline):
        if kind in (tokenize.COMMENT, tokenize.NL, tokenize.ENDMARKER):
            continue
        if kind == tokenize.INDENT:
            num_indents += 1
            yield None
        elif kind == tokenize.DEDENT:
            num_indents -= 1
        elif kind == tokenize.NEWLINE or text == ";" and num_brackets == 0:
            is_start = True
        else:
            if is_start and num_indents == 0:
                if not line[: start[1]].strip():
                    line_is_block = text in BLOCKS
                yield None if line_is_block or text in STATEMENTS else start
            is_start = False
            num_brackets += BRACKETS.get(text, 0) if kind == tokenize.OP else 0
