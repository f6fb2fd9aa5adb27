"""Step 11, title: asks the model for a better title than the first words of the conversation.

Where the engine has room, the title is written beside the answer, and checked again at its end;
otherwise it is written after the answer, while the engine is idle. Nobody waits for it, and its
errors are dropped: the conversation has a title already.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from hitsend.engine import Engine, Preempted, Prompt
from hitsend.errors import HitsendError
from hitsend.events import Ending, TitleChosen
from hitsend.messages import Sampling
from hitsend.prompts.picker import PromptPicker
from hitsend.send import Turn
from hitsend.store import Store
from hitsend.titles import title_from_text, validate_title

TITLE_TIMEOUT_S = 20.0
"""Includes the wait for an idle engine."""
SHORT_CHARS = 30
"""So short a message is a title already."""
NUM_QUESTION_CHARS, NUM_BEGINNING_CHARS = 300, 300

Generate: TypeAlias = Callable[[Prompt, Sampling], Awaitable[str]]


class TitleWriter:
    def __init__(
        self, turn: Turn, store: Store, engine: Engine, prompts: PromptPicker, *, is_on: bool
    ) -> None:
        self._turn = turn
        self._store = store
        self._engine = engine
        self._prompts = prompts
        self._is_wanted = is_on and _needs_title(turn)
        self._writing: asyncio.Task[str] | None = None
        """The title that the model writes beside the answer."""
        self._is_checked = False

    def poll(self, beginning: str) -> TitleChosen | None:
        """Called after each event of the answer, with its beginning so far. Starts with the first
        words, so that the title does not delay them. Returns the title once it is written."""
        if not self._is_wanted or not beginning or not self._turn.has_room_beside:
            return None
        if self._writing is None:
            self._writing = asyncio.create_task(self._write(self._engine.generate_beside))
        if self._is_checked or not self._writing.done() or self._writing.exception():
            return None
        self._is_checked = True
        return self._choose(self._writing.result(), beginning)

    def is_due(self, ending: Ending) -> bool:
        """Whether `finish` will look for a title. An answer that was cut short gets none."""
        return self._is_wanted and ending in ("stop", "length")

    async def finish(self, ending: Ending, beginning: str) -> TitleChosen | None:
        """Called after the end of the turn."""
        if not self.is_due(ending):
            return None
        if self._writing and (written := await self._writing):
            written = written if await self._is_unnamed() else ""
        else:
            written = await self._write(self._engine.generate_when_idle)
        return self._choose(written, beginning)

    async def aclose(self) -> None:
        if self._writing is not None and not self._writing.done():
            self._writing.cancel()
            await asyncio.wait([self._writing])

    def _choose(self, written: str, beginning: str) -> TitleChosen | None:
        said = _cut(beginning, NUM_BEGINNING_CHARS)
        title = validate_title(written, self._turn.send.text, said)
        if title is None:
            return None
        self._is_wanted = False
        return TitleChosen(title, revision=2)

    async def _write(self, generate: Generate) -> str:
        """Returns nothing if the person has named the conversation meanwhile."""
        turn = self._turn
        values = {"question": _cut(turn.send.text, NUM_QUESTION_CHARS)}
        try:
            async with asyncio.timeout(TITLE_TIMEOUT_S):
                messages, picked = await self._prompts.render_messages(
                    "title", values, user_id=turn.send.user_id, model=turn.model
                )
                prompt = await self._engine.encode(turn.model, messages)
                written = await generate(prompt, picked.sampling)
                return written if await self._is_unnamed() else ""
        except (TimeoutError, Preempted, HitsendError):
            return ""

    async def _is_unnamed(self) -> bool:
        turn = self._turn
        return await self._store.conversations.is_unnamed(turn.conversation_id, turn.send.user_id)


def _needs_title(turn: Turn) -> bool:
    is_new = turn.is_first and not turn.is_api
    return is_new and len(title_from_text(turn.send.text)) > SHORT_CHARS


def _cut(text: str, num_chars: int) -> str:
    return " ".join(text[: 2 * num_chars].split())[:num_chars]
