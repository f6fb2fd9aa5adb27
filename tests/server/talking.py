"""A long talk without HTTP: turns run as routes run them, and what the model read is kept."""

import asyncio
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from uuid import uuid4

import msgspec

from hitsend.engine import Generation, Prompt, Script, ScriptedEngine
from hitsend.events import AnyEvent, ContextBuilt, PromptEncoded
from hitsend.messages import Sampling, Seen
from hitsend.send import Send
from hitsend.server.app import open_house
from hitsend.server.calls import House
from hitsend.settings import Settings
from hitsend.store import StoredMessage
from hitsend.turn import run_turn


class ReadingEngine(ScriptedEngine):
    """Remembers what it was given to read."""

    def __init__(
        self, num_window_tokens: int, answers: Iterable[Script], asides: Iterable[Script]
    ) -> None:
        super().__init__(answers, num_window_tokens, asides)
        self.prompts: list[Prompt] = []

    async def generate(
        self, prompt: Prompt, sampling: Sampling, lane: str = ""
    ) -> AsyncGenerator[Generation, None]:
        self.prompts.append(prompt)
        async with aclosing(super().generate(prompt, sampling, lane)) as steps:
            async for step in steps:
                yield step


@dataclass
class Talk:
    house: House
    engine: ReadingEngine
    user_id: str
    conversation_id: str | None = None
    answer_id: str | None = None
    events: list[AnyEvent] = field(default_factory=list)
    """Of the last turn."""

    async def say(self, text: str, **changes: object) -> Prompt:
        """Gives back what the model read."""
        sent = msgspec.structs.replace(self.next_send(text), **changes)
        turn = await self.house.runner.start(self.user_id, run_turn(sent, self.house.services))
        await turn.until_finished()
        row = await self.house.services.store.turns.get(turn.turn_id, self.user_id)
        self.conversation_id, self.answer_id = row.conversation_id, row.answer_id
        events = await self.house.services.store.turns.events(turn.turn_id, self.user_id)
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
        """Until nothing is done behind the scenes any more."""
        await self.house.services.background.until_idle()
        await self.house.services.spare_time.until_idle()

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

    async def path(self) -> tuple[StoredMessage, ...]:
        conversations = self.house.services.store.conversations
        return await conversations.path(
            self.conversation_id or "", self.user_id, self.answer_id or ""
        )


@asynccontextmanager
async def talking(
    data_dir: Path,
    num_window_tokens: int,
    *,
    answers: Iterable[Script] = (),
    asides: Iterable[Script] = (),
    before: Talk | None = None,
) -> AsyncGenerator[Talk]:
    """With a talk of `before`, that goes on."""
    settings = Settings(
        data_dir=data_dir, engine="scripted", port=0, prewarm=False, model_titles=not asides
    )
    engine = ReadingEngine(num_window_tokens, answers, asides)
    async with asyncio.timeout(60), open_house(settings, engine) as house:
        if before is not None:
            yield replace(before, house=house, engine=engine)
            return
        ada = await house.services.store.accounts.create("ada", "", "member")
        yield Talk(house, engine, ada.id)
