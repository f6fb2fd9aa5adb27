"""Plays a script: the pieces of its answer, their delays and their pace."""

import asyncio
import re
from collections.abc import AsyncGenerator
from itertools import cycle, islice, takewhile

from hitsend.engine.contract import Delayed, Prompt
from hitsend.engine.encoding import split_partial_answer
from hitsend.engine.scripted.script import DIRECTIVE, Script, parse_script, select_round
from hitsend.errors import EngineLost
from hitsend.messages import Sampling, ToolCall, ToolResult

NUM_TITLE_WORDS = 3
PIECE = re.compile(r"\s?\S{1,8}|\s")


def last_user_text(prompt: Prompt) -> str:
    return next((one.own_text for one in reversed(prompt.messages) if one.role == "user"), "")


def select_script(prompt: Prompt) -> Script:
    """Returns the script of the last message, or of the result of a tool after it."""
    after = list(takewhile(lambda one: one.role != "user", reversed(prompt.messages)))
    results = [part for one in after[:1] for part in one.parts if isinstance(part, ToolResult)]
    for result in results:
        _, found, script = f"\n{result.output}".partition(f"\n{DIRECTIVE}")
        if found:
            return parse_script(DIRECTIVE + script)
    calls = [one for one in after if any(isinstance(part, ToolCall) for part in one.parts)]
    return select_round(parse_script(last_user_text(prompt)), len(calls))


def plan_pieces(
    script: Script, prompt: Prompt, sampling: Sampling, num_left: int
) -> tuple[list[str], bool, int]:
    """Returns the pieces to generate, whether they were cut to fit the limit, and how many pieces
    of a continued answer came before them."""
    text = _write_sample_answer(last_user_text(prompt)) if script.text is None else script.text
    pieces = PIECE.findall(text)
    if script.num_tokens is not None:
        pieces = list(islice(cycle(pieces), script.num_tokens))
    pieces, num_before = _continue(pieces, prompt)
    if stops := [at for stop in sampling.stop or () if (at := "".join(pieces).find(stop)) >= 0]:
        pieces = PIECE.findall("".join(pieces)[: min(stops)])
    num_max_tokens = min(sampling.max_tokens or num_left, num_left)
    return pieces[:num_max_tokens], len(pieces) > num_max_tokens, num_before


def make_title(message: str) -> str:
    """Returns the longest words of the message, in their order."""
    words = re.findall(r"\w+", message)
    longest = sorted(words, key=len, reverse=True)[:NUM_TITLE_WORDS]
    return " ".join(word for word in words if word in longest).capitalize() or "Nothing"


def _continue(pieces: list[str], prompt: Prompt) -> tuple[list[str], int]:
    """Returns the pieces that follow a partial answer, and how many pieces that answer has. An
    answer that is not the start of this script is ignored."""
    partial = split_partial_answer(prompt.messages)[1]
    text = "".join(pieces)
    if partial is None or not text.startswith(partial.text):
        return pieces, 0
    return PIECE.findall(text[len(partial.text) :]), len(PIECE.findall(partial.text))


def _write_sample_answer(message: str) -> str:
    words = re.findall(r"\w+", message) or ["nothing"]
    longest = sorted(set(words), key=lambda word: (-len(word), word))[:3]
    points = "\n".join(f"- **{word}** is {len(word)} letters long" for word in longest)
    return (
        f"You said {len(words)} words, and *{words[0]}* came first.\n\n{points}\n\n"
        f"```python\nprint({' '.join(words[:8])!r})\n```\n\nAsk me anything else."
    )


async def play_delays(script: Script) -> AsyncGenerator[Delayed, None]:
    if script.load_s:
        yield Delayed("loading")
        await asyncio.sleep(script.load_s)
    if script.num_ahead is not None:
        for num_ahead in range(script.num_ahead, -1, -1):
            yield Delayed("queue", num_ahead)
            await asyncio.sleep(script.wait_s)


async def play_batches(
    script: Script, pieces: list[str], num_before: int
) -> AsyncGenerator[list[str], None]:
    """Yields the pieces in batches at the script's pace, up to where the script dies or hangs."""
    death = _relative_end(script.num_until_death, num_before)
    silence = _relative_end(script.num_until_silence, num_before)
    num_pieces = min(len(pieces) if end is None else end for end in (death, silence))
    for start in range(0, num_pieces, script.num_batch_tokens):
        batch = pieces[start : min(start + script.num_batch_tokens, num_pieces)]
        await asyncio.sleep(script.pace_s * len(batch))
        yield batch
    if death is not None and death == num_pieces:
        raise EngineLost("The script says that the engine died.")
    if silence is not None and silence == num_pieces:
        await asyncio.Event().wait()


def _relative_end(end: int | None, num_before: int) -> int | None:
    """Counts `end` from the first new piece. None if the continued answer is past it."""
    if end is None or 0 < num_before >= end:
        return None
    return end - num_before
