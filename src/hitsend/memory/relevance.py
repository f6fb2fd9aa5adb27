"""Scores the relevance of a memory to a question by embedding similarity, shared words and age.

With embeddings, similarity counts most, shared content words add to it, and the newer of two
similar memories wins. Without embeddings, a larger overlap of words is required.
"""

import math
import re
from collections.abc import Mapping

MIN_SCORE = 0.28
"""Tuned on the half of tests/engine/memories.toml that is not held out."""
FIRST_WORD_BONUS = 0.2
NEXT_WORD_BONUS = 0.05
RECENCY_BONUS = 0.02
"""For a memory written just now. It halves every `HALF_LIFE_S`."""
HALF_LIFE_S = 30 * 86_400.0
MIN_WORD_OVERLAP = 0.34
"""Required share of the letters of the shorter text's words, without embeddings."""

WORD = re.compile(r"[^\W\d_]+|\d+")
MIN_CHARS = 3
NUM_STEM_CHARS = 6
"""Longer words are compared by prefix: `remember` and `remembered` are the same."""

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
STOP_WORDS = frozenset((ENGLISH + GERMAN).split())


def score_relevance(similarity: float, question: str, text: str, age_s: float) -> float:
    """`similarity` is the excess over the similarity of unrelated texts."""
    num_shared = len(stems(question) & stems(text))
    words = FIRST_WORD_BONUS + (num_shared - 1) * NEXT_WORD_BONUS if num_shared else 0.0
    return similarity + words + RECENCY_BONUS * math.exp2(-max(age_s, 0.0) / HALF_LIFE_S)


def word_overlaps(question: str, texts: Mapping[str, str]) -> dict[str, float]:
    """Returns for each text the share of the shorter one's letters that are in shared words, from
    0 to 1."""
    wanted = stems(question)
    return {key: _overlap(wanted, text.casefold()) for key, text in texts.items()}


def _overlap(wanted: frozenset[str], folded: str) -> float:
    # Finding out that no word is shared takes a hundredth of finding all words.
    if not any(one in folded for one in wanted):
        return 0.0
    words = _folded_stems(folded)
    return _num_chars(wanted & words) / min(_num_chars(wanted), _num_chars(words) or 1)


def stems(text: str) -> frozenset[str]:
    """Returns the stems of the content words."""
    return _folded_stems(text.casefold())


def _folded_stems(text: str) -> frozenset[str]:
    words = set(WORD.findall(text)) - STOP_WORDS
    return frozenset(stem(word) for word in words if len(word) >= MIN_CHARS)


def stem(word: str) -> str:
    return word[:NUM_STEM_CHARS].removesuffix("s")


def _num_chars(words: frozenset[str]) -> int:
    return sum(map(len, words))
