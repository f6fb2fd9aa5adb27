"""Turns the training rows and MiniLM into one file, with which `training.train` can run anywhere.

    .venv/bin/python -m training.prepare --data ../shared/data/safety --out /tmp/safety

The rows under `--data` are not part of the project, and neither is this file.
"""

import argparse
import asyncio
import random
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from hitsend.engine.embedding.conversion import read_model
from hitsend.engine.embedding.weights import ONNX, TOKENIZER
from hitsend.engine.models.catalogue import Catalogue
from hitsend.safety.encoder.wordpiece import WordPiece
from hitsend.safety.heads import HEADS, hash_ngrams
from training.examples import NUM_TOKENS, PREPARED_FILE, BaseTensor, Example, Prepared
from training.rows import MAX_TWEETS, TWEETS, Part, Row, read_rows

NUM_JOINED = 3_000
MAX_JOINED_CHARS = 400
LAST_SHARE = 0.7
"""How often the message that matters is the last one."""
JOINED = "joined"
SEED = 14


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--red-team", type=Path, help="harmless-base/test.jsonl.gz of hh-rlhf")
    parser.add_argument("--out", type=Path, required=True)
    words = parser.parse_args()
    words.out.mkdir(parents=True, exist_ok=True)
    onnx, tokenizer = asyncio.run(fetch_base(words.out / "base"))
    _, tensors = read_model(onnx, tokenizer)
    base = [BaseTensor(one.name, one.shape, one.type, one.data) for one in tensors]
    vocabulary = read_vocabulary(tokenizer)
    reader = WordPiece(vocabulary)
    rows = select(read_rows(words.data, words.red_team))
    joined = join_turns([row for row in rows if row.part == "train"], random.Random(SEED))
    examples = [make_example(row, row.part, reader) for row in rows]
    examples += [make_example(row, "train", reader) for row in joined]
    prepared = Prepared(examples, vocabulary, base)
    (words.out / PREPARED_FILE).write_bytes(msgspec.msgpack.encode(prepared))
    print(f"{len(examples):,} rows")


async def fetch_base(folder: Path) -> tuple[Path, Path]:
    """Downloads MiniLM and its tokenizer, as hitsend does for its vectors."""
    catalogue = Catalogue(folder, entries=(ONNX, TOKENIZER))
    onnx, tokenizer = [await catalogue.pull(one.name) for one in catalogue.entries]
    return onnx.path, tokenizer.path


def read_vocabulary(tokenizer: Path) -> list[str]:
    numbers: dict[str, int] = msgspec.json.decode(tokenizer.read_bytes())["model"]["vocab"]
    return sorted(numbers, key=numbers.__getitem__)


def select(rows: Sequence[Row]) -> list[Row]:
    """Leaves out benign tweets of the training part beyond as many as of other kinds."""
    num_tweets, selected = 0, []
    for row in rows:
        is_tweet = row.part == "train" and row.source == TWEETS and row.is_benign_prompt
        num_tweets += is_tweet
        if not is_tweet or num_tweets <= MAX_TWEETS:
            selected.append(row)
    return selected


def join_turns(rows: Sequence[Row], chance: random.Random) -> Iterator[Row]:
    """Makes conversations: harmless messages, and among them one that gives its labels to all."""
    short = [row for row in rows if len(row.text) < MAX_JOINED_CHARS and row.source != TWEETS]
    harmless = [row for row in short if row.is_benign_prompt]
    harmful = [row for row in short if row.labels.get("harm")]
    for number in range(NUM_JOINED):
        row = chance.choice(harmful if number % 2 else harmless)
        turns = [one.text for one in chance.sample(harmless, chance.choice((1, 1, 2, 3)))]
        turns.insert(len(turns) if chance.random() < LAST_SHARE else 0, row.text)
        yield Row("\n\n".join(turns), row.labels, JOINED)


def make_example(row: Row, part: Part, reader: WordPiece) -> Example:
    """Keeps the first and the last half of a long text."""
    tokens, half = reader.encode(row.text, len(row.text) + 2), NUM_TOKENS // 2
    if len(tokens) > NUM_TOKENS:
        tokens = [*tokens[:half], *tokens[-half:]]
    buckets = array("H", hash_ngrams(row.text) if part == "train" else ())
    targets = [row.labels.get(head) for head in HEADS]
    return Example(tokens, buckets.tobytes(), targets, row.weight, part, row.source)


if __name__ == "__main__":
    main()
