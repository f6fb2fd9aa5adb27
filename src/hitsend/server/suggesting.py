"""How a message might go on, suggested while it is typed.

The model is shown the draft as the message it is part of, not closed, and says a few tokens
more. Nobody waits for it: after the budget there is none. How long it takes is measured each
time, also when it was too long, and a machine that is too slow for it stops trying.
"""

import asyncio
import time

import msgspec

from hitsend.engine import Engine, GaveWay, Prompt
from hitsend.errors import HitsendError
from hitsend.messages import Message, Sampling, Text
from hitsend.server.pace import Pace

BUDGET_S = 0.15
LEARN_S = 0.6
"""How long to go on without anyone waiting, to learn how long it takes."""
MOST_CHARS = 60
NUM_WINDOW_CHARS = 400
"""Of a long draft about so much of its end is shown. It begins at a multiple of this, so that
what was read for the last key need not be read again."""
SAMPLING = Sampling(temperature=0.0, max_tokens=8, stop=("\n",))


class Suggesting:
    def __init__(self, engine: Engine, instructions: str) -> None:
        self.pace = Pace(BUDGET_S)
        self._engine = engine
        self._instructions = instructions
        self._trying: dict[str, asyncio.Task[str]] = {}

    async def suggest(self, user_id: str, model: str, typed: str) -> str:
        """What might come next; empty where nothing was there in time. A newer question of the
        same person ends the older one, and so does leaving."""
        if (older := self._trying.get(user_id)) is not None:
            older.cancel()
        if not self.pace.may_try():
            return ""
        trying = asyncio.create_task(self._try(model, typed))
        self._trying[user_id] = trying
        trying.add_done_callback(lambda _: self._forget(user_id, trying))
        try:
            done, _ = await asyncio.wait([trying], timeout=BUDGET_S)
        except asyncio.CancelledError:
            trying.cancel()
            raise
        return trying.result() if done and not trying.cancelled() else ""

    async def close(self) -> None:
        trying = list(self._trying.values())
        for one in trying:
            one.cancel()
        if trying:
            await asyncio.wait(trying)

    def _forget(self, user_id: str, trying: asyncio.Task[str]) -> None:
        if self._trying.get(user_id) is trying:
            del self._trying[user_id]

    async def _try(self, model: str, typed: str) -> str:
        began = time.monotonic()
        try:
            async with asyncio.timeout(LEARN_S):
                written = await self._continued(model, typed)
        except (GaveWay, HitsendError):
            return ""  # says nothing of the pace
        except (TimeoutError, asyncio.CancelledError) as given_up:
            if (took_s := time.monotonic() - began) > BUDGET_S:
                self.pace.took(took_s)
            if isinstance(given_up, asyncio.CancelledError):
                raise
            return ""
        self.pace.took(time.monotonic() - began)
        return continuation(typed, written)

    async def _continued(self, model: str, typed: str) -> str:
        await self._engine.require_ready(model)
        start = max(len(typed) // NUM_WINDOW_CHARS - 1, 0) * NUM_WINDOW_CHARS
        draft = Message("user", (Text(typed[start:].rstrip()),), "user")
        instructions = Message("system", (Text(self._instructions),), "system")
        prompt = await self._engine.encode(model, [instructions, draft])
        if (unfinished := open_ended(prompt)) is None:
            raise GaveWay
        return await self._engine.aside(unfinished, SAMPLING, can_wait=False)


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
