"""Finds earlier conversations of a person by words and by meaning.

Words are looked up in the full-text index. Meaning is compared by embeddings of exchanges, which
are computed here, newest first: some before a search, the others in the background afterwards.
"""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial

from hitsend.background import Background
from hitsend.context.recall.exchanges import BATCH_SIZE, WORD_WEIGHT
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
from hitsend.memory.relevance import MIN_WORD_OVERLAP, stems, word_overlaps
from hitsend.store import PastMessage, PastPlace, Store
from hitsend.store.exchanges import owner_of_all

NUM_CANDIDATES = 64
MIN_SIMILARITY = 0.22
"""Less than recall asks for: the model asked, and reads what is found."""
MAX_STEMS = 24
"""Words of a question that are looked up."""


class ConversationRecall:
    def __init__(
        self, store: Store, embedder: Embedder | None, index: VectorIndex, background: Background
    ) -> None:
        self._accounts = store.accounts
        self._past = store.past_messages
        self._embedder = embedder
        self._index = index
        self._background = background

    async def find(
        self, user_id: str, key_id: str | None, question: str, *, except_id: str, limit: int
    ) -> Sequence[PastMessage]:
        """Returns the best message of each conversation that fits, best first. Raises ScopeMissing
        for an API key that may not read conversations."""
        await self._accounts.check_may_read(user_id, key_id)
        question = question[:MAX_QUESTION_CHARS]
        wanted = sorted(stems(question), key=lambda stem: -len(stem))[:MAX_STEMS]
        by_words = await self._past.search_words(user_id, question, wanted, except_id)
        by_meaning = await self._search_meaning(user_id, question, except_id)
        found = {_key(one): one for one in (*by_words, *(one for one, _ in by_meaning))}
        similarities = {_key(one): similarity for one, similarity in by_meaning}
        overlaps = await asyncio.to_thread(_overlaps, question, found)
        return _best(found, similarities, overlaps, limit)

    async def embed_some(self, user_id: str) -> bool:
        """Embeds some exchanges of the person that have no vector yet, newest first. Returns
        whether more may be left."""
        if (embedder := self._embedder) is None:
            return False
        new = await self._past.without_vectors(user_id, embedder.name, BATCH_SIZE)
        if not new:
            return False
        try:
            vectors = await embedder.embed(list(new.values()))
        except EngineDown:
            return False
        by_place = dict(zip(new, vectors, strict=True))
        await self._past.set_vectors(user_id, embedder.name, by_place)
        return len(new) == BATCH_SIZE

    async def _search_meaning(
        self, user_id: str, question: str, except_id: str
    ) -> Sequence[tuple[PastMessage, float]]:
        """Returns none where the embedder is down or slow: then words have to do."""
        if (embedder := self._embedder) is None:
            return ()
        if await with_timeout(self.embed_some(user_id)) is not False:
            self._background.schedule(f"past:{user_id}", partial(self.embed_some, user_id))
        vector = await with_timeout(embed_question(question, embedder))
        if vector is None:
            return ()
        source = self._source(user_id, embedder)
        hits = await self._index.search(source, vector, NUM_CANDIDATES, min_score=MIN_SIMILARITY)
        scores = {PastPlace(*hit.id.split("/", 1)): hit.score for hit in hits}
        found = await self._past.get(user_id, scores, except_id)
        return [(one, scores[PastPlace(*_key(one))]) for one in found]

    def _source(self, user_id: str, embedder: Embedder) -> VectorSource:
        async def load(ids: Collection[str] | None) -> Rows:
            return Rows(*await self._past.vectors(user_id, embedder.name, ids))

        return VectorSource(owner_of_all(user_id), self._past.changes, load)


Key = tuple[str, str]


def _key(message: PastMessage) -> Key:
    return message.conversation_id, message.message_id


def _overlaps(question: str, found: Mapping[Key, PastMessage]) -> Mapping[Key, float]:
    texts = {"/".join(key): f"{one.title}\n{one.text}" for key, one in found.items()}
    overlaps = word_overlaps(question, texts)
    return {key: overlaps.get("/".join(key), 0.0) for key in found}


def _best(
    found: Mapping[Key, PastMessage],
    similarities: Mapping[Key, float],
    overlaps: Mapping[Key, float],
    limit: int,
) -> Sequence[PastMessage]:
    """Judges a message without a similarity by its words. Returns one of each conversation: of
    equals the one that says more than a title, then the newest."""
    scores = {
        key: similarities[key] + WORD_WEIGHT * overlaps[key]
        if key in similarities
        else overlaps[key]
        for key in found
    }
    required = {key: MIN_SIMILARITY if key in similarities else MIN_WORD_OVERLAP for key in found}
    enough = (key for key in found if scores[key] >= required[key])
    ranked: Iterable[Key] = sorted(
        enough, key=lambda key: (-scores[key], not found[key].text, -found[key].at)
    )
    of_conversation = dict[str, PastMessage]()
    for key in ranked:
        of_conversation.setdefault(key[0], found[key])
    return list(of_conversation.values())[:limit]
