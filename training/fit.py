"""Fits the encoder and the heads: first the heads alone, then all."""

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import torch
from torch.nn import functional

from hitsend.safety.heads import HEADS, NUM_HIDDEN, Head
from training.encoder import (
    NUM_DIMENSIONS,
    Tensor,
    Weights,
    embed_tokens,
    pool,
    run_layers,
)
from training.examples import Example

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
    num_epochs: int = 5
    batch_rows: int = 128
    rate: float = 7e-5
    head_rate: float = 3e-4
    dropout: float = 0.1
    consistency: float = 0.5
    """R-Drop: how much two passes with different dropout have to agree. 0 saves the second pass."""
    seed: int = 0


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


class Rows:
    """All rows on the device, so that a step waits for nothing."""

    def __init__(self, examples: Sequence[Example], device: str) -> None:
        self.device = device
        self.lengths = [len(one.tokens) for one in examples]
        longest = max(self.lengths)
        padded = [[*one.tokens, *[0] * (longest - len(one.tokens))] for one in examples]
        self.tokens = torch.tensor(padded, device=device)
        self.targets = torch.tensor([_targets_of(one) for one in examples], device=device)
        self.weights = torch.tensor([[one.weight] for one in examples], device=device)
        self._lengths = torch.tensor(self.lengths, device=device)

    def pick(self, batch: Sequence[int]) -> "Batch":
        longest = max(self.lengths[i] for i in batch)
        at = torch.tensor(batch).to(self.device, non_blocking=True)
        mask = torch.arange(longest, device=self.device) < self._lengths[at, None]
        return Batch(self.tokens[at, :longest], mask, self.targets[at], self.weights[at])


class Batch(NamedTuple):
    tokens: Tensor
    mask: Tensor
    targets: Tensor
    weights: Tensor

    def twice(self) -> "Batch":
        return Batch(*(torch.cat([one, one]) for one in self))


