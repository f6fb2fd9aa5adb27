"""MiniLM as functions over a dictionary of tensors: BERT, the mean over the tokens, length one.

Tensors have the names that llama.cpp gives them. `training.onnx_file` writes the same as ONNX.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import torch
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

from training.examples import NUM_TOKENS, BaseTensor

Tensor: TypeAlias = Any
"""torch and numpy are installed only for training, so the type checker does not know them."""
Weights: TypeAlias = dict[str, Tensor]

NUM_LAYERS = 6
NUM_HEADS = 12
NUM_DIMENSIONS = 384
EPSILON = 1e-12
BLOCK_WEIGHTS = 32
BLOCK = np.dtype([("scale", "<f2"), ("weights", "i1", BLOCK_WEIGHTS)])


def read_weights(base: Sequence[BaseTensor]) -> Weights:
    weights = {one.name: torch.from_numpy(_dequantize(one)) for one in base}
    weights["position_embd.weight"] = weights["position_embd.weight"][:NUM_TOKENS].clone()
    return weights


def embed_tokens(weights: Weights, tokens: Tensor) -> Tensor:
    hidden = functional.embedding(tokens, weights["token_embd.weight"])
    hidden = hidden + weights["position_embd.weight"][: tokens.shape[1]]
    hidden = hidden + weights["token_types.weight"][0]
    return _normalize(weights, "token_embd_norm", hidden)


def run_layers(weights: Weights, hidden: Tensor, mask: Tensor, dropout: float) -> Tensor:
    """`mask` is true for tokens and false for padding."""
    for number in range(NUM_LAYERS):
        hidden = _run_layer(weights, f"blk.{number}", hidden, mask, dropout)
    return hidden


def pool(hidden: Tensor, mask: Tensor) -> Tensor:
    """Returns the mean over the tokens, with length one."""
    kept = mask.unsqueeze(-1).to(hidden.dtype)
    return functional.normalize((hidden * kept).sum(1) / kept.sum(1), dim=-1)


def _run_layer(weights: Weights, name: str, hidden: Tensor, mask: Tensor, dropout: float) -> Tensor:
    def project(part: str, values: Tensor) -> Tensor:
        matrix, bias = weights[f"{name}.{part}.weight"], weights[f"{name}.{part}.bias"]
        return functional.linear(values, matrix, bias)

    def split_heads(values: Tensor) -> Tensor:
        return values.unflatten(-1, (NUM_HEADS, -1)).transpose(1, 2)

    query, key, value = (split_heads(project(f"attn_{part}", hidden)) for part in "qkv")
    with sdpa_kernel(SDPBackend.MATH):  # the only one that is deterministic on every device
        attended = functional.scaled_dot_product_attention(
            query, key, value, attn_mask=mask[:, None, None, :], dropout_p=dropout
        )
    output = project("attn_output", attended.transpose(1, 2).flatten(2))
    output = functional.dropout(output, dropout, training=dropout > 0)
    hidden = _normalize(weights, f"{name}.attn_output_norm", hidden + output)
    output = project("ffn_down", functional.gelu(project("ffn_up", hidden)))
    output = functional.dropout(output, dropout, training=dropout > 0)
    return _normalize(weights, f"{name}.layer_output_norm", hidden + output)


def _normalize(weights: Weights, name: str, hidden: Tensor) -> Tensor:
    scale, bias = weights[f"{name}.weight"], weights[f"{name}.bias"]
    return functional.layer_norm(hidden, (NUM_DIMENSIONS,), scale, bias, EPSILON)


def _dequantize(tensor: BaseTensor) -> Tensor:
    if tensor.type == "F32":
        return np.frombuffer(tensor.data, "<f4").reshape(tensor.shape).copy()
    blocks = np.frombuffer(tensor.data, BLOCK)
    values = blocks["scale"].astype(np.float32)[:, None] * blocks["weights"]
    return values.reshape(tensor.shape)
