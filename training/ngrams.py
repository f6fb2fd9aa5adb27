"""Fits the linear model over hashed n-grams."""

import random
from array import array
from collections.abc import Sequence

import torch
from torch.nn import functional

from hitsend.safety.heads import HEADS, NGRAM_HEADS, NUM_BUCKETS, Ngrams
from training.examples import Example, Target

NUM_EPOCHS = 6
BATCH_ROWS = 64
LEARNING_RATE = 3e-3
DECAY = 1e-6
MOST = 127


def fit_ngrams(examples: Sequence[Example], seed: int) -> Ngrams:
    torch.manual_seed(seed)
    chance = random.Random(seed)
    places = [HEADS.index(head) for head in NGRAM_HEADS]
    features = [
        torch.frombuffer(bytearray(one.buckets), dtype=torch.uint16).int() for one in examples
    ]
    targets = torch.tensor([[_as_number(one.targets[i]) for i in places] for one in examples])
    row_weights = torch.tensor([[one.weight] for one in examples])
    weights = torch.zeros(NUM_BUCKETS, len(NGRAM_HEADS), requires_grad=True)
    bias = torch.zeros(len(NGRAM_HEADS), requires_grad=True)
    optimizer = torch.optim.Adam([weights, bias], LEARNING_RATE)
    order = list(range(len(examples)))
    for _ in range(NUM_EPOCHS):
        chance.shuffle(order)
        for at in range(0, len(order), BATCH_ROWS):
            batch = order[at : at + BATCH_ROWS]
            logits = _sum_weights(weights, [features[i] for i in batch]) + bias
            wanted = targets[batch]
            loss = functional.binary_cross_entropy_with_logits(
                logits, wanted.clamp(min=0), row_weights[batch] * (wanted >= 0)
            )
            optimizer.zero_grad()
            (loss + DECAY * weights.square().sum()).backward()
            optimizer.step()
    return _quantize(weights.detach(), bias.detach())


def _as_number(target: Target) -> float:
    return -1.0 if target is None else float(target)


def _sum_weights(weights: torch.Tensor, features: Sequence[torch.Tensor]) -> torch.Tensor:
    lengths = torch.tensor([len(one) for one in features])
    starts = torch.cat([torch.zeros(1, dtype=torch.int64), lengths.cumsum(0)[:-1]]).int()
    sums = functional.embedding_bag(torch.cat(list(features)), weights, starts, mode="sum")
    return sums / lengths.clamp(min=1).sqrt().unsqueeze(1)


def _quantize(weights: torch.Tensor, bias: torch.Tensor) -> Ngrams:
    scales = weights.abs().amax(0) / MOST
    tables = (weights / scales).round().to(torch.int8).T.contiguous()
    return Ngrams(
        tables=array("b", tables.numpy().tobytes()).tobytes(),
        scales=tuple(scales.tolist()),
        biases=tuple(bias.tolist()),
    )