class Fit:
    def __init__(self, encoder: Weights, rows: Rows, recipe: Recipe) -> None:
        self.recipe = recipe
        self.encoder = {name: one.to(rows.device) for name, one in encoder.items()}
        self.rows = rows
        self._chance = random.Random(recipe.seed)
        torch.manual_seed(recipe.seed)

    def fit_head(self, head: Weights) -> None:
        """Fits the head to what the encoder gives as it is."""
        parameters = _require_gradients(head, self.rows.device)
        vectors = torch.cat([self._embed(batch) for batch in self._in_order()])
        optimizer = torch.optim.AdamW(parameters, HEAD_ONLY_RATE, weight_decay=WEIGHT_DECAY)
        for _ in range(HEAD_EPOCHS):
            for batch in self._shuffled():
                logits = run_head(head, vectors[batch], self.recipe.dropout)
                loss = _loss(logits, self.rows.targets[batch], self.rows.weights[batch])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()

    def fit_all(self, head: Weights, after_epoch: Callable[[int, float], None]) -> None:
        """Fits the encoder and the head together."""
        recipe = self.recipe
        encoder = _require_gradients(self.encoder, self.rows.device)
        groups = [
            {"params": encoder, "lr": recipe.rate},
            {"params": _require_gradients(head, self.rows.device), "lr": recipe.head_rate},
        ]
        optimizer = torch.optim.AdamW(groups, weight_decay=WEIGHT_DECAY)
        num_steps = recipe.num_epochs * -(-len(self.rows.lengths) // recipe.batch_rows)
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda at: _rate(at / num_steps))
        for epoch in range(recipe.num_epochs):
            losses = []
            for batch in self._shuffled():
                loss = self._batch_loss(self.rows.pick(batch), head)
                optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(encoder, 1.0)
                optimizer.step()
                schedule.step()
                losses.append(loss.detach())
            after_epoch(epoch, torch.stack(losses).mean().item())

    def score(self, head: Weights) -> Tensor:
        """Returns the scores of all rows, by head."""
        with torch.no_grad():
            logits = [run_head(head, self._embed(batch)) for batch in self._in_order()]
        return torch.sigmoid(torch.cat(logits)).cpu()

    def _batch_loss(self, batch: Batch, head: Weights) -> Tensor:
        if not self.recipe.consistency:
            return _loss(self._logits(batch, head), batch.targets, batch.weights)
        first, second = self._logits(batch.twice(), head).chunk(2)
        apart = (torch.sigmoid(first) - torch.sigmoid(second)) * (first - second)
        apart = (apart * (batch.targets >= 0)).sum(1).mean()
        loss = _loss(first, batch.targets, batch.weights)
        loss = loss + _loss(second, batch.targets, batch.weights)
        return loss / 2 + self.recipe.consistency * apart / 2

    def _logits(self, batch: Batch, head: Weights) -> Tensor:
        vectors = self._vectors(batch, self.recipe.dropout)
        return run_head(head, vectors, self.recipe.dropout)

    def _embed(self, batch: Sequence[int]) -> Tensor:
        with torch.no_grad():
            return self._vectors(self.rows.pick(batch), dropout=0.0)

    def _vectors(self, batch: Batch, dropout: float) -> Tensor:
        with torch.autocast(self.rows.device, torch.bfloat16):
            hidden = embed_tokens(self.encoder, batch.tokens)
            hidden = run_layers(self.encoder, hidden, batch.mask, dropout)
        return pool(hidden.float(), batch.mask)

    def _in_order(self) -> Iterator[Sequence[int]]:
        """The rows as they are: their vectors are needed in this order."""
        num_rows, size = len(self.rows.lengths), self.recipe.batch_rows
        for at in range(0, num_rows, size):
            yield range(at, min(at + size, num_rows))

    def _shuffled(self) -> Iterator[Sequence[int]]:
        size = self.recipe.batch_rows
        order = list(range(len(self.rows.lengths)))
        self._chance.shuffle(order)
        batches = []
        for at in range(0, len(order), size * BATCHES_A_BUCKET):
            some = order[at : at + size * BATCHES_A_BUCKET]
            some.sort(key=self.rows.lengths.__getitem__)
            batches += [some[start : start + size] for start in range(0, len(some), size)]
        self._chance.shuffle(batches)
        yield from batches


def run_head(head: Weights, vectors: Tensor, dropout: float = 0.0) -> Tensor:
    hidden = functional.linear(vectors * VECTOR_SCALE, head["hidden.weight"], head["hidden.bias"])
    hidden = functional.dropout(functional.relu(hidden), dropout, training=dropout > 0)
    return functional.linear(hidden, head["output.weight"], head["output.bias"])


@cache
def _head_weights(device: str) -> Tensor:
    weights = [HEAD_WEIGHTS.get(head, OTHER_HEAD_WEIGHT) for head in HEADS]
    return torch.tensor(weights, device=device)


def _targets_of(example: Example) -> list[float]:
    """Returns for each head 1, 0, or -1 where the row says nothing."""
    return [-1.0 if one is None else float(one) for one in example.targets]


def _loss(logits: Tensor, targets: Tensor, weights: Tensor) -> Tensor:
    by_head = _head_weights(str(logits.device))
    weight = weights * (targets >= 0) * by_head
    losses = functional.binary_cross_entropy_with_logits(
        logits, targets.clamp(min=0), weight, reduction="none"
    )
    return losses.sum(1).mean()


def _require_gradients(weights: Weights, device: str) -> list[Tensor]:
    for name, one in weights.items():
        weights[name] = one.to(device).requires_grad_()
    return list(weights.values())


def _rate(progress: float) -> float:
    """Rises during the warm-up, then falls as a cosine."""
    if progress < WARM_UP:
        return progress / WARM_UP
    return (1 + math.cos(math.pi * (progress - WARM_UP) / (1 - WARM_UP))) / 2
