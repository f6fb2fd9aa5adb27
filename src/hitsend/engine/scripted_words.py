"""What the scripted engine says, and when: the pieces of an answer, their delays and their pace.

`script` has the language; how pieces become tokens is not known here.
"""

import asyncio
import re
from collections.abc import AsyncGenerator
from itertools import cycle, islice

from hitsend.engine.contract import Delayed, Prompt
from hitsend.engine.encoding import split_begun
from hitsend.engine.script import Script
from hitsend.errors import EngineLost
from hitsend.messages import Sampling

NUM_TITLE_WORDS = 3
PIECE = re.compile(r"\s?\S{1,8}|\s")


def asked(prompt: Prompt) -> str:
    """What the person said last."""
    return next((one.own_text for one in reversed(prompt.messages) if one.role == "user"), "")


def pieces_of(
    script: Script, prompt: Prompt, sampling: Sampling, num_left: int
) -> tuple[list[str], bool, int]:
    """What will be said, whether it was cut for lack of room, and how much was said before."""
    text = _about(asked(prompt)) if script.text is None else script.text
    pieces = PIECE.findall(text)
    if script.num_tokens is not None:
        pieces = list(islice(cycle(pieces), script.num_tokens))
    pieces, num_before = _from_last_word(pieces, prompt)
    if stops := [at for stop in sampling.stop or () if (at := "".join(pieces).find(stop)) >= 0]:
        pieces = PIECE.findall("".join(pieces)[: min(stops)])
    num_most = min(sampling.max_tokens or num_left, num_left)
    return pieces[:num_most], len(pieces) > num_most, num_before


def title_of(message: str) -> str:
    """What an aside says unless it is told: the longest words, in the order they were said."""
    words = re.findall(r"\w+", message)
    longest = sorted(words, key=len, reverse=True)[:NUM_TITLE_WORDS]
    return " ".join(word for word in words if word in longest).capitalize() or "Nothing"


def _from_last_word(pieces: list[str], prompt: Prompt) -> tuple[list[str], int]:
    """What an answer that was begun has still to say. Another script's words are said whole."""
    begun = split_begun(prompt.messages)[1]
    whole = "".join(pieces)
    if begun is None or not whole.startswith(begun.text):
        return pieces, 0
    return PIECE.findall(whole[len(begun.text) :]), len(PIECE.findall(begun.text))


def _about(message: str) -> str:
    words = re.findall(r"\w+", message) or ["nothing"]
    longest = sorted(set(words), key=lambda word: (-len(word), word))[:3]
    points = "\n".join(f"- **{word}** is {len(word)} letters long" for word in longest)
    return (
        f"You said {len(words)} words, and *{words[0]}* came first.\n\n{points}\n\n"
        f"```python\nprint({' '.join(words[:8])!r})\n```\n\nAsk me anything else."
    )


async def delays(script: Script) -> AsyncGenerator[Delayed, None]:
    if script.load_s:
        yield Delayed("loading")
        await asyncio.sleep(script.load_s)
    if script.num_ahead is not None:
        for num_ahead in range(script.num_ahead, -1, -1):
            yield Delayed("queue", num_ahead)
            await asyncio.sleep(script.wait_s)


async def paced(
    script: Script, pieces: list[str], num_before: int
) -> AsyncGenerator[list[str], None]:
    """In batches, each in its time, up to where the script ends it."""
    death = _from_here(script.num_until_death, num_before)
    silence = _from_here(script.num_until_silence, num_before)
    num_said = min(len(pieces) if end is None else end for end in (death, silence))
    for start in range(0, num_said, script.num_batch_tokens):
        batch = pieces[start : min(start + script.num_batch_tokens, num_said)]
        await asyncio.sleep(script.pace_s * len(batch))
        yield batch
    if death is not None and death == num_said:
        raise EngineLost("The script says that the engine died.")
    if silence is not None and silence == num_said:
        await asyncio.Event().wait()


def _from_here(end: int | None, num_before: int) -> int | None:
    """Where the script ends an answer. What a continued one is past does not come again."""
    if end is None or 0 < num_before >= end:
        return None
    return end - num_before
