"""Fits the encoder and the heads: first the heads alone, then the heads and the upper layers.

With one `first_layer` above 0, the layers below it stay as they are, and their output is computed
once. That halves the time on a CPU.
"""

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch.nn import functional

from hitsend.safety.heads import HEADS, NUM_HIDDEN, Head
from training.encoder import (
    NUM_DIMENSIONS,
    NUM_LAYERS,
    Tensor,
    Weights,
    embed_tokens,
    pool,
    run_layers,
)
from training.rows import Row

HEAD_WEIGHTS: dict[Head, float] = {"harm": 1.0, "answer harm": 0.5}
OTHER_HEAD_WEIGHT = 0.3
VECTOR_SCALE = 16.0
"""The vectors have length one, which is small for a layer that begins with random weights."""
HEAD_EPOCHS = 10
HEAD_ONLY_RATE = 1e-3
WARM_UP = 0.05
WEIGHT_DECAY = 0.01
BATCHES_A_BUCKET = 50
"""Rows of about the same length share a batch: this many batches are sorted at a time."""


@dataclass(frozen=True)
class Recipe:
    first_layer: int = 0
    num_tokens: int = 256
    num_epochs: int = 5
    batch_rows: int = 64
    rate: float = 5e-5
    head_rate: float = 2e-4
    dropout: float = 0.1
    consistency: float = 0.5
    """R-Drop: how much two passes with different dropout have to agree. 0 saves the second pass."""
    seed: int = 0
    device: str = "cpu"


@dataclass(frozen=True)
class Example:
    tokens: tuple[int, ...]
    targets: tuple[float, ...]
    """For each head 1, 0, or -1 where the row says nothing."""
    weight: float


def make_example(row: Row, tokens: Sequence[int], num_tokens: int) -> Example:
    """Keeps the first and the last half of a long text."""
    half = num_tokens // 2
    if len(tokens) > num_tokens:
        tokens = [*tokens[:half], *tokens[-half:]]
    targets = tuple(float(row.labels.get(head, -1)) for head in HEADS)
    return Example(tuple(tokens), targets, row.weight)


def make_head(seed: int) -> Weights:
    generator = torch.Generator().manual_seed(seed)

    def make_matrix(num_out: int, num_in: int) -> Tensor:
        return torch.randn(num_out, num_in, generator=generator) * math.sqrt(1 / num_in)

    return {
        "hidden.weight": make_matrix(NUM_HIDDEN, NUM_DIMENSIONS),
        "hidden.bias": torch.zeros(NUM_HIDDEN),
        "output.weight": make_matrix(len(HEADS), NUM_HIDDEN),
        "output.bias": torch.zeros(len(HEADS)),
    }


