"""Trains the safety classifier and writes its weights.

    python -m venv .venv-training
    .venv-training/bin/pip install torch tokenizers numpy -e .
    .venv-training/bin/python -m training.train --data ../shared/data/safety --out /tmp/safety
    .venv/bin/python -m training.calibrate --data ../shared/data/safety --out /tmp/safety

The first command fits the model and takes a minute or two on a GPU; the same seed gives the same
weights on the same machine. On a CPU, `--epochs 0` fits only the heads, to vectors of MiniLM as it
is, in some minutes; `--first-layer 3 --tokens 128 --epochs 3 --consistency 0 --seeds 1` fits the
upper half in about an hour on two cores. The second sets the thresholds on the
quantised model as it is served. The rows under `--data` are not part of the project.
"""

import argparse
import asyncio
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # before torch is imported

import msgspec
import torch
from tokenizers import Tokenizer

from hitsend.engine.embedding.minilm import NAME
from hitsend.engine.embedding.weights import ONNX, TOKENIZER
from hitsend.engine.models.catalogue import Catalogue
from hitsend.safety.classifier import HEADS_FILE, Trained
from hitsend.safety.heads import Heads
from training.encoder import ENCODER_FILE, Weights, read_weights, write_weights
from training.fit import VECTOR_SCALE, Fit, Recipe, make_example, make_head
from training.ngrams import fit_ngrams
from training.rows import MAX_TWEETS, TWEETS, Row, read_rows


def main() -> None:
    words = read_words()
    torch.use_deterministic_algorithms(True)
    words.out.mkdir(parents=True, exist_ok=True)
    rows = select(read_rows(words.data))
    onnx, tokenizer = asyncio.run(fetch_base(words.out / "base"))
    facts, encoder = read_weights(onnx, tokenizer)
    recipe = Recipe(
        first_layer=words.first_layer,
        num_tokens=words.tokens,
        num_epochs=words.epochs,
        consistency=words.consistency,
        device="cuda" if torch.cuda.is_available() else "cpu",
    )
    read_tokens = Tokenizer.from_file(str(tokenizer))
    read_tokens.no_truncation()
    read_tokens.no_padding()
    encoded = read_tokens.encode_batch([row.text for row in rows])
    examples = [
        make_example(row, one.ids, recipe.num_tokens)
        for row, one in zip(rows, encoded, strict=True)
    ]
    examples.sort(key=lambda one: len(one.tokens))
    tell(f"{len(rows):,} rows, {sum(len(one.tokens) for one in examples):,} tokens")
    ngrams = fit_ngrams(rows, seed=0)
    tell("n-grams are fitted")

    def save(encoder: Weights, head: Weights) -> None:
        if recipe.num_epochs:
            write_weights(words.out / ENCODER_FILE, facts, encoder)
        name = Path(ENCODER_FILE).stem if recipe.num_epochs else NAME
        trained = Trained(encoder=name, heads=export_head(head), ngrams=ngrams)
        (words.out / HEADS_FILE).write_bytes(msgspec.msgpack.encode(trained))

    fitted = []
    head = make_head(seed=0)
    for seed in range(words.seeds):
        fit = Fit(copy(encoder), examples, replace(recipe, seed=seed))
        tell("the frozen layers have run")
        if not seed:  # seeds whose weights are averaged have to begin with the same head
            fit.fit_head(head)
            tell("the head is fitted")
            save(fit.encoder, head)
        if not recipe.num_epochs:
            return
        own_head = copy(head)

        def report(epoch: int, loss: float, fit: Fit = fit, own_head: Weights = own_head) -> None:
            tell(f"seed {fit.recipe.seed}, epoch {epoch + 1}: loss {loss:.4f}")
            save(fit.encoder, own_head)

        fit.fit_all(own_head, report)
        fitted.append((fit.encoder, own_head))
    save(average([one for one, _ in fitted]), average([one for _, one in fitted]))


def read_words() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=5, help="models whose weights are averaged")
    parser.add_argument("--first-layer", type=int, default=0, help="layers below stay frozen")
    parser.add_argument("--tokens", type=int, default=256, help="longer rows lose their middle")
    parser.add_argument("--epochs", type=int, default=5, help="0 fits only the heads")
    parser.add_argument("--consistency", type=float, default=0.5, help="R-Drop")
    return parser.parse_args()


def select(rows: Sequence[Row]) -> list[Row]:
    """Returns the rows of the training part, with no more benign tweets than of other kinds."""
    num_tweets, selected = 0, []
    for row in rows:
        if row.part != "train":
            continue
        is_tweet = row.source == TWEETS and row.is_benign_prompt
        num_tweets += is_tweet
        if not is_tweet or num_tweets <= MAX_TWEETS:
            selected.append(row)
    return selected


async def fetch_base(folder: Path) -> tuple[Path, Path]:
    """Downloads MiniLM and its tokenizer, as hitsend does for its vectors."""
    catalogue = Catalogue(folder, entries=(ONNX, TOKENIZER))
    onnx, tokenizer = [await catalogue.pull(one.name) for one in catalogue.entries]
    return onnx.path, tokenizer.path


def export_head(head: Weights) -> Heads:
    plain = {name: one.detach().cpu().float() for name, one in head.items()}
    return Heads(
        hidden=(plain["hidden.weight"] * VECTOR_SCALE).numpy().tobytes(),
        hidden_bias=plain["hidden.bias"].numpy().tobytes(),
        output=plain["output.weight"].numpy().tobytes(),
        output_bias=plain["output.bias"].numpy().tobytes(),
    )


def copy(weights: Weights) -> Weights:
    return {name: one.detach().clone() for name, one in weights.items()}


def average(many: Sequence[Weights]) -> Weights:
    return {name: torch.stack([one[name].detach() for one in many]).mean(0) for name in many[0]}


def tell(text: str) -> None:
    print(time.strftime("%H:%M:%S"), text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
