"""Prewarming: the model prefills the start of a prompt before Send is pressed.

At most one prefix per user is prefilled, the newest. Its tokens are kept in memory for a minute;
nothing of a draft is stored or logged. The engine knows what a prefill saves: this module only
tracks what was prefilled and how long it took.
"""

import asyncio
import logging
import secrets
import time
from collections.abc import Callable, Iterator
from itertools import islice
from typing import ClassVar, NamedTuple

import msgspec

from hitsend.context.notes import Notes
from hitsend.engine import Engine, Prompt
from hitsend.errors import Refused, Unavailable
from hitsend.events import Span
from hitsend.send import Send, WarmPrefix
from hitsend.server.auth import signed_tokens
from hitsend.server.auth.signed_tokens import Claims
from hitsend.services import Services
from hitsend.turn import preview_prompt
from hitsend.wire.side_events import WarmupState

log = logging.getLogger(__name__)

KEEP_S = 60.0
MAX_PREFILLS = 256
NUM_UNSTABLE_TOKENS = 16
"""At the end of a draft, where tokens change while it is typed. A draft is prefilled in steps of
this many tokens."""
CHECK_S = 2.0
PLACEHOLDER = "…"
"""Stands for a message that is not written yet."""


class ConduitClaims(Claims, frozen=True):
    """Names the prefill that was made for a Send."""

    kind: ClassVar[str] = "conduit"

    warm_id: str


def sign_conduit_token(secret: bytes, user_id: str, warm_id: str) -> str:
    claims = ConduitClaims(user_id=user_id, expires_at=time.time() + KEEP_S, warm_id=warm_id)
    return signed_tokens.sign(secret, claims)


class Prewarm:
    def __init__(self, engine: Engine, *, keep_s: float = KEEP_S) -> None:
        self._engine = engine
        self._keep_s = keep_s
        self._prefills: dict[str, Prefill] = {}
        """By user, ordered by start, the newest last."""

    def start(self, user_id: str, prefix: Prompt) -> str:
        """Prefills the prefix in the background and returns its id. If it extends the user's last
        prefix, that prefill continues; otherwise it is cancelled."""
        prefill = self._prefills.pop(user_id, None)
        if prefill is None or not prefill.try_extend(prefix):
            if prefill is not None:
                prefill.cancel()
            prefill = Prefill(self._engine, prefix)
        self._prefills[user_id] = prefill
        prefill.expire_in(self._keep_s, lambda: self._evict(user_id))
        num_over = max(len(self._prefills) - MAX_PREFILLS, 0)
        for oldest in list(islice(self._prefills, num_over)):
            self._evict(oldest)
        return prefill.warm_id

    def state(self, warm_id: str) -> WarmupState:
        prefill = self._find(warm_id)
        if prefill is None or (prefill.is_done and not prefill.is_complete):
            return "cold"
        return "warm" if prefill.is_complete else "warming"

    def find(self, warm_id: str) -> WarmPrefix | None:
        """Returns what was prefilled, or is being prefilled."""
        prefill = self._find(warm_id)
        return None if prefill is None or self.state(warm_id) == "cold" else prefill.warm_prefix

    def redeem(self, secret: bytes, user_id: str, token: str | None) -> WarmPrefix | None:
        """Returns the prefill that a Send's conduit token names. Without a valid token there is
        none, and the prompt is prefilled when the turn starts."""
        if token is None:
            return None
        try:
            claims = signed_tokens.verify(secret, ConduitClaims, token, user_id)
        except Refused:
            return None
        return self.find(claims.warm_id)

    async def close(self) -> None:
        tasks = [prefill.cancel() for prefill in self._prefills.values()]
        self._prefills.clear()
        if tasks:
            await asyncio.wait(tasks)

    def _find(self, warm_id: str) -> "Prefill | None":
        found = (one for one in self._prefills.values() if one.warm_id == warm_id)
        return next(found, None)

    def _evict(self, user_id: str) -> None:
        self._prefills.pop(user_id).cancel()


