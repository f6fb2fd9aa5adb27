"""MiniLM as functions over a dictionary of tensors: read from ONNX, run, written as GGUF.

Tensors have the names that llama.cpp gives them, so that reading and writing need no table. What is
computed is what llama.cpp computes: BERT, the mean over the tokens, and length one.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import torch
from torch.nn import functional

from hitsend.engine.embedding.conversion import EPSILON, NUM_HEADS, read_model
from hitsend.engine.embedding.gguf_writer import BLOCK_WEIGHTS, Fact, TensorToWrite, write_gguf

Tensor: TypeAlias = Any
"""torch and numpy are installed only for training, so the type checker does not know them."""
Weights: TypeAlias = dict[str, Tensor]

ENCODER_FILE = "safety-encoder.gguf"
NUM_LAYERS = 6
NUM_DIMENSIONS = 384
NUM_POSITIONS = 256
"""Longer texts are cut into windows, so the file needs no more."""
BLOCK = np.dtype([("scale", "<f2"), ("weights", "i1", BLOCK_WEIGHTS)])


def read_weights(onnx: Path, tokenizer: Path) -> tuple[dict[str, Fact], Weights]:
    facts, tensors = read_model(onnx, tokenizer)
    weights = {tensor.name: torch.from_numpy(_dequantize(tensor)) for tensor in tensors}
    weights["position_embd.weight"] = weights["position_embd.weight"][:NUM_POSITIONS].clone()
    return facts | {"bert.context_length": NUM_POSITIONS}, weights


def write_weights(path: Path, facts: Mapping[str, Fact], weights: Weights) -> None:
    with path.open("wb") as file:
        write_gguf(file, facts, [_quantize(name, one) for name, one in weights.items()])


def embed_tokens(weights: Weights, tokens: Tensor) -> Tensor:
    hidden = weights["token_embd.weight"][tokens]
    hidden = hidden + weights["position_embd.weight"][: tokens.shape[1]]
    hidden = hidden + weights["token_types.weight"][0]
    return _normalize(weights, "token_embd_norm", hidden)


def run_layers(
    weights: Weights, hidden: Tensor, mask: Tensor, layers: Sequence[int], dropout: float
) -> Tensor:
    """`mask` is true for tokens and false for padding."""
    for number in layers:
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


def _dequantize(tensor: TensorToWrite) -> Tensor:
    if tensor.type == "F32":
        return np.frombuffer(tensor.data, "<f4").reshape(tensor.shape).copy()
    blocks = np.frombuffer(tensor.data, BLOCK)
    values = blocks["scale"].astype(np.float32)[:, None] * blocks["weights"]
    return values.reshape(tensor.shape)


def _quantize(name: str, weight: Tensor) -> TensorToWrite:
    """Matrices become 8-bit, with a scale for each 32 weights. Positions and vectors stay 32-bit,
    as llama.cpp reads them so."""
    values = weight.detach().cpu().numpy().astype(np.float32)
    is_matrix = values.ndim == 2 and name.startswith(("blk.", "token_embd."))
    if not is_matrix:
        return TensorToWrite(name, values.shape, "F32", values.astype("<f4").tobytes())
    groups = values.reshape(-1, BLOCK_WEIGHTS)
    blocks = np.empty(len(groups), BLOCK)
    blocks["scale"] = np.abs(groups).max(1) / 127
    scale = blocks["scale"].astype(np.float32)[:, None]
    blocks["weights"] = np.clip(np.rint(groups / np.where(scale > 0, scale, 1)), -127, 127)
    return TensorToWrite(name, values.shape, "Q8_0", blocks.tobytes())
