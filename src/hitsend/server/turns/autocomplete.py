"""Autocomplete: suggests how a message continues while it is typed.

The model gets the draft as an open user message and generates a few more tokens. After 150 ms the
answer is empty. Each duration is recorded, late ones too, and a machine that is too slow for it
stops trying (see `LatencyBudget`).
"""

import asyncio
import logging
import time

import msgspec

from hitsend.canonical import canonicalize
from hitsend.context.notes import Notes
from hitsend.engine import Engine, Preempted, Prompt
from hitsend.errors import HitsendError
from hitsend.messages import Message, Text
from hitsend.prompts.picker import PromptPicker
from hitsend.server.turns.latency_budget import LatencyBudget
from hitsend.settings import Settings

log = logging.getLogger(__name__)

BUDGET_S = 0.15
MEASURE_S = 0.6
"""How long a late suggestion continues, only to measure its duration."""
MAX_CHARS = 60
NUM_WINDOW_CHARS = 400
"""A long draft is cut to about this many of its last characters. The cut is at a multiple of this,
so that consecutive requests share a cached prefix."""


class Autocomplete:
    def __init__(self, engine: Engine, prompts: PromptPicker, settings: Settings) -> None:
        self.budget = LatencyBudget(BUDGET_S)
        self._engine = engine
        self._prompts = prompts
        self._settings = settings
        self._tasks: dict[str, asyncio.Task[str]] = {}
        """The newest one of each user."""

    async def suggest(self, user_id: str, model: str, draft: str) -> str:
        """Returns a continuation, or nothing if there was none in time. A newer request of the same
        user cancels this one, and so does a disconnect."""
        if (older := self._tasks.get(user_id)) is not None:
            older.cancel()
        task = asyncio.create_task(self._measure(model, draft))
        self._tasks[user_id] = task
        task.add_done_callback(lambda _: self._remove(user_id, task))
        try:
            done, _ = await asyncio.wait([task], timeout=BUDGET_S)
        except asyncio.CancelledError:
            task.cancel()
            raise
        is_in_time = done and not task.cancelled() and task.exception() is None
        return task.result() if is_in_time else ""

    async def close(self) -> None:
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def _remove(self, user_id: str, task: asyncio.Task[str]) -> None:
        if self._tasks.get(user_id) is task:
            del self._tasks[user_id]
        if not task.cancelled() and (bug := task.exception()):
            log.error("a suggestion failed", exc_info=bug)

    async def _measure(self, model: str, draft: str) -> str:
        if not self.budget.try_begin():
            return ""
        began, is_complete = time.monotonic(), False
        try:
            async with asyncio.timeout(MEASURE_S):
                generated = await self._generate(model, draft)
            is_complete = True
        except (Preempted, HitsendError, TimeoutError):
            return ""
        finally:
            took_s = time.monotonic() - began
            if is_complete or took_s > BUDGET_S:
                self.budget.record(took_s)
            else:
                self.budget.record_aborted()
        return trim_continuation(draft, generated)

    async def _generate(self, model: str, draft: str) -> str:
        await self._engine.require_ready(model)
        start = max(len(draft) // NUM_WINDOW_CHARS - 1, 0) * NUM_WINDOW_CHARS
        message = Message("user", (Text(canonicalize(draft[start:]).rstrip()),), "user")
        shared = await Notes(self._prompts, "", model).instructions(self._settings)
        instructions, picked = await self._prompts.render_messages(
            "suggestion", {"instructions": shared.text}, model=model
        )
        prompt = await self._engine.encode(model, [*instructions, message])
        if (unclosed := cut_template_end(prompt)) is None:
            raise Preempted
        return await self._engine.generate_when_idle(unclosed, picked.sampling, can_wait=False)


def cut_template_end(prompt: Prompt) -> Prompt | None:
    """Returns the prompt without the template tokens after the user's text, which would close the
    message. Returns None if the engine counts no tokens."""
    spans = list(prompt.spans)
    while spans and spans[-1].source == "template":
        spans.pop()
    num_tokens = sum(span.num_tokens for span in spans)
    if not num_tokens or not prompt.ids:
        return None
    return msgspec.structs.replace(
        prompt, num_tokens=num_tokens, spans=tuple(spans), ids=prompt.ids[:num_tokens]
    )


def trim_continuation(draft: str, generated: str) -> str:
    """Returns one line of whole words that can be appended to the draft as it is. Returns nothing
    if it would only repeat the draft."""
    line = (generated.splitlines() or [""])[0][:MAX_CHARS]
    may_be_cut = line[-1:].isalnum() and " " in line.strip()  # in the middle of its last word
    whole = line[: line.rfind(" ")] if may_be_cut else line
    if draft[-1:].isspace():
        whole = whole.lstrip()
    whole = whole.rstrip()
    typed, suggested = draft.strip().casefold(), whole.strip().casefold()
    is_repetition = typed.startswith(suggested) or typed.endswith(suggested)
    return "" if is_repetition or not any(map(str.isalnum, whole)) else whole
