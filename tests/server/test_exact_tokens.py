"""An answer that is continued is given to the engine in the tokens it was written in."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Any

import pytest
from tests.server.world import Heard, Someone, World

from hitsend.engine import ModelFacts, Prompt, Script, ScriptedEngine
from hitsend.messages import Begun, Message, Tool
from hitsend.server.app import open_house
from hitsend.server.serving import listening
from hitsend.settings import Settings

STORY = "Once upon a time there was a lighthouse keeper."
OTHER = "another"


class Recording(ScriptedEngine):
    """Keeps what it was given last, and answers to a second name."""

    given: Sequence[Message] = ()

    async def resolve(self, name: str) -> ModelFacts:
        facts = await super().resolve("auto")
        return ModelFacts(OTHER, OTHER, 8192, "tokens", "here") if name == OTHER else facts

    async def encode(
        self, model: str, messages: Sequence[Message], tools: Sequence[Tool] = ()
    ) -> Prompt:
        self.given = messages
        return await super().encode(model, messages, tools)


async def go_on(who: Someone, heard: Heard, conversation_id: str, **changes: Any) -> Heard:
    assert heard.answer
    return await who.send(
        "",
        action="continue",
        messages=[],
        conversation_id=conversation_id,
        parent_message_id=heard.answer["id"],
        **changes,
    )


@pytest.fixture
def engine() -> Recording:
    return Recording([Script(STORY)] * 3)


async def test_they_are_those_of_every_turn_that_wrote_it(
    settings: Settings, engine: Recording
) -> None:
    async with AsyncExitStack() as stack:
        house = await stack.enter_async_context(open_house(settings, engine))
        world = World(house, await stack.enter_async_context(listening(house)), stack)
        ada = await world.someone("ada")
        cut = await ada.send("Tell me a story.", sampling={"max_tokens": 3})
        more = await go_on(ada, cut, cut.conversation_id, sampling={"max_tokens": 2})
        await go_on(ada, more, cut.conversation_id)
    begun = engine.given[-1]
    assert isinstance(begun, Begun)
    assert begun.token_ids == (await engine.tokenize("auto", STORY)).ids[:5]


async def test_another_model_is_given_the_text(settings: Settings, engine: Recording) -> None:
    async with AsyncExitStack() as stack:
        house = await stack.enter_async_context(open_house(settings, engine))
        world = World(house, await stack.enter_async_context(listening(house)), stack)
        ada = await world.someone("ada")
        cut = await ada.send("Tell me a story.", sampling={"max_tokens": 3})
        await go_on(ada, cut, cut.conversation_id, model=OTHER)
    begun = engine.given[-1]
    assert isinstance(begun, Begun)
    assert (begun.text, begun.token_ids) == (cut.text, ())
