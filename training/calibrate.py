"""Sets the thresholds on the quantised model, as it is served, and writes its card.

    .venv/bin/python -m training.calibrate --data ../shared/data/safety --out /tmp/safety

It reads the rows that training has not seen, and needs neither torch nor a GPU. Copy the files
that it names to `src/hitsend/safety/weights/`, beside the NOTICE; from then on the thresholds are
frozen.
"""

import argparse
import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import msgspec
import numpy as np

from hitsend.errors import EngineDown
from hitsend.safety.classifier import (
    HEADS_FILE,
    Classifier,
    Encoder,
    Threshold,
    Trained,
    Verdict,
)
from hitsend.safety.encoder import ChildEncoder
from hitsend.safety.encoder.process import MODEL_FILE, VOCABULARY_FILE
from hitsend.safety.heads import ANSWER_HEADS, CATEGORIES, HEADS, NGRAM_HEADS, Head
from training.examples import FITTED_FILE, PREPARED_FILE, Prepared
from training.metrics import Figures, Scored, compute_figures, find_threshold
from training.onnx_file import make_onnx
from training.rows import CONTRAST, TWEETS, Row, read_rows

CARD_FILE = "card.json"
ASK_SHARE, BLOCK_SHARE = 0.05, 0.001
"""Of the benign rows."""
CATEGORY_ASK_SHARE, CATEGORY_BLOCK_SHARE = 0.01, 0.0005
ANSWER_BLOCK_SHARE = 0.01
"""Answers are few, and a sentence too much held back does little harm."""
NUM_AT_ONCE = 8

