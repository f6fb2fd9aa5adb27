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

from msgspec.structs import replace

from hitsend.engine import Embedder
from hitsend.errors import EngineDown
from hitsend.memory.meant import meant
from hitsend.memory.relevance import LEAST, LEAST_IN_COMMON, in_common, nearness
from hitsend.memory.statements import statements
from hitsend.recall.exact import Nearest, Rows, Space
from hitsend.recall.questions import MOST_QUESTION_CHARS, soon, vector_of
from hitsend.recall.room import within
from hitsend.recent import Recent
from hitsend.store import Memory, Store

NUM_CANDIDATES = 24
"""Looked at closely."""
MOST_CHARS = 1_200
"""Of all memories shown with one question: a small part of a small window."""
NUM_UNSEEN = 100
"""Of those no embedder has seen yet, so many are compared by their words."""
NUM_LEARNED_AT_ONCE = 32
MOST_PEOPLE = 1_000
"""Of whom it is kept in mind that there is nothing to learn."""

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
        self._learned = Recent[str, int](MOST_PEOPLE)
        """Up to which version all of a person's memories were seen."""

    async def find(
        self, user_id: str, question: str, most: int, known: Collection[str] = ()
    ) -> list[Memory]:
        """The nearest first, each with what it states. Those that are `known` are not found again,
        and those that state nothing never are."""
        scores = await self._scores(user_id, question[:MOST_QUESTION_CHARS], len(known))
        near = [memory for memory, score in scores if score >= LEAST and memory.id not in known]
        told = await asyncio.to_thread(_told, near)
        return within(MOST_CHARS, told, lambda memory: len(memory.text))[:most]

    async def find_meant(self, user_id: str, about: str) -> list[Memory]:
        """Those somebody speaks of, suggestions among them. By words alone: what means much the
        same is not the same."""
        texts = await self._store.memories.every_text(user_id, and_suggested=True)
        ids = await asyncio.to_thread(meant, about, texts)
        return list(await self._store.memories.some(user_id, ids))

    async def learn(self, user_id: str) -> None:
        """Vectors of those that have none, as far as there is somebody to make them: whoever asks
        next has it tried again."""
        if self._embedder is None:
            return
        with suppress(EngineDown):
            await self._learn(user_id, self._embedder)

    async def _learn(self, user_id: str, embedder: Embedder) -> None:
        memories, version = self._store.memories, self._store.memories.changes.version
        while texts := await self._unseen(user_id, embedder, NUM_LEARNED_AT_ONCE):
            vectors = await embedder.embed(list(texts.values()))
            await memories.learn(user_id, embedder.name, texts, vectors)
            version = memories.changes.version
        self._learned[user_id] = version

    async def _unseen(self, user_id: str, embedder: Embedder, most: int) -> Mapping[str, str]:
        """Since all were seen, only what changed can be unseen: to look at all takes longer."""
        version, memories = self._learned.get(user_id), self._store.memories
        changed = None if version is None else memories.changes.since(version, user_id)
        if changed is not None and not changed:
            return {}
        return await memories.unseen(user_id, embedder.name, most, changed)

    async def _scores(
        self, user_id: str, question: str, num_known: int = 0
    ) -> list[tuple[Memory, float]]:
        """Of all that may be near, the nearest first. Somebody waits for the answer: an embedder
        that does not tell soon is not waited for, and one that nobody needs is not even begun."""
        if not await self._store.memories.has_any(user_id):
            return []
        most = NUM_CANDIDATES + num_known
        if self._embedder is not None:
            by_meaning = self._by_meaning(user_id, question, self._embedder, most)
            if (scores := await soon(by_meaning)) is not None:
                return scores
        return await self._by_words(user_id, question, most)

    async def _by_meaning(
        self, user_id: str, question: str, embedder: Embedder, most: int
    ) -> list[tuple[Memory, float]]:
        space = self._space(user_id, embedder)
        vector, unseen = await asyncio.gather(
            vector_of(question, embedder), self._kept_up(space, embedder)
        )
        plain, now = await self._likeness_to_all(vector, embedder), time.time()
        hits = await self._nearest.nearest(space, vector, most, least=plain)
        alike = {hit.id: hit.score - plain for hit in hits}
        shares = await _shares(question, unseen, most)

        def score(memory: Memory) -> float:
            if memory.id not in alike:
                return shares[memory.id]
            return nearness(alike[memory.id], question, memory.text, now - memory.updated_at)

        found = await self._store.memories.some(user_id, [*(alike | shares)])
        return sorted(((one, score(one)) for one in found), key=lambda one: -one[1])

    async def _kept_up(self, space: Space, embedder: Embedder) -> Mapping[str, str]:
        """What is unseen. It is read before the vectors are: what is learned meanwhile is in one or
        the other."""
        unseen = await self._unseen(space.owner_id, embedder, NUM_UNSEEN)
        await self._nearest.keep_up(space)
        return unseen

    def _space(self, user_id: str, embedder: Embedder) -> Space:
        memories = self._store.memories

        async def load(ids: Collection[str] | None) -> Rows:
            return Rows(*await memories.vectors(user_id, embedder.name, ids))

        return Space(user_id, memories.changes, load)

    async def _likeness_to_all(self, vector: bytes, embedder: Embedder) -> float:
        """How alike a text is to what says nothing, in the language in which it is most so."""
        if not self._plain:
            told = [await embedder.embed(sentences) for sentences in PLAIN.values()]
            self._plain = [_middle(vectors) for vectors in told]
        asked = _numbers(vector)
        likeness: list[float] = [sum(map(mul, asked, language)) for language in self._plain]
        return max(likeness)

    async def _by_words(self, user_id: str, question: str, most: int) -> list[tuple[Memory, float]]:
        texts = await self._store.memories.every_text(user_id)
        shares = await _shares(question, texts, most)
        found = await self._store.memories.some(user_id, list(shares))
        return [(memory, shares[memory.id]) for memory in found]


async def _shares(question: str, texts: Mapping[str, str], most: int) -> dict[str, float]:
    if not texts:
        return {}
    return await asyncio.to_thread(_most_in_common, question, texts, most)


def _told(memories: Sequence[Memory]) -> list[Memory]:
    stated = ((memory, statements(memory.text)) for memory in memories)
    return [replace(memory, text=text) for memory, text in stated if text]


def _most_in_common(question: str, texts: Mapping[str, str], most: int) -> dict[str, float]:
    """By id, the most first; only what is no chance."""
    shares = {key: in_common(question, text) for key, text in texts.items()}
    enough = [key for key, share in shares.items() if share >= LEAST_IN_COMMON]
    best = sorted(enough, key=lambda key: -shares[key])[:most]
    return {key: shares[key] for key in best}


def _middle(vectors: Sequence[bytes]) -> tuple[float, ...]:
    columns = zip(*map(_numbers, vectors), strict=True)
    return tuple(sum(column) / len(vectors) for column in columns)


def _numbers(vector: bytes) -> tuple[float, ...]:
    return struct.unpack(f"<{len(vector) // 4}f", vector)
