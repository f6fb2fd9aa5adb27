"""After the last word: what will not fit much longer is summed up in good time, by the model.

Nobody waits for it, so it runs only while the engine has nothing else to do. What does not come to
its end is begun again after the next turn; what was not summed up in time is left out, and the
person is told.
"""

import asyncio
import logging
import re
from collections.abc import Mapping, Sequence

import msgspec

from hitsend.context.history import Stored, exchanges_in
from hitsend.context.stretches import covering, num_covered_from_start, num_in_stretch, to_merge
from hitsend.context.window import KEPT_SHARE, SUMMARY_SHARE, Context, num_chars_within
from hitsend.engine import Engine, GaveWay, Prompt
from hitsend.errors import Refused, Unavailable
from hitsend.messages import Role, Sampling
from hitsend.prompt_book import PromptBook
from hitsend.send import Turn
from hitsend.store import Reach, Store, StoredMessage, Summary
from hitsend.store.summaries import new_summary

log = logging.getLogger(__name__)

FULL_SHARE = 0.6
"""Of the window. From here on it takes some turns until something falls out: time to sum it up."""
STRETCH_SHARE = 1 / 6
"""Of the window, in each summary: a model says in five sentences what matters of so much."""
NUM_SHOWN = 4
"""Summaries that have room together, each as long as it may be."""
CHARS_PER_TOKEN = 4
"""In prose."""
SENTENCE_END = re.compile(r"[.!?…](?=\s|$)|[。！？]")
MOST_AT_ONCE = 4
"""Of a long conversation that was brought along, the others follow after the next turns."""
MOST_CHARS = 4_000_000
"""Of a conversation, read at once."""
MOST_S = 180.0
NUM_TRIES = 3


class ToSumUp(msgspec.Struct, frozen=True):
    """What is known of a conversation that fills its window."""

    conversation_id: str
    user_id: str
    answer_id: str
    model: str
    starts_at: str | None
    num_falling_chars: int
    """As much as will fall out next, from `starts_at` on."""
    num_stretch_chars: int
    num_shown_chars: int
    """Of all summaries together."""


def is_outgrown(context: Context, prompt: Prompt) -> bool:
    """Something fell out, or will before long."""
    if context.seen is None:
        return False
    is_filling = prompt.num_tokens > FULL_SHARE * prompt.num_window_tokens
    return is_filling or context.seen.starts_at is not None


def to_sum_up(turn: Turn, context: Context, prompt: Prompt) -> ToSumUp:
    num_chars = sum(len(message.text) for message in context.messages)
    window_chars = num_chars * prompt.num_window_tokens / prompt.num_tokens
    return ToSumUp(
        conversation_id=turn.conversation_id,
        user_id=turn.send.user_id,
        answer_id=turn.answer_id,
        model=turn.model,
        starts_at=context.seen.starts_at if context.seen else None,
        num_falling_chars=int(window_chars * (1 - KEPT_SHARE)),
        num_stretch_chars=int(window_chars * STRETCH_SHARE),
        num_shown_chars=num_chars_within(SUMMARY_SHARE, prompt.num_window_tokens),
    )


async def summarise(asked: ToSumUp, store: Store, engine: Engine, book: PromptBook) -> None:
    """The next stretches, one after another. What goes wrong costs no more than the summary."""
    writing = _Writing(asked, store, engine, book)
    try:
        async with asyncio.timeout(MOST_S):
            for _ in range(MOST_AT_ONCE):
                if not await writing.write_next():
                    return
    except (TimeoutError, GaveWay, Refused, Unavailable) as error:
        log.info("nothing more was summed up for now: %s", type(error).__name__)


