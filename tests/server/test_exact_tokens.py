"""A continued answer reaches the engine as the tokens it was generated with."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Any

import pytest
from tests.server.world import AnswerStream, Someone, World

from hitsend.engine import ModelFacts, Prompt, Script, ScriptedEngine
from hitsend.messages import FREE, AnswerRules, Message, PartialAnswer, Tool
from hitsend.server.app import open_app
from hitsend.server.serve import listen
from hitsend.settings import Settings

STORY = "Once upon a time there was a lighthouse keeper."
OTHER = "another"


class Recording(ScriptedEngine):
    """Records its last prompt, and has a second model."""

    given: Sequence[Message] = ()

    async def resolve(self, name: str) -> ModelFacts:
        facts = await super().resolve("auto")
        return ModelFacts(OTHER, OTHER, 8192, "tokens", "here") if name == OTHER else facts

    async def encode(
        self,
        model: str,
        messages: Sequence[Message],
        tools: Sequence[Tool] = (),
        rules: AnswerRules = FREE,
    ) -> Prompt:
        self.given = messages
        return await super().encode(model, messages, tools, rules)


async def continue_answer(
    who: Someone, stream: AnswerStream, conversation_id: str, **changes: Any
) -> AnswerStream:
    assert stream.answer
    return await who.send(
        "",
        action="continue",
        messages=[],
        conversation_id=conversation_id,
        parent_message_id=stream.answer["id"],
        **changes,
    )


@pytest.fixture
def engine() -> Recording:
    return Recording([Script(STORY)] * 3)


async def test_a_continued_answer_has_the_exact_tokens_of_all_its_turns(
    settings: Settings, engine: Recording
) -> None:
    async with AsyncExitStack() as stack:
        app = await stack.enter_async_context(open_app(settings, engine))
        world = World(app, await stack.enter_async_context(listen(app)), stack)
        ada = await world.someone("ada")
        cut = await ada.send("Tell me a story.", sampling={"max_tokens": 3})
        more = await continue_answer(ada, cut, cut.conversation_id, sampling={"max_tokens": 2})
        await continue_answer(ada, more, cut.conversation_id)
    begun = engine.given[-1]
    assert isinstance(begun, PartialAnswer)
    assert begun.token_ids == (await engine.tokenize("auto", STORY)).ids[:5]


async def test_another_model_gets_the_text_in_place_of_tokens(
    settings: Settings, engine: Recording
) -> None:
    async with AsyncExitStack() as stack:
        app = await stack.enter_async_context(open_app(settings, engine))
        world = World(app, await stack.enter_async_context(listen(app)), stack)
        ada = await world.someone("ada")
        cut = await ada.send("Tell me a story.", sampling={"max_tokens": 3})
        await continue_answer(ada, cut, cut.conversation_id, model=OTHER)
    begun = engine.given[-1]
    assert isinstance(begun, PartialAnswer)
    assert (begun.text, begun.token_ids) == (cut.text, ())
