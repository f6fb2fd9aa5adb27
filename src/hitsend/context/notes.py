"""What stands in front of a question besides what the person said: notes, worded by our prompts.

Only names are ever stored of what a note says; it is worded anew each time. So what a person
deletes is gone from every note, and what they change is changed in all.
"""

from collections.abc import Mapping, Sequence

import msgspec

from hitsend.messages import Source, Text, UsedPrompt
from hitsend.prompt_book import PromptBook
from hitsend.store import Exchange, Profile, Summary


class Note(msgspec.Struct, frozen=True):
    """About memories, not yet worded: what a turn did for the person, or may have done."""

    prompt: str
    values: Mapping[str, object] = {}


class Notes:
    """Of one turn. `used` are the prompts they were worded with."""

    def __init__(self, book: PromptBook, user_id: str, model: str) -> None:
        self._book = book
        self._user_id = user_id
        self._model = model
        self.used: dict[str, UsedPrompt] = {}

    async def instructions(self, instructions: str) -> Text:
        return Text(await self._worded("system", instructions=instructions))

    async def profile(self, profile: Profile) -> Text | None:
        """After the instructions: it stays the same, and so does what the engine read of it."""
        said = {"call_me": profile.call_me, "about_me": profile.about_me, "style": profile.style}
        if not profile.is_on or not any(said.values()):
            return None
        return Text("\n\n" + await self._worded("profile_note", **said), "profile")

    async def memories(self, texts: Sequence[str]) -> Text | None:
        return await self._note("memory", "memory_note", memories=texts) if texts else None

    async def done(self, note: Note) -> Text:
        return await self._note("memory", note.prompt, **note.values)

    async def recalled(self, exchanges: Sequence[Exchange]) -> Text | None:
        if not exchanges:
            return None
        shown = [f"Question: {one.question}\nAnswer: {one.answer}" for one in exchanges]
        return await self._note("recalled", "recalled_note", exchanges=shown)

    async def summaries(self, summaries: Sequence[Summary]) -> Text | None:
        if not summaries:
            return None
        texts = [summary.text for summary in summaries]
        return await self._note("summary", "summary_note", summaries=texts)

    async def _note(self, source: Source, name: str, **values: object) -> Text:
        return Text(await self._worded(name, **values) + "\n\n", source)

    async def _worded(self, name: str, **values: object) -> str:
        text, picked = await self._book.text(name, values, user_id=self._user_id, model=self._model)
        self.used[name] = picked.used
        return text
