"""Notes: text that precedes a question or follows the instructions, rendered from our prompts.

Only ids of what a note contains are stored, and it is rendered again for each turn. So a memory
that a person deletes or edits is deleted or edited in every note.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from hitsend.messages import Source, Text, UsedPrompt
from hitsend.prompts.picker import PromptPicker
from hitsend.settings import Settings
from hitsend.store import Exchange, Profile, Summary


class Note(msgspec.Struct, frozen=True):
    """A note that a step of the turn adds, to be rendered from a prompt."""

    prompt: str
    values: Mapping[str, object] = {}
    source: Source = "memory"


CAUTION_FLAGS: Mapping[str, str] = {
    "harassment": "hate",
    "harassment/threatening": "violence",
    "hate": "hate",
    "hate/threatening": "hate",
    "illicit": "illicit",
    "illicit/violent": "illicit",
    "self-harm": "self_harm",
    "self-harm/intent": "self_harm",
    "self-harm/instructions": "self_harm",
    "sexual": "sexual",
    "sexual/minors": "sexual",
    "violence": "violence",
    "violence/graphic": "violence",
    "jailbreak": "jailbreak",
    "injection": "injection",
}
"""What the caution note says about each head of the safety classifier. About others, such as
harm of no category, it has only its general part."""


def caution_note(heads: Iterable[str], help: str = "") -> Note:
    """Tells the model how to answer a question that may be harmful. `help` names people to talk
    to, for somebody who may hurt themselves."""
    flags = {CAUTION_FLAGS[head] for head in heads if head in CAUTION_FLAGS}
    return Note("caution_note", {**dict.fromkeys(flags, True), "help": help}, "system")


class Notes:
    """Renders the notes of one turn. `used` collects the prompts used."""

    def __init__(self, prompts: PromptPicker, user_id: str, model: str) -> None:
        self._prompts = prompts
        self._user_id = user_id
        self._model = model
        self.used: dict[str, UsedPrompt] = {}

    async def instructions(self, settings: Settings) -> Text:
        """The operator's, then ours about safety. They are the same in every conversation, so the
        engine keeps them prefilled."""
        instructions = await self.operator_instructions(settings)
        if not settings.safety_instructions:
            return Text(instructions)
        return Text(instructions + "\n\n" + await self._render("safety_instructions"))

    async def operator_instructions(self, settings: Settings) -> str:
        return await self._render("system", instructions=settings.instructions)

    async def profile(self, profile: Profile) -> Text | None:
        """Follows the instructions: it rarely changes, so the engine's prefix cache stays valid."""
        fields = {"call_me": profile.call_me, "about_me": profile.about_me, "style": profile.style}
        if not profile.is_on or not any(fields.values()):
            return None
        return Text("\n\n" + await self._render("profile_note", **fields), "profile")

    async def memories(self, texts: Sequence[str]) -> Text | None:
        return await self._render_note("memory", "memory_note", memories=texts) if texts else None

    async def from_note(self, note: Note) -> Text:
        return await self._render_note(note.source, note.prompt, **note.values)

    async def recalled(self, exchanges: Sequence[Exchange]) -> Text | None:
        if not exchanges:
            return None
        texts = [f"Question: {one.question}\nAnswer: {one.answer}" for one in exchanges]
        return await self._render_note("recalled", "recalled_note", exchanges=texts)

    async def summaries(self, summaries: Sequence[Summary]) -> Text | None:
        if not summaries:
            return None
        texts = [summary.text for summary in summaries]
        return await self._render_note("summary", "summary_note", summaries=texts)

    async def _render_note(self, source: Source, name: str, **values: object) -> Text:
        return Text(await self._render(name, **values) + "\n\n", source)

    async def _render(self, name: str, **values: object) -> str:
        text, picked = await self._prompts.render_text(
            name, values, user_id=self._user_id, model=self._model
        )
        self.used[name] = picked.used
        return text
