"""Notes: text that precedes a question or follows the instructions, rendered from our prompts.

Only ids of what a note contains are stored, and it is rendered again for each turn. So a memory
that a person deletes or edits is deleted or edited in every note.
"""

from collections.abc import Mapping, Sequence

import msgspec

from hitsend.messages import Source, Text, UsedPrompt
from hitsend.prompts.picker import PromptPicker
from hitsend.store import Exchange, Profile, Summary


class Note(msgspec.Struct, frozen=True):
    """A note about a memory request, to be rendered from a prompt."""

    prompt: str
    values: Mapping[str, object] = {}


class Notes:
    """Renders the notes of one turn. `used` collects the prompts used."""

    def __init__(self, prompts: PromptPicker, user_id: str, model: str) -> None:
        self._prompts = prompts
        self._user_id = user_id
        self._model = model
        self.used: dict[str, UsedPrompt] = {}

    async def instructions(self, instructions: str) -> Text:
        return Text(await self._render("system", instructions=instructions))

    async def profile(self, profile: Profile) -> Text | None:
        """Follows the instructions: it rarely changes, so the engine's prefix cache stays valid."""
        fields = {"call_me": profile.call_me, "about_me": profile.about_me, "style": profile.style}
        if not profile.is_on or not any(fields.values()):
            return None
        return Text("\n\n" + await self._render("profile_note", **fields), "profile")

    async def memories(self, texts: Sequence[str]) -> Text | None:
        return await self._render_note("memory", "memory_note", memories=texts) if texts else None

    async def from_note(self, note: Note) -> Text:
        return await self._render_note("memory", note.prompt, **note.values)

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
