"""Finds older exchanges of a conversation that are relevant to a question.

Each question is compared together with the start of its answer, by embedding and by words.
Embeddings are computed in the background, before the conversation outgrows its window; until
then, and without an embedder, only words are compared.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence, Set

from cachetools import LRUCache

from hitsend.context.recall.vector_search import (
    MAX_QUESTION_CHARS,
    Rows,
    VectorIndex,
    VectorSource,
    embed_question,
    with_timeout,
)
from hitsend.engine import Embedder
from hitsend.errors import EngineDown
from hitsend.memory.relevance import MIN_WORD_OVERLAP, word_overlap
from hitsend.store import Exchange, Store

BATCH_SIZE = 16
READ_SIZE = 256
"""Exchanges without vectors that are read at once: finding them takes a look at every message."""
MAX_WAITING = 8
"""New exchanges of a conversation that are embedded together."""
NUM_CANDIDATES = 64
MAX_WITHOUT_VECTOR = 200
"""Only the newest exchanges without a vector are compared."""
MAX_CONVERSATIONS = 1_000
"""Conversations for which the embedded part is cached."""
WORD_WEIGHT = 0.3
"""Names and numbers mean little to an embedder."""
MIN_SIMILARITY, MIN_SCORE = 0.1, 0.3
"""Required of the similarity alone, and of similarity and words together."""


class ExchangeRecall:
    def __init__(self, store: Store, embedder: Embedder | None, index: VectorIndex) -> None:
        self._exchanges = store.exchanges
        self._embedder = embedder
        self._index = index
        self._embedded_up_to = LRUCache[str, str](MAX_CONVERSATIONS)
        """By conversation, the last message up to which every exchange has a vector."""
        self._num_waiting = LRUCache[str, int](MAX_CONVERSATIONS)
        """By conversation, the exchanges that were added since all had vectors."""

    async def find(
        self, conversation_id: str, user_id: str, question: str, before: Sequence[str], limit: int
    ) -> list[Exchange]:
        if not before:
            return []
        place, allowed = (conversation_id, user_id), frozenset(before)
        embedder, similarities = self._embedder, dict[str, float]()
        if (
            embedder is None
            or (vector := await with_timeout(embed_question(question, embedder))) is None
        ):
            candidates = await self._exchanges.get(*place, before[-MAX_WITHOUT_VECTOR:])
        else:
            # First those without vectors: one that gets its vector meanwhile is in either.
            without_vectors = await self._without_vectors(*place, embedder.name, before)
            similarities = await self._search(*place, embedder.name, vector, allowed)
            candidates = {**without_vectors, **await self._exchanges.get(*place, similarities)}
        overlaps = await asyncio.to_thread(_overlaps, question[:MAX_QUESTION_CHARS], candidates)
        return [candidates[message_id] for message_id in _best(overlaps, similarities, limit)]

    async def embed_new(self, conversation_id: str, user_id: str) -> None:
        """Called after every turn, but embeds only every few: a new exchange stays in the window
        for a while. Stops when the embedder is down; the next turn tries again."""
        if (embedder := self._embedder) is None:
            return
        num_waiting = self._num_waiting.get(conversation_id, MAX_WAITING) + 1
        self._num_waiting[conversation_id] = num_waiting
        if num_waiting < MAX_WAITING:
            return
        place = conversation_id, user_id, embedder.name
        while new := await self._exchanges.without_vectors(*place, READ_SIZE):
            for start in range(0, len(new), BATCH_SIZE):
                batch = new[start : start + BATCH_SIZE]
                try:
                    vectors = await embedder.embed([_text(exchange) for exchange in batch])
                except EngineDown:
                    return
                ids = [exchange.message_id for exchange in batch]
                by_id = dict(zip(ids, vectors, strict=True))
                await self._exchanges.set_vectors(*place, by_id)
        self._num_waiting[conversation_id] = 0

    async def _without_vectors(
        self, conversation_id: str, user_id: str, embedder: str, before: Sequence[str]
    ) -> Mapping[str, Exchange]:
        """Skips the query for a conversation known to be complete: finding nothing among a
        thousand exchanges takes a while."""
        last_id, allowed = before[-1], frozenset(before)
        if self._embedded_up_to.get(conversation_id) == last_id:
            return {}
        newest = await self._exchanges.without_vectors(
            conversation_id, user_id, embedder, MAX_WITHOUT_VECTOR
        )
        found = {one.message_id: one for one in newest if one.message_id in allowed}
        if not found and len(newest) < MAX_WITHOUT_VECTOR:
            self._embedded_up_to[conversation_id] = last_id
        return found

    async def _search(
        self,
        conversation_id: str,
        user_id: str,
        embedder: str,
        vector: bytes,
        allowed: Set[str],
    ) -> dict[str, float]:
        """Returns the similarities of the most similar exchanges."""

        async def load(ids: Collection[str] | None) -> Rows:
            return Rows(*await self._exchanges.vectors(conversation_id, user_id, embedder, ids))

        source = VectorSource(conversation_id, self._exchanges.changes, load)
        hits = await self._index.search(
            source, vector, NUM_CANDIDATES, min_score=MIN_SIMILARITY, allowed_ids=allowed
        )
        return {hit.id: hit.score for hit in hits}


def _overlaps(question: str, exchanges: Mapping[str, Exchange]) -> dict[str, float]:
    return {one: word_overlap(question, _text(exchange)) for one, exchange in exchanges.items()}


def _best(
    overlaps: Mapping[str, float], similarities: Mapping[str, float], limit: int
) -> list[str]:
    """Judges an exchange without a similarity by its word overlap."""
    scores = {
        one: similarities[one] + WORD_WEIGHT * overlap if one in similarities else overlap
        for one, overlap in overlaps.items()
    }
    required = {one: MIN_SCORE if one in similarities else MIN_WORD_OVERLAP for one in scores}
    found = [one for one, score in scores.items() if score >= required[one]]
    return sorted(found, key=lambda one: -scores[one])[:limit]


def _text(exchange: Exchange) -> str:
    return f"{exchange.question}\n{exchange.answer}"
