"""Questions recall the right memories, with the real MiniLM and without it.

The held-out half of memories.toml was not used to choose the thresholds.
"""

import tomllib
from collections.abc import AsyncGenerator, Callable, Mapping
from pathlib import Path

import msgspec
import pytest
import pytest_asyncio
from tests.engine.answer import embedded

from hitsend.context.recall import ExactSearch, Recall
from hitsend.engine import Embedder, MiniLm, WordHashes
from hitsend.engine.embedding.weights import MINILM, embedding_catalogue
from hitsend.settings import Settings
from hitsend.store import Store, User

pytestmark = pytest.mark.asyncio(loop_scope="session")


class Question(msgspec.Struct):
    ask: str
    finds: set[str]
    is_held_out: bool = False


class Unrelated(msgspec.Struct):
    looked_at: list[str]
    held_out: list[str]


class Labelled(msgspec.Struct):
    memories: dict[str, str]
    questions: list[Question]
    unrelated: Unrelated


LABELLED = msgspec.convert(
    tomllib.loads(Path(__file__).with_name("memories.toml").read_text("utf-8")), Labelled
)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def minilm() -> AsyncGenerator[MiniLm, None]:
    catalogue = embedding_catalogue(Settings().models_dir)
    await catalogue.pull(MINILM.name)
    minilm = MiniLm(Settings(), catalogue)
    await embedded(minilm, ["the first request"])
    yield minilm
    await minilm.close()


class Remembered:
    """A person with all memories of the file."""

    def __init__(self, recall: Recall, user: User, names: Mapping[str, str]) -> None:
        self._recall = recall
        self._user = user
        self._names = names

    async def found(self, question: str) -> set[str]:
        near = await self._recall.find_memories(self._user.id, question, limit=3)
        return {self._names[memory.id] for memory in near}

    async def hits(self, *, is_held_out: bool) -> float:
        """Returns the share of questions whose memory is among the first three."""
        questions = [one for one in LABELLED.questions if one.is_held_out is is_held_out]
        hits = [bool(await self.found(one.ask) & one.finds) for one in questions]
        return sum(hits) / len(hits)

    async def misfires(self, unrelated: list[str]) -> float:
        return sum([bool(await self.found(one)) for one in unrelated]) / len(unrelated)


async def remembered(path: Path, embedder: Embedder | None) -> tuple[Store, Remembered]:
    store = await Store.open(path)
    user = await store.accounts.create("Ada", "hash", "member")
    added = {
        (await store.memories.add(user.id, text, "written")).id: name
        for name, text in LABELLED.memories.items()
    }
    recall = Recall(store, embedder, ExactSearch())
    await recall.embed_memories(user.id)
    return store, Remembered(recall, user, added)


async def test_memories_are_found_by_meaning(
    tmp_path: Path, copy_database: Callable[[Path], Path], minilm: MiniLm
) -> None:
    store, ada = await remembered(copy_database(tmp_path / "data"), minilm)
    assert await ada.hits(is_held_out=False) >= 0.9
    assert await ada.hits(is_held_out=True) >= 0.9
    assert await ada.misfires(LABELLED.unrelated.looked_at) <= 0.1
    assert await ada.misfires(LABELLED.unrelated.held_out) <= 0.1
    await store.close()


@pytest.mark.parametrize("embedder", [WordHashes(), None])
async def test_without_a_model_most_memories_are_found_by_words(
    tmp_path: Path, copy_database: Callable[[Path], Path], embedder: Embedder | None
) -> None:
    store, ada = await remembered(copy_database(tmp_path / "data"), embedder)
    assert await ada.hits(is_held_out=True) >= 0.7
    assert await ada.misfires(LABELLED.unrelated.held_out) <= 0.1
    await store.close()
