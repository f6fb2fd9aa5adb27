"""Reads the training rows, ours and the public ones, gives each its labels, and splits them.

Each label is of one head. A row says nothing about the heads that it has no label for. Rows that
are nearly the same are in one part, and some sources are kept for the test alone.
"""

import gzip
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from hitsend.safety.disguises import undo_disguises
from hitsend.safety.heads import ANSWER_HEADS, CATEGORIES, HEADS, Head
from training.contrast_rows import ContrastRow, write_rows

Part: TypeAlias = Literal["train", "calibrate", "test"]
Labels: TypeAlias = Mapping[Head, bool]

ASK_FIRST = frozenset({"guardreasoner/wildguard", "wildguardmix", "wildjailbreak"})
"""Those who publish these want to be asked before weights trained on them are passed on. Nobody
was, so these are for tests as well."""
PARTS: dict[bool, tuple[int, int]] = {True: (80, 90), False: (52, 82)}
"""For harmful rows and for benign ones: the percentages at which calibration and test begin. Many
benign rows are needed to set a threshold."""
MAX_TWEETS = 1_400
"""Of each class of the tweets: there are far too many of one kind."""
TWEETS = "davidson"
TWEET_WEIGHT = 0.5
CONTRAST = "contrast"
RED_TEAM = "hh-rlhf/harmless"
HUMAN_TURN = re.compile(r"\n\nHuman: ?(.+?)(?=\n\nAssistant:|\n\nHuman:|\Z)", re.S)
MIN_RED_TEAM_CHARS, MAX_RED_TEAM_CHARS = 12, 2_000
KEY_CHARS = 60
"""Rows that begin alike, letter for letter, are counted as nearly the same."""
PAGE = "The city library is open from nine to six, and on Saturdays until two."

WILDGUARD: dict[str, tuple[Head, ...]] = {
    "private_information_individual": ("illicit",),
    "social_stereotypes_and_unfair_discrimination": ("hate",),
    "fraud_assisting_illegal_activities": ("illicit",),
    "sensitive_information_organization_government": ("illicit",),
    "cyberattack": ("illicit",),
    "toxic_language_hate_speech": ("hate", "harassment"),
    "violence_and_physical_harm": ("violence", "illicit/violent"),
}
"""The categories that have one of ours. The others label only harm."""
HATE_TWEET: tuple[Head, ...] = ("hate", "harassment")
RUDE_TWEET: tuple[Head, ...] = ("harassment",)


class Row(msgspec.Struct, frozen=True):
    text: str
    """Without disguises, as the model reads it."""
    labels: Labels
    source: str
    weight: float = 1.0

    @property
    def is_harmful(self) -> bool:
        return any(self.labels.values())

    @property
    def is_benign_prompt(self) -> bool:
        """Whether blocking it would be a mistake."""
        return self.labels.get("harm") is False and not self.is_harmful

    @property
    def part(self) -> Part:
        if self.source in ASK_FIRST:
            return "test"
        if self.source == RED_TEAM:
            return "train"
        letters = "".join(filter(str.isalpha, self.text.casefold()))[:KEY_CHARS]
        place = int.from_bytes(blake2b(letters.encode(), digest_size=4).digest()) % 100
        calibrate, test = PARTS[self.is_harmful]
        return "train" if place < calibrate else "calibrate" if place < test else "test"


def read_rows(folder: Path, red_team: Path | None = None) -> list[Row]:
    """`folder` has `prompts.jsonl`, `jailbreaks.jsonl` and `answers.jsonl`."""
    rows = [
        *(_read_red_team(red_team) if red_team else ()),
        *_limit_tweets(_read_prompts(_read_lines(folder / "prompts.jsonl"))),
        *_read_jailbreaks(_read_lines(folder / "jailbreaks.jsonl")),
        *_read_answers(_read_lines(folder / "answers.jsonl")),
        *map(_convert_contrast, write_rows()),
    ]
    return [msgspec.structs.replace(row, text=undo_disguises(row.text)) for row in rows]


def _read_lines(path: Path) -> Iterator[dict[str, str]]:
    with path.open() as file:
        yield from map(json.loads, file)


