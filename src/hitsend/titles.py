"""Titles of conversations: the first words of a message, and which of a model's titles are better.

A small model's title is often an answer, a guess or half a sentence; those are recognised, and the
person's own words stay.
"""

import re

MAX_CHARS = 60
MOST_WORDS = 9


def title_from_text(text: str) -> str:
    """Returns the first words of a message."""
    words = " ".join(text.split())
    if len(words) <= MAX_CHARS:
        return words
    return words[:MAX_CHARS].rsplit(" ", 1)[0].rstrip(",;:.") + "…"


def validate_title(written: str, question: str, answer: str) -> str | None:
    """Returns the model's title, cleaned, or None where the first words of the question are
    better."""
    title, words = clean_title(written), title_from_text(question)
    is_shorter = words.endswith("…") or len(title) < len(words)
    if not title or not is_shorter or words.startswith(title) or REPLY.match(title):
        return None
    return title if _is_about(title, question, answer) else None


def clean_title(written: str) -> str:
    """Returns one line without quotes and labels, or an empty text for what is no title: too
    long, or a sentence."""
    lines = [line for line in written.splitlines() if line.strip()]
    line = " ".join(lines[0].split()) if lines else ""
    bare = LABEL.sub("", line.strip(AROUND)).strip(AROUND)
    num_words = len(bare.split())
    is_sentence = bare.endswith(".") and num_words > MOST_WORDS // 2
    if len(bare) > MAX_CHARS or num_words > MOST_WORDS or is_sentence:
        return ""
    return bare.rstrip(TAIL + AROUND)


AROUND = " \t\"'`*_#“”„«»‘’"
TAIL = " .,;:…-"
LABEL = re.compile(r"(title|titel|título|titre)\s*:\s*", re.IGNORECASE)
REPLY = re.compile(
    r"(yes|no|sure|sorry|hello|hi|i|i'm|i’m|as an|here|ja|nein|sí|oui|non)\b", re.IGNORECASE
)
"""Beginnings of answers, never of titles."""
WORD = re.compile(r"[^\W_]{4,}")
NUM_PREFIX_CHARS = 4


def _is_about(title: str, question: str, answer: str) -> bool:
    """Whether the first letters of each longer word occur in the conversation, and of most of them
    in the question."""
    prefixes = [word[:NUM_PREFIX_CHARS] for word in WORD.findall(title.casefold())]
    asked, said = question.casefold(), answer.casefold()
    num_asked = sum(prefix in asked for prefix in prefixes)
    is_said = all(prefix in asked + said for prefix in prefixes)
    return is_said and 2 * num_asked >= max(len(prefixes), 1)
