"""Writes our own training rows from the templates in `contrast/`, for what public data lacks.

    python -m training.contrast_rows rows.jsonl

The same seed gives the same rows. `[a|b]` picks one of the choices, `{word}` one of the phrases of
that name in the group or the file. Rows are then varied as people vary them: case, punctuation,
greetings, slips of the finger.
"""

import random
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

FOLDER = Path(__file__).parent / "contrast"
SEED = 14
MAX_TRIES = 40
"""For each wanted row. A group with too few combinations gives fewer rows."""
MAX_DEPTH = 6

CHOICE = re.compile(r"\[([^\[\]]*\|[^\[\]]*)\]")
WORD = re.compile(r"\{([a-z_0-9]+)\}")
GREETINGS = ("hi, ", "Hello! ", "hey, ", "ok so ", "Please help: ", "Question: ", "Quick one: ")
ENDINGS = (" thanks", " Thank you!", " please", " asap", "?!", "...", " It's for a friend.")

Kind: TypeAlias = Literal["prompt", "answer", "document"]


class Group(msgspec.Struct, forbid_unknown_fields=True):
    """Templates that share their labels."""

    name: str
    rows: int
    texts: str
    kind: Kind = "prompt"
    labels: list[str] = []
    """A group without labels is harmless."""
    unlabelled: list[str] = []
    """Heads that these rows say nothing about."""
    words: dict[str, str] = {}


class File(msgspec.Struct, forbid_unknown_fields=True):
    group: list[Group]
    words: dict[str, str] = {}


class ContrastRow(msgspec.Struct, frozen=True):
    text: str
    kind: Kind
    labels: tuple[str, ...]
    unlabelled: tuple[str, ...]
    group: str


def main(path: str) -> None:
    rows = list(write_rows())
    with Path(path).open("wb") as file:
        file.writelines(msgspec.json.encode(row) + b"\n" for row in rows)
    print(f"{len(rows):,} rows")


def write_rows(seed: int = SEED) -> Iterator[ContrastRow]:
    seen: set[str] = set()
    for path in sorted(FOLDER.glob("*.toml")):
        file = msgspec.convert(tomllib.loads(path.read_text()), File)
        for group in file.group:
            chance = random.Random(f"{seed} {group.name}")
            yield from _write_group(group, file.words | group.words, chance, seen)


def _write_group(
    group: Group, words: Mapping[str, str], chance: random.Random, seen: set[str]
) -> Iterator[ContrastRow]:
    """Takes the templates in turns, so that each gives about as many rows, and no wording twice."""
    templates = group.texts.strip().splitlines()
    phrases = {name: _split_phrases(text) for name, text in words.items()}
    num_rows = 0
    for number in range(group.rows * MAX_TRIES):
        if num_rows == group.rows:
            return
        template = templates[number % len(templates)].replace("\\n", "\n")
        wording = _fill(template, phrases, chance)
        if (folded := wording.casefold()) not in seen:
            seen.add(folded)
            num_rows += 1
            text = _vary(wording, chance) if group.kind == "prompt" else wording
            yield ContrastRow(
                text, group.kind, tuple(group.labels), tuple(group.unlabelled), group.name
            )


def _split_phrases(text: str) -> list[str]:
    return [phrase.replace("\\n", "\n") for phrase in text.split(" | ")]


def _fill(template: str, phrases: Mapping[str, list[str]], chance: random.Random) -> str:
    """Phrases may contain words and choices themselves."""
    text = template
    for _ in range(MAX_DEPTH):
        filled = CHOICE.sub(lambda match: chance.choice(match[1].split("|")), text)
        filled = WORD.sub(lambda match: _pick(match[1], phrases, chance), filled)
        if filled == text:
            break
        text = filled
    return text[:1].upper() + text[1:] if template[:1] == "{" else text


def _pick(word: str, phrases: Mapping[str, list[str]], chance: random.Random) -> str:
    return chance.choice(phrases[word]).strip(" ")


def _vary(text: str, chance: random.Random) -> str:
    if chance.random() < 0.22:
        text = text.lower()
    if chance.random() < 0.2:
        text = text.rstrip(".?!")
    if chance.random() < 0.1:
        text = chance.choice(GREETINGS) + text
    if chance.random() < 0.07:
        text += chance.choice(ENDINGS)
    if chance.random() < 0.07:
        text = _slip(text, chance)
    return text.upper() if chance.random() < 0.02 else text


def _slip(text: str, chance: random.Random) -> str:
    """Swaps two neighbouring letters, or loses one."""
    at = chance.randrange(max(len(text) - 2, 1))
    if chance.random() < 0.5:
        return text[:at] + text[at + 1 :]
    return text[:at] + text[at + 1 : at + 2] + text[at : at + 1] + text[at + 2 :]


if __name__ == "__main__":
    main(*sys.argv[1:])
