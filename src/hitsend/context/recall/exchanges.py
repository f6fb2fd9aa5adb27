"""Finds older exchanges of a conversation that are relevant to a question.

Each question is compared together with the start of its answer, by embedding and by words.
Embeddings are computed in the background, oldest first, before the conversation outgrows its
window; the newest exchanges without one, and all without an embedder, are compared by words alone.
"""

import asyncio
from collections.abc import Collection, Mapping

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
from hitsend.memory.relevance import MIN_WORD_OVERLAP, word_overlaps
from hitsend.store import Exchange, MessagePath, Store

BATCH_SIZE = 16
"""Exchanges that are embedded together."""
READ_MESSAGES = 512
"""Messages among which exchanges without a vector are looked for at once."""
MIN_WAITING = 16
"""New messages of a conversation before the next ones are embedded: they stay in the window for a
while."""
NUM_CANDIDATES = 64
MAX_WITHOUT_VECTOR = 100
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

    async def find(
        self,
        conversation_id: str,
        user_id: str,
        question: str,
        before: MessagePath,
        limit: int,
        known: Collection[str],
    ) -> list[Exchange]:
        if not before:
            return []
        place = conversation_id, user_id
        newest = before.slice(len(before) - 2 * MAX_WITHOUT_VECTOR, len(before))
        embedder, similarities = self._embedder, dict[str, float]()
        if (
            embedder is None
            or (vector := await with_timeout(embed_question(question, embedder))) is None
        ):
            candidates = await self._exchanges.get(*place, newest)
        else:
            # First those without vectors: one that gets its vector meanwhile is in either.
            without_vectors = await self._without_vectors(*place, embedder.name, before)
            similarities = await self._search(*place, embedder.name, vector, before, len(known))
            candidates = {**without_vectors, **await self._exchanges.get(*place, similarities)}
        candidates = {one: candidates[one] for one in candidates if one not in known}
        overlaps = await asyncio.to_thread(_overlaps, question[:MAX_QUESTION_CHARS], candidates)
        return [candidates[message_id] for message_id in _best(overlaps, similarities, limit)]

    async def embed_some(self, conversation_id: str, user_id: str, path: MessagePath) -> bool:
        """Returns False when the embedder is down; the next turn tries again."""
        start = self._count_embedded(conversation_id, path)
        if (embedder := self._embedder) is None or 0 < len(path) - MIN_WAITING < start:
            return False
        place, ids = (conversation_id, user_id), path.slice(start, start + READ_MESSAGES)
        new = await self._exchanges.without_vectors(*place, embedder.name, ids, BATCH_SIZE)
        if new:
            try:
                vectors = await embedder.embed([_text(exchange) for exchange in new])
            except EngineDown:
                return False
            by_id = {one.message_id: vector for one, vector in zip(new, vectors, strict=True)}
            await self._exchanges.set_vectors(*place, embedder.name, by_id)
        done = new[-1].message_id if len(new) == BATCH_SIZE else ids[-1]
        self._embedded_up_to[conversation_id] = done
        return done != path.last

    def _count_embedded(self, conversation_id: str, path: MessagePath) -> int:
        """Returns how many messages of the path are known to need no vector."""
        last = path.place(self._embedded_up_to.get(conversation_id, ""))
        return 0 if last is None else last + 1

    async def _without_vectors(
        self, conversation_id: str, user_id: str, embedder: str, before: MessagePath
    ) -> Mapping[str, Exchange]:
        start = self._count_embedded(conversation_id, before)
        start = max(start, len(before) - 2 * MAX_WITHOUT_VECTOR)
        if not (ids := before.slice(start, len(before))):
            return {}
        found = await self._exchanges.without_vectors(
            conversation_id, user_id, embedder, ids, MAX_WITHOUT_VECTOR
        )
        return {one.message_id: one for one in found}

    async def _search(
        self,
        conversation_id: str,
        user_id: str,
        embedder: str,
        vector: bytes,
        before: MessagePath,
        num_known: int,
    ) -> dict[str, float]:
        """Returns the similarities of the most similar exchanges."""

        async def load(ids: Collection[str] | None) -> Rows:
            return Rows(*await self._exchanges.vectors(conversation_id, user_id, embedder, ids))

        source = VectorSource(conversation_id, self._exchanges.changes, load)
        num = NUM_CANDIDATES + num_known
        hits = await self._index.search(
            source, vector, num, min_score=MIN_SIMILARITY, allowed_ids=before
        )
        return {hit.id: hit.score for hit in hits}


def _overlaps(question: str, exchanges: Mapping[str, Exchange]) -> dict[str, float]:
    return word_overlaps(question, {one: _text(exchange) for one, exchange in exchanges.items()})


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
