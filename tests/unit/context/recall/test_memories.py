"""Recall of memories with an embedder, without one, and with one that is down."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

import pytest

from hitsend.context.recall import ExactSearch, Recall
from hitsend.engine import WordHashes
from hitsend.errors import EngineDown
from hitsend.store import Store, User


@pytest.fixture
async def store(tmp_path: Path, copy_database: Callable[[Path], Path]) -> AsyncIterator[Store]:
    store = await Store.open(copy_database(tmp_path / "data"))
    yield store
    await store.close()


@pytest.fixture
async def ada(store: Store) -> User:
    return await store.accounts.create("Ada", "hash", "member")


class DownEmbedder(WordHashes):
    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        raise EngineDown("It is not downloaded yet.")


def make_recall(store: Store, embedder: WordHashes | None) -> Recall:
    return Recall(store, embedder, ExactSearch())


@pytest.mark.parametrize("embedder", [WordHashes(), DownEmbedder(), None])
async def test_relevant_memories_are_found(
    store: Store, ada: User, embedder: WordHashes | None
) -> None:
    recall = make_recall(store, embedder)
    bread = await store.memories.add(ada.id, "I bake bread on Sundays.", "written")
    cat = await store.memories.add(ada.id, "My cat is called Minka.", "written")
    for _ in range(2):  # before and after it has a vector
        assert await recall.find_memories(ada.id, "What is my cat called?", limit=3) == [cat]
        assert await recall.find_memories(ada.id, "When do I bake bread?", limit=3) == [bread]
        assert await recall.find_memories(ada.id, "How tall is Everest?", limit=3) == []
        assert (
            await recall.find_memories(ada.id, "When do I bake bread?", limit=3, known=[bread.id])
            == []
        )
        await recall.embed_memories(ada.id)


async def test_removed_and_changed_memories_are_not_found_with_their_old_text(
    store: Store, ada: User
) -> None:
    recall = make_recall(store, WordHashes())
    bread = await store.memories.add(ada.id, "I bake bread on Sundays.", "written")
    await recall.embed_memories(ada.id)
    changed = await store.memories.change(bread.id, ada.id, "I fly kites.")
    assert await recall.find_memories(ada.id, "When do I bake bread?", limit=3) == []
    assert await recall.find_memories(ada.id, "Which kites do I fly?", limit=3) == [changed]
    await recall.embed_memories(ada.id)
    await store.memories.remove(bread.id, ada.id)
    assert await recall.find_memories(ada.id, "Which kites do I fly?", limit=3) == []


async def test_the_found_memories_have_a_maximum_length(store: Store, ada: User) -> None:
    for number in range(5):
        await store.memories.add(ada.id, f"bread {number} " + "crust " * 120, "written")
    recall = make_recall(store, WordHashes())
    await recall.embed_memories(ada.id)
    assert len(await recall.find_memories(ada.id, "bread crust", limit=5)) == 1


async def test_only_certain_matches_are_returned_for_forgetting(store: Store, ada: User) -> None:
    recall = make_recall(store, WordHashes())
    bread = await store.memories.add(ada.id, "I bake bread on Sundays.", "written")
    await store.memories.add(ada.id, "I eat soup on Sundays.", "written")
    await recall.embed_memories(ada.id)
    assert await recall.match_memories(ada.id, "I bake bread on Sundays") == [bread]
    assert await recall.match_memories(ada.id, "my cat") == []


async def test_another_persons_memories_are_never_found(store: Store, ada: User) -> None:
    eve = await store.accounts.create("Eve", "hash", "member")
    recall = make_recall(store, WordHashes())
    await store.memories.add(ada.id, "I bake bread on Sundays.", "written")
    async with asyncio.TaskGroup() as learning:
        learning.create_task(recall.embed_memories(ada.id))
        learning.create_task(recall.embed_memories(eve.id))
    assert await recall.find_memories(eve.id, "When do I bake bread?", limit=3) == []
    assert await recall.match_memories(eve.id, "I bake bread on Sundays") == []


@pytest.mark.parametrize("embedder", [WordHashes(), None])
async def test_known_memories_do_not_hide_the_others(
    store: Store, ada: User, embedder: WordHashes | None
) -> None:
    recall, known = make_recall(store, embedder), set[str]()
    for number in range(30):
        await store.memories.add(ada.id, f"I bake bread number {number}.", "written")
    await recall.embed_memories(ada.id)
    for _ in range(6):
        found = await recall.find_memories(ada.id, "Which bread do I bake?", limit=5, known=known)
        assert len(found) == 5
        known |= {memory.id for memory in found}
    assert len(known) == 30
