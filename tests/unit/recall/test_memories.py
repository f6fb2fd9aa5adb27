"""Which memories are found, whatever the embedder is able to do."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

import pytest

from hitsend.engine import WordHashes
from hitsend.errors import EngineDown
from hitsend.recall import ExactSearch, Recall
from hitsend.store import Store, User


@pytest.fixture
async def store(tmp_path: Path, found: Callable[[Path], Path]) -> AsyncIterator[Store]:
    store = await Store.open(found(tmp_path / "data"))
    yield store
    await store.close()


@pytest.fixture
async def ada(store: Store) -> User:
    return await store.accounts.create("Ada", "hash", "member")


class Down(WordHashes):
    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        raise EngineDown("It is not here yet.")


def recalling(store: Store, embedder: WordHashes | None) -> Recall:
    return Recall(store, embedder, ExactSearch())


@pytest.mark.parametrize("embedder", [WordHashes(), Down(), None])
async def test_what_a_question_is_about_is_found(
    store: Store, ada: User, embedder: WordHashes | None
) -> None:
    recall = recalling(store, embedder)
    bread = await store.memories.add(ada.id, "I bake bread on Sundays.", "written")
    cat = await store.memories.add(ada.id, "My cat is called Minka.", "written")
    for _ in range(2):  # before and after it was learned
        assert await recall.memories(ada.id, "What is my cat called?", most=3) == [cat]
        assert await recall.memories(ada.id, "When do I bake bread?", most=3) == [bread]
        assert await recall.memories(ada.id, "How tall is Everest?", most=3) == []
        assert (
            await recall.memories(ada.id, "When do I bake bread?", most=3, known=[bread.id]) == []
        )
        await recall.learn_memories(ada.id)


async def test_what_was_removed_or_changed_is_not_found_as_it_was(store: Store, ada: User) -> None:
    recall = recalling(store, WordHashes())
    bread = await store.memories.add(ada.id, "I bake bread on Sundays.", "written")
    await recall.learn_memories(ada.id)
    changed = await store.memories.change(bread.id, ada.id, "I fly kites.")
    assert await recall.memories(ada.id, "When do I bake bread?", most=3) == []
    assert await recall.memories(ada.id, "Which kites do I fly?", most=3) == [changed]
    await recall.learn_memories(ada.id)
    await store.memories.remove(bread.id, ada.id)
    assert await recall.memories(ada.id, "Which kites do I fly?", most=3) == []


async def test_together_they_are_never_long(store: Store, ada: User) -> None:
    for number in range(5):
        await store.memories.add(ada.id, f"bread {number} " + "crust " * 120, "written")
    recall = recalling(store, WordHashes())
    await recall.learn_memories(ada.id)
    assert len(await recall.memories(ada.id, "bread crust", most=5)) == 1


async def test_only_what_is_surely_meant_could_be_forgotten(store: Store, ada: User) -> None:
    recall = recalling(store, WordHashes())
    bread = await store.memories.add(ada.id, "I bake bread on Sundays.", "written")
    await store.memories.add(ada.id, "I eat soup on Sundays.", "written")
    await recall.learn_memories(ada.id)
    assert await recall.memories_meant(ada.id, "I bake bread on Sundays") == [bread]
    assert await recall.memories_meant(ada.id, "my cat") == []


async def test_one_persons_memories_are_nothing_to_another(store: Store, ada: User) -> None:
    eve = await store.accounts.create("Eve", "hash", "member")
    recall = recalling(store, WordHashes())
    await store.memories.add(ada.id, "I bake bread on Sundays.", "written")
    async with asyncio.TaskGroup() as learning:
        learning.create_task(recall.learn_memories(ada.id))
        learning.create_task(recall.learn_memories(eve.id))
    assert await recall.memories(eve.id, "When do I bake bread?", most=3) == []
    assert await recall.memories_meant(eve.id, "I bake bread on Sundays") == []


@pytest.mark.parametrize("embedder", [WordHashes(), None])
async def test_however_many_are_known_the_others_are_found(
    store: Store, ada: User, embedder: WordHashes | None
) -> None:
    recall, known = recalling(store, embedder), set[str]()
    for number in range(30):
        await store.memories.add(ada.id, f"I bake bread number {number}.", "written")
    await recall.learn_memories(ada.id)
    for _ in range(6):
        found = await recall.memories(ada.id, "Which bread do I bake?", most=5, known=known)
        assert len(found) == 5
        known |= {memory.id for memory in found}
    assert len(known) == 30
