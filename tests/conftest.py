"""Fixtures for all tests: an empty database, made once and copied."""

import asyncio
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from hitsend.store import Store

# How long an example takes says something about the machine, not about the code.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty database with every table. Copying it is much faster than migrating a new one."""
    path = tmp_path_factory.mktemp("empty") / "hitsend.db"
    # In a thread of its own: Playwright keeps an event loop running in this one.
    with ThreadPoolExecutor(1) as aside:
        aside.submit(asyncio.run, _make(path)).result()
    return path


async def _make(path: Path) -> None:
    store = await Store.open(path)
    await store.close()


@pytest.fixture
def copy_database(empty_database: Path) -> Callable[[Path], Path]:
    """Copies an empty database into a folder, as a first start would make it; returns its path."""

    def copy(data_dir: Path) -> Path:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        return shutil.copyfile(empty_database, data_dir / empty_database.name)

    return copy
