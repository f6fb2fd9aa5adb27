"""Prewarming before Send is pressed, and what the answer reports of it."""

import asyncio
import logging
from typing import Any

import pytest
from msgspec.structs import replace
from tests.server.world import AnswerStream, Someone, World, message, open_world

from hitsend.engine import ModelFacts, PrefillResult, Prompt, ScriptedEngine
from hitsend.messages import Message, Text
from hitsend.send import Send
from hitsend.server.turns.prewarm import Prewarm, keep_instructions_warm, stable_prefix
from hitsend.settings import Settings
from hitsend.turn import preview_prompt

PREPARE = "/backend-api/f/conversation/prepare"
CANARY = "canary-77aa"


class PausablePrefill(ScriptedEngine):
    """Prefills only when it may, and records its prompts."""

    def __init__(self) -> None:
        super().__init__(read_s=0.001)
        self.may_read = asyncio.Event()
        self.begun: asyncio.Queue[Prompt] = asyncio.Queue()
        self.left: asyncio.Queue[Prompt] = asyncio.Queue()

    async def prefill(self, prompt: Prompt) -> PrefillResult:
        await self.begun.put(prompt)
        try:
            await self.may_read.wait()
        except asyncio.CancelledError:
            await self.left.put(prompt)
            raise
        return await super().prefill(prompt)


class Changing(PausablePrefill):
    """Has a default model that a test can change."""

    name = "first"

    async def resolve(self, name: str) -> ModelFacts:
        return replace(await super().resolve("auto"), name=self.name)


async def prepare(person: Someone, text: str | None, **changes: Any) -> dict[str, Any]:
    body = message(text or "", **changes) | ({} if text is not None else {"messages": []})
    response = await person.http.post(PREPARE, json=body)
    assert response.status_code == 200, response.text
    prepared: dict[str, Any] = response.json()
    return prepared


async def send_with(person: Someone, token: str, text: str, **changes: Any) -> AnswerStream:
    async with person.http.stream(
        "POST",
        "/backend-api/f/conversation",
        json=message(text, **changes),
        headers={"x-conduit-token": token},
    ) as response:
        assert response.status_code == 200, await response.aread()
        return await AnswerStream(response.headers).take(response)


async def warmed_events(person: Someone, stream: AnswerStream) -> list[dict[str, Any]]:
    log = (await person.http.get(f"/backend-api/turn/{stream.turn_id}")).json()["events"]
    return [one["event"] for one in log if one["event"]["type"] == "PromptWarmed"]


async def prepare_until_warm(person: Someone, text: str, **changes: Any) -> dict[str, Any]:
    """Repeats the request until it is warm."""
    while (prepared := await prepare(person, text, **changes))["warmup_state"] != "warm":
        continue
    return prepared


async def test_the_prefix_of_a_draft_is_prefilled_and_the_answer_reports_it(
    settings: Settings,
) -> None:
    engine = PausablePrefill()
    async with open_world(replace(settings, instructions="Be brief. " * 20), engine) as world:
        ada = await world.someone("ada")
        prepared = await prepare(ada, "tell me more")
        assert (prepared["status"], prepared["warmup_state"]) == ("ok", "warming")
        engine.may_read.set()
        again = await prepare_until_warm(ada, "tell me more about it")
        stream = await send_with(ada, again["conduit_token"], "tell me more about it")
        [warmed] = await warmed_events(ada, stream)
        assert warmed["is_whole"]
        assert 20 < warmed["num_tokens"] < again["num_tokens"]


async def test_the_answer_says_that_tokens_were_cached_by_prewarming(settings: Settings) -> None:
    async with open_world(settings, ScriptedEngine(read_s=0.001)) as world:
        ada = await world.someone("ada")
        first = await ada.send("!script\none two three four five six seven")
        assert first.answer
        place = {
            "conversation_id": first.conversation_id,
            "parent_message_id": first.answer["id"],
        }
        prepared = await prepare_until_warm(ada, "go on", **place)
        stream = await send_with(ada, prepared["conduit_token"], "go on", **place)
        [warmed] = await warmed_events(ada, stream)
        assert 7 <= warmed["num_new_tokens"] < warmed["num_tokens"]
        facts = stream.of_type("server_ste_metadata")["metadata"]
        assert facts["conduit_prewarmed"] is True
        assert facts["saved_ms"] > 0


