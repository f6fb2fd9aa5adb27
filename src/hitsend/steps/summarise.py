"""Step 11, summarise: prepares for the messages that will soon fall out of the window.

Recall finds them by their vectors, and summaries stand in for them. Nobody waits for a summary, so
it is written only while the engine is idle.
"""

import asyncio
import logging
import re
from collections.abc import Mapping, Sequence
from functools import partial

import msgspec

from hitsend.context.history import MessageRows, split_exchanges
from hitsend.context.summary_ranges import (
    count_covered_prefix,
    count_next_range,
    pick_pair_to_merge,
    select_cover,
)
from hitsend.context.window import HISTORY_SHARE, SUMMARY_SHARE, Context, chars_in_share
from hitsend.engine import Preempted, Prompt
from hitsend.errors import Refused, Unavailable
from hitsend.messages import Role, Sampling
from hitsend.send import Turn
from hitsend.services import Services
from hitsend.store import MessageRow, Summary
from hitsend.store.summaries import new_summary

log = logging.getLogger(__name__)

FULL_SHARE = 0.6
"""The share of the window from which summaries are written. It then takes some turns until
messages fall out."""
RANGE_SHARE = 1 / 6
"""The share of the window that one summary covers: a model says in five sentences what matters."""
NUM_SHOWN = 4
"""Summaries that fit together when each has its full length."""
CHARS_PER_TOKEN = 4
"""In prose."""
SENTENCE_END = re.compile(r"[.!?…](?=\s|$)|[。！？]")
MAX_SUMMARIES = 4
"""Written after one turn. The rest of a long imported conversation follows after later turns."""
READ_MESSAGES = 64
"""Read at once."""
TIMEOUT_S = 180.0
NUM_TRIES = 3


class SummaryPlan(msgspec.Struct, frozen=True):
    conversation_id: str
    user_id: str
    answer_id: str
    model: str
    starts_at: str | None
    num_falling_chars: int
    """How much will fall out of the window next, from `starts_at` on."""
    num_range_chars: int
    """How much one summary covers."""
    num_shown_chars: int
    """How long all summaries may be together."""


def schedule_learning(turn: Turn, context: Context, prompt: Prompt, services: Services) -> None:
    """Has new memories and falling exchanges embedded, and summaries written, in the background."""
    user_id, conversation_id, recall = turn.send.user_id, turn.conversation_id, services.recall
    if not turn.is_api:
        services.background.schedule(f"memories:{user_id}", partial(recall.embed_memories, user_id))
    if _is_outgrown(context, prompt):
        embed = partial(recall.embed_exchanges, conversation_id, user_id)
        services.background.schedule(f"exchanges:{conversation_id}", embed)
        write = partial(_summarise, _plan_summaries(turn, context, prompt), services)
        services.idle_work.schedule(f"summaries:{conversation_id}", write)


def _is_outgrown(context: Context, prompt: Prompt) -> bool:
    """Whether messages fell out of the window, or soon will."""
    if context.seen is None:
        return False
    is_filling = prompt.num_tokens > FULL_SHARE * prompt.num_window_tokens
    return is_filling or context.seen.starts_at is not None


def _plan_summaries(turn: Turn, context: Context, prompt: Prompt) -> SummaryPlan:
    num_chars = sum(len(message.text) for message in context.messages)
    window_chars = num_chars * prompt.num_window_tokens / prompt.num_tokens
    return SummaryPlan(
        conversation_id=turn.conversation_id,
        user_id=turn.send.user_id,
        answer_id=turn.answer_id,
        model=turn.model,
        starts_at=context.seen.starts_at if context.seen else None,
        num_falling_chars=int(window_chars * (1 - HISTORY_SHARE)),
        num_range_chars=int(window_chars * RANGE_SHARE),
        num_shown_chars=chars_in_share(SUMMARY_SHARE, prompt.num_window_tokens),
    )


async def _summarise(plan: SummaryPlan, services: Services) -> None:
    """Writes the next summaries, then merges them until they fit together. An error costs no more
    than the summary it happens in."""
    writer = _SummaryWriter(plan, services)
    try:
        async with asyncio.timeout(TIMEOUT_S):
            for _ in range(MAX_SUMMARIES):
                if not await writer.write_next():
                    return
            while await writer.merge_next():
                continue
    except (TimeoutError, Preempted, Refused, Unavailable) as error:
        log.info("no more summaries for now: %s", type(error).__name__)


