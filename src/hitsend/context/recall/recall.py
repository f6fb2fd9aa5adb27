"""Finds memories of a person and older exchanges of a conversation.

Without an embedder, or when it is down, shared words are compared instead: recall never fails a
turn.
"""

from collections.abc import Collection, Sequence

from hitsend.context.recall.exchanges import ExchangeRecall
from hitsend.context.recall.memories import MemoryRecall
from hitsend.context.recall.vector_search import (
    MAX_QUESTION_CHARS,
    VectorIndex,
    cosine,
    with_timeout,
)
from hitsend.engine import Embedder, WordHashes
from hitsend.store import Exchange, Memory, MessagePath, Store


class Recall:
    def __init__(self, store: Store, embedder: Embedder | None, index: VectorIndex) -> None:
        self._embedder = embedder
        self._memories = MemoryRecall(store, embedder, index)
        self._exchanges = ExchangeRecall(store, embedder, index)

    async def find_memories(
        self, user_id: str, question: str, *, limit: int, known: Collection[str] = ()
    ) -> list[Memory]:
        """Returns the memories relevant to the question, best first, without imperatives. Skips
        the `known` ids."""
        return await self._memories.find(user_id, question, limit, known)

    async def match_memories(self, user_id: str, about: str) -> list[Memory]:
        """Returns the memories the words refer to, surely enough to delete them."""
        return await self._memories.match(user_id, about)

    async def embed_memories(self, user_id: str) -> None:
        """Embeds the memories that have no vector yet."""
        await self._memories.embed_new(user_id)

    async def find_exchanges(
        self,
        conversation_id: str,
        user_id: str,
        question: str,
        *,
        before: MessagePath,
        limit: int,
        known: Collection[str] = (),
    ) -> list[Exchange]:
        """Returns the exchanges relevant to the question, best first, among those whose answers
        are in `before`. Skips the `known` ids."""
        return await self._exchanges.find(conversation_id, user_id, question, before, limit, known)

    async def embed_exchanges(self, conversation_id: str, user_id: str, path: MessagePath) -> bool:
        """Embeds some exchanges of the path that have no vector yet, oldest first. Returns whether
        more may be left."""
        return await self._exchanges.embed_some(conversation_id, user_id, path)

    async def compare(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """Returns how close in meaning each text is to the question, as a cosine. Nothing if there
        are no vectors: shared words would say too little."""
        if self._embedder is None or not texts or self._embedder.name == WordHashes.name:
            return ()
        vectors = await with_timeout(self._embedder.embed([question[:MAX_QUESTION_CHARS], *texts]))
        return [cosine(vectors[0], one) for one in vectors[1:]] if vectors else ()
