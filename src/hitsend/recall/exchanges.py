"""Older parts of a conversation that are about a question.

Each question is looked at with the beginning of its answer, by what it means and by its words.
What it means is learned behind the scenes, before the conversation outgrows its window; until
then, and where nothing knows meanings, words have to do.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence

from hitsend.engine import Embedder
from hitsend.errors import EngineDown, EngineLost
from hitsend.memory.relevance import LEAST_IN_COMMON, in_common
from hitsend.recall.exact import Nearest, Rows
from hitsend.recall.questions import MOST_QUESTION_CHARS, vector_of
from hitsend.store import Exchange, Store

NUM_LEARNED_AT_ONCE = 16
NUM_CANDIDATES = 64
"""Looked at closely. Some are of other branches, or are shown anyway."""
NUM_READ = 200
"""Where there are only words to go by, the last ones are read."""
WEIGHT_OF_WORDS = 0.3
"""Of a question whose words are all there. A name or a number means nothing to an embedder."""
LEAST_CANDIDATE, LEAST = 0.1, 0.3
"""As near as an exchange has to be, by its meaning alone, and with its words."""


class ExchangeRecall:
    def __init__(self, store: Store, embedder: Embedder | None, nearest: Nearest) -> None:
        self._exchanges = store.exchanges
        self._embedder = embedder
        self._nearest = nearest

    async def find(
        self, conversation_id: str, user_id: str, question: str, before: Sequence[str], most: int
    ) -> list[str]:
        near = await self._near(conversation_id, user_id, question)
        allowed = frozenset(before)
        ids = [one for one in near if one in allowed] if near else before[-NUM_READ:]
        texts = await self._texts(conversation_id, user_id, ids)
        shares = await asyncio.to_thread(_in_common, question[:MOST_QUESTION_CHARS], texts)
        if not near:
            return _best(shares, LEAST_IN_COMMON, most)
        scores = {one: near[one] + WEIGHT_OF_WORDS * share for one, share in shares.items()}
        return _best(scores, LEAST, most)

    async def learn(self, conversation_id: str, user_id: str) -> None:
        """What cannot be learned now is learned after the next turn."""
        if (embedder := self._embedder) is None:
            return
        while new := await self._exchanges.unlearned(
            conversation_id, user_id, embedder.name, NUM_LEARNED_AT_ONCE
        ):
            try:
                vectors = await embedder.embed([_text(exchange) for exchange in new])
            except (EngineDown, EngineLost):
                return
            ids = [exchange.message_id for exchange in new]
            learned = dict(zip(ids, vectors, strict=True))
            await self._exchanges.learn(conversation_id, user_id, embedder.name, learned)

    async def _near(self, conversation_id: str, user_id: str, question: str) -> Mapping[str, float]:
        """How near each of the nearest is. None of them where that is not known."""
        if (embedder := self._embedder) is None:
            return {}
        if (vector := await vector_of(question, embedder)) is None:
            return {}

        async def load() -> Rows:
            vectors = self._exchanges.vectors(conversation_id, user_id, embedder.name)
            return Rows(*await vectors)

        space, version = f"exchanges:{conversation_id}", self._exchanges.version(conversation_id)
        hits = await self._nearest.nearest(
            space, version, load, vector, NUM_CANDIDATES, least=LEAST_CANDIDATE
        )
        return {hit.id: hit.score for hit in hits}

    async def _texts(
        self, conversation_id: str, user_id: str, ids: Collection[str]
    ) -> Mapping[str, str]:
        exchanges = await self._exchanges.get(conversation_id, user_id, ids)
        return {one: _text(exchange) for one, exchange in exchanges.items()}


def _in_common(question: str, texts: Mapping[str, str]) -> dict[str, float]:
    return {one: in_common(question, text) for one, text in texts.items()}


def _best(scores: Mapping[str, float], least: float, most: int) -> list[str]:
    found = [one for one, score in scores.items() if score >= least]
    return sorted(found, key=lambda one: -scores[one])[:most]


def _text(exchange: Exchange) -> str:
    return f"{exchange.question}\n{exchange.answer}"