LIMITS = [
    "English first: other languages only as far as their words look like those of the rows.",
    "Reads at most 256 tokens at a time: harm that is spread over a long text may be missed.",
    "Sees one text, not the conversation, unless it is given the earlier messages as well.",
    "The answer heads are trained on some thousand rows, most of them short and our own.",
    "Finds jailbreak templates whatever they ask for, so it does not tell whether harm is meant.",
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    words = parser.parse_args()
    rows = read_rows(words.data)
    write_encoder(words.out)
    asyncio.run(calibrate(rows, words.out))


async def calibrate(rows: Sequence[Row], folder: Path) -> None:
    file = folder / HEADS_FILE
    trained = msgspec.msgpack.decode(file.read_bytes(), type=Trained)
    encoder = ChildEncoder(folder)
    try:
        held_out = [row for row in rows if row.part == "calibrate" and row.source != TWEETS]
        thresholds = await set_thresholds(trained, held_out, encoder)
        trained = msgspec.structs.replace(trained, thresholds=thresholds)
        ngram_thresholds = await set_thresholds(trained, held_out, None)
        kept = {head: ngram_thresholds[head] for head in NGRAM_HEADS}
        trained = msgspec.structs.replace(trained, ngram_thresholds=kept)
        file.write_bytes(msgspec.msgpack.encode(trained))
        tested = [row for row in rows if row.part == "test"]
        verdicts = await classify_rows(trained, tested, encoder)
    finally:
        await encoder.close()
    card = make_card(rows, trained, measure(tested, verdicts))
    (folder / CARD_FILE).write_text(json.dumps(card, indent=1) + "\n")
    for name in (MODEL_FILE, HEADS_FILE):
        print(hashlib.sha256((folder / name).read_bytes()).hexdigest(), folder / name)


def write_encoder(folder: Path) -> None:
    """Quantises what was fitted, and writes it as the product reads it."""
    content = (folder / PREPARED_FILE).read_bytes()
    vocabulary = msgspec.msgpack.decode(content, type=Prepared).vocabulary
    (folder / VOCABULARY_FILE).write_text("\n".join(vocabulary), encoding="utf-8")
    (folder / MODEL_FILE).write_bytes(make_onnx(np.load(folder / FITTED_FILE)))


async def set_thresholds(
    trained: Trained, rows: Sequence[Row], encoder: Encoder | None
) -> dict[Head, Threshold]:
    verdicts = await classify_rows(trained, rows, encoder)
    return {head: _threshold(head, rows, verdicts) for head in HEADS if head in verdicts[0].scores}


def _threshold(head: Head, rows: Sequence[Row], verdicts: Sequence[Verdict]) -> Threshold:
    """A head is judged on the rows that are surely not its own. Benign prompts count for all heads
    that read prompts."""
    scores = [
        verdict.scores[head]
        for row, verdict in zip(rows, verdicts, strict=True)
        if row.labels.get(head) is False and not _is_beside(head, row)
    ]
    ask_share, block_share = _shares(head)
    ask, block = find_threshold(scores, ask_share), find_threshold(scores, block_share)
    return Threshold(round(ask, 6), round(block, 6))


def _shares(head: Head) -> tuple[float, float]:
    if head in CATEGORIES:
        return CATEGORY_ASK_SHARE, CATEGORY_BLOCK_SHARE
    return ASK_SHARE, ANSWER_BLOCK_SHARE if head in ANSWER_HEADS else BLOCK_SHARE


def _is_beside(head: Head, row: Row) -> bool:
    """Whether the row is harmful in another way: it may be so in this way too."""
    return head in CATEGORIES and row.is_harmful


async def classify_rows(
    trained: Trained, rows: Sequence[Row], encoder: Encoder | None
) -> list[Verdict]:
    classifier = Classifier(trained, encoder)
    places = asyncio.Semaphore(NUM_AT_ONCE)

    async def classify(row: Row) -> Verdict:
        async with places:
            verdict = await classifier.classify(row.text)
        if encoder is not None and not verdict.is_complete and verdict.num_windows == 1:
            raise EngineDown("The encoder did not answer.")
        return verdict

    return list(await asyncio.gather(*map(classify, rows)))


def measure(rows: Sequence[Row], verdicts: Sequence[Verdict]) -> dict[str, dict[str, Figures]]:
    """Returns the figures by head, and those of the head `harm` by source."""
    pairs = list(zip(rows, verdicts, strict=True))
    by_source: dict[str, list[tuple[Row, Verdict]]] = {}
    for row, verdict in pairs:
        if "harm" in row.labels:
            by_source.setdefault(name_source(row), []).append((row, verdict))
    return {
        "head": {head: compute_head_figures(pairs, head) for head in HEADS},
        "harm by source": {
            source: compute_head_figures(some, "harm") for source, some in sorted(by_source.items())
        },
    }


def compute_head_figures(pairs: Sequence[tuple[Row, Verdict]], head: Head) -> Figures:
    return compute_figures(
        [
            Scored(verdict.scores[head], verdict.decisions[head], row.labels[head])
            for row, verdict in pairs
            if head in row.labels
        ]
    )


def name_source(row: Row) -> str:
    return "our own rows" if row.source.startswith(CONTRAST) else row.source


def make_card(
    rows: Sequence[Row], trained: Trained, figures: Mapping[str, Mapping[str, Figures]]
) -> dict[str, object]:
    held_out = [row for row in rows if row.part == "calibrate"]
    return {
        "base": "all-MiniLM-L6-v2 (Apache-2.0)",
        "data": "Public rows, with their licences in NOTICE, and the rows of training/contrast; "
        "messages of a red team (hh-rlhf), where an earlier model found them harmful",
        "rows": {
            part: sum(row.part == part for row in rows) for part in ("train", "calibrate", "test")
        },
        "benign rows that set the thresholds": sum(row.is_benign_prompt for row in held_out),
        "share of benign rows": {
            "ask": ASK_SHARE,
            "block": BLOCK_SHARE,
            "block, of answers": ANSWER_BLOCK_SHARE,
        },
        "thresholds": {
            head: {"ask": one.ask, "block": one.block} for head, one in trained.thresholds.items()
        },
        "test rows": {
            title: {name: _rounded(one) for name, one in some.items()}
            for title, some in figures.items()
        },
        "limits": LIMITS,
    }


def _rounded(figures: Figures) -> dict[str, float]:
    return {name: round(value, 4) for name, value in asdict(figures).items()}


if __name__ == "__main__":
    main()
