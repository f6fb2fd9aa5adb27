"""How close texts are to a question: by meaning, or not at all."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from hitsend.context.recall import ExactSearch, Recall
from hitsend.engine import WordHashes
from hitsend.errors import EngineDown
from hitsend.store import Store


class Meanings(WordHashes):
    name = "meanings"


class Down(Meanings):
    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        raise EngineDown("It is not downloaded yet.")


async def compare(
    tmp_path: Path, copy_database: Callable[[Path], Path], embedder: WordHashes | None
) -> Sequence[float]:
    store = await Store.open(copy_database(tmp_path / "data"))
    recall = Recall(store, embedder, ExactSearch())
    found = await recall.compare("the weather in Rome", ["the weather in Rome", "a timer", ""])
    await store.close()
    return found


async def test_the_same_text_is_closest(
    tmp_path: Path, copy_database: Callable[[Path], Path]
) -> None:
    same, other, _ = await compare(tmp_path, copy_database, Meanings())
    assert same == pytest.approx(1.0, abs=1e-4)
    assert other < same


@pytest.mark.parametrize("embedder", [None, Down(), WordHashes()])
async def test_nothing_is_known_without_vectors_of_meaning(
    tmp_path: Path, copy_database: Callable[[Path], Path], embedder: WordHashes | None
) -> None:
    assert not await compare(tmp_path, copy_database, embedder)
