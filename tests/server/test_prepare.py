"""Preparing a Send: its token count before it is sent."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack

from msgspec.structs import replace
from tests.server.world import World, message

from hitsend.engine import ModelFacts, Prompt, ScriptedEngine
from hitsend.errors import EngineDown
from hitsend.messages import FREE, AnswerRules, Message, Tool
from hitsend.server.app import open_app
from hitsend.server.serve import listen
from hitsend.settings import Settings

PREPARE = "/backend-api/f/conversation/prepare"


async def test_prepare_counts_the_tokens_that_the_send_will_have(world: World) -> None:
    ada = await world.someone("ada")
    first = await ada.send("!script\none")
    assert first.answer
    draft = message(
        "and then, what happened next?",
        conversation_id=first.conversation_id,
        parent_message_id=first.answer["id"],
    )
    weight = (await ada.http.post(PREPARE, json=draft)).json()
    sent = await ada.http.post("/backend-api/f/conversation", json=draft)
    turn_id = sent.headers["x-turn-exchange-id"]
    log = (await ada.http.get(f"/backend-api/turn/{turn_id}")).json()["events"]
    encoded = next(e["event"] for e in log if e["event"]["type"] == "PromptEncoded")
    counts = ("num_tokens", "num_window_tokens", "num_dropped_messages", "is_exact")
    assert {name: weight[name] for name in counts} == {name: encoded[name] for name in counts}


async def test_prepare_stores_nothing_and_takes_no_slot(world: World) -> None:
    ada = await world.someone("ada")
    assert (await ada.http.post(PREPARE, json=message("a draft"))).status_code == 200
    assert (await ada.http.get("/backend-api/conversations")).json()["total"] == 0
    assert world.app.services.engine.status().num_busy_slots == 0


async def test_a_variant_and_a_continuation_can_be_prepared(
    world: World,
) -> None:
    ada = await world.someone("ada")
    cut = await ada.send("!script\none two three four", sampling={"max_tokens": 2})
    assert cut.answer

    async def count_tokens(action: str, parent_id: str) -> int:
        body = message(
            "",
            action=action,
            messages=[],
            conversation_id=cut.conversation_id,
            parent_message_id=parent_id,
        )
        return int((await ada.http.post(PREPARE, json=body)).json()["num_tokens"])

    again = await count_tokens("variant", cut.messages[0]["id"])
    assert await count_tokens("continue", cut.answer["id"]) == again + 2


async def test_a_draft_that_cannot_fit_is_refused_like_a_send(world: World) -> None:
    ada = await world.someone("ada")
    draft = message("word " * 20_000)
    weighed = await ada.http.post(PREPARE, json=draft)
    sent = await ada.http.post("/backend-api/f/conversation", json=draft)
    assert weighed.status_code == sent.status_code == 400
    assert weighed.json()["error"] == sent.json()["error"]
    assert weighed.json()["error"]["code"] == "context_length_exceeded"


async def test_a_draft_in_another_users_conversation_is_not_found(world: World) -> None:
    ada, eve = await world.someone("ada"), await world.someone("eve")
    stream = await ada.send("!script\nsecret")
    assert stream.answer
    place = {
        "conversation_id": stream.conversation_id,
        "parent_message_id": stream.answer["id"],
    }
    assert (await eve.http.post(PREPARE, json=message("x", **place))).status_code == 404


class SlowToCount(ScriptedEngine):
    """Counts tokens only when it may, and records the requests."""

    def __init__(self) -> None:
        super().__init__()
        self.may_count = asyncio.Event()
        self.requests: asyncio.Queue[str] = asyncio.Queue()

    async def encode(
        self,
        model: str,
        messages: Sequence[Message],
        tools: Sequence[Tool] = (),
        rules: AnswerRules = FREE,
    ) -> Prompt:
        await self.requests.put(messages[-1].text)
        try:
            await self.may_count.wait()
        except asyncio.CancelledError:
            await self.requests.put("given up")
            raise
        return await super().encode(model, messages, tools, rules)


async def test_drafts_of_a_user_are_prepared_one_at_a_time_and_a_disconnect_cancels(
    settings: Settings,
) -> None:
    engine = SlowToCount()
    async with (
        asyncio.timeout(60),
        open_app(replace(settings, prewarm=False), engine) as app,
        listen(app) as url,
        AsyncExitStack() as stack,
    ):
        world = World(app, url, stack)
        ada, eve = await world.someone("ada"), await world.someone("eve")
        first = asyncio.create_task(ada.http.post(PREPARE, json=message("first")))
        assert await engine.requests.get() == "first"
        second = asyncio.create_task(ada.http.post(PREPARE, json=message("second")))
        hers = asyncio.create_task(eve.http.post(PREPARE, json=message("hers")))
        assert await engine.requests.get() == "hers"
        first.cancel()
        assert await engine.requests.get() == "given up"
        assert await engine.requests.get() == "second"
        engine.may_count.set()
        assert [(await one).status_code for one in (second, hers)] == [200, 200]


class NotLoaded(ScriptedEngine):
    """Has a model on disk that is not loaded."""

    async def require_ready(self, name: str) -> None:
        raise EngineDown("The script is not loaded yet.", retry_after_s=5)

    async def resolve(self, name: str) -> ModelFacts:
        raise AssertionError("it was loaded")


async def test_prepare_loads_no_model_and_reports_no_count(
    settings: Settings,
) -> None:
    async with (
        open_app(settings, NotLoaded()) as app,
        listen(app) as url,
        AsyncExitStack() as stack,
    ):
        ada = await World(app, url, stack).someone("ada")
        weighed = await ada.http.post(PREPARE, json=message("a draft"))
        assert weighed.status_code == 200
        assert weighed.json() == {
            "status": "skipped",
            "conduit_token": None,
            "warmup_state": "cold",
            "num_tokens": None,
            "num_window_tokens": None,
            "num_dropped_messages": None,
            "is_exact": None,
        }
