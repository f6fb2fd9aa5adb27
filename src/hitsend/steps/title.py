"""After the last word: may the model name the conversation better than its first words do?

Nobody waits for it, so it runs only while the engine has nothing else to do. A small model's
title is often an answer, a guess or half a sentence; those are recognised, and the person's own
words stay.
"""

import asyncio
import re

from hitsend.engine import Engine, GaveWay
from hitsend.errors import HitsendError
from hitsend.events import Ending
from hitsend.prompt_book import PromptBook
from hitsend.send import Turn
from hitsend.titles import MOST_CHARS, title_from

TITLE_S = 20.0
"""For all of it, waiting for a free engine included."""
SHORT_CHARS = 30
"""Words so few are a title already."""
NUM_QUESTION_CHARS, NUM_ANSWER_CHARS = 300, 300
MOST_WORDS = 9


def wants_title(turn: Turn, ending: Ending) -> bool:
    """A new conversation whose answer came to its own end, or to the end of its room."""
    is_whole = ending in ("stop", "length")
    is_new = turn.is_first and not turn.is_api
    return is_new and is_whole and len(title_from(turn.send.text)) > SHORT_CHARS


async def find_title(turn: Turn, beginning: str, engine: Engine, book: PromptBook) -> str | None:
    """A better title than the first words of the message, or None. Trouble is none: the
    conversation has a title. `beginning` is that of the answer."""
    question, user_id = turn.send.text, turn.send.user_id
    asked = {"question": _cut(question, NUM_QUESTION_CHARS)}
    try:
        async with asyncio.timeout(TITLE_S):
            told, picked = await book.messages("title", asked, user_id=user_id, model=turn.model)
            prompt = await engine.encode(turn.model, told)
            written = await engine.aside(prompt, picked.sampling)
    except (TimeoutError, GaveWay, HitsendError):
        return None
    return better_title(written, question, _cut(beginning, NUM_ANSWER_CHARS))


def better_title(written: str, question: str, answer: str) -> str | None:
    """What the model wrote, cleaned; None where the first words of the question say it better."""
    title, words = cleaned(written), title_from(question)
    is_shorter = words.endswith("…") or len(title) < len(words)
    if not title or not is_shorter or words.startswith(title) or REPLY.match(title):
        return None
    return title if _is_about(title, question, answer) else None


def cleaned(written: str) -> str:
    """One line without what models put around titles. Empty where that is no title: too long,
    or a sentence."""
    lines = [line for line in written.splitlines() if line.strip()]
    line = " ".join(lines[0].split()) if lines else ""
    bare = LABEL.sub("", line.strip(AROUND)).strip(AROUND)
    num_words = len(bare.split())
    is_sentence = bare.endswith(".") and num_words > MOST_WORDS // 2
    if len(bare) > MOST_CHARS or num_words > MOST_WORDS or is_sentence:
        return ""
    return bare.rstrip(TAIL + AROUND)


AROUND = " \t\"'`*_#“”„«»‘’"
TAIL = " .,;:…-"
LABEL = re.compile(r"(title|titel|título|titre)\s*:\s*", re.IGNORECASE)
REPLY = re.compile(
    r"(yes|no|sure|sorry|hello|hi|i|i'm|i’m|as an|here|ja|nein|sí|oui|non)\b", re.IGNORECASE
)
"""How answers begin, and titles do not."""
WORD = re.compile(r"[^\W_]{4,}")
NUM_STEM_CHARS = 4


def _is_about(title: str, question: str, answer: str) -> bool:
    """Whether each of its longer words stands in what was said, most of them in the question.
    A word in another form counts: its stem does."""
    stems = [word[:NUM_STEM_CHARS] for word in WORD.findall(title.casefold())]
    asked, said = question.casefold(), answer.casefold()
    num_asked = sum(stem in asked for stem in stems)
    return 2 * num_asked >= max(len(stems), 1) and all(stem in asked + said for stem in stems)


def _cut(text: str, num_chars: int) -> str:
    return " ".join(text[: 2 * num_chars].split())[:num_chars]
