"""Fits the linear model over hashed n-grams."""

import random
from array import array
from collections.abc import Sequence

import torch
from torch.nn import functional

from hitsend.safety.heads import NGRAM_HEADS, NUM_BUCKETS, Ngrams, hash_ngrams
from training.rows import Row

NUM_EPOCHS = 6
BATCH_ROWS = 64
LEARNING_RATE = 3e-3
DECAY = 1e-6
MOST = 127


def fit_ngrams(rows: Sequence[Row], seed: int) -> Ngrams:
    torch.manual_seed(seed)
    chance = random.Random(seed)
    features = [torch.tensor(hash_ngrams(row.text)) for row in rows]
    targets = [[float(row.labels.get(head, -1)) for head in NGRAM_HEADS] for row in rows]
    weights = torch.zeros(NUM_BUCKETS, len(NGRAM_HEADS), requires_grad=True)
    bias = torch.zeros(len(NGRAM_HEADS), requires_grad=True)
    optimizer = torch.optim.Adam([weights, bias], LEARNING_RATE)
    order = list(range(len(rows)))
    for _ in range(NUM_EPOCHS):
        chance.shuffle(order)
        for at in range(0, len(order), BATCH_ROWS):
            batch = order[at : at + BATCH_ROWS]
            logits = torch.stack([_sum_weights(weights, features[i]) for i in batch]) + bias
            wanted = torch.tensor([targets[i] for i in batch])
            weight = torch.tensor([[rows[i].weight] for i in batch]) * (wanted >= 0)
            loss = functional.binary_cross_entropy_with_logits(logits, wanted, weight)
            optimizer.zero_grad()
            (loss + DECAY * weights.square().sum()).backward()
            optimizer.step()
    return _quantize(weights.detach(), bias.detach())


def _sum_weights(weights: torch.Tensor, features: torch.Tensor) -> torch.Tensor:
    return weights[features].sum(0) / max(len(features), 1) ** 0.5


def _quantize(weights: torch.Tensor, bias: torch.Tensor) -> Ngrams:
    scales = weights.abs().amax(0) / MOST
    tables = (weights / scales).round().to(torch.int8).T.contiguous()
    return Ngrams(
        tables=array("b", tables.numpy().tobytes()).tobytes(),
        scales=tuple(scales.tolist()),
        biases=tuple(bias.tolist()),
    )
