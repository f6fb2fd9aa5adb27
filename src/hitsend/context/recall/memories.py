"""Finds a person's memories that are relevant to a question, and those a request refers to.

Relevance is the embedding similarity above a baseline: the similarity of the question to
sentences that say nothing, in each language, because an embedder for one language finds all texts
of another similar. Without an embedding, shared words are compared.
"""

import asyncio
import struct
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from operator import mul

from cachetools import LRUCache
from msgspec.structs import replace

from hitsend.context.recall.vector_search import (
    MAX_QUESTION_CHARS,
    Rows,
    VectorIndex,
    VectorSource,
    embed_question,
    with_timeout,
)
from hitsend.context.window import take_fitting
from hitsend.engine import Embedder
from hitsend.errors import EngineDown
from hitsend.memory.imperatives import remove_imperatives
from hitsend.memory.match import match_memories
from hitsend.memory.relevance import MIN_SCORE, MIN_WORD_OVERLAP, score_relevance, word_overlaps
from hitsend.store import Memory, Store

NUM_CANDIDATES = 24
MAX_CHARS = 1_200
"""All memories shown with one question together: a small part of a small window."""
MAX_WITHOUT_VECTOR = 100
"""Only the newest memories without a vector are compared, by words."""
BATCH_SIZE = 32
MAX_PEOPLE = 1_000
"""People for whom the embedded version is cached."""

BASELINE_SENTENCES = {
    "en": ("I like it.", "We are here today.", "That was long ago.", "Can you help me?"),
    "de": ("Das mag ich.", "Wir sind heute hier.", "Das ist lange her.", "Kannst du mir helfen?"),
    "fr": ("Ça me plaît.", "On est ici ce soir.", "C'était il y a longtemps.", "Tu m'aides ?"),
    "es": ("Me gusta.", "Hoy estamos aquí.", "Eso fue hace mucho.", "¿Me puedes ayudar?"),
}
"""They say nothing: a question is this similar to everything."""