async def test_a_draft_that_was_cached_before_saves_nothing(settings: Settings) -> None:
    """The instructions are prefilled at start, and a short draft adds nothing to them."""
    async with open_world(settings, ScriptedEngine()) as world:
        ada = await world.someone("ada")
        without = await ada.send("hello there")
        prepared = await prepare_until_warm(ada, "hello you")
        stream = await send_with(ada, prepared["conduit_token"], "hello you")
        [warmed] = await warmed_events(ada, stream)
        assert warmed["num_new_tokens"] == 0
        facts = stream.of_type("server_ste_metadata")["metadata"]
        assert facts["usage"]["num_cached_tokens"] > 0
        assert facts["conduit_prewarmed"] is False
        assert without.of_type("server_ste_metadata")["metadata"]["conduit_prewarmed"] is False


async def test_a_send_may_come_during_its_prefill(settings: Settings) -> None:
    engine = PausablePrefill()
    async with open_world(settings, engine) as world:
        ada = await world.someone("ada")
        prepared = await prepare(ada, "tell me more")
        stream = await send_with(ada, prepared["conduit_token"], "tell me more")
        [warmed] = await warmed_events(ada, stream)
        assert not warmed["is_whole"]
        assert stream.is_done


@pytest.mark.parametrize("token", ["", "no-token", "forged.token", "x" * 5000])
async def test_an_invalid_conduit_token_is_ignored(world: World, token: str) -> None:
    ada = await world.someone("ada")
    stream = await send_with(ada, token, "hello")
    assert stream.is_done
    assert await warmed_events(ada, stream) == []


async def test_another_users_conduit_token_is_ignored(world: World) -> None:
    ada, eve = await world.someone("ada"), await world.someone("eve")
    prepared = await prepare(ada, "tell me more")
    stream = await send_with(eve, prepared["conduit_token"], "hello")
    assert await warmed_events(eve, stream) == []


async def test_a_prefill_of_another_conversation_does_not_count(world: World) -> None:
    ada = await world.someone("ada")
    first, other = await ada.send("!script\none two"), await ada.send("!script\nthree four")
    assert first.answer
    assert other.answer
    here, there = (
        {"conversation_id": one.conversation_id, "parent_message_id": one.answer["id"]}
        for one in (first, other)
        if one.answer
    )
    token = (await prepare(ada, "go on", **here))["conduit_token"]
    elsewhere = await send_with(ada, token, "go on", **there)
    assert await warmed_events(ada, elsewhere) == []
    stream = await send_with(ada, token, "go on", **here)
    assert len(await warmed_events(ada, stream)) == 1


async def test_a_conversation_can_be_prewarmed_before_a_word_is_typed(world: World) -> None:
    ada = await world.someone("ada")
    first = await ada.send("!script\none two three")
    assert first.answer
    place = {
        "conversation_id": first.conversation_id,
        "parent_message_id": first.answer["id"],
    }
    prepared = await prepare(ada, None, **place)
    assert prepared["status"] == "ok"
    assert prepared["num_tokens"] > 0
    assert (await prepare(ada, None))["status"] == "ok"


async def test_only_the_newest_draft_of_a_user_is_prefilled(settings: Settings) -> None:
    engine = PausablePrefill()
    async with open_world(settings, engine) as world:
        await engine.begun.get()  # the instructions
        ada, eve = await world.someone("ada"), await world.someone("eve")
        first = await ada.send("!script\none two three")
        assert first.answer
        place = {
            "conversation_id": first.conversation_id,
            "parent_message_id": first.answer["id"],
        }
        await prepare(ada, "one", **place)
        there = await engine.begun.get()
        await prepare(ada, "one two", **place)  # the same prefix: continues
        await prepare(eve, "hers")
        hers = await engine.begun.get()
        assert hers.num_tokens < there.num_tokens
        assert engine.left.empty()
        await prepare(ada, "elsewhere")
        assert await engine.left.get() == there
        assert await engine.begun.get() == hers


async def test_a_setting_turns_prewarming_off(settings: Settings) -> None:
    engine = PausablePrefill()
    async with open_world(replace(settings, prewarm=False), engine) as world:
        ada = await world.someone("ada")
        prepared = await prepare(ada, "a draft")
        assert prepared["status"] == "skipped"
        assert prepared["conduit_token"] is None
        assert prepared["num_tokens"] > 0
        assert engine.begun.empty()


