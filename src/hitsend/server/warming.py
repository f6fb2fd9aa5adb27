"""Reading ahead: the model reads the beginning of a prompt before Send is pressed.

For each person at most one beginning is read, the newest. It is kept in memory only, for a
minute, as tokens; nothing of a draft is stored or logged. What it saves is the engine's to know:
here is only what was read and how long that took.
"""

import asyncio
import logging
import secrets
import time
from collections.abc import Callable, Iterator
from itertools import islice
from typing import ClassVar, Literal, NamedTuple, TypeAlias

import msgspec

from hitsend.context.notes import Notes
from hitsend.engine import Engine, Prompt
from hitsend.errors import Refused, Unavailable
from hitsend.events import Span
from hitsend.send import Send, Warmth
from hitsend.server import passes
from hitsend.server.passes import Claims
from hitsend.turn import Services, weigh

log = logging.getLogger(__name__)

WARM_S = 60.0
MOST_READINGS = 256
NUM_LOOSE_TOKENS = 16
"""At the end of a draft: they change while it is written. So much more of it has to be there
before any more of it is read."""
LOOK_S = 2.0
SOME_TEXT = "…"
"""Stands for a message that is not there yet."""

WarmupState: TypeAlias = Literal["cold", "warming", "warm"]


class Conduit(Claims, frozen=True):
    """A pass that says what was read ahead for a Send."""

    kind: ClassVar[str] = "conduit"

    warm_id: str


def conduit_token(secret: bytes, user_id: str, warm_id: str) -> str:
    claims = Conduit(user_id=user_id, expires_at=time.time() + WARM_S, warm_id=warm_id)
    return passes.sign(secret, claims)


class Warming:
    def __init__(self, engine: Engine, *, keep_s: float = WARM_S) -> None:
        self._engine = engine
        self._keep_s = keep_s
        self._readings: dict[str, Reading] = {}
        """By person, the one begun last at the end."""

    def begin(self, user_id: str, prefix: Prompt) -> str:
        """Read it behind the scenes. What goes on from the person's last one goes on from there;
        anything else ends that one."""
        reading = self._readings.pop(user_id, None)
        if reading is None or not reading.go_on_to(prefix):
            if reading is not None:
                reading.end()
            reading = Reading(self._engine, prefix)
        self._readings[user_id] = reading
        reading.end_in(self._keep_s, lambda: self._forget(user_id))
        for other_id in list(islice(self._readings, max(len(self._readings) - MOST_READINGS, 0))):
            self._forget(other_id)
        return reading.warm_id

    def state(self, warm_id: str) -> WarmupState:
        reading = self._find(warm_id)
        if reading is None or (reading.is_over and not reading.is_whole):
            return "cold"
        return "warm" if reading.is_whole else "warming"

    def taken(self, warm_id: str) -> Warmth | None:
        """What a Send finds read, or being read. None where nothing was."""
        reading = self._find(warm_id)
        return None if reading is None or self.state(warm_id) == "cold" else reading.warmth

    def brought(self, secret: bytes, user_id: str, token: str | None) -> Warmth | None:
        """What the conduit token of a Send stands for. One that does not hold is no error: the
        prompt is read now instead."""
        try:
            return self.taken(passes.read(secret, Conduit, token or "", user_id).warm_id)
        except Refused:
            return None

    async def close(self) -> None:
        tasks = [reading.end() for reading in self._readings.values()]
        self._readings.clear()
        if tasks:
            await asyncio.wait(tasks)

    def _find(self, warm_id: str) -> "Reading | None":
        found = (one for one in self._readings.values() if one.warm_id == warm_id)
        return next(found, None)

    def _forget(self, user_id: str) -> None:
        self._readings.pop(user_id).end()


