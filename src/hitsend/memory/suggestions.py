"""Checks facts that a model suggests as memories: they must be statements of the person about
themselves, in their own words, and not private data such as account numbers."""

import re
from collections.abc import Iterable

from hitsend.memory.match import count_negations
from hitsend.memory.relevance import stems

MAX_CHARS = 200

STATES_FACT = re.compile(
    r"""\b (?: i \s (?: am | have | live | work | like | love | hate | prefer | study | teach | play
                 | moved | never | always | can't | cannot | don't )
      | i(?: 'm | ’m | 've | ’ve ) | we \s (?: are | have | live )
      | (?: my | our ) \s (?: \w+ \s ){1,3} (?: is | are | was | has | lives | works )
      | ich \s (?: bin | habe | wohne | lebe | arbeite | mag | liebe | hasse | spiele | lerne | esse
                 | trinke | heiße | studiere )
      | wir \s (?: sind | haben | wohnen )
      | (?: mein | meine | unser | unsere ) \s (?: \w+ \s ){1,3} (?: ist | sind | heißt | hat ) )
    \b""",
    re.IGNORECASE | re.VERBOSE,
)
FIRST_PERSON = re.compile(r"(?:i|my|we|our|ich|mein\w*|wir|unser\w*)\b", re.IGNORECASE)
PRIVATE = re.compile(
    r"\d(?:[\s./-]?\d){4,} | [\w.+-]+@[\w-]+\.\w | \b(?:"
    r"pass\s?(?:word|code|phrase) | passwort | kennwort | pin | tan | iban | cvv | ssn | token"
    r"| credit\s?card | kreditkarte | konto(?:nummer)? | account\s?number | social\s?security )\b",
    re.IGNORECASE | re.VERBOSE,
)
"""Credentials, account numbers and contact data."""
SENTENCE_END = re.compile(r"[.!?;\n]+\s+")


def mentions_self(message: str) -> bool:
    """Whether the message may state a fact about its author."""
    return STATES_FACT.search(message) is not None


def validate_fact(written: str, message: str) -> str | None:
    """Returns the fact that a model wrote if the message states it, else None."""
    fact = " ".join(written.split()).strip("\"'“”„ ")
    is_sentence = 0 < len(fact) <= MAX_CHARS and not fact.endswith("?")
    if not is_sentence or not FIRST_PERSON.match(fact) or PRIVATE.search(fact):
        return None
    return fact if is_stated_in(fact, message) else None


def has_words_of(text: str, message: str) -> bool:
    """Whether every content word of the text is in the message, in any form."""
    words = stems(text)
    return bool(words) and words <= stems(message)


def is_stated_in(fact: str, message: str) -> bool:
    """Whether the message has the fact's words and as many negations."""
    words = stems(fact)
    related = [one for one in SENTENCE_END.split(message) if words & stems(one)]
    is_same = sum(map(count_negations, related)) == count_negations(fact)
    return is_same and has_words_of(fact, message)


def is_stated_by_any(fact: str, texts: Iterable[str]) -> bool:
    words, num_negations = stems(fact), count_negations(fact)
    return any(words <= stems(text) and num_negations == count_negations(text) for text in texts)
