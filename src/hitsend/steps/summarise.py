"""Step 13, summarise: prepares for the messages that will soon fall out of the window.

Recall finds them by their vectors, and summaries stand in for them. Nobody waits for a summary, so
it is written only while the engine is idle.
"""

import asyncio
import logging
import re
from collections.abc import Mapping, Sequence
from functools import partial

import msgspec

from hitsend.context.history import split_exchanges
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
from hitsend.store import MessagePath, MessageRow, MessageSize, Summary
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
"""Written after one turn, besides merged ones. The rest of a long imported conversation follows
after later turns."""
READ_MESSAGES = 256
"""Whose sizes are read at once."""
TIMEOUT_S = 180.0
"""For one summary, with its wait for an idle engine."""
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
        embed = partial(_embed_exchanges, turn, services)
        services.background.schedule(f"exchanges:{conversation_id}", embed)
        writer = _SummaryWriter(_plan_summaries(turn, context, prompt), services)
        services.idle_work.schedule(f"summaries:{conversation_id}", writer.write_one)


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


async def _embed_exchanges(turn: Turn, services: Services) -> bool:
    """Leaves out the exchange that has just ended: it is in the window."""
    place = turn.conversation_id, turn.send.user_id
    path = await services.store.conversations.path_ids(*place, turn.send.parent_id or "")
    return bool(path) and await services.recall.embed_exchanges(*place, path)


class _SummaryWriter:
    def __init__(self, plan: SummaryPlan, services: Services) -> None:
        self._plan = plan
        self._place = plan.conversation_id, plan.user_id
        self._store = services.store
        self._engine = services.engine
        self._prompts = services.prompts
        self._num_left = MAX_SUMMARIES

    async def write_one(self) -> bool:
        """Returns whether there may be more to write. An error costs no more than the summary it
        happens in."""
        try:
            async with asyncio.timeout(TIMEOUT_S):
                return await self._write_one()
        except (TimeoutError, Preempted, Refused, Unavailable) as error:
            log.info("no more summaries for now: %s", type(error).__name__)
            return False

    async def _write_one(self) -> bool:
        """Merges two summaries where all are too long together, else covers the next messages."""
        path = await self._store.conversations.path_ids(*self._place, self._plan.answer_id)
        cover = select_cover(path, await self._store.summaries.list(*self._place))
        written = [one.summary for one in cover]
        if pair := pick_pair_to_merge(written, self._plan.num_shown_chars):
            summary = await self._merge(pair)
        elif self._num_left:
            self._num_left -= 1
            summary = await self._summarise_messages(path, count_covered_prefix(cover))
        else:
            return False
        if summary is not None:
            await self._store.summaries.add(*self._place, self._plan.model, summary)
        return summary is not None

    async def _merge(self, pair: Sequence[Summary]) -> Summary | None:
        parts = [summary.text for summary in pair]
        text = await self._generate("summary_of_summaries", {"parts": parts})
        first, last = pair[0].first_message_id, pair[-1].last_message_id
        level = max(summary.level for summary in pair) + 1
        return new_summary(first, last, level, text) if text else None

    async def _summarise_messages(self, path: MessagePath, num_covered: int) -> Summary | None:
        exchanges = await self._find_falling(path, num_covered)
        num_exchanges = count_next_range(map(_num_chars, exchanges), self._plan.num_range_chars)
        if not num_exchanges:
            return None
        ids = [one.message_id for exchange in exchanges[:num_exchanges] for one in exchange]
        there = await self._store.conversations.messages(*self._place, ids)
        messages = [message for message in there if not message.is_withheld]
        if not messages:
            return None
        text = await self._generate("summary", {"conversation": self._render(messages)})
        return new_summary(ids[0], ids[-1], 1, text) if text else None

    async def _find_falling(
        self, path: MessagePath, num_covered: int
    ) -> list[tuple[MessageSize, ...]]:
        """Returns the exchanges that fell out or soon will, and that no summary covers."""
        start = path.place(self._plan.starts_at or "") or 0
        at = min(start, num_covered)
        exchanges, num_falling = [], 0
        for exchange in split_exchanges(await self._read_sizes(path, at)):
            at = path.place(exchange[0].message_id) or 0
            num_falling += _num_chars(exchange) if at >= start else 0
            if num_falling > self._plan.num_falling_chars:
                break
            if at >= num_covered:
                exchanges.append(exchange)
        return exchanges

    async def _read_sizes(self, path: MessagePath, first: int) -> tuple[MessageSize, ...]:
        """Reads from the message at `first` on: as much as can fall out, and as one summary
        covers."""
        num_wanted = self._plan.num_falling_chars + self._plan.num_range_chars
        sizes: list[MessageSize] = []
        while first < len(path) and sum(one.num_chars for one in sizes) <= num_wanted:
            ids = path.slice(first, first + READ_MESSAGES)
            sizes += await self._store.conversations.sizes(*self._place, ids)
            first += READ_MESSAGES
        return tuple(sizes)

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


def _num_chars(exchange: Sequence[MessageSize]) -> int:
    return sum(one.num_chars for one in exchange)
