"""The Python client follows calls of tools, and answers what they ask."""

import asyncio

import msgspec
import pytest
from tests.server.test_tools import Workshop, call_line, open_workshop, script

from hitsend.client import (
    ApprovalAsked,
    ApprovalDecided,
    CallVerdict,
    Client,
    Conflict,
    FormAnswered,
    FormAsked,
    ToolCalled,
    ToolProgressed,
    ToolReturned,
    Update,
    find_undecided,
)
from hitsend.settings import Settings

LETTER = script(call_line("post_letter", text="Hello"), "Sent.")


@pytest.fixture
def workshop() -> Workshop:
    return Workshop()


async def test_a_call_is_allowed_where_it_is_asked(settings: Settings, workshop: Workshop) -> None:
    async with open_workshop(settings, workshop) as (world, ada), Client(world.url, ada.key) as me:
        updates: list[Update] = []
        async for update in me.send(LETTER, features=["letters"]):
            updates.append(update)
            if isinstance(update, ApprovalAsked):
                assert msgspec.json.decode(update.arguments) == {"text": "Hello"}
                assert update.reason == "writes"
                await me.approve(update.call_id, "once")
                with pytest.raises(Conflict):
                    await me.approve(update.call_id, "once")
        assert workshop.posted == ["Hello"]
        decided = [one.decision for one in updates if isinstance(one, ApprovalDecided)]
        assert decided == ["once"]


async def test_a_call_is_decided_after_its_turn(settings: Settings, workshop: Workshop) -> None:
    async with (
        open_workshop(settings, workshop, approval_wait_s=0.05) as (world, ada),
        Client(world.url, ada.key) as me,
    ):
        answer = me.send(LETTER, features=["letters"])
        decided = [one.decision async for one in answer if isinstance(one, ApprovalDecided)]
        assert decided == ["expired"]
        assert answer.started
        conversation = await me.conversation(answer.started.conversation_id)
        (asked,) = find_undecided(conversation.path())
        assert msgspec.json.decode(asked.arguments) == {"text": "Hello"}
        finished = await me.continue_answer(
            conversation.conversation_id,
            conversation.current_node or "",
            verdicts=[CallVerdict(asked.call_id, "once")],
        ).whole()
        assert (finished.text, workshop.posted) == ("Sent.", ["Hello"])
        conversation = await me.conversation(answer.started.conversation_id)
        assert find_undecided(conversation.path()) == []


async def test_a_form_is_answered_where_it_is_asked(settings: Settings, workshop: Workshop) -> None:
    async with open_workshop(settings, workshop) as (world, ada), Client(world.url, ada.key) as me:
        asked = script(call_line("behave", how="ask"), "Done.")
        seen: list[Update] = []
        async for update in me.send(asked, features=["odd"]):
            seen.append(update)
            if isinstance(update, FormAsked):
                assert (update.tool, update.message) == ("behave", "Which size?")
                await me.answer_form(update.form_id, "accept", {"size": "large"})
        assert [one.action for one in seen if isinstance(one, FormAnswered)] == ["accept"]
        (returned,) = [one for one in seen if isinstance(one, ToolReturned)]
        assert returned.output == 'accept {"size":"large"}'


async def test_progress_is_told_piece_by_piece(settings: Settings, workshop: Workshop) -> None:
    async with open_workshop(settings, workshop) as (world, ada), Client(world.url, ada.key) as me:
        asked = script(call_line("wait_long", name="Ann"), "Done.")
        updates: list[Update] = []
        async for update in me.send(asked, features=["slow"]):
            updates.append(update)
            if isinstance(update, ToolProgressed):
                workshop.go_on.set()
        kinds = [type(one) for one in updates if isinstance(one, ToolCalled | ToolProgressed)]
        assert kinds == [ToolCalled, ToolProgressed]
        (progress,) = [one.text for one in updates if isinstance(one, ToolProgressed)]
        assert progress == "Ann waits.\n"


async def test_another_answer_repeats_the_features_or_takes_others(
    settings: Settings, workshop: Workshop
) -> None:
    async with open_workshop(settings, workshop) as (world, ada), Client(world.url, ada.key) as me:
        asked = script(call_line("calculate", expression="6*7"), "It is 42.")
        first = me.send(asked, features=["calculator"])
        await first.whole()
        assert first.started
        conversation = await me.conversation(first.started.conversation_id)
        question = conversation.path()[0].id
        for features, num_calls in ((None, 1), ((), 0)):
            again = me.answer_again(conversation.conversation_id, question, features=features)
            async with asyncio.timeout(30):
                calls = [one async for one in again if isinstance(one, ToolCalled)]
            assert len(calls) == num_calls
