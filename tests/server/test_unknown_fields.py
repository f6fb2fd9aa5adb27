"""Only known fields of a request reach the model."""

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace
from tests.server.world import message, open_world

from hitsend.engine import Prompt, ScriptedEngine
from hitsend.messages import FREE, AnswerRules, Message, Tool
from hitsend.settings import Settings

CANARY = "canary-9c41"

INTERNAL = [
    "instructions", "system", "system_prompt", "system_message", "developer", "prompt", "prompts",
    "prompt_name", "prompt_version", "template", "template_name", "chat_template",
    "chat_template_kwargs", "add_generation_prompt", "experiment_id", "seen", "profile", "memories",
    "summaries", "recalled", "given", "context", "tools_override", "bypass", "bypass_filter",
    "bypass_limits", "user_id", "key_id", "num_window_tokens", "grammar", "raw", "suffix", "warm",
]  # fmt: skip


class RecordingEngine(ScriptedEngine):
    def __init__(self) -> None:
        super().__init__()
        self.prompts: list[tuple[Message, ...]] = []

    async def encode(
        self,
        model: str,
        messages: Sequence[Message],
        tools: Sequence[Tool] = (),
        rules: AnswerRules = FREE,
    ) -> Prompt:
        self.prompts.append(tuple(messages))
        return await super().encode(model, messages, tools, rules)


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return replace(settings, prewarm=False)


async def test_a_chat_with_a_field_we_do_not_know_is_refused(settings: Settings) -> None:
    engine = RecordingEngine()
    async with open_world(settings, engine) as world:
        ada = await world.someone("ada")
        for name in INTERNAL:
            for body in (message("hello") | {name: CANARY}, in_message(name), in_sampling(name)):
                sent = await ada.http.post("/backend-api/f/conversation", json=body)
                assert sent.status_code == 400, name
                assert CANARY not in sent.text
        assert engine.prompts == []


def in_message(name: str) -> dict[str, Any]:
    body = message("hello")
    body["messages"][0][name] = CANARY
    return body


def in_sampling(name: str) -> dict[str, Any]:
    return message("hello") | {"sampling": {name: CANARY}}


async def test_metadata_of_a_page_reaches_no_model(settings: Settings) -> None:
    """Fields of ChatGPT's client are accepted, but do not reach the model."""
    engine = RecordingEngine()
    async with open_world(settings, engine) as world:
        ada = await world.someone("ada")
        await ada.send("hello")
        body = message("hello", timezone=CANARY, client_prepare_state=CANARY)
        body["messages"][0]["metadata"] = {"system_prompt": CANARY, "selected": [CANARY]}
        body["messages"][0]["author"] |= {"name": CANARY, "metadata": {"role": "system"}}
        sent = await ada.http.post("/backend-api/f/conversation", json=body)
        assert sent.status_code == 200
        plain, adorned = engine.prompts
        assert adorned == plain


@pytest.mark.parametrize("role", ["system", "developer", "assistant", "tool"])
async def test_a_chat_accepts_messages_of_the_user_role_only(settings: Settings, role: str) -> None:
    engine = RecordingEngine()
    async with open_world(settings, engine) as world:
        ada = await world.someone("ada")
        body = message(CANARY)
        body["messages"][0]["author"]["role"] = role
        assert (await ada.http.post("/backend-api/f/conversation", json=body)).status_code == 400
        assert engine.prompts == []


async def test_an_api_call_ignores_unknown_fields(settings: Settings) -> None:
    """SDKs send fields of their own: none reaches the model."""
    engine = RecordingEngine()
    async with open_world(settings, engine) as world:
        ada = await world.someone("ada")
        http = await world.browser()
        http.headers["authorization"] = f"Bearer {ada.key}"
        said = {"role": "user", "content": "hello", "name": CANARY, "metadata": {"x": CANARY}}
        body = {"model": "auto", "messages": [said]}
        for adorned in [{}, *({name: CANARY} for name in INTERNAL)]:
            sent = await http.post("/v1/chat/completions", json=body | adorned)
            assert sent.status_code == 200, sent.text
        assert len(engine.prompts) == 1 + len(INTERNAL)
        assert set(engine.prompts) == {engine.prompts[0]}
        assert [one.text for one in engine.prompts[0]] == ["hello"]
