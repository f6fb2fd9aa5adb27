"""Which memories does somebody mean who wants something forgotten?

Only those that have every word of it that says anything: a wrong guess costs more than none. So
"my allergy to cats" is no allergy to nuts, and what I do is not what my sister does.
"""

import re
from collections.abc import Mapping

from hitsend.memory.negation import num_negations
from hitsend.memory.relevance import WORD, stem

GRAMMAR = """
am are is was were be been being have has had do does did don doesn didn isn not no the and that
this to in of at on for with any more you should must
bin ist sind war habe hat haben der die das den dem des und dass ein eine einen einem einer im am an
auf zu mit für nicht kein keine keinen du sollst musst
"""
PERSON = "me my mine we us our ich mir mich wir uns mein meine meinen meiner unser unsere"
SAYS_NOTHING = frozenset((GRAMMAR + PERSON).split())
FIRST_PERSON = re.compile(r"(?:i|we|ich|wir)\b", re.IGNORECASE)
WHOSE = re.compile(r"(?:my|our|meine?|unsere?)\s+(\w+)", re.IGNORECASE)
MIN_CHARS = 2


def meant(about: str, texts: Mapping[str, str]) -> list[str]:
    """By id. Those that say it word for word, or else those that say the least besides."""
    asked = words(about)
    num_words = {
        key: len(said)
        for key, text in texts.items()
        if asked and _may_have(text, asked) and asked <= (said := words(text))
        if _is_of_the_same(about, text, asked)
    }
    literal = " ".join(about.casefold().split())
    if found := [key for key in num_words if literal in texts[key].casefold()]:
        return found
    return [key for key, num in num_words.items() if num == min(num_words.values())]


def words(text: str) -> frozenset[str]:
    """Those that say anything, whatever their form."""
    said = [word for word in WORD.findall(text.casefold()) if len(word) >= MIN_CHARS]
    return frozenset(stem(word) for word in said if word not in SAYS_NOTHING)


def _may_have(text: str, stems: frozenset[str]) -> bool:
    """Soon told, of very many texts."""
    folded = text.casefold()
    return all(one in folded for one in stems)


def _is_of_the_same(about: str, text: str, asked: frozenset[str]) -> bool:
    """Neither its opposite, nor of somebody else: "my sister lives …" is not what I do."""
    if num_negations(about) != num_negations(text):
        return False
    whose = WHOSE.match(text) if FIRST_PERSON.match(about) else None
    return whose is None or stem(whose[1].casefold()) in asked
