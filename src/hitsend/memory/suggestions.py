"""What may be suggested to a person, or taken from a model, as a memory: only what they said of
themselves, in their own words, and nothing that should be written down nowhere."""

import re
from collections.abc import Iterable

from hitsend.memory.negation import num_negations
from hitsend.memory.relevance import stems

MOST_CHARS = 200

TELLS = re.compile(
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
OF_THEMSELVES = re.compile(r"(?:i|my|we|our|ich|mein\w*|wir|unser\w*)\b", re.IGNORECASE)
PRIVATE = re.compile(
    r"\d(?:[\s./-]?\d){4,} | [\w.+-]+@[\w-]+\.\w | \b(?:"
    r"pass\s?(?:word|code|phrase) | passwort | kennwort | pin | tan | iban | cvv | ssn | token"
    r"| credit\s?card | kreditkarte | konto(?:nummer)? | account\s?number | social\s?security )\b",
    re.IGNORECASE | re.VERBOSE,
)
"""Numbers and words of the kind that opens something, or finds somebody."""
SENTENCE_END = re.compile(r"[.!?;\n]+\s+")


def tells_of_person(message: str) -> bool:
    """Whether it is worth asking what it tells of the person who wrote it."""
    return TELLS.search(message) is not None


def own_fact(written: str, message: str) -> str | None:
    """What a model wrote, where it is a fact of the person's own telling."""
    fact = " ".join(written.split()).strip("\"'“”„ ")
    is_sentence = 0 < len(fact) <= MOST_CHARS and not fact.endswith("?")
    if not is_sentence or not OF_THEMSELVES.match(fact) or PRIVATE.search(fact):
        return None
    return fact if is_said_in(fact, message) else None


def is_in_words_of(text: str, message: str) -> bool:
    """Every telling word of it stands in the message, in one form or another."""
    said = stems(text)
    return bool(said) and said <= stems(message)


def is_said_in(fact: str, message: str) -> bool:
    """In the message's own words, and not turned into its opposite."""
    about = stems(fact)
    telling = [one for one in SENTENCE_END.split(message) if about & stems(one)]
    is_same = sum(map(num_negations, telling)) == num_negations(fact)
    return is_same and is_in_words_of(fact, message)


def is_said_by_any(fact: str, texts: Iterable[str]) -> bool:
    said, num = stems(fact), num_negations(fact)
    return any(said <= stems(text) and num == num_negations(text) for text in texts)
