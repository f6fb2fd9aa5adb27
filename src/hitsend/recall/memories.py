"""What a person had remembered that matters for a question, and which memory they mean.

By meaning, where an embedder knows it: by how much more alike the two are than any two texts of
their language, for a model of one language finds all texts of another alike. By words where it
does not. Nothing at all for a question that none of it is about.
"""

import asyncio
import struct
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from operator import mul

from hitsend.engine import Embedder
from hitsend.errors import EngineDown
from hitsend.memory.relevance import LEAST, LEAST_IN_COMMON, in_common, nearness
from hitsend.recall.exact import Hit, Nearest, Rows
from hitsend.recall.questions import MOST_QUESTION_CHARS, PATIENCE_S
from hitsend.store import Memory, Store

NUM_CANDIDATES = 24
"""Looked at closely."""
MOST_CHARS = 1_200
"""Of all memories shown with one question: a small part of a small window."""
NUM_UNSEEN = 100
"""Of those no embedder has seen yet, so many are compared by their words."""
NUM_LEARNED_AT_ONCE = 32
MEANT = 0.4
"""As near as what somebody wants forgotten has to be: a wrong guess would cost more."""
AS_MUCH = 0.1
"""As near as the nearest, or about as near, is meant too."""

PLAIN = {
    "en": ("I like it.", "We are here today.", "That was long ago.", "Can you help me?"),
    "de": ("Das mag ich.", "Wir sind heute hier.", "Das ist lange her.", "Kannst du mir helfen?"),
    "fr": ("Ça me plaît.", "On est ici ce soir.", "C'était il y a longtemps.", "Tu m'aides ?"),
    "es": ("Me gusta.", "Hoy estamos aquí.", "Eso fue hace mucho.", "¿Me puedes ayudar?"),
}
"""What says next to nothing: as alike as a question is to these, it is to everything."""