class Reading:
    """The beginning of one person's prompt, and how much of it was read."""

    def __init__(self, engine: Engine, prefix: Prompt) -> None:
        self.warm_id = secrets.token_urlsafe(12)
        self._engine = engine
        self._prefix = prefix
        self._num_read_tokens = 0
        self._read_ms = 0.0
        self._task = asyncio.create_task(self._read())
        self._ending: asyncio.TimerHandle | None = None

    @property
    def is_over(self) -> bool:
        return self._task.done()

    @property
    def is_whole(self) -> bool:
        return self._num_read_tokens == self._prefix.num_tokens

    @property
    def warmth(self) -> Warmth:
        return Warmth(self.is_whole, self._prefix.model, self._prefix.ids, self._read_ms)

    def go_on_to(self, prefix: Prompt) -> bool:
        """Whether this is its own beginning: then it is read up to there."""
        before = self._prefix
        if prefix.model != before.model or prefix.ids[: before.num_tokens] != before.ids:
            return False
        self._prefix = prefix
        if self._task.done() and not self.is_whole:
            self._task = asyncio.create_task(self._read())
        return True

    def end_in(self, seconds: float, end: Callable[[], None]) -> None:
        if self._ending:
            self._ending.cancel()
        self._ending = asyncio.get_running_loop().call_later(seconds, end)

    def end(self) -> asyncio.Task[None]:
        if self._ending:
            self._ending.cancel()
        self._task.cancel()
        return self._task

    async def _read(self) -> None:
        """Up to the end, which may move on meanwhile. Whoever gave way stops there: the next
        word that is typed begins again."""
        while not self.is_whole:
            prefix = self._prefix
            try:
                read = await self._engine.prefill(prefix)
            except (Refused, Unavailable) as error:
                log.info("nothing was read ahead: %s", error.code)
                return
            self._read_ms += read.prefill_ms
            if not read.is_whole:
                return
            self._num_read_tokens = prefix.num_tokens


def stable_prefix(prompt: Prompt) -> Prompt | None:
    """What will not change however the message goes on: all that comes before it, and of a long
    draft the beginning. Neither notes that are found for it, for those change with it, and what
    follows them moves; nor what the template puts before the answer. None where an engine counts
    no tokens."""
    spans = list(_stable(prompt.spans))
    num_tokens = sum(span.num_tokens for span in spans)
    if not num_tokens or not prompt.ids:
        return None
    return msgspec.structs.replace(
        prompt,
        num_tokens=num_tokens,
        spans=tuple(spans),
        ids=prompt.ids[:num_tokens],
        messages=(),
        tools=(),
    )


def _stable(spans: tuple[Span, ...]) -> Iterator[Span]:
    last = max((i for i, span in enumerate(spans) if span.source != "template"), default=0)
    first = next((i for i, span in enumerate(spans) if span.index == spans[last].index), last)
    yield from spans[:first]
    num_settled = spans[last].num_tokens // NUM_LOOSE_TOKENS * NUM_LOOSE_TOKENS - NUM_LOOSE_TOKENS
    if first == last and num_settled > 0:
        yield msgspec.structs.replace(spans[last], num_tokens=num_settled)


async def keep_instructions_warm(services: Services, look_s: float = LOOK_S) -> None:
    """Until it is cancelled: whichever model answers by default has read what every conversation
    begins with."""
    read: Beginning | None = None
    while True:
        try:
            read = await _warmed(services, read)
        except (Refused, Unavailable):
            read = None  # it may come back with nothing in memory
        await asyncio.sleep(look_s)


class Beginning(NamedTuple):
    """What every conversation with a model begins with."""

    model: str
    instructions: str


async def _warmed(services: Services, read: Beginning | None) -> Beginning | None:
    """What has been read by now."""
    await services.engine.require_ready("auto")
    beginning = await _beginning(services)
    if beginning == read:
        return read
    prompt, _ = await weigh(Send(user_id="", text=SOME_TEXT), services)
    if (prefix := stable_prefix(prompt)) is None:
        return beginning
    prefilled = await services.engine.prefill(prefix)
    return beginning if prefilled.is_whole else None


async def _beginning(services: Services) -> Beginning:
    model = (await services.engine.resolve("auto")).name
    told = await Notes(services.book, "", model).instructions(services.settings.instructions)
    return Beginning(model, told.text)
