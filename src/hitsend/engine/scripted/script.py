"""The script language of the scripted engine: how many tokens, how fast, and how to fail.

A message whose first line begins with `!script` is a script. The text after that line is the
answer, word for word:

    !script tokens=500 pace=20ms first=300ms batch=4 die=10 hang=5 error load=2s queue=3 wait=1s

An answer that begins with `<think>…</think>` is thought about first, in these words.

A line `!then` divides the answer: what follows it is said after the results of the tools that were
called before it. The engine obeys what it reads: a script in the result of a tool replaces that of
the message.
"""

import re
from collections.abc import Iterator

import msgspec

from hitsend.errors import Refused

DIRECTIVE = "!script"
NEXT_ROUND = re.compile(r"^!then\n?", re.MULTILINE)
THOUGHT = re.compile(r"<think>(.*?)</think>\n?", re.DOTALL)
SECONDS = re.compile(r"(\d+(?:\.\d+)?)(ms|s)")
MAX_NUMBER = 1_000_000


class Script(msgspec.Struct, frozen=True):
    """With `text` None the answer is a sample text about the message. `num_tokens` repeats or cuts
    it."""

    text: str | None = None
    thought: str = ""
    num_tokens: int | None = None
    pace_s: float = 0.0
    """Time between two tokens."""
    first_s: float = 0.0
    """Time of the prefill."""
    num_batch_tokens: int = 1
    """Tokens that arrive together."""
    num_until_death: int | None = None
    num_until_silence: int | None = None
    """Both are counted from the first token of the answer, also in one that is continued."""
    load_s: float = 0.0
    """Time to load the model first."""
    num_ahead: int | None = None
    """Number of answers ahead in the queue, each of which takes `wait_s`."""
    wait_s: float = 1.0
    is_down: bool = False
    likely: dict[str, dict[str, float]] | None = None
    """For beam search: maps the text so far to its next pieces and their probabilities. The empty
    piece is the end."""


def parse_script(message: str) -> Script:
    if not message.startswith(DIRECTIVE):
        return Script()
    line, _, text = message.partition("\n")
    fields: dict[str, object] = dict(_fields(line.removeprefix(DIRECTIVE).split()))
    return _split_thought(msgspec.convert(fields | {"text": text or None}, Script))


def select_round(script: Script, num_rounds: int) -> Script:
    """Returns what is said after that many rounds of calls."""
    if script.text is None or not (parts := NEXT_ROUND.split(script.text))[1:]:
        return script
    text = parts[min(num_rounds, len(parts) - 1)].strip("\n")
    thought = "" if num_rounds else script.thought
    return _split_thought(msgspec.structs.replace(script, text=text, thought=thought))


def _split_thought(script: Script) -> Script:
    thought = THOUGHT.match(script.text or "")
    if thought is None or script.text is None:
        return script
    rest = script.text[thought.end() :]
    return msgspec.structs.replace(script, text=rest, thought=thought[1])


def _fields(words: list[str]) -> Iterator[tuple[str, float | int | bool]]:
    for word in words:
        match word.partition("="):
            case ("tokens", _, value):
                yield "num_tokens", _number(word, value)
            case ("batch", _, value):
                yield "num_batch_tokens", max(_number(word, value), 1)
            case ("die", _, value):
                yield "num_until_death", _number(word, value)
            case ("hang", _, value):
                yield "num_until_silence", _number(word, value)
            case ("queue", _, value):
                yield "num_ahead", _number(word, value)
            case ("load", _, value):
                yield "load_s", _seconds(word, value)
            case ("wait", _, value):
                yield "wait_s", _seconds(word, value)
            case ("pace", _, value):
                yield "pace_s", _seconds(word, value)
            case ("first", _, value):
                yield "first_s", _seconds(word, value)
            case ("error", "", _):
                yield "is_down", True
            case _:
                raise Refused(f"{DIRECTIVE} does not know {word!r}.")


def _number(word: str, value: str) -> int:
    if not value.isascii() or not value.isdigit() or len(value) > 7 or int(value) > MAX_NUMBER:
        raise Refused(f"{word!r} needs a number up to {MAX_NUMBER}, as in tokens=500.")
    return int(value)


def _seconds(word: str, value: str) -> float:
    if (found := SECONDS.fullmatch(value)) is None or len(value) > 8:
        raise Refused(f"{word!r} needs a time, as in pace=20ms or first=1.5s.")
    return float(found[1]) / (1000 if found[2] == "ms" else 1)
