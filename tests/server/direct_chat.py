"""A long conversation without HTTP: turns run as routes run them, and prompts are recorded."""

import asyncio
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from uuid import uuid4

import msgspec

from hitsend.engine import GenerationStep, Prompt, Script, ScriptedEngine
from hitsend.events import AnyEvent, ContextBuilt, PromptEncoded
from hitsend.messages import Sampling, Seen
from hitsend.send import Send
from hitsend.server.app import App, open_app
from hitsend.settings import Settings
from hitsend.store import MessageRow
from hitsend.turn import run_turn


class RecordingEngine(ScriptedEngine):
    """Records its prompts."""

    def __init__(
        self, num_window_tokens: int, answers: Iterable[Script], idle_answers: Iterable[Script]
    ) -> None:
        super().__init__(answers, num_window_tokens, idle_answers)
        self.prompts: list[Prompt] = []

    async def generate(
        self, prompt: Prompt, sampling: Sampling, lane: str = ""
    ) -> AsyncGenerator[GenerationStep, None]:
        self.prompts.append(prompt)
        async with aclosing(super().generate(prompt, sampling, lane)) as steps:
            async for step in steps:
                yield step


@dataclass
class DirectChat:
    app: App
    engine: RecordingEngine
    user_id: str
    conversation_id: str | None = None
    answer_id: str | None = None
    events: list[AnyEvent] = field(default_factory=list)
    """Events of the last turn."""

    async def send(self, text: str, **changes: object) -> Prompt:
        """Returns the prompt of the turn."""
        sent = msgspec.structs.replace(self.next_send(text), **changes)
        turn = await self.app.runner.start(self.user_id, run_turn(sent, self.app.services))
        await turn.until_finished()
        row = await self.app.services.store.turns.get(turn.turn_id, self.user_id)
        self.conversation_id, self.answer_id = row.conversation_id, row.answer_id
        events = await self.app.services.store.turns.events(turn.turn_id, self.user_id)
        self.events = [stamped.event for stamped in events]
        return self.engine.prompts[-1]

    def next_send(self, text: str) -> Send:
        return Send(
            user_id=self.user_id,
            text=text,
            message_id=str(uuid4()),
            conversation_id=self.conversation_id,
            parent_id=self.answer_id,
        )

    async def settle(self) -> None:
        """Waits until no background work is left."""
        await self.app.services.background.until_idle()
        await self.app.services.idle_work.until_idle()

    @property
    def built(self) -> ContextBuilt:
        return next(event for event in self.events if isinstance(event, ContextBuilt))

    @property
    def encoded(self) -> PromptEncoded:
        return next(event for event in self.events if isinstance(event, PromptEncoded))

    @property
    def seen(self) -> Seen:
        assert self.built.seen is not None
        return self.built.seen

    async def path(self) -> tuple[MessageRow, ...]:
        conversations = self.app.services.store.conversations
        return await conversations.path(
            self.conversation_id or "", self.user_id, self.answer_id or ""
        )


@asynccontextmanager
async def open_direct_chat(
    data_dir: Path,
    num_window_tokens: int,
    *,
    answers: Iterable[Script] = (),
    idle_answers: Iterable[Script] = (),
    before: DirectChat | None = None,
) -> AsyncGenerator[DirectChat]:
    """`before` continues an earlier conversation."""
    settings = Settings(
        data_dir=data_dir,
        engine="scripted",
        port=0,
        prewarm=False,
        model_titles=not idle_answers,
        safety_instructions=False,  # they would fill the small windows of the tests
    )
    engine = RecordingEngine(num_window_tokens, answers, idle_answers)
    async with asyncio.timeout(60), open_app(settings, engine) as app:
        if before is not None:
            yield replace(before, app=app, engine=engine)
            return
        ada = await app.services.store.accounts.create("ada", "", "member")
        yield DirectChat(app, engine, ada.id)
