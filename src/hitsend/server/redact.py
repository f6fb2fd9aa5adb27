"""Redaction of prompts for users who are no administrators.

They see every message, and in our notes only their own data, which stands between marks (see
`prompts/untrusted_text.py`). The wording of our prompts is hidden.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache

from hitsend.events import Span
from hitsend.prompts import shipped_prompts

NOTES = ("profile", "memory", "summary", "recalled")


def visible_tokens(pieces: Sequence[bytes], spans: Sequence[Span]) -> Iterator[bool]:
    """Yields for each token whether it is visible. `pieces` are the tokens' bytes."""
    start = 0
    for span in spans:
        span_pieces = pieces[start : (start := start + span.num_tokens)]
        if span.source in NOTES:
            yield from _is_user_data(span_pieces)
        else:
            yield from (span.source != "system" for _ in span_pieces)


def _is_user_data(pieces: Sequence[bytes]) -> Iterator[bool]:
    """Yields for each token of a note whether all of it stands between marks."""
    ranges = [match.span("data") for match in _marked_data().finditer(b"".join(pieces))]
    end = 0
    for piece in pieces:
        start, end = end, end + len(piece)
        yield any(first <= start and end <= last for first, last in ranges)


@cache
def _marked_data() -> re.Pattern[bytes]:
    slots = (slot for prompt in shipped_prompts().values() for slot in prompt.slots)
    marks = {slot.tag for slot in slots if slot.kind in ("data", "list")}
    pattern = rf"<(?P<mark>{'|'.join(sorted(marks))})>(?P<data>.*?)</(?P=mark)>"
    return re.compile(pattern.encode(), re.DOTALL)
