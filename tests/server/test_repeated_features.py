"""An answer that is asked for again, or continued, has the tools of the turn that it repeats."""

from typing import Any

import pytest
from tests.server.test_tools import Workshop, call_line, open_workshop, outputs, results, script
from tests.server.world import AnswerStream, Someone, message, open_world

from hitsend.engine import ScriptedEngine
from hitsend.settings import Settings

ASKED = script(call_line("calculate", expression="6*7"), "It is 42.")


@pytest.fixture
def workshop() -> Workshop:
    return Workshop()


async def repeat(
    someone: Someone, stream: AnswerStream, message_id: str, action: str = "variant", **more: Any
) -> AnswerStream:
    body = message(
        "",
        action=action,
        messages=[],
        conversation_id=stream.conversation_id,
        parent_message_id=message_id,
        **more,
    )
    return await someone.send_body(body)


def question_id(stream: AnswerStream) -> str:
    asked = stream.messages[0]
    return str(asked["id"])


async def features_of(someone: Someone, stream: AnswerStream) -> list[str]:
    log = (await someone.http.get(f"/backend-api/turn/{stream.turn_id}")).json()["events"]
    features: list[str] = log[0]["event"].get("features", [])
    return features


async def test_another_answer_has_what_was_on_for_the_one_before(
    settings: Settings, workshop: Workshop
) -> None:
    async with open_workshop(settings, workshop) as (_, ada):
        first = await ada.send(ASKED, system_hints=["calculator"])
        second = await repeat(ada, first, question_id(first))
        assert outputs(second) == ["6*7 = 42"]
        assert await features_of(ada, second) == ["calculator"]


@pytest.mark.parametrize("chosen", [[], ["letters"]])
async def test_another_answer_may_have_other_tools_or_none(
    settings: Settings, workshop: Workshop, chosen: list[str]
) -> None:
    async with open_workshop(settings, workshop) as (_, ada):
        first = await ada.send(ASKED, system_hints=["calculator"])
        second = await repeat(ada, first, question_id(first), system_hints=chosen)
        assert "6*7 = 42" not in outputs(second)
        assert await features_of(ada, second) == chosen


async def test_the_answer_that_is_shown_is_repeated(settings: Settings, workshop: Workshop) -> None:
    async with open_workshop(settings, workshop) as (_, ada):
        first = await ada.send(ASKED, system_hints=["calculator"])
        plain = await repeat(ada, first, question_id(first), system_hints=[])
        assert await features_of(ada, await repeat(ada, first, question_id(first))) == []
        shown = {"current_node": first.messages[-1]["id"]}
        path = f"/backend-api/conversation/{first.conversation_id}"
        assert (await ada.http.patch(path, json=shown)).is_success
        again = await repeat(ada, first, question_id(first))
        assert await features_of(ada, again) == ["calculator"]
        below = await ada.send(
            "Thanks",
            conversation_id=first.conversation_id,
            parent_message_id=plain.messages[-1]["id"],
        )
        assert below.text
        assert await features_of(ada, await repeat(ada, first, question_id(first))) == []


async def test_a_decision_about_a_call_goes_on_with_what_was_on(
    settings: Settings, workshop: Workshop
) -> None:
    async with open_workshop(settings, workshop, approval_wait_s=0.05) as (_, ada):
        asked = script(call_line("post_letter", text="Hello"), "Sent.")
        stream = await ada.send(asked, system_hints=["letters"])
        verdict = {"call_id": results(stream)[0]["call_id"], "decision": "once"}
        last_id = stream.messages[-1]["id"]
        more = await repeat(ada, stream, last_id, "continue", verdicts=[verdict])
        assert workshop.posted == ["Hello"]
        assert more.text == "Sent."


async def test_an_answer_that_was_cut_short_goes_on_with_what_was_on(
    settings: Settings, workshop: Workshop
) -> None:
    async with open_workshop(settings, workshop) as (_, ada):
        stream = await ada.send(
            "!script tokens=30", sampling={"max_tokens": 5}, system_hints=["calculator"]
        )
        more = await repeat(ada, stream, stream.messages[-1]["id"], "continue")
        assert await features_of(ada, more) == ["calculator"]


async def test_a_feature_that_is_gone_is_left_out(settings: Settings, workshop: Workshop) -> None:
    async with open_workshop(settings, workshop) as (_, ada):
        first = await ada.send(ASKED, system_hints=["calculator", "letters"])
    async with open_world(settings, ScriptedEngine()) as world:
        again = await world.reconnect(ada)
        second = await repeat(again, first, question_id(first))
        assert outputs(second) == ["6*7 = 42"]
        assert await features_of(again, second) == ["calculator"]