class Fit:
    def __init__(self, encoder: Weights, examples: Sequence[Example], recipe: Recipe) -> None:
        self.recipe = recipe
        self.encoder = {name: one.to(recipe.device) for name, one in encoder.items()}
        self.examples = examples
        self._chance = random.Random(recipe.seed)
        torch.manual_seed(recipe.seed)
        self._hidden = self._run_frozen_layers() if recipe.first_layer else []

    def fit_head(self, head: Weights) -> None:
        """Fits the head to what the encoder gives as it is."""
        parameters = _require_gradients(head, self.recipe.device)
        vectors = torch.cat([self._pool_frozen(batch) for batch in self._in_order()])
        targets, weights = self._targets(range(len(self.examples)))
        optimizer = torch.optim.AdamW(parameters, HEAD_ONLY_RATE, weight_decay=WEIGHT_DECAY)
        order = list(range(len(self.examples)))
        for _ in range(HEAD_EPOCHS):
            self._chance.shuffle(order)
            for at in range(0, len(order), self.recipe.batch_rows):
                rows = order[at : at + self.recipe.batch_rows]
                logits = run_head(head, vectors[rows], self.recipe.dropout)
                loss = _loss(logits, targets[rows], weights[rows])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()

    def fit_all(self, head: Weights, after_epoch: Callable[[int, float], None]) -> None:
        """Fits the upper layers and the head together."""
        recipe = self.recipe
        upper = _require_gradients(self._trained(), recipe.device)
        groups = [
            {"params": upper, "lr": recipe.rate},
            {"params": _require_gradients(head, recipe.device), "lr": recipe.head_rate},
        ]
        optimizer = torch.optim.AdamW(groups, weight_decay=WEIGHT_DECAY)
        num_steps = recipe.num_epochs * -(-len(self.examples) // recipe.batch_rows)
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda at: _rate(at / num_steps))
        for epoch in range(recipe.num_epochs):
            total, num_batches = 0.0, 0
            for batch in self._shuffled():
                loss = self._batch_loss(batch, head)
                optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(upper, 1.0)
                optimizer.step()
                schedule.step()
                total, num_batches = total + loss.item(), num_batches + 1
            after_epoch(epoch, total / num_batches)

    def _batch_loss(self, batch: Sequence[int], head: Weights) -> Tensor:
        targets, weights = self._targets(batch)
        first = self._logits(batch, head)
        if not self.recipe.consistency:
            return _loss(first, targets, weights)
        second = self._logits(batch, head)
        apart = (torch.sigmoid(first) - torch.sigmoid(second)) * (first - second)
        apart = (apart * (targets >= 0)).sum(1).mean()
        loss = _loss(first, targets, weights) + _loss(second, targets, weights)
        return loss / 2 + self.recipe.consistency * apart / 2

    def _logits(self, batch: Sequence[int], head: Weights) -> Tensor:
        hidden, mask = self._batch(batch)
        layers = range(self.recipe.first_layer, NUM_LAYERS)
        with self._half_precision():
            hidden = run_layers(self.encoder, hidden, mask, layers, self.recipe.dropout)
        return run_head(head, pool(hidden.float(), mask), self.recipe.dropout)

    def _trained(self) -> Weights:
        below = tuple(f"blk.{number}." for number in range(self.recipe.first_layer))
        if self.recipe.first_layer:
            below += ("token", "position")
        return {name: one for name, one in self.encoder.items() if not name.startswith(below)}

    def _run_frozen_layers(self) -> list[Tensor]:
        """Returns the hidden states below `first_layer` of each example, in half precision."""
        found: list[Tensor] = [None] * len(self.examples)
        for batch in self._in_order():
            tokens, mask = _pad([self.examples[i].tokens for i in batch], self.recipe.device)
            with torch.no_grad(), self._half_precision():
                hidden = embed_tokens(self.encoder, tokens)
                below = range(self.recipe.first_layer)
                hidden = run_layers(self.encoder, hidden, mask, below, dropout=0.0)
            for i, states in zip(batch, hidden.to(torch.bfloat16), strict=True):
                found[i] = states[: len(self.examples[i].tokens)].clone()
        return found

    def _pool_frozen(self, batch: Sequence[int]) -> Tensor:
        hidden, mask = self._batch(batch)
        layers = range(self.recipe.first_layer, NUM_LAYERS)
        with torch.no_grad(), self._half_precision():
            return pool(run_layers(self.encoder, hidden, mask, layers, 0.0).float(), mask)

    def _batch(self, batch: Sequence[int]) -> tuple[Tensor, Tensor]:
        """Returns the input of the first fitted layer, and the mask."""
        tokens, mask = _pad([self.examples[i].tokens for i in batch], self.recipe.device)
        if not self._hidden:
            return embed_tokens(self.encoder, tokens), mask
        states = [self._hidden[i] for i in batch]
        return torch.nn.utils.rnn.pad_sequence(states, batch_first=True).float(), mask

    def _targets(self, batch: Sequence[int]) -> tuple[Tensor, Tensor]:
        targets = torch.tensor([self.examples[i].targets for i in batch])
        weights = torch.tensor([[self.examples[i].weight] for i in batch])
        return targets.to(self.recipe.device), weights.to(self.recipe.device)

    def _in_order(self) -> Iterator[Sequence[int]]:
        """The rows as they are: `fit_head` needs their vectors in this order."""
        for at in range(0, len(self.examples), self.recipe.batch_rows):
            yield range(at, min(at + self.recipe.batch_rows, len(self.examples)))

    def _shuffled(self) -> Iterator[Sequence[int]]:
        size = self.recipe.batch_rows
        order = list(range(len(self.examples)))
        self._chance.shuffle(order)
        batches = []
        for at in range(0, len(order), size * BATCHES_A_BUCKET):
            some = order[at : at + size * BATCHES_A_BUCKET]
            some.sort(key=lambda i: len(self.examples[i].tokens))
            batches += [some[start : start + size] for start in range(0, len(some), size)]
        self._chance.shuffle(batches)
        yield from batches

    def _half_precision(self) -> Tensor:
        return torch.autocast(self.recipe.device, torch.bfloat16)


def run_head(head: Weights, vectors: Tensor, dropout: float = 0.0) -> Tensor:
    hidden = functional.linear(vectors * VECTOR_SCALE, head["hidden.weight"], head["hidden.bias"])
    hidden = functional.dropout(functional.relu(hidden), dropout, training=dropout > 0)
    return functional.linear(hidden, head["output.weight"], head["output.bias"])


def _loss(logits: Tensor, targets: Tensor, weights: Tensor) -> Tensor:
    by_head = [HEAD_WEIGHTS.get(head, OTHER_HEAD_WEIGHT) for head in HEADS]
    weight = weights * (targets >= 0) * torch.tensor(by_head, device=logits.device)
    losses = functional.binary_cross_entropy_with_logits(
        logits, targets.clamp(min=0), weight, reduction="none"
    )
    return losses.sum(1).mean()


def _pad(rows: Sequence[Sequence[int]], device: str) -> tuple[Tensor, Tensor]:
    longest = max(map(len, rows))
    tokens = torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows])
    mask = torch.arange(longest) < torch.tensor([len(row) for row in rows])[:, None]
    return tokens.to(device), mask.to(device)


def _require_gradients(weights: Weights, device: str) -> list[Tensor]:
    for name, one in weights.items():
        weights[name] = one.to(device).requires_grad_()
    return list(weights.values())


def _rate(progress: float) -> float:
    """Rises during the warm-up, then falls as a cosine."""
    if progress < WARM_UP:
        return progress / WARM_UP
    return (1 + math.cos(math.pi * (progress - WARM_UP) / (1 - WARM_UP))) / 2