class MemoryRecall:
    def __init__(self, store: Store, embedder: Embedder | None, nearest: Nearest) -> None:
        self._store = store
        self._embedder = embedder
        self._nearest = nearest
        self._plain: list[tuple[float, ...]] = []
        """Of each language, the middle of what says nothing in it."""
        self._learned: dict[str, str] = {}
        """Up to which version all of a person's memories were seen."""

    async def find(
        self, user_id: str, question: str, most: int, known: Collection[str] = ()
    ) -> list[Memory]:
        """The nearest first. Those that are `known` are not found again."""
        scores = await self._scores(user_id, question[:MOST_QUESTION_CHARS])
        near = [memory for memory, score in scores if score >= LEAST and memory.id not in known]
        return _within(near[:most], MOST_CHARS)

    async def find_meant(self, user_id: str, about: str) -> list[Memory]:
        """Those somebody speaks of: the nearest, and any other that is meant as much."""
        scores = await self._scores(user_id, about)
        return [
            memory for memory, score in scores if score >= MEANT and score >= scores[0][1] - AS_MUCH
        ]

    async def learn(self, user_id: str) -> None:
        """Vectors of those that have none, as far as there is somebody to make them: whoever asks
        next has it tried again."""
        version = self._store.memories.version(user_id)
        if self._embedder is None or self._learned.get(user_id) == version:
            return
        with suppress(EngineDown):
            self._learned[user_id] = await self._learn(user_id, self._embedder, version)

    async def _learn(self, user_id: str, embedder: Embedder, version: str) -> str:
        """Up to which version all were seen."""
        memories = self._store.memories
        while texts := await memories.unseen(user_id, embedder.name, NUM_LEARNED_AT_ONCE):
            vectors = await embedder.embed(list(texts.values()))
            await memories.learn(user_id, embedder.name, texts, vectors)
            version = memories.version(user_id)
        return version

    async def _scores(self, user_id: str, question: str) -> list[tuple[Memory, float]]:
        """Of all that may be near, the nearest first. Somebody waits for the answer: an embedder
        that does not tell soon is not waited for, and one that nobody needs is not even begun."""
        if not await self._store.memories.has_any(user_id):
            return []
        if self._embedder is not None:
            with suppress(EngineDown, TimeoutError):
                async with asyncio.timeout(PATIENCE_S):
                    return await self._by_meaning(user_id, question, self._embedder)
        return await self._by_words(user_id, question)

    async def _by_meaning(
        self, user_id: str, question: str, embedder: Embedder
    ) -> list[tuple[Memory, float]]:
        vector = (await embedder.embed([question]))[0]
        plain, now = await self._likeness_to_all(vector, embedder), time.time()
        hits = await self._nearest_to(user_id, vector, embedder, least=plain)
        found = {one.id: one for one in await self._some(user_id, hits)}
        scores = [
            (memory, nearness(hit.score - plain, question, memory.text, now - memory.updated_at))
            for hit in hits
            if (memory := found.get(hit.id))
        ]
        if self._learned.get(user_id) != self._store.memories.version(user_id):
            unseen = await self._store.memories.unseen(user_id, embedder.name, NUM_UNSEEN)
            scores += await self._in_common(user_id, question, unseen)
        return sorted(scores, key=lambda one: -one[1])

    async def _nearest_to(
        self, user_id: str, vector: bytes, embedder: Embedder, least: float
    ) -> list[Hit]:
        memories = self._store.memories

        async def load() -> Rows:
            return Rows(*await memories.vectors(user_id, embedder.name))

        space, version = f"memories:{user_id}", f"{embedder.name} {memories.version(user_id)}"
        return await self._nearest.nearest(
            space, version, load, vector, NUM_CANDIDATES, least=least
        )

    async def _some(self, user_id: str, hits: Sequence[Hit]) -> Sequence[Memory]:
        return await self._store.memories.some(user_id, [hit.id for hit in hits])

    async def _likeness_to_all(self, vector: bytes, embedder: Embedder) -> float:
        """How alike a text is to what says nothing, in the language in which it is most so."""
        if not self._plain:
            told = [await embedder.embed(sentences) for sentences in PLAIN.values()]
            self._plain = [_middle(vectors) for vectors in told]
        asked = _numbers(vector)
        likeness: list[float] = [sum(map(mul, asked, language)) for language in self._plain]
        return max(likeness)

    async def _by_words(self, user_id: str, question: str) -> list[tuple[Memory, float]]:
        texts = await self._store.memories.every_text(user_id)
        return await self._in_common(user_id, question, texts)

    async def _in_common(
        self, user_id: str, question: str, texts: Mapping[str, str]
    ) -> list[tuple[Memory, float]]:
        shares = await asyncio.to_thread(_most_in_common, question, texts)
        found = await self._store.memories.some(user_id, list(shares))
        return [(memory, shares[memory.id]) for memory in found]


def _most_in_common(question: str, texts: Mapping[str, str]) -> dict[str, float]:
    """By id, the most first; only what is no chance."""
    shares = {key: in_common(question, text) for key, text in texts.items()}
    enough = [key for key, share in shares.items() if share >= LEAST_IN_COMMON]
    best = sorted(enough, key=lambda key: -shares[key])[:NUM_CANDIDATES]
    return {key: shares[key] for key in best}


def _within(memories: Sequence[Memory], most_chars: int) -> list[Memory]:
    """As many of the first as have room together."""
    kept: list[Memory] = []
    for memory in memories:
        most_chars -= len(memory.text)
        if most_chars < 0:
            break
        kept.append(memory)
    return kept


def _middle(vectors: Sequence[bytes]) -> tuple[float, ...]:
    columns = zip(*map(_numbers, vectors), strict=True)
    return tuple(sum(column) / len(vectors) for column in columns)


def _numbers(vector: bytes) -> tuple[float, ...]:
    return struct.unpack(f"<{len(vector) // 4}f", vector)
