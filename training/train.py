"""Trains the safety classifier from what `training.prepare` wrote, and writes its weights.

    .venv/bin/python -m training.prepare --data ../shared/data/safety --out /tmp/safety
    python -m venv .venv-training
    .venv-training/bin/pip install torch numpy msgspec simsimd
    PYTHONPATH=src .venv-training/bin/python -m training.train /tmp/safety
    .venv/bin/python -m training.calibrate --data ../shared/data/safety --out /tmp/safety

The second part needs torch and no data, so it can run on another machine; it takes a few minutes on
a GPU. The same seed gives the same weights on the same kind of device. The last part quantises the
model, sets the thresholds on it as it is served, and measures it.
"""

import argparse
import multiprocessing
import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # before torch is imported

import msgspec
import numpy as np
import torch

from hitsend.safety.classifier import HEADS_FILE, Trained
from hitsend.safety.heads import HEADS, Heads
from training.encoder import Weights, read_weights
from training.examples import FITTED_FILE, PREPARED_FILE, Example, Prepared
from training.fit import VECTOR_SCALE, Fit, Recipe, Rows, make_head
from training.ngrams import fit_ngrams

SURE_OF_HARM = 0.4
"""Rows without labels are harmful from this score of a first model on. The others are left out:
among them are those that it misses."""


def main() -> None:
    words = read_words()
    make_deterministic()
    content = (words.folder / PREPARED_FILE).read_bytes()
    prepared = msgspec.msgpack.decode(content, type=Prepared)
    examples = [one for one in prepared.examples if one.part == "train" and has_label(one)]
    unlabelled = [one for one in prepared.examples if not has_label(one)]
    tell(f"{len(examples):,} rows, {sum(len(one.tokens) for one in examples):,} tokens")
    base, recipe = read_weights(prepared.base), Recipe(num_epochs=words.epochs)
    ngrams = fit_ngrams(examples, seed=0)
    tell("the n-grams are fitted")
    if unlabelled:
        examples += label(unlabelled, *fit(base, None, examples, recipe))
        tell(f"{len(examples):,} rows with those that a first model has labelled")
    head = make_head(seed=0)  # seeds whose weights are averaged have to begin with the same head
    Fit(base, Rows(examples, find_device()), recipe).fit_head(head)
    head = on_cpu(head)
    tell("the head is fitted")
    with ProcessPoolExecutor(words.processes, multiprocessing.get_context("spawn")) as pool:
        fits = [
            pool.submit(fit, base, head, examples, replace(recipe, seed=seed))
            for seed in range(words.seeds)
        ]
        fitted = [one.result() for one in fits]
    encoder, head = (average(models) for models in zip(*fitted, strict=True))
    trained = Trained(heads=export_head(head), ngrams=ngrams)
    (words.folder / HEADS_FILE).write_bytes(msgspec.msgpack.encode(trained))
    halves = {name: one.numpy().astype(np.float16) for name, one in encoder.items()}
    np.savez(words.folder / FITTED_FILE, **halves)


def read_words() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="what training.prepare wrote")
    parser.add_argument("--seeds", type=int, default=5, help="models whose weights are averaged")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--processes", type=int, default=1, help="seeds fitted at once")
    return parser.parse_args()


def make_deterministic() -> None:
    torch.use_deterministic_algorithms(True)
    torch.utils.deterministic.fill_uninitialized_memory = False


def fit(
    base: Weights, head: Weights | None, examples: Sequence[Example], recipe: Recipe
) -> tuple[Weights, Weights]:
    """Returns the encoder and the head. Runs in a process of its own."""
    make_deterministic()
    one = Fit(copy(base), Rows(examples, find_device()), recipe)
    own_head = copy(head) if head else make_head(recipe.seed)
    if not head:
        one.fit_head(own_head)
    one.fit_all(
        own_head, lambda epoch, loss: tell(f"seed {recipe.seed}, epoch {epoch + 1}: {loss:.4f}")
    )
    return on_cpu(one.encoder), on_cpu(own_head)


def label(rows: Sequence[Example], encoder: Weights, head: Weights) -> list[Example]:
    """Returns the rows that the model finds harmful. They say nothing about the other heads."""
    scores = Fit(encoder, Rows(rows, find_device()), Recipe()).score(on_device(head))
    harm = scores[:, HEADS.index("harm")].tolist()
    targets = [True if head == "harm" else None for head in HEADS]
    return [
        msgspec.structs.replace(row, targets=targets)
        for row, score in zip(rows, harm, strict=True)
        if score >= SURE_OF_HARM
    ]


def has_label(one: Example) -> bool:
    return any(target is not None for target in one.targets)


def find_device() -> str:
    return "cuda" if torch.cuda.is_available() else "cpu"


def on_device(weights: Weights) -> Weights:
    return {name: one.to(find_device()) for name, one in weights.items()}


def on_cpu(weights: Weights) -> Weights:
    return {name: one.detach().cpu() for name, one in weights.items()}


def export_head(head: Weights) -> Heads:
    plain = {name: one.float() for name, one in head.items()}
    return Heads(
        hidden=(plain["hidden.weight"] * VECTOR_SCALE).numpy().tobytes(),
        hidden_bias=plain["hidden.bias"].numpy().tobytes(),
        output=plain["output.weight"].numpy().tobytes(),
        output_bias=plain["output.bias"].numpy().tobytes(),
    )


def copy(weights: Weights) -> Weights:
    return {name: one.detach().clone() for name, one in weights.items()}


def average(many: Sequence[Weights]) -> Weights:
    return {name: torch.stack([one[name] for one in many]).mean(0) for name in many[0]}


def tell(text: str) -> None:
    print(time.strftime("%H:%M:%S"), text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
