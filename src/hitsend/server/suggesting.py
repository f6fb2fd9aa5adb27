"""How a message might go on, suggested while it is typed.

The model is shown the draft as the message it is part of, not closed, and says a few tokens
more. Nobody waits for it: after the budget there is none. How long it takes is measured each
time, also when it was too long, and a machine that is too slow for it stops trying.
"""

import asyncio
import logging
import time

import msgspec

from hitsend.canonical import canonical
from hitsend.engine import Engine, GaveWay, Prompt
from hitsend.errors import HitsendError
from hitsend.messages import Message, Text
from hitsend.prompt_book import PromptBook
from hitsend.server.pace import Pace

log = logging.getLogger(__name__)

BUDGET_S = 0.15
LEARN_S = 0.6
"""How long to go on without anyone waiting, to learn how long it takes."""
MOST_CHARS = 60
NUM_WINDOW_CHARS = 400
"""Of a long draft about so much of its end is shown. It begins at a multiple of this, so that
what was read for the last key need not be read again."""


class Suggesting:
    def __init__(self, engine: Engine, book: PromptBook, instructions: str) -> None:
        self.pace = Pace(BUDGET_S)
        self._engine = engine
        self._book = book
        self._instructions = instructions
        self._trying: dict[str, asyncio.Task[str]] = {}

    async def suggest(self, user_id: str, model: str, typed: str) -> str:
        """What might come next; empty where nothing was there in time. A newer question of the
        same person ends the older one, and so does leaving."""
        if (older := self._trying.get(user_id)) is not None:
            older.cancel()
        trying = asyncio.create_task(self._try(model, typed))
        self._trying[user_id] = trying
        trying.add_done_callback(lambda _: self._end(user_id, trying))
        try:
            done, _ = await asyncio.wait([trying], timeout=BUDGET_S)
        except asyncio.CancelledError:
            trying.cancel()
            raise
        is_there = done and not trying.cancelled() and trying.exception() is None
        return trying.result() if is_there else ""

    async def close(self) -> None:
        trying = list(self._trying.values())
        for one in trying:
            one.cancel()
        if trying:
            await asyncio.wait(trying)

    def _end(self, user_id: str, trying: asyncio.Task[str]) -> None:
        """A bug costs no more than the suggestion, and is not hidden."""
        if self._trying.get(user_id) is trying:
            del self._trying[user_id]
        if not trying.cancelled() and (bug := trying.exception()):
            log.error("a suggestion failed", exc_info=bug)

    async def _try(self, model: str, typed: str) -> str:
        if not self.pace.may_try():
            return ""
        began, is_whole = time.monotonic(), False
        try:
            async with asyncio.timeout(LEARN_S):
                written = await self._continued(model, typed)
            is_whole = True
        except (GaveWay, HitsendError, TimeoutError):
            return ""
        finally:
            self._learn(time.monotonic() - began, is_whole)
        return continuation(typed, written)

    def _learn(self, took_s: float, is_whole: bool) -> None:
        """What ended early may have been too slow already; otherwise it says nothing."""
        if is_whole or took_s > BUDGET_S:
            self.pace.took(took_s)
        else:
            self.pace.told_nothing()

    async def _continued(self, model: str, typed: str) -> str:
        await self._engine.require_ready(model)
        start = max(len(typed) // NUM_WINDOW_CHARS - 1, 0) * NUM_WINDOW_CHARS
        draft = Message("user", (Text(canonical(typed[start:]).rstrip()),), "user")
        told, picked = await self._book.messages(
            "suggestion", {"instructions": self._instructions}, model=model
        )
        prompt = await self._engine.encode(model, [*told, draft])
        if (unfinished := open_ended(prompt)) is None:
            raise GaveWay
        return await self._engine.aside(unfinished, picked.sampling, can_wait=False)


def open_ended(prompt: Prompt) -> Prompt | None:
    """The prompt up to the last word of the message, with nothing that closes it. None where an
    engine counts no tokens."""
    spans = list(prompt.spans)
    while spans and spans[-1].source == "template":
        spans.pop()
    num_tokens = sum(span.num_tokens for span in spans)
    if not num_tokens or not prompt.ids:
        return None
    return msgspec.structs.replace(
        prompt, num_tokens=num_tokens, spans=tuple(spans), ids=prompt.ids[:num_tokens]
    )


def continuation(typed: str, written: str) -> str:
    """What can be put after `typed` as it is: one line of whole words, and nothing that stands
    there already."""
    line = (written.splitlines() or [""])[0][:MOST_CHARS]
    is_open = line[-1:].isalnum() and " " in line.strip()  # its last word may be half a word
    whole = line[: line.rfind(" ")] if is_open else line
    if typed[-1:].isspace():
        whole = whole.lstrip()
    whole = whole.rstrip()
    said, suggested = typed.strip().casefold(), whole.strip().casefold()
    is_said = said.startswith(suggested) or said.endswith(suggested)
    return "" if is_said or not any(map(str.isalnum, whole)) else whole