class _Writing:
    def __init__(self, asked: ToSumUp, store: Store, engine: Engine, book: PromptBook) -> None:
        self._asked = asked
        self._store = store
        self._engine = engine
        self._book = book

    async def write_next(self) -> bool:
        """Whether there was one to be written."""
        asked = self._asked
        theirs = asked.conversation_id, asked.user_id
        ids = await self._store.conversations.path_ids(*theirs, asked.answer_id)
        cover = covering(ids, await self._store.summaries.list(*theirs))
        summary = await self._merged(cover) or await self._of_messages(ids, cover)
        if summary is None:
            return False
        await self._store.summaries.add(*theirs, asked.model, summary)
        return True

    async def _merged(self, cover: Sequence[Summary]) -> Summary | None:
        if not (several := to_merge(cover, self._asked.num_shown_chars)):
            return None
        parts = [summary.text for summary in several]
        text = await self._written("summary_of_summaries", {"parts": parts})
        first, last = several[0].first_message_id, several[-1].last_message_id
        level = max(summary.level for summary in several) + 1
        return new_summary(first, last, level, text) if text else None

    async def _of_messages(self, ids: Sequence[str], cover: Sequence[Summary]) -> Summary | None:
        ready = await self._ready(ids, num_covered_from_start(ids, cover))
        num_exchanges = num_in_stretch(map(_num_chars, ready), self._asked.num_stretch_chars)
        said = [stored for exchange in ready[:num_exchanges] for stored in exchange]
        if not said:
            return None
        text = await self._written("summary", {"conversation": self._told(said)})
        return new_summary(said[0].message_id, said[-1].message_id, 1, text) if text else None

    async def _ready(self, ids: Sequence[str], num_done: int) -> list[Stored]:
        """Exchanges that no longer fit or soon will not, and that no summary tells of."""
        asked = self._asked
        place = {message_id: at for at, message_id in enumerate(ids)}
        start = place.get(asked.starts_at or "", 0)
        if not ids or num_done == len(ids):
            return []
        reach = Reach(asked.model, MOST_CHARS, since=ids[min(start, num_done)])
        path = await self._store.conversations.path(
            asked.conversation_id, asked.user_id, asked.answer_id, reach
        )
        ready, num_falling = [], 0
        for exchange in exchanges_in(path):
            at = place[exchange[0].message_id]
            num_falling += _num_chars(exchange) if at >= start else 0
            if num_falling > asked.num_falling_chars:
                break
            if at >= num_done:
                ready.append(exchange)
        return ready

    def _told(self, said: Sequence[StoredMessage]) -> str:
        """Of messages that are long by themselves, the beginnings."""
        most = 2 * self._asked.num_stretch_chars // len(said)
        return "\n".join(f"{WHO.get(one.role, one.role)}: {one.text[:most]}" for one in said)

    async def _written(self, name: str, values: Mapping[str, object]) -> str:
        asked = self._asked
        told, picked = await self._book.messages(
            name, values, user_id=asked.user_id, model=asked.model
        )
        prompt = await self._engine.encode(asked.model, told)
        sampling = self._short(picked.sampling)
        for _ in range(NUM_TRIES - 1):
            try:
                return _whole_sentences(await self._engine.aside(prompt, sampling))
            except GaveWay:
                continue  # a person came first
        return _whole_sentences(await self._engine.aside(prompt, sampling))

    def _short(self, sampling: Sampling) -> Sampling:
        """In a small window, a summary is shorter than its prompt would have it."""
        most = max(self._asked.num_shown_chars // NUM_SHOWN // CHARS_PER_TOKEN, 1)
        return msgspec.structs.replace(sampling, max_tokens=min(sampling.max_tokens or most, most))


WHO: Mapping[Role, str] = {"user": "Person", "assistant": "Assistant"}


def _whole_sentences(text: str) -> str:
    """Without the end of one that was cut short."""
    ends = [found.end() for found in SENTENCE_END.finditer(text)]
    return text[: ends[-1] if ends else None].strip()


def _num_chars(exchange: Stored) -> int:
    return sum(len(stored.text) for stored in exchange)
