"""Finds the memories that a request to forget refers to.

A memory matches if it has every content word of the request: a wrong match is worse than none.
So "my allergy to cats" does not match an allergy to nuts, nor "I live" what my sister does.
"""

import re
from collections.abc import Mapping

from hitsend.memory.relevance import WORD, stem

GRAMMAR = """
am are is was were be been being have has had do does did don doesn didn isn not no the and that
this to in of at on for with any more you should must
bin ist sind war habe hat haben der die das den dem des und dass ein eine einen einem einer im am an
auf zu mit für nicht kein keine keinen du sollst musst
"""
PERSON = "me my mine we us our ich mir mich wir uns mein meine meinen meiner unser unsere"
STOP_WORDS = frozenset((GRAMMAR + PERSON).split())
FIRST_PERSON = re.compile(r"(?:i|we|ich|wir)\b", re.IGNORECASE)
POSSESSION = re.compile(r"(?:my|our|meine?|unsere?)\s+(\w+)", re.IGNORECASE)
MIN_CHARS = 2
NEGATION = re.compile(
    r"""\b (?: not | cannot | no | never | none | nothing | neither | nor | without | except
      | hardly | used \s to | any \s (?: more | longer ) | nicht | nichts | kein\w* | nie | niemals
      | ohne | außer | weder | kaum ) \b | n['’]t \b""",
    re.IGNORECASE | re.VERBOSE,
)
DO_NOT_FORGET = re.compile(
    r"""(?: don['’]?t | do \s not | never ) \s (?: ever \s )? forget
      | vergiss \s (?: bitte \s | mal \s )? nicht | nicht \s vergessen""",
    re.IGNORECASE | re.VERBOSE,
)
"""Does not negate the fact."""


def match_memories(about: str, texts: Mapping[str, str]) -> list[str]:
    """Returns ids of the texts that contain it literally, or else of those with the fewest other
    words."""
    wanted = content_stems(about)
    num_words = {
        key: len(stems)
        for key, text in texts.items()
        if wanted and _may_contain(text, wanted) and wanted <= (stems := content_stems(text))
        if _has_same_subject(about, text, wanted)
    }
    literal = " ".join(about.casefold().split())
    if found := [key for key in num_words if literal in texts[key].casefold()]:
        return found
    return [key for key, num in num_words.items() if num == min(num_words.values())]


def content_stems(text: str) -> frozenset[str]:
    words = [word for word in WORD.findall(text.casefold()) if len(word) >= MIN_CHARS]
    return frozenset(stem(word) for word in words if word not in STOP_WORDS)


def count_negations(text: str) -> int:
    return len(NEGATION.findall(DO_NOT_FORGET.sub("", text)))


def _may_contain(text: str, stems: frozenset[str]) -> bool:
    """A quick check that skips most of very many texts."""
    folded = text.casefold()
    return all(one in folded for one in stems)


def _has_same_subject(about: str, text: str, wanted: frozenset[str]) -> bool:
    """Whether the text is not the opposite, nor about another person such as "my sister"."""
    if count_negations(about) != count_negations(text):
        return False
    other = POSSESSION.match(text) if FIRST_PERSON.match(about) else None
    return other is None or stem(other[1].casefold()) in wanted
