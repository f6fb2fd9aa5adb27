"""How near a memory is to a question, from 0 up, by its meaning, its words and its age.

Where its meaning is known, that counts most; a word that both have, and few texts have, counts
for something; of two alike the newer one wins. Where only words are known, more of them have to
be in common.
"""

import math
import re

LEAST = 0.28
"""Less is chance. Chosen on the half of tests/engine/memories.toml that is not held out."""
SHARED_WORD = 0.2
"""What the first word in common counts for. Each further one counts for less."""
FURTHER_WORD = 0.05
NEWEST = 0.02
"""What a memory of this moment is ahead of one of long ago."""
HALF_LIFE_S = 30 * 86_400.0
LEAST_IN_COMMON = 0.34
"""Of the letters in the words of the shorter text, where nothing but words is known."""

WORD = re.compile(r"[^\W\d_]+|\d+")
MIN_CHARS = 3
NUM_STEM_CHARS = 6
"""Longer words are compared by their beginnings: `remember` and `remembered` are the same."""

ENGLISH = """
about after again all also always and any are back because been before being both but can could
day did does doing done down each eat even ever every few find first for from get give goes going
good got had has have having help her here him his how into its just keep know like long look lot
made make makes many may me mean more most much must need never new next not now off often old one
only other our out over own please put really right said same say see she should show since some
something still such sure take tell than that the their them then there these they thing things
think this those time today too try two under until use used using very want was way week well were
what when where which while who why will with without work works would write year you your
"""
GERMAN = """
aber alle alles als also auch auf aus bei beim bin bis bitte brauche brauchen da damit dann das dass
dein dem den denn der des dich die dies diese dieser dir doch dort drei durch ein eine einem einen
einer eines erkläre ersten etwas euch für ganz geht gegen gern gibt gut gute haben hat hatte heute
hier hilft ich ihm ihn ihr ihre immer ins ist jede jeden jeder jetzt kann kannst kein keine keinen
können lange lieber machen macht man mehr mein meine meinem meinen meiner mich mir mit muss müssen
nach nächste nächsten neue nicht nichts noch nur ob oder oft ohne schon schreibe sehr sein seine
seit sich sie sind sollte tun über uhr und uns unser unsere unter viel viele vom von vor war warum
was weil welche welchem welcher welches wenn wer werden wie wieder will wir wird wo woher wurde zum
zur zwei zwischen
"""
COMMON = frozenset((ENGLISH + GERMAN).split())
"""Words that say little of what a text is about."""


def nearness(similarity: float, question: str, text: str, age_s: float) -> float:
    """`similarity` is that of the meanings, beyond what any two texts have."""
    num_shared = len(stems(question) & stems(text))
    words = SHARED_WORD + (num_shared - 1) * FURTHER_WORD if num_shared else 0.0
    return similarity + words + NEWEST * math.exp2(-max(age_s, 0.0) / HALF_LIFE_S)


def in_common(question: str, text: str) -> float:
    """How much of the shorter of the two stands in the other, from 0 to 1."""
    asked, said = stems(question), stems(text)
    shorter = min(_num_chars(asked), _num_chars(said))
    return _num_chars(asked & said) / shorter if shorter else 0.0


def stems(text: str) -> frozenset[str]:
    """Of the words that say what it is about."""
    words = WORD.findall(text.casefold())
    telling = [word for word in words if len(word) >= MIN_CHARS and word not in COMMON]
    return frozenset(map(stem, telling))


def stem(word: str) -> str:
    return word[:NUM_STEM_CHARS].removesuffix("s")


def _num_chars(words: frozenset[str]) -> int:
    return sum(map(len, words))