class Prefill:
    """The prefill of one user's prefix."""

    def __init__(self, engine: Engine, prefix: Prompt) -> None:
        self.warm_id = secrets.token_urlsafe(12)
        self._engine = engine
        self._prefix = prefix
        self._num_tokens = 0
        self._num_new_tokens = 0
        self._prefill_ms = 0.0
        self._task = asyncio.create_task(self._run())
        self._expiry: asyncio.TimerHandle | None = None

    @property
    def is_done(self) -> bool:
        return self._task.done()

    @property
    def is_complete(self) -> bool:
        return self._num_tokens == self._prefix.num_tokens

    @property
    def warm_prefix(self) -> WarmPrefix:
        return WarmPrefix(
            self.is_complete,
            self._prefix.model,
            self._prefix.ids,
            self._num_new_tokens,
            self._prefill_ms,
        )

    def try_extend(self, prefix: Prompt) -> bool:
        """Continues with `prefix` if it starts with the current one; returns whether it does."""
        current = self._prefix
        if prefix.model != current.model or prefix.ids[: current.num_tokens] != current.ids:
            return False
        self._prefix = prefix
        if self._task.done() and not self.is_complete:
            self._task = asyncio.create_task(self._run())
        return True

    def expire_in(self, seconds: float, expire: Callable[[], None]) -> None:
        if self._expiry:
            self._expiry.cancel()
        self._expiry = asyncio.get_running_loop().call_later(seconds, expire)

    def cancel(self) -> asyncio.Task[None]:
        if self._expiry:
            self._expiry.cancel()
        self._task.cancel()
        return self._task

    async def _run(self) -> None:
        """Prefills up to the end of the prefix, which may be extended meanwhile. A prefill that is
        preempted stops: the next keystroke starts it again."""
        while not self.is_complete:
            prefix = self._prefix
            try:
                prefilled = await self._engine.prefill(prefix)
            except (Refused, Unavailable) as error:
                log.info("cannot prefill: %s", error.code)
                return
            if prefilled.num_evaluated_tokens > 1:  # an engine evaluates the last token anyway
                self._num_new_tokens += prefilled.num_evaluated_tokens
            self._prefill_ms += prefilled.prefill_ms
            if not prefilled.is_complete:
                return
            self._num_tokens = prefix.num_tokens


def stable_prefix(prompt: Prompt) -> Prompt | None:
    """Returns the part of the prompt that stays the same while the message is typed: everything
    before the message, and the start of a long draft. Notes found for the draft change with it, so
    the prefix ends before them. Returns None if the engine counts no tokens."""
    spans = list(_stable_spans(prompt.spans))
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


def _stable_spans(spans: tuple[Span, ...]) -> Iterator[Span]:
    last = max((i for i, span in enumerate(spans) if span.source != "template"), default=0)
    first = next((i for i, span in enumerate(spans) if span.index == spans[last].index), last)
    yield from spans[:first]
    num_steps = spans[last].num_tokens // NUM_UNSTABLE_TOKENS
    num_stable = (num_steps - 1) * NUM_UNSTABLE_TOKENS
    if first == last and num_stable > 0:
        yield msgspec.structs.replace(spans[last], num_tokens=num_stable)


class ConversationStart(NamedTuple):
    """The start of every conversation with a model."""

    model: str
    instructions: str


async def keep_instructions_warm(services: Services, check_s: float = CHECK_S) -> None:
    """Keeps the instructions prefilled on the default model, until it is cancelled."""
    prefilled: ConversationStart | None = None
    while True:
        try:
            prefilled = await _prefill_instructions(services, prefilled)
        except (Refused, Unavailable):
            prefilled = None  # an engine that restarts has an empty cache
        await asyncio.sleep(check_s)


async def _prefill_instructions(
    services: Services, prefilled: ConversationStart | None
) -> ConversationStart | None:
    """Returns what is prefilled now."""
    await services.engine.require_ready("auto")
    model = (await services.engine.resolve("auto")).name
    note = await Notes(services.prompts, "", model).instructions(services.settings)
    start = ConversationStart(model, note.text)
    if start == prefilled:
        return prefilled
    prompt, _ = await preview_prompt(Send(user_id="", text=PLACEHOLDER), services)
    if (prefix := stable_prefix(prompt)) is None:
        return start
    is_whole = (await services.engine.prefill(prefix)).is_complete
    return start if is_whole else None
