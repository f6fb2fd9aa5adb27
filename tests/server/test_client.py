"""The Python client against the real server."""

import asyncio

import msgspec
import pytest
from msgspec.structs import replace
from tests.server.world import World, message, open_world

from hitsend.client import (
    Backoff,
    Client,
    KeyReused,
    Started,
    TextAdded,
    Titled,
    ToolCalled,
    ToolReturned,
)
from hitsend.client.connection import Connection
from hitsend.client.proof_of_work import ProofOfWork
from hitsend.client.turn_stream import TurnRequest, TurnStream
from hitsend.engine import ScriptedEngine
from hitsend.engine.scripted.script import Script
from hitsend.server.auth.session_cookie import COOKIE
from hitsend.settings import Settings
from hitsend.wire.send import SendBody

QUESTION = "Can you help me to understand why bread rises, and what else I could use than yeast?"


async def test_the_client_reads_what_is_stored(world: World) -> None:
    ada = await world.someone("ada")
    async with Client(world.url, ada.key) as client:
        answer = client.send("Hello there.")
        text = "".join([text async for text in answer.text()])
        assert answer.started
        stored = (await client.conversation(answer.started.conversation_id)).path()
    assert [said.text for said in stored] == ["Hello there.", text]


async def test_the_same_key_gets_the_same_turn_and_other_words_are_refused(world: World) -> None:
    ada = await world.someone("ada")
    async with Client(world.url, ada.key) as client:
        answers = [client.send("Hello there.", key="greeting") for _ in range(3)]
        texts = [(await answer.whole()).text for answer in answers]
        assert len(set(texts)) == 1
        assert len({answer.started.turn_id for answer in answers if answer.started}) == 1
        assert (await client.conversations()).total == 1
        with pytest.raises(KeyReused):
            await client.send("Something else.", key="greeting").whole()


async def test_stopping_ends_the_answer_and_keeps_what_was_said(world: World) -> None:
    ada = await world.someone("ada")
    async with asyncio.timeout(10), Client(world.url, ada.key) as client:
        answer, stream = client.send("!script tokens=5000 pace=10ms\ntick tock "), ""
        async for update in answer:
            if isinstance(update, TextAdded):
                stream += update.text
                await answer.stop()
        assert answer.finished
        assert answer.finished.status == "finished_partial_completion"
        assert answer.finished.text == stream


async def test_a_turn_that_is_no_longer_streamed_is_read_from_its_conversation(
    settings: Settings,
) -> None:
    async with open_world(replace(settings, resume_s=0), ScriptedEngine()) as world:
        ada = await world.someone("ada")
        async with Client(world.url, ada.key) as client:
            answer = client.send("Hello there.")
            finished = await answer.whole()
            assert answer.started
            assert await client.follow(answer.started.turn_id).whole() == finished


async def test_a_better_title_is_waited_for_on_request(settings: Settings) -> None:
    idle_answers = [Script("Why bread rises"), Script("Why bread rises")]
    async with open_world(settings, ScriptedEngine(idle_answers=idle_answers)) as world:
        ada = await world.someone("ada")
        async with Client(world.url, ada.key) as client:
            answer = client.send(QUESTION, waits_for_title=True)
            titles = [update.title async for update in answer if isinstance(update, Titled)]
    assert titles[-1] == "Why bread rises"
    assert len(titles) == 2


async def test_the_client_solves_proof_of_work_by_itself(settings: Settings) -> None:
    """API keys are exempt from the gate, so the client uses a cookie."""
    strict = replace(settings, gate="always", gate_difficulty=10)
    async with open_world(strict, ScriptedEngine()) as world:
        ada = await world.someone("ada")
        cookie = f"{COOKIE}={ada.http.cookies[COOKIE]}"
        headers = {"cookie": cookie, "x-csrf-token": ada.http.headers["x-csrf-token"]}
        line = Connection(world.url, headers, Backoff(), 10.0)
        wanted = TurnRequest(msgspec.convert(message("Hello there."), SendBody), "key")
        updates = [update async for update in TurnStream(line, ProofOfWork(), wanted).updates()]
        await line.close()
    assert isinstance(updates[0], Started)


async def test_a_client_sees_what_tools_do(world: World) -> None:
    ada = await world.someone("ada")
    call = '<tool_call>{"name": "calculate", "arguments": {"expression": "6*7"}}</tool_call>'
    asked = f"!script\nLet me see.\n{call}\n!then\nIt is 42."
    async with Client(world.url, ada.key) as client:
        assert "calculator" in [feature.name for feature in await client.features()]
        answer = client.send(asked, features=["calculator"])
        updates = [update async for update in answer]
        called = [one for one in updates if isinstance(one, ToolCalled)]
        returned = [one for one in updates if isinstance(one, ToolReturned)]
        assert [(one.tool, one.arguments) for one in called] == [
            ("calculate", '{"expression": "6*7"}')
        ]
        message_id = called[0].message_id
        assert returned == [ToolReturned(message_id, "calculate", "6*7 = 42", failed=False)]
        text = [piece async for piece in client.send(asked, features=["calculator"]).text()]
        assert "".join(text) == "Let me see.\n\nIt is 42."