def _read_prompts(lines: Iterator[dict[str, str]]) -> Iterator[Row]:
    for line in lines:
        source, is_harmful = line["source"], line["label"] == "harmful"
        weight = TWEET_WEIGHT if source == TWEETS else 1.0
        yield Row(line["text"], _prompt_labels(is_harmful, line["categories"]), source, weight)


def _prompt_labels(is_harmful: bool, categories: Sequence[str]) -> Labels:
    if not is_harmful:
        return _label_prompt(())
    if "hate_speech" in categories:
        return _label_prompt(("harm", *HATE_TWEET))
    if "offensive_language" in categories:
        return _label_prompt(("harm", *RUDE_TWEET))
    known = [head for category in categories for head in WILDGUARD.get(category, ())]
    others = [] if known else list(CATEGORIES)
    return _label_prompt(("harm", *known), unlabelled=("jailbreak", *others))


def _label_prompt(heads: Sequence[Head], unlabelled: Sequence[Head] = ()) -> Labels:
    """A prompt says nothing about the heads for answers."""
    heads_of_prompts = [head for head in HEADS if head not in ANSWER_HEADS]
    return {head: head in heads for head in heads_of_prompts if head not in unlabelled}


def _limit_tweets(rows: Iterator[Row]) -> Iterator[Row]:
    num_taken: dict[str, int] = {}
    for row in rows:
        kind = row.source + str(sorted(head for head, label in row.labels.items() if label))
        num_taken[kind] = num_taken.get(kind, 0) + (row.source == TWEETS)
        if num_taken[kind] <= MAX_TWEETS or not row.is_harmful:
            yield row


def _read_jailbreaks(lines: Iterator[dict[str, str]]) -> Iterator[Row]:
    for line in lines:
        text, label, source = line["text"], line["label"], line["source"]
        if label == "benign":
            yield Row(text, _label_prompt(()), source)
        elif source == "wildjailbreak":
            yield Row(text, _label_prompt(("harm", "jailbreak"), CATEGORIES), source)
        elif label == "jailbreak":  # the request inside may be harmless
            yield Row(text, _label_prompt(("jailbreak",), ("harm", *CATEGORIES)), source)
        elif source.startswith("bipia"):  # an order only where it comes from a page
            yield Row(f"{PAGE} {text}", {"injection": True}, "bipia")
        else:
            yield Row(text, {"injection": True}, source)


def _read_answers(lines: Iterator[dict[str, str]]) -> Iterator[Row]:
    for line in lines:
        answer, label, source = line["answer"], line["label"], line["source"]
        if source.startswith("pyrit/harm"):
            yield Row(answer, {"answer harm": label == "harmful"}, source)
        elif source == "pyrit/refusal":
            yield Row(answer, {"refusal": label == "refusal"}, source)


def _read_red_team(path: Path) -> Iterator[Row]:
    """Reads the conversations of people who tried to lead a model astray, as hh-rlhf has them.
    Their first and last messages have no labels."""
    with gzip.open(path, "rt") as file:
        for line in file:
            turns = HUMAN_TURN.findall(json.loads(line)["chosen"])
            for text in dict.fromkeys((turns[0], turns[-1])):
                if len(text) >= MIN_RED_TEAM_CHARS:
                    yield Row(text[:MAX_RED_TEAM_CHARS], {}, RED_TEAM)


def _convert_contrast(row: ContrastRow) -> Row:
    source = f"{CONTRAST}/{row.group}"
    if row.kind == "document":
        if row.labels:
            return Row(row.text, {"injection": True}, source)
        return Row(row.text, {"injection": False, "harm": False}, source)
    if row.kind == "answer":
        is_refusal, is_harmful = "refusal" in row.labels, "answer harm" in row.labels
        return Row(row.text, {"answer harm": is_harmful, "refusal": is_refusal}, source)
    heads: list[Head] = [head for head in HEADS if head in row.labels]
    is_harmful = any(head in CATEGORIES for head in heads)
    unlabelled: list[Head] = [head for head in HEADS if head in row.unlabelled]
    harm: list[Head] = ["harm"] if is_harmful else []
    return Row(row.text, _label_prompt([*harm, *heads], unlabelled), source)
