"""The encoder as onnxruntime reads it: what is written computes what BERT computes."""

import math

import numpy as np
import onnxruntime
import pytest
from training.onnx_file import INPUT, NUM_HEADS, NUM_LAYERS, OUTPUT, make_onnx

NUM_WORDS, NUM_POSITIONS, SIZE, INNER = 50, 16, 384, 768
NORMS = ("attn_output_norm", "layer_output_norm")
MATRICES = {
    **{f"attn_{part}": (SIZE, SIZE) for part in ("q", "k", "v", "output")},
    "ffn_up": (INNER, SIZE),
    "ffn_down": (SIZE, INNER),
}
Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


def make_weights() -> dict[str, Array]:
    chance = np.random.default_rng(0)
    weights = {
        "token_embd.weight": chance.normal(size=(NUM_WORDS, SIZE)),
        "position_embd.weight": chance.normal(size=(NUM_POSITIONS, SIZE)),
        "token_types.weight": chance.normal(size=(2, SIZE)),
    }
    names = {f"blk.{n}.{part}": size for n in range(NUM_LAYERS) for part, size in MATRICES.items()}
    for name, (num_out, num_in) in names.items():
        weights[f"{name}.weight"] = chance.normal(size=(num_out, num_in)) * 0.05
        weights[f"{name}.bias"] = chance.normal(size=num_out) * 0.1
    for name in ("token_embd_norm", *(f"blk.{n}.{x}" for n in range(NUM_LAYERS) for x in NORMS)):
        weights[f"{name}.weight"] = 1 + chance.normal(size=SIZE) * 0.1
        weights[f"{name}.bias"] = chance.normal(size=SIZE) * 0.1
    return weights


def compute(weights: dict[str, Array], tokens: list[int]) -> Array:
    """BERT, written once more without any library."""

    def project(name: str, values: Array) -> Array:
        product: Array = values @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]
        return product

    def normalize(name: str, values: Array) -> Array:
        centred = values - values.mean(-1, keepdims=True)
        scaled: Array = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12)
        return scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    length = len(tokens)
    hidden = weights["token_embd.weight"][tokens] + weights["position_embd.weight"][:length]
    hidden = normalize("token_embd_norm", hidden + weights["token_types.weight"][0])
    for number in range(NUM_LAYERS):
        name = f"blk.{number}"
        query, key, value = (
            project(f"{name}.attn_{part}", hidden).reshape(length, NUM_HEADS, -1).swapaxes(0, 1)
            for part in "qkv"
        )
        weighed = np.exp(query @ key.swapaxes(1, 2) / np.sqrt(SIZE / NUM_HEADS))
        attended = (weighed / weighed.sum(-1, keepdims=True)) @ value
        output = project(f"{name}.attn_output", attended.swapaxes(0, 1).reshape(length, SIZE))
        hidden = normalize(f"{name}.attn_output_norm", hidden + output)
        inner = project(f"{name}.ffn_up", hidden)
        erf = np.vectorize(math.erf)
        active = inner * (1 + erf(inner / np.sqrt(2))) / 2
        output = project(f"{name}.ffn_down", active)
        hidden = normalize(f"{name}.layer_output_norm", hidden + output)
    mean: Array = hidden.mean(0)
    return mean / np.linalg.norm(mean)


@pytest.mark.parametrize("tokens", [[1, 2], [3, 7, 7, 41, 20, 9, 2]])
def test_the_file_computes_the_vector_up_to_its_eight_bits(tokens: list[int]) -> None:
    weights = make_weights()
    session = onnxruntime.InferenceSession(make_onnx(weights), providers=["CPUExecutionProvider"])
    (vectors,) = session.run([OUTPUT], {INPUT: np.array([tokens], np.int64)})
    assert float(vectors[0] @ compute(weights, tokens)) > 0.995
    assert float(np.linalg.norm(vectors[0])) == pytest.approx(1, abs=1e-4)
