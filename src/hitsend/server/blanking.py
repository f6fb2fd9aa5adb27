"""What of a prompt a person may see: all that was said, and in our notes what is their own.

How our prompts are worded is the house's own affair. What comes from people stands between marks
in a note: see `prompts.data`. How tokens are told is not known here.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache

from hitsend.events import Span
from hitsend.prompts import shipped

NOTES = ("profile", "memory", "summary", "recalled")


def can_be_seen(pieces: Sequence[bytes], spans: Sequence[Span]) -> Iterator[bool]:
    """Of each token, by somebody who is no administrator. `pieces` are what the tokens of `spans`
    say."""
    start = 0
    for span in spans:
        some = pieces[start : (start := start + span.num_tokens)]
        if span.source in NOTES:
            yield from _is_own(some)
        else:
            yield from (span.source != "system" for _ in some)


def _is_own(pieces: Sequence[bytes]) -> Iterator[bool]:
    """Whether a token of a note stands between marks, all of it."""
    own = [found.span("own") for found in _marked().finditer(b"".join(pieces))]
    end = 0
    for piece in pieces:
        start, end = end, end + len(piece)
        yield any(first <= start and end <= last for first, last in own)


@cache
def _marked() -> re.Pattern[bytes]:
    slots = (slot for prompt in shipped().values() for slot in prompt.slots)
    marks = {slot.mark for slot in slots if slot.kind in ("data", "list")}
    pattern = rf"<(?P<mark>{'|'.join(sorted(marks))})>(?P<own>.*?)</(?P=mark)>"
    return re.compile(pattern.encode(), re.DOTALL)
