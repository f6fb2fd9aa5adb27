"""Older parts of a conversation that are about a question.

Each question is looked at with the beginning of its answer, by what it means and by its words.
What it means is learned behind the scenes, before the conversation outgrows its window; until
then, and where nothing knows meanings, words have to do.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence, Set

from hitsend.engine import Embedder
from hitsend.errors import EngineDown
from hitsend.memory.relevance import LEAST_IN_COMMON, in_common
from hitsend.recall.exact import Nearest, Rows, Space
from hitsend.recall.questions import MOST_QUESTION_CHARS, soon, vector_of
from hitsend.recent import Recent
from hitsend.store import Exchange, Store

NUM_LEARNED_AT_ONCE = 16
NUM_CANDIDATES = 64
"""Looked at closely."""
NUM_READ = 200
"""Of those there are only words to go by, the last ones are read."""
MOST_CONVERSATIONS = 1_000
"""Of which it is kept in mind how far they are learned."""
WEIGHT_OF_WORDS = 0.3
"""Of a question whose words are all there. A name or a number means nothing to an embedder."""
LEAST_CANDIDATE, LEAST = 0.1, 0.3
"""As near as an exchange has to be, by its meaning alone, and with its words."""


class ExchangeRecall:
    def __init__(self, store: Store, embedder: Embedder | None, nearest: Nearest) -> None:
        self._exchanges = store.exchanges
        self._embedder = embedder
        self._nearest = nearest
        self._learned = Recent[str, str](MOST_CONVERSATIONS)
        """By conversation, up to which message everything has its vector."""

    async def find(
        self, conversation_id: str, user_id: str, question: str, before: Sequence[str], most: int
    ) -> list[Exchange]:
        if not before:
            return []
        here, allowed = (conversation_id, user_id), frozenset(before)
        embedder, near = self._embedder, dict[str, float]()
        if embedder is None or (vector := await soon(vector_of(question, embedder))) is None:
            some = await self._exchanges.get(*here, before[-NUM_READ:])
        else:
            # Before the vectors are looked at: what is learned meanwhile is in one or the other.
            unlearned = await self._unlearned(*here, embedder.name, before)
            near = await self._near(*here, embedder.name, vector, allowed)
            some = {**unlearned, **await self._exchanges.get(*here, near)}
        shares = await asyncio.to_thread(_in_common, question[:MOST_QUESTION_CHARS], some)
        return [some[message_id] for message_id in _best(shares, near, most)]

    async def learn(self, conversation_id: str, user_id: str) -> None:
        """What cannot be learned now is learned after the next turn."""
        if (embedder := self._embedder) is None:
            return
        while new := await self._exchanges.unlearned(
            conversation_id, user_id, embedder.name, NUM_LEARNED_AT_ONCE
        ):
            try:
                vectors = await embedder.embed([_text(exchange) for exchange in new])
            except EngineDown:
                return
            ids = [exchange.message_id for exchange in new]
            learned = dict(zip(ids, vectors, strict=True))
            await self._exchanges.learn(conversation_id, user_id, embedder.name, learned)

    async def _unlearned(
        self, conversation_id: str, user_id: str, embedder: str, before: Sequence[str]
    ) -> Mapping[str, Exchange]:
        """Where all is learned it stays so, and is not looked at again until there is more: to
        find nothing among a thousand takes a while."""
        last_id, allowed = before[-1], frozenset(before)
        if self._learned.get(conversation_id) == last_id:
            return {}
        newest = await self._exchanges.unlearned(conversation_id, user_id, embedder, NUM_READ)
        some = {one.message_id: one for one in newest if one.message_id in allowed}
        if not some and len(newest) < NUM_READ:
            self._learned[conversation_id] = last_id
        return some

    async def _near(
        self,
        conversation_id: str,
        user_id: str,
        embedder: str,
        vector: bytes,
        allowed: Set[str],
    ) -> dict[str, float]:
        """How near each of the nearest is."""

        async def load(ids: Collection[str] | None) -> Rows:
            return Rows(*await self._exchanges.vectors(conversation_id, user_id, embedder, ids))

        space = Space(conversation_id, self._exchanges.changes, load)
        hits = await self._nearest.nearest(
            space, vector, NUM_CANDIDATES, least=LEAST_CANDIDATE, among=allowed
        )
        return {hit.id: hit.score for hit in hits}


def _in_common(question: str, exchanges: Mapping[str, Exchange]) -> dict[str, float]:
    return {one: in_common(question, _text(exchange)) for one, exchange in exchanges.items()}


def _best(shares: Mapping[str, float], near: Mapping[str, float], most: int) -> list[str]:
    """By words alone where the meaning is not known."""
    scores = {
        one: near[one] + WEIGHT_OF_WORDS * share if one in near else share
        for one, share in shares.items()
    }
    enough = {one: LEAST if one in near else LEAST_IN_COMMON for one in scores}
    found = [one for one, score in scores.items() if score >= enough[one]]
    return sorted(found, key=lambda one: -scores[one])[:most]


def _text(exchange: Exchange) -> str:
    return f"{exchange.question}\n{exchange.answer}"
