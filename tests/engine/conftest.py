"""The real small model, loaded once for all tests in this folder."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio

from hitsend.engine import Catalogue, LlamaEngine
from hitsend.engine.models.weights import Weights
from hitsend.settings import Settings


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Where several processes share the tests, one takes all of these: it loads the model."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.xdist_group("engine"))


@pytest.fixture(scope="session")
def catalogue() -> Catalogue:
    return Catalogue(Settings().models_dir, None)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def small(catalogue: Catalogue) -> Weights:
    return await catalogue.pull(catalogue.small)


@pytest.fixture(scope="session")
def settings(catalogue: Catalogue) -> Settings:
    """One slot, so that answers repeat; one thread, so that other work slows it little."""
    return Settings(
        model=catalogue.small,
        num_slots=1,
        num_threads=1,
        num_window_tokens=1024,
        engine_wait_s=60.0,
    )


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def engine(
    settings: Settings, catalogue: Catalogue, small: Weights
) -> AsyncGenerator[LlamaEngine, None]:
    engine = LlamaEngine(settings, catalogue)
    await engine.start()
    yield engine
    await engine.close()


@pytest.fixture
def truncated(small: Weights, tmp_path: Path) -> Path:
    """The small model's file without its second half."""
    path = tmp_path / "half.gguf"
    with small.path.open("rb") as whole:
        path.write_bytes(whole.read(small.num_bytes // 2))
    return path