class MemoryRecall:
    def __init__(self, store: Store, embedder: Embedder | None, index: VectorIndex) -> None:
        self._store = store
        self._embedder = embedder
        self._index = index
        self._baselines: list[tuple[float, ...]] = []
        """The mean vector of the baseline sentences of each language."""
        self._embedded_version = LRUCache[str, int](MAX_PEOPLE)
        self._known_any = LRUCache[str, tuple[int, bool]](MAX_PEOPLE)
        """By person, the version at which every memory had a vector."""

    async def find(
        self, user_id: str, question: str, limit: int, known: Collection[str] = ()
    ) -> list[Memory]:
        """Returns the most relevant first, without imperatives. Skips the `known` ids."""
        scores = await self._scores(user_id, question[:MAX_QUESTION_CHARS], len(known))
        found = [
            memory for memory, score in scores if score >= MIN_SCORE and memory.id not in known
        ]
        if not found:
            return []
        shown = await asyncio.to_thread(_remove_imperatives, found)
        return take_fitting(MAX_CHARS, shown, lambda memory: len(memory.text))[:limit]

    async def match(self, user_id: str, about: str) -> list[Memory]:
        """Includes suggestions. Compares words only, because similar is not the same."""
        texts = await self._store.memories.read_all_texts(user_id, include_suggested=True)
        ids = await asyncio.to_thread(match_memories, about, texts)
        return list(await self._store.memories.get_many(user_id, ids))

    async def embed_new(self, user_id: str) -> None:
        """Stops when the embedder is down. The next turn tries again."""
        if self._embedder is None:
            return
        with suppress(EngineDown):
            await self._embed_new(user_id, self._embedder)

    async def _embed_new(self, user_id: str, embedder: Embedder) -> None:
        memories, version = self._store.memories, self._store.memories.changes.version
        while texts := await self._without_vectors(user_id, embedder, BATCH_SIZE):
            vectors = await embedder.embed(list(texts.values()))
            await memories.set_vectors(user_id, embedder.name, texts, vectors)
            version = memories.changes.version
        self._embedded_version[user_id] = version

    async def _without_vectors(
        self, user_id: str, embedder: Embedder, limit: int
    ) -> Mapping[str, str]:
        """After all had vectors, checks only what changed since: that is faster."""
        version, memories = self._embedded_version.get(user_id), self._store.memories
        changed = None if version is None else memories.changes.since(version, user_id)
        if changed is not None and not changed:
            return {}
        return await memories.without_vectors(user_id, embedder.name, limit, changed)

    async def _scores(
        self, user_id: str, question: str, num_known: int = 0
    ) -> list[tuple[Memory, float]]:
        """Returns scored candidates, best first. The person waits for the answer, so a slow
        embedder is not waited for, and one without memories to search is not started."""
        if not await self._has_any(user_id):
            return []
        limit = NUM_CANDIDATES + num_known
        if self._embedder is not None:
            by_vector = self._score_by_vector(user_id, question, self._embedder, limit)
            if (scores := await with_timeout(by_vector)) is not None:
                return scores
        return await self._score_by_words(user_id, question, limit)

    async def _has_any(self, user_id: str) -> bool:
        """Cached until any memory changes: most people have none, and every Send asks."""
        version = self._store.memories.changes.version
        known = self._known_any.get(user_id)
        if known is None or known[0] != version:
            known = version, await self._store.memories.has_any(user_id)
            self._known_any[user_id] = known
        return known[1]

    async def _score_by_vector(
        self, user_id: str, question: str, embedder: Embedder, limit: int
    ) -> list[tuple[Memory, float]]:
        source = self._source(user_id, embedder)
        vector, new_texts = await asyncio.gather(
            embed_question(question, embedder), self._refresh(source, embedder)
        )
        baseline, now = await self._baseline(vector, embedder), time.time()
        hits = await self._index.search(source, vector, limit, min_score=baseline)
        similarities = {hit.id: hit.score - baseline for hit in hits}
        overlaps = await _overlaps(question, new_texts, limit)

        def score(memory: Memory) -> float:
            if memory.id not in similarities:
                return overlaps[memory.id]
            age_s = now - memory.updated_at
            return score_relevance(similarities[memory.id], question, memory.text, age_s)

        found = await self._store.memories.get_many(user_id, [*(similarities | overlaps)])
        return sorted(((one, score(one)) for one in found), key=lambda one: -one[1])

    async def _refresh(self, source: VectorSource, embedder: Embedder) -> Mapping[str, str]:
        """Returns the texts without vectors. Reads them before the vectors, so one that gets its
        vector meanwhile is in either."""
        texts = await self._without_vectors(source.owner_id, embedder, MAX_WITHOUT_VECTOR)
        await self._index.refresh(source)
        return texts

    def _source(self, user_id: str, embedder: Embedder) -> VectorSource:
        memories = self._store.memories

        async def load(ids: Collection[str] | None) -> Rows:
            return Rows(*await memories.vectors(user_id, embedder.name, ids))

        return VectorSource(user_id, memories.changes, load)

    async def _baseline(self, vector: bytes, embedder: Embedder) -> float:
        """Returns the highest similarity to a language's baseline sentences."""
        if not self._baselines:
            embedded = [await embedder.embed(one) for one in BASELINE_SENTENCES.values()]
            self._baselines = [_mean(vectors) for vectors in embedded]
        question = _unpack(vector)
        similarities: list[float] = [sum(map(mul, question, one)) for one in self._baselines]
        return max(similarities)

    async def _score_by_words(
        self, user_id: str, question: str, limit: int
    ) -> list[tuple[Memory, float]]:
        texts = await self._store.memories.read_all_texts(user_id)
        overlaps = await _overlaps(question, texts, limit)
        found = await self._store.memories.get_many(user_id, list(overlaps))
        return [(memory, overlaps[memory.id]) for memory in found]


async def _overlaps(question: str, texts: Mapping[str, str], limit: int) -> dict[str, float]:
    if not texts:
        return {}
    return await asyncio.to_thread(_best_overlaps, question, texts, limit)


def _remove_imperatives(memories: Sequence[Memory]) -> list[Memory]:
    stated = ((memory, remove_imperatives(memory.text)) for memory in memories)
    return [replace(memory, text=text) for memory, text in stated if text]


def _best_overlaps(question: str, texts: Mapping[str, str], limit: int) -> dict[str, float]:
    """Returns the best overlaps by id, best first."""
    overlaps = word_overlaps(question, texts)
    enough = [key for key, overlap in overlaps.items() if overlap >= MIN_WORD_OVERLAP]
    best = sorted(enough, key=lambda key: -overlaps[key])[:limit]
    return {key: overlaps[key] for key in best}


def _mean(vectors: Sequence[bytes]) -> tuple[float, ...]:
    columns = zip(*map(_unpack, vectors), strict=True)
    return tuple(sum(column) / len(vectors) for column in columns)


def _unpack(vector: bytes) -> tuple[float, ...]:
    return struct.unpack(f"<{len(vector) // 4}f", vector)
