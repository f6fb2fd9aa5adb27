"""Step 13, afterword: asks the model for a better title than the first words of the conversation,
and whether the person stated a fact worth remembering.

Where the engine has room, the title is written beside the answer; one that does not fit the answer
so far is checked again at its end. Otherwise it is written after the answer, while the engine is
idle. Nobody waits for an afterword, and its errors are dropped: nobody asked for it, and the
conversation has a title already.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from typing import TypeAlias

from hitsend.engine import Preempted, Prompt
from hitsend.errors import HitsendError
from hitsend.events import Ending, MemoriesChanged, TitleChosen
from hitsend.memory.suggestions import is_stated_by_any, mentions_self, validate_fact
from hitsend.messages import ChangedMemory, Sampling
from hitsend.send import Turn
from hitsend.services import Services
from hitsend.titles import title_from_text, validate_title

TIMEOUT_S = 20.0
"""For a title, and for a suggestion. Includes the wait for an idle engine."""
SHORT_CHARS = 30
"""So short a message is a title already."""
NUM_QUESTION_CHARS, NUM_BEGINNING_CHARS, NUM_MESSAGE_CHARS = 300, 300, 1_000

Generate: TypeAlias = Callable[[Prompt, Sampling], Awaitable[str]]


class Afterword:
    def __init__(
        self, turn: Turn, services: Services, may_show: Callable[[str], Awaitable[bool]]
    ) -> None:
        self._turn = turn
        self._may_show = may_show
        self._store = services.store
        self._engine = services.engine
        self._prompts = services.prompts
        self._wants_title = services.settings.model_titles and _needs_title(turn)
        self._writing: asyncio.Task[str] | None = None
        """The title that the model writes beside the answer."""
        self._is_checked = False

    def poll_title(self, beginning: str) -> TitleChosen | None:
        """Called after each event of the answer, with its beginning so far. Starts with the first
        words, so that the title does not delay them. Returns the title once it is written."""
        if not self._wants_title or not beginning or not self._turn.has_room_beside:
            return None
        if self._writing is None:
            self._writing = asyncio.create_task(self._write_title(self._engine.generate_beside))
        if self._is_checked or not self._writing.done() or self._writing.exception():
            return None
        self._is_checked = True
        return self._choose(self._writing.result(), beginning)

    def is_due(self, ending: Ending) -> bool:
        """Whether `events` may yield something."""
        return self._is_title_due(ending) or self._may_suggest()

    async def events(
        self, ending: Ending, beginning: str
    ) -> AsyncGenerator[TitleChosen | MemoriesChanged, None]:
        """Called after the end of the turn."""
        if self._is_title_due(ending) and (chosen := await self._finish_title(beginning)):
            yield chosen
        if self._may_suggest() and (memory := await self._suggest_memory()):
            yield memory

    async def aclose(self) -> None:
        if self._writing is not None and not self._writing.done():
            self._writing.cancel()
            await asyncio.wait([self._writing])

    def _is_title_due(self, ending: Ending) -> bool:
        """An answer that was cut short gets no title."""
        return self._wants_title and ending in ("stop", "length")

    async def _finish_title(self, beginning: str) -> TitleChosen | None:
        if self._writing and (written := await self._writing):
            written = written if await self._is_unnamed() else ""
        else:
            written = await self._write_title(self._engine.generate_when_idle)
        return self._choose(written, beginning)

    def _choose(self, written: str, beginning: str) -> TitleChosen | None:
        said = _cut(beginning, NUM_BEGINNING_CHARS)
        title = validate_title(written, self._turn.send.text, said)
        if title is None:
            return None
        self._wants_title = False
        return TitleChosen(title, revision=2)

    async def _write_title(self, generate: Generate) -> str:
        """Returns nothing if the person has named the conversation meanwhile."""
        try:
            async with asyncio.timeout(TIMEOUT_S):
                question = _cut(self._turn.send.text, NUM_QUESTION_CHARS)
                written = await self._ask("title", {"question": question}, generate)
                is_wanted = await self._is_unnamed() and await self._may_show(written)
                return written if is_wanted else ""
        except (TimeoutError, Preempted, HitsendError):
            return ""

    async def _ask(self, name: str, values: Mapping[str, object], generate: Generate) -> str:
        """Returns what the model says to one of our prompts."""
        messages, picked = await self._prompts.render_messages(
            name, values, user_id=self._turn.send.user_id, model=self._turn.model
        )
        prompt = await self._engine.encode(self._turn.model, messages)
        return await generate(prompt, picked.sampling)

    async def _is_unnamed(self) -> bool:
        turn = self._turn
        return await self._store.conversations.is_unnamed(turn.conversation_id, turn.send.user_id)

    def _may_suggest(self) -> bool:
        turn = self._turn
        is_asked = turn.user_message is not None and turn.send.has_memory
        return is_asked and mentions_self(turn.send.text)

    async def _suggest_memory(self) -> MemoriesChanged | None:
        """Suggests a lasting fact that the person stated about themselves."""
        turn, message = self._turn, self._turn.send.text
        profile = await self._store.profiles.in_conversation(
            turn.send.user_id, turn.conversation_id, has_memory=True
        )
        if not (profile.uses_memory and profile.suggests_memories):
            return None
        try:
            async with asyncio.timeout(TIMEOUT_S):
                values = {"message": message[:NUM_MESSAGE_CHARS]}
                said = await self._ask("memory_suggestion", values, self._engine.generate_when_idle)
                fact = validate_fact(said, message)
                if fact is None or await self._is_known(fact):
                    return None
                memory = await self._store.memories.add_if_wanted(
                    turn.send.user_id, fact, "suggested", turn.conversation_id
                )
        except (TimeoutError, Preempted, HitsendError):
            return None
        return MemoriesChanged((ChangedMemory(memory.id, "suggested"),)) if memory else None

    async def _is_known(self, fact: str) -> bool:
        """Counts suggestions that were refused a moment ago."""
        texts = await self._store.memories.read_all_known_texts(self._turn.send.user_id)
        return await asyncio.to_thread(is_stated_by_any, fact, texts.values())


def _needs_title(turn: Turn) -> bool:
    is_new = turn.is_first and not turn.is_api
    return is_new and len(title_from_text(turn.send.text)) > SHORT_CHARS


def _cut(text: str, num_chars: int) -> str:
    return " ".join(text[: 2 * num_chars].split())[:num_chars]
