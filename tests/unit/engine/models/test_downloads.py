"""Downloads and removals of models on request. No process is started."""

import asyncio
import hashlib
import sys
from collections.abc import AsyncGenerator, Callable, Sequence
from pathlib import Path

import msgspec
import pytest
from tests.unit.engine.models.tiny_gguf import TINY_GGUF

from hitsend.engine import Catalogue, Download, LlamaEngine
from hitsend.engine.models.catalogue import Entry
from hitsend.engine.models.weights import Weights
from hitsend.engine.models.wheel_download import WheelPart
from hitsend.errors import Conflict, UnknownModel
from hitsend.settings import Settings

ENTRY = Entry(
    name="tiny",
    title="Tiny",
    file_name="tiny.gguf",
    sha256=hashlib.sha256(TINY_GGUF).hexdigest(),
    num_bytes=len(TINY_GGUF),
    quantisation="F32",
    num_window_tokens=2048,
    can_call_tools=False,
    good_at=("writing",),
    wheels=(WheelPart("tiny", "1.0", "tiny.bin"),),
)

NEVER_DONE = (sys.executable, "-c", "import time; time.sleep(600)")


def engine_with(models_dir: Path, pip: Sequence[str], model: str = "another") -> LlamaEngine:
    catalogue = Catalogue(models_dir, entries=[ENTRY], pip=pip)
    return LlamaEngine(Settings(model=model, models_dir=models_dir), catalogue)


@pytest.fixture
async def offline(tmp_path: Path) -> AsyncGenerator[LlamaEngine, None]:
    """An engine whose downloads fail at once."""
    engine = engine_with(tmp_path, ("false",))
    yield engine
    await engine.close()


@pytest.fixture
async def slow(tmp_path: Path) -> AsyncGenerator[LlamaEngine, None]:
    """An engine whose downloads never end."""
    engine = engine_with(tmp_path, NEVER_DONE)
    yield engine
    await engine.close()


async def wait_for_downloads(engine: LlamaEngine) -> None:
    async with asyncio.timeout(10):
        while any(download.problem is None for download in engine.status().downloads):
            await engine.offers()


async def test_a_model_whose_file_exists_needs_no_download(tmp_path: Path) -> None:
    (tmp_path / "tiny.gguf").write_bytes(TINY_GGUF)
    engine = engine_with(tmp_path, ("false",))
    (offer,) = await engine.offers()
    assert (offer.name, offer.good_at, offer.is_here) == ("tiny", ("writing",), False)
    await engine.fetch("tiny")
    await wait_for_downloads(engine)
    assert engine.status().downloads == ()
    assert (await engine.offers())[0] == msgspec.structs.replace(offer, is_here=True)
    assert (await engine.models())[0].good_at == ("writing",)
    with pytest.raises(Conflict, match="here already"):
        await engine.fetch("tiny")
    await engine.remove("tiny")
    assert not (await engine.offers())[0].is_here
    assert not (tmp_path / "tiny.gguf").exists()
    await engine.close()


async def test_a_failed_download_reports_its_problem_until_it_is_started_again(
    offline: LlamaEngine,
) -> None:
    await offline.fetch("tiny")
    await wait_for_downloads(offline)
    (download,) = offline.status().downloads
    assert download.problem is not None
    assert "tiny could not be fetched" in download.problem
    await offline.fetch("tiny")
    assert offline.status().downloads[0].problem is None
    await wait_for_downloads(offline)
    await offline.remove("tiny")
    assert offline.status().downloads == ()


async def test_a_download_starts_once_and_can_be_cancelled(slow: LlamaEngine) -> None:
    await slow.fetch("tiny")
    await slow.fetch("tiny")
    (download,) = slow.status().downloads
    assert (download.name, download.num_done_bytes, download.num_bytes) == (
        "tiny",
        0,
        ENTRY.num_bytes,
    )
    await slow.remove("tiny")
    assert slow.status().downloads == ()


@pytest.mark.parametrize("name", ["unheard-of", "../tiny.gguf", "owner/repository/file.gguf"])
async def test_only_models_of_the_catalogue_can_be_fetched_or_removed(
    offline: LlamaEngine, name: str
) -> None:
    with pytest.raises(UnknownModel):
        await offline.fetch(name)
    with pytest.raises(UnknownModel):
        await offline.remove(name)


async def test_the_default_model_cannot_be_removed(tmp_path: Path) -> None:
    engine = engine_with(tmp_path, ("false",), model="tiny")
    with pytest.raises(Conflict, match="is the default model"):
        await engine.remove("tiny")


async def test_a_failure_is_dropped_once_the_weights_arrive_another_way(
    tmp_path: Path,
) -> None:
    engine = engine_with(tmp_path, ("false",), model="tiny")
    await engine.fetch("tiny")
    await wait_for_downloads(engine)
    assert engine.status().downloads[0].problem
    (tmp_path / "tiny.gguf").write_bytes(TINY_GGUF)
    await Catalogue(tmp_path, entries=[ENTRY]).pull("tiny")
    assert engine.status().downloads == ()
    with pytest.raises(Conflict, match="is the default model"):
        await engine.remove("tiny")
    assert (tmp_path / "tiny.gguf").exists()
    await engine.close()


class Buggy(Catalogue):
    async def pull(
        self, name: str, on_progress: Callable[[Download], None] = lambda _: None
    ) -> Weights:
        on_progress(Download(name, 1, 2))
        raise ZeroDivisionError("a bug")


async def test_a_bug_in_a_download_is_logged_and_shown_as_a_problem(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    engine = LlamaEngine(Settings(model="another"), Buggy(tmp_path, entries=[ENTRY]))
    await engine.fetch("tiny")
    await wait_for_downloads(engine)
    (download,) = engine.status().downloads
    assert (download.num_done_bytes, download.num_bytes) == (1, 2)
    assert "a bug" not in (download.problem or "")
    assert "ZeroDivisionError" in caplog.text
    await engine.fetch("tiny")
    await wait_for_downloads(engine)
    await engine.close()
