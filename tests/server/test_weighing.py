"""How much of the window a message would take, asked before it is sent."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack

from msgspec.structs import replace
from tests.server.world import World, message

from hitsend.engine import ModelFacts, Prompt, ScriptedEngine
from hitsend.errors import EngineDown
from hitsend.messages import Message, Tool
from hitsend.server.app import open_house
from hitsend.server.serving import listening
from hitsend.settings import Settings

PREPARE = "/backend-api/f/conversation/prepare"


async def test_what_is_weighed_is_what_is_sent(world: World) -> None:
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


async def test_weighing_stores_nothing_and_takes_no_slot(world: World) -> None:
    ada = await world.someone("ada")
    assert (await ada.http.post(PREPARE, json=message("a draft"))).status_code == 200
    assert (await ada.http.get("/backend-api/conversations")).json()["total"] == 0
    assert world.house.services.engine.status().num_busy_slots == 0


async def test_an_answer_can_be_weighed_before_it_is_asked_for_again_or_continued(
    world: World,
) -> None:
    ada = await world.someone("ada")
    cut = await ada.send("!script\none two three four", sampling={"max_tokens": 2})
    assert cut.answer

    async def weight(action: str, parent_id: str) -> int:
        body = message(
            "",
            action=action,
            messages=[],
            conversation_id=cut.conversation_id,
            parent_message_id=parent_id,
        )
        return int((await ada.http.post(PREPARE, json=body)).json()["num_tokens"])

    again = await weight("variant", cut.messages[0]["id"])
    assert await weight("continue", cut.answer["id"]) == again + 2


async def test_what_cannot_fit_is_refused_as_a_send_would_be(world: World) -> None:
    ada = await world.someone("ada")
    draft = message("word " * 20_000)
    weighed = await ada.http.post(PREPARE, json=draft)
    sent = await ada.http.post("/backend-api/f/conversation", json=draft)
    assert weighed.status_code == sent.status_code == 400
    assert weighed.json() == sent.json()
    assert weighed.json()["error"]["code"] == "context_length_exceeded"


async def test_nobody_can_weigh_in_a_conversation_that_is_not_theirs(world: World) -> None:
    ada, eve = await world.someone("ada"), await world.someone("eve")
    heard = await ada.send("!script\nsecret")
    assert heard.answer
    place = {
        "conversation_id": heard.conversation_id,
        "parent_message_id": heard.answer["id"],
    }
    assert (await eve.http.post(PREPARE, json=message("x", **place))).status_code == 404


class SlowToCount(ScriptedEngine):
    """Counts only when it is let, and knows how many have asked."""

    def __init__(self) -> None:
        super().__init__()
        self.may_count = asyncio.Event()
        self.asked: asyncio.Queue[str] = asyncio.Queue()

    async def encode(
        self, model: str, messages: Sequence[Message], tools: Sequence[Tool] = ()
    ) -> Prompt:
        await self.asked.put(messages[-1].text)
        try:
            await self.may_count.wait()
        except asyncio.CancelledError:
            await self.asked.put("given up")
            raise
        return await super().encode(model, messages, tools)


async def test_a_person_weighs_one_draft_at_a_time_and_leaving_gives_it_up(
    settings: Settings,
) -> None:
    engine = SlowToCount()
    async with (
        asyncio.timeout(60),
        open_house(replace(settings, prewarm=False), engine) as house,
        listening(house) as url,
        AsyncExitStack() as stack,
    ):
        world = World(house, url, stack)
        ada, eve = await world.someone("ada"), await world.someone("eve")
        first = asyncio.create_task(ada.http.post(PREPARE, json=message("first")))
        assert await engine.asked.get() == "first"
        second = asyncio.create_task(ada.http.post(PREPARE, json=message("second")))
        hers = asyncio.create_task(eve.http.post(PREPARE, json=message("hers")))
        assert await engine.asked.get() == "hers"
        first.cancel()
        assert await engine.asked.get() == "given up"
        assert await engine.asked.get() == "second"
        engine.may_count.set()
        assert [(await one).status_code for one in (second, hers)] == [200, 200]


class NotLoaded(ScriptedEngine):
    """Has a model on disk that nobody has asked yet."""

    async def require_ready(self, name: str) -> None:
        raise EngineDown("The script is not loaded yet.", retry_after_s=5)

    async def resolve(self, name: str) -> ModelFacts:
        raise AssertionError("it was loaded")


async def test_weighing_loads_no_model_and_says_that_nothing_was_counted(
    settings: Settings,
) -> None:
    async with (
        open_house(settings, NotLoaded()) as house,
        listening(house) as url,
        AsyncExitStack() as stack,
    ):
        ada = await World(house, url, stack).someone("ada")
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