class _SummaryWriter:
    def __init__(self, plan: SummaryPlan, services: Services) -> None:
        self._plan = plan
        self._place = plan.conversation_id, plan.user_id
        self._store = services.store
        self._engine = services.engine
        self._prompts = services.prompts

    async def write_next(self) -> bool:
        """Merges two summaries where all are too long together, else covers the next messages.
        Returns False when there is nothing to write."""
        ids, cover = await self._read_cover()
        summary = await self._merge(cover) or await self._summarise_messages(ids, cover)
        return await self._add(summary)

    async def merge_next(self) -> bool:
        _, cover = await self._read_cover()
        return await self._add(await self._merge(cover))

    async def _read_cover(self) -> tuple[Sequence[str], Sequence[Summary]]:
        ids = await self._store.conversations.path_ids(*self._place, self._plan.answer_id)
        return ids, select_cover(ids, await self._store.summaries.list(*self._place))

    async def _add(self, summary: Summary | None) -> bool:
        if summary is None:
            return False
        await self._store.summaries.add(*self._place, self._plan.model, summary)
        return True

    async def _merge(self, cover: Sequence[Summary]) -> Summary | None:
        if not (pair := pick_pair_to_merge(cover, self._plan.num_shown_chars)):
            return None
        parts = [summary.text for summary in pair]
        text = await self._generate("summary_of_summaries", {"parts": parts})
        first, last = pair[0].first_message_id, pair[-1].last_message_id
        level = max(summary.level for summary in pair) + 1
        return new_summary(first, last, level, text) if text else None

    async def _summarise_messages(
        self, ids: Sequence[str], cover: Sequence[Summary]
    ) -> Summary | None:
        exchanges = await self._read_falling(ids, count_covered_prefix(ids, cover))
        num_exchanges = count_next_range(map(_num_chars, exchanges), self._plan.num_range_chars)
        messages = [message for exchange in exchanges[:num_exchanges] for message in exchange]
        if not messages:
            return None
        text = await self._generate("summary", {"conversation": self._render(messages)})
        first, last = messages[0].message_id, messages[-1].message_id
        return new_summary(first, last, 1, text) if text else None

    async def _read_falling(self, ids: Sequence[str], num_covered: int) -> list[MessageRows]:
        """Returns the exchanges that fell out or soon will, and that no summary covers."""
        plan = self._plan
        start = ids.index(plan.starts_at) if plan.starts_at in ids else 0
        exchanges, num_falling = [], 0
        for exchange in await self._read_range(ids, min(start, num_covered)):
            at = ids.index(exchange[0].message_id)
            num_falling += _num_chars(exchange) if at >= start else 0
            if num_falling > plan.num_falling_chars:
                break
            if at >= num_covered:
                exchanges.append(exchange)
        return exchanges

    async def _read_range(self, ids: Sequence[str], first: int) -> list[MessageRows]:
        """Reads exchanges from the message at `first` on: as much as can fall out, and as one
        summary covers."""
        num_wanted = self._plan.num_falling_chars + self._plan.num_range_chars
        rows: list[MessageRow] = []
        while first < len(ids) and sum(len(row.text) for row in rows) <= num_wanted:
            some = ids[first : first + READ_MESSAGES]
            rows += await self._store.conversations.messages(*self._place, some)
            first += READ_MESSAGES
        return list(split_exchanges(tuple(rows))) if rows else []

    def _render(self, messages: Sequence[MessageRow]) -> str:
        """Cuts messages that are long by themselves to their beginnings."""
        most = 2 * self._plan.num_range_chars // len(messages)
        return "\n".join(f"{WHO.get(one.role, one.role)}: {one.text[:most]}" for one in messages)

    async def _generate(self, name: str, values: Mapping[str, object]) -> str:
        plan = self._plan
        messages, picked = await self._prompts.render_messages(
            name, values, user_id=plan.user_id, model=plan.model
        )
        prompt = await self._engine.encode(plan.model, messages)
        sampling = self._limit_length(picked.sampling)
        for _ in range(NUM_TRIES - 1):
            try:
                return _whole_sentences(await self._engine.generate_when_idle(prompt, sampling))
            except Preempted:
                continue  # a person's answer goes first
        return _whole_sentences(await self._engine.generate_when_idle(prompt, sampling))

    def _limit_length(self, sampling: Sampling) -> Sampling:
        """In a small window a summary is shorter than its prompt allows."""
        most = max(self._plan.num_shown_chars // NUM_SHOWN // CHARS_PER_TOKEN, 1)
        return msgspec.structs.replace(sampling, max_tokens=min(sampling.max_tokens or most, most))


WHO: Mapping[Role, str] = {"user": "Person", "assistant": "Assistant"}


def _whole_sentences(text: str) -> str:
    """Drops the end of a sentence that was cut short."""
    ends = [found.end() for found in SENTENCE_END.finditer(text)]
    return text[: ends[-1] if ends else None].strip()


def _num_chars(exchange: MessageRows) -> int:
    return sum(len(stored.text) for stored in exchange)
