"""How long it takes to find what matters for a question among 10,000 memories.

    python -m bench.memories [words|minilm]

In process: what is timed is a part of what happens between Send and the first word, and no route
asks for it alone. One core is enough for it. Each question is new, so its embedding is in the time.
"""

import asyncio
import random
import statistics
import struct
import sys
import tempfile
import time
from pathlib import Path

from bench import machine
from hitsend.engine import Embedder, MiniLm, WordHashes
from hitsend.engine.embedding_weights import MINILM, embedding_catalogue
from hitsend.recall import ExactSearch, Recall
from hitsend.settings import Settings
from hitsend.store import Store

NUM_MEMORIES = 10_000
NUM_QUESTIONS = 50
NUM_CHANGES = 20
BAR_MS = 20.0

THINGS = ("bread", "chess", "boats", "roses", "trains", "maps", "coins", "songs", "cats", "hills")
DEEDS = ("like", "collect", "paint", "dream of", "write about", "read about", "talk about")
PLACES = ("Bern", "Porto", "Oslo", "Rome", "Lima", "Kyoto", "Quito", "Cairo", "Leeds", "Turin")


def memory(number: int) -> str:
    thing, deed = THINGS[number % 10], DEEDS[number % 7]
    return f"I {deed} {thing} in {PLACES[number // 10 % 10]}, number {number}."


def vector(chance: random.Random, num_dimensions: int) -> bytes:
    """Of nothing in particular: to make ten thousand real ones takes minutes, and is not timed."""
    values = [chance.gauss(0, 1) for _ in range(num_dimensions)]
    length = sum(value * value for value in values) ** 0.5
    return struct.pack(f"<{num_dimensions}f", *(value / length for value in values))


async def fill(store: Store, embedder: Embedder) -> str:
    user = await store.accounts.create("Ada", "hash", "member")
    chance = random.Random(5)
    for number in range(NUM_MEMORIES):
        await store.memories.add(user.id, memory(number), "written")
    while texts := await store.memories.unseen(user.id, embedder.name, 500):
        vectors = [vector(chance, embedder.num_dimensions) for _ in texts]
        await store.memories.learn(user.id, embedder.name, texts, vectors)
    return user.id


async def times_ms(recall: Recall, user_id: str, questions: list[str]) -> list[float]:
    taken = []
    for question in questions:
        began = time.perf_counter()
        await recall.memories(user_id, question, most=5)
        taken.append((time.perf_counter() - began) * 1000)
    return taken


async def after_changes_ms(store: Store, recall: Recall, user_id: str) -> tuple[list[float], ...]:
    """The first question after something new, before and after it was learned. One of them is
    removed each time: there may be no more than 10,000."""
    unlearned, learned = [], []
    for number in range(NUM_CHANGES):
        (oldest,) = (await store.memories.list(user_id, offset=NUM_MEMORIES - 1, limit=1)).items
        await store.memories.remove(oldest.id, user_id)
        await store.memories.add(user_id, f"I have a kite with {number} tails.", "written")
        unlearned += await times_ms(recall, user_id, [f"How many tails has kite {number}?"])
        await recall.learn_memories(user_id)
        learned += await times_ms(recall, user_id, [f"Which kite has {number} tails?"])
    return unlearned, learned


async def embedder_called(name: str) -> Embedder:
    if name == "words":
        return WordHashes()
    catalogue = embedding_catalogue(Settings().models_dir)
    await catalogue.pull(MINILM.name)
    return MiniLm(Settings(), catalogue)


async def main(name: str) -> None:
    embedder = await embedder_called(name)
    questions = [
        f"Which {thing} do I {deed} in {place}?"
        for thing, deed, place in zip(THINGS * 5, (DEEDS * 8)[:50], PLACES * 5, strict=True)
    ][:NUM_QUESTIONS]
    with tempfile.TemporaryDirectory() as folder:
        store = await Store.open(Path(folder) / "hitsend.db")
        user_id = await fill(store, embedder)
        recall = Recall(store, embedder, ExactSearch())
        await recall.learn_memories(user_id)
        (first,) = await times_ms(recall, user_id, ["What do I know of Venus?"])
        taken = await times_ms(recall, user_id, [f"{one} Tell me." for one in questions])
        again = await times_ms(recall, user_id, [f"{one} Tell me." for one in questions])
        unlearned, learned = await after_changes_ms(store, recall, user_id)
        await store.close()
    await embedder.close()
    print(machine.this_machine())
    print(f"{NUM_MEMORIES:,} memories, {name}: the first question {first:.0f} ms (reads them all)")
    print(_said("new questions", taken))
    print(_said("the same again", again))
    print(_said("the first after a change, not yet learned", unlearned))
    print(_said("the first after a change, learned", learned))


def _said(what: str, taken: list[float]) -> str:
    median, worst = statistics.median(taken), statistics.quantiles(taken, n=20)[-1]
    return f"{what}: median {median:.1f} ms, p95 {worst:.1f} ms (bar {BAR_MS:.0f} ms)"


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "minilm"))
