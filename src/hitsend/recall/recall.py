"""What recalls: memories of a person, and older parts of a conversation.

Where nothing knows meanings, or what does is down, words in common have to do. Nothing here ever
fails a turn for it.
"""

from collections.abc import Collection, Sequence

from hitsend.engine import Embedder
from hitsend.recall.exact import Nearest
from hitsend.recall.exchanges import ExchangeRecall
from hitsend.recall.memories import MemoryRecall
from hitsend.store import Exchange, Memory, Store


class Recall:
    def __init__(self, store: Store, embedder: Embedder | None, nearest: Nearest) -> None:
        self._memories = MemoryRecall(store, embedder, nearest)
        self._exchanges = ExchangeRecall(store, embedder, nearest)

    async def memories(
        self, user_id: str, question: str, *, most: int, known: Collection[str] = ()
    ) -> list[Memory]:
        """What the person wants remembered and is about the question, as a model is told it; the
        nearest first. Without what is `known` already."""
        return await self._memories.find(user_id, question, most, known)

    async def memories_meant(self, user_id: str, about: str) -> list[Memory]:
        """Those the person speaks of, so surely that they could be forgotten for it."""
        return await self._memories.find_meant(user_id, about)

    async def learn_memories(self, user_id: str) -> None:
        """Those that cannot be found by their meaning yet."""
        await self._memories.learn(user_id)

    async def exchanges(
        self, conversation_id: str, user_id: str, question: str, *, before: Sequence[str], most: int
    ) -> list[Exchange]:
        """Of those whose answers are among `before`, those that are about the question; the
        nearest first."""
        return await self._exchanges.find(conversation_id, user_id, question, before, most)

    async def learn_exchanges(self, conversation_id: str, user_id: str) -> None:
        """Those that cannot be found yet. It may take a while."""
        await self._exchanges.learn(conversation_id, user_id)
