"""What every model is told about safety, and what it is told of a doubtful question."""

import pytest
from msgspec import UNSET
from msgspec.structs import replace
from tests.server.test_autocompletions import FixedText, wait_for_suggestion
from tests.server.world import open_world

from hitsend.context.build import TurnNotes
from hitsend.context.notes import CAUTION_FLAGS, caution_note
from hitsend.engine import ScriptedEngine
from hitsend.messages import Message, Text
from hitsend.prompts import render, shipped_prompts
from hitsend.safety.heads import ANSWER_HEADS, HEADS
from hitsend.send import Send
from hitsend.server.app import App
from hitsend.settings import Settings
from hitsend.steps.admit import admit
from hitsend.store import Profile
from hitsend.turn import fit_context

SAFETY = render(shipped_prompts()["safety_instructions"], {})


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return replace(settings, prewarm=False, instructions="Be brief.")


async def read_prompt(app: App, user_id: str, notes: TurnNotes) -> tuple[Message, ...]:
    turn = await admit(Send(user_id=user_id, text="Hm?"), app.services)
    _, prompt = await fit_context(turn, app.services, (), notes)
    return prompt.messages


async def test_a_conversation_begins_with_the_operators_words_and_then_ours(
    settings: Settings,
) -> None:
    async with open_world(settings, ScriptedEngine()) as world:
        ada = await world.someone("ada")
        system, question = await read_prompt(world.app, ada.user_id, TurnNotes())
        assert system.text == f"Be brief.\n\n{SAFETY}"
        assert question.text == "Hm?"


async def test_ours_can_be_turned_off(settings: Settings) -> None:
    silent = replace(settings, safety_instructions=False)
    async with open_world(silent, ScriptedEngine()) as world:
        ada = await world.someone("ada")
        system, _ = await read_prompt(world.app, ada.user_id, TurnNotes())
        assert system.text == "Be brief."


async def test_the_profile_follows_them(settings: Settings) -> None:
    async with open_world(settings, ScriptedEngine()) as world:
        ada = await world.someone("ada")
        await world.app.services.store.profiles.set(ada.user_id, Profile(call_me="Countess"))
        system, _ = await read_prompt(world.app, ada.user_id, TurnNotes())
        assert system.text.index(SAFETY) < system.text.index("Countess")


async def test_a_call_over_the_api_brings_all_its_words_itself(settings: Settings) -> None:
    async with open_world(settings, ScriptedEngine()) as world:
        ada = await world.someone("ada")
        given = [Message("user", (Text("Hm?"),), "user")]
        sent = Send(user_id=ada.user_id, text="", given=tuple(given))
        turn = await admit(sent, world.app.services)
        assert turn.is_api
        _, prompt = await fit_context(turn, world.app.services)
        assert [message.text for message in prompt.messages] == ["Hm?"]


async def test_a_suggestion_begins_like_a_conversation(settings: Settings) -> None:
    """So that what is prefilled for one serves the other."""
    engine = FixedText(" of France today")
    async with open_world(settings, engine) as world:
        await wait_for_suggestion(world, "What is the capital")
        chat = await read_prompt(world.app, "", TurnNotes())
        assert engine.shown[-1].messages[0] == chat[0]


@pytest.mark.parametrize(
    ("head", "says"),
    [
        ("self-harm/intent", "Samaritans"),
        ("illicit/violent", "weapons, drugs or malware"),
        ("violence", "help them to be safe"),
        ("harassment", "insult, mock or threaten"),
        ("sexual/minors", "under 18"),
        ("jailbreak", "drop your rules"),
        ("injection", "the person did not write"),
        ("harm", "It may as well be harmless"),
    ],
)
async def test_a_doubtful_question_comes_with_a_note_of_its_kind(
    settings: Settings, head: str, says: str
) -> None:
    async with open_world(settings, ScriptedEngine()) as world:
        ada = await world.someone("ada")
        help = "Samaritans: 116 123"
        notes = TurnNotes([caution_note([head], help)])
        _, question = await read_prompt(world.app, ada.user_id, notes)
        note, own = question.parts
        assert isinstance(note, Text)
        assert isinstance(own, Text)
        assert says in note.text
        assert note.source == "system"
        assert (own.text, own.source) == ("Hm?", UNSET)
        assert question.own_text == "Hm?"
        assert ("Samaritans" in note.text) == head.startswith("self-harm")


def test_every_head_that_judges_questions_has_its_note() -> None:
    assert set(HEADS) - set(ANSWER_HEADS) - {"harm"} == set(CAUTION_FLAGS)