async def test_a_client_may_ask_for_the_token_count_only(world: World) -> None:
    ada = await world.someone("ada")
    prepared = await prepare(ada, "a draft", client_prepare_state="none")
    assert (prepared["status"], prepared["conduit_token"]) == ("skipped", None)
    assert prepared["num_tokens"] > 0


async def test_a_draft_is_neither_stored_nor_logged(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with open_world(settings, ScriptedEngine()) as world:
        ada = await world.someone("ada")
        await prepare_until_warm(ada, f"{CANARY} " * 40)
        await ada.http.post(
            "/backend-api/conversation/experimental/generate_autocompletions",
            json={"input_text": f"my {CANARY}"},
        )
    assert CANARY not in caplog.text
    files = [path for path in settings.data_dir.rglob("*") if path.is_file()]
    assert files
    assert not [path for path in files if CANARY.encode() in path.read_bytes()]


async def test_a_prefill_expires() -> None:
    engine = PausablePrefill()
    prompt = await engine.encode("auto", [Message("user", (Text("hello there"),), "user")])
    prewarm = Prewarm(engine, keep_s=0.01)
    warm_id = prewarm.start("ada", prompt)
    reading = await engine.begun.get()
    async with asyncio.timeout(5):
        assert await engine.left.get() == reading
    assert prewarm.state(warm_id) == "cold"
    assert prewarm.find(warm_id) is None
    await prewarm.close()


async def test_the_instructions_are_prefilled_again_for_another_model(
    settings: Settings,
) -> None:
    engine = Changing()
    engine.may_read.set()
    async with open_world(replace(settings, prewarm=False), engine) as world:
        watching = asyncio.create_task(keep_instructions_warm(world.app.services, check_s=0.001))
        assert (await engine.begun.get()).model == "first"
        engine.name = "second"
        assert (await engine.begun.get()).model == "second"
        watching.cancel()
        await asyncio.wait([watching])


async def test_the_start_of_a_long_draft_is_prefilled_too() -> None:
    engine = ScriptedEngine()

    async def stable(text: str) -> Prompt:
        system = Message("system", (Text("be brief"),), "system")
        prompt = await engine.encode("auto", [system, Message("user", (Text(text),), "user")])
        prefix = stable_prefix(prompt)
        assert prefix is not None
        assert prompt.ids[: prefix.num_tokens] == prefix.ids
        return prefix

    short, longer = await stable("word"), await stable("word " * 100)
    assert short == await stable("another")
    assert short.num_tokens < longer.num_tokens < short.num_tokens + 100 - 15


async def test_notes_found_for_a_draft_are_not_prefilled(settings: Settings) -> None:
    async with open_world(settings, ScriptedEngine()) as world:
        ada, services = await world.someone("ada"), world.app.services
        for text in ("I am allergic to peanuts.", "My train to Porto leaves at seven."):
            await services.store.memories.add(ada.user_id, text, "written")
        draft = "May I eat peanuts, allergic as I am, " * 10

        async def prefix_of(text: str) -> Prompt:
            prompt, _ = await preview_prompt(Send(user_id=ada.user_id, text=text), services)
            assert "memory" in {span.source for span in prompt.spans}
            prefix = stable_prefix(prompt)
            assert prefix is not None
            return prefix

        assert await prefix_of(draft) == await prefix_of(f"{draft} on my train to Porto")


async def test_changed_instructions_are_prefilled_again(settings: Settings) -> None:
    engine = PausablePrefill()
    engine.may_read.set()
    async with open_world(replace(settings, prewarm=False), engine) as world:
        root, services = await world.someone("root", "admin"), world.app.services
        watching = asyncio.create_task(keep_instructions_warm(services, check_s=0.001))
        async with asyncio.timeout(5):
            before = await engine.begun.get()
            prompt, words = "/backend-api/admin/prompts/system", "Quite other. {{ instructions }}"
            new = await root.http.post(f"{prompt}/versions", json={"template": words, "note": ""})
            await root.http.put(prompt, json={"version": new.json()["version"]})
            assert (await engine.begun.get()).ids != before.ids
        watching.cancel()
        await asyncio.wait([watching])
