"""Step 2. What should the model see? Instructions, who it talks to, what was said, the question.

Notes stand in front of the question they were found for, and stay there; `context/window.py`
says why. How many tokens all of it takes is not known here. Where it is too much, it is asked for
again with a `Cut`.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from hitsend.context.history import History, begun_in, kept, questions_in, read_history, seen_in
from hitsend.context.notes import Note, Notes
from hitsend.context.stretches import covered_ids, covering
from hitsend.context.window import (
    MEMORY_SHARE,
    RECALLED_SHARE,
    SUMMARY_SHARE,
    WHOLE,
    Context,
    Cut,
    num_chars_within,
)
from hitsend.memory.statements import statements
from hitsend.messages import Message, Seen, Text
from hitsend.prompt_book import PromptBook
from hitsend.recall import Recall, within
from hitsend.send import Turn
from hitsend.store import Exchange, Memory, Profile, Store, Summary

MOST_MEMORIES, MOST_RECALLED = 5, 4


@dataclass(frozen=True, slots=True)
class Sources:
    """What a context is gathered from."""

    store: Store
    book: PromptBook
    recall: Recall
    instructions: str


class Beside(msgspec.Struct, frozen=True):
    """What the turn itself has to do with its context."""

    notes: Sequence[Note] = ()
    """In front of the question, after those that are found for it."""
    forgotten: frozenset[str] = frozenset()
    """Memories that are to be in no note any more."""
    seen: Seen | None = None
    """When the question was read for the first time. Nothing else is looked for then."""


NOTHING = Beside()


async def build_context(
    turn: Turn, sources: Sources, cut: Cut = WHOLE, beside: Beside = NOTHING
) -> Context:
    """To continue an answer, the context ends with what it has said so far."""
    if turn.is_api:
        return Context(asked=turn.send.given)
    return await _Gathering(turn, sources, cut, beside).context()


class Before(NamedTuple):
    """What comes before the messages that are shown whole."""

    ids: Sequence[str] = ()
    starts_at: str | None = None


class Named(NamedTuple):
    """What is named in notes, as it is now. Of a memory, only what it tells."""

    memories: Mapping[str, str]
    exchanges: Mapping[str, Exchange]

    def and_also(self, memories: Mapping[str, str], exchanges: Mapping[str, Exchange]) -> "Named":
        return Named({**self.memories, **memories}, {**self.exchanges, **exchanges})


class _Gathering:
    """Of one turn."""

    def __init__(self, turn: Turn, sources: Sources, cut: Cut, beside: Beside) -> None:
        self._turn = turn
        self._user_id = turn.send.user_id
        self._sources = sources
        self._store = sources.store
        self._cut = cut
        self._beside = beside
        self._notes = Notes(sources.book, self._user_id, turn.model)

    async def context(self) -> Context:
        profile, history = await asyncio.gather(
            self._profile(), read_history(self._turn, self._cut, self._store)
        )
        before = await self._before(history)
        standing = [_standing(seen, before.starts_at) for seen in history.seens]
        found = self._found_before(history)
        summaries, named = await asyncio.gather(
            self._summaries(before, history), self._named([*standing, found or Seen()], profile)
        )
        standing = [_told(seen, named) for seen in standing]
        if found is None:
            found, named = await self._find(before, history, standing, named, profile)
        found = _told(found, named)

        system = await self._system(profile)
        notes = [await self._notes.summaries(summaries)]
        exchanges = []
        for exchange, seen in zip(history.exchanges, standing, strict=True):
            notes += await self._notes_of(seen, named)
            exchanges.append(kept(exchange, _present(notes)))
            notes = []
        notes += await self._notes_of(found, named)
        notes += [await self._notes.done(note) for note in self._beside.notes]
        return Context(
            asked=await self._asked(history, _present(notes)),
            asked_id=history.asked[0].message_id if history.asked else self._turn.question_id or "",
            system=(system,),
            kept=tuple(exchanges),
            seen=self._seen(found, standing, before, summaries),
            cut=self._cut,
        )

    async def _profile(self) -> Profile:
        return await self._store.profiles.in_conversation(
            self._user_id,
            self._turn.conversation_id,
            has_memory=self._turn.send.has_memory,
        )

    async def _before(self, history: History) -> Before:
        """Nothing, as long as the conversation is shown from its first message on."""
        send, first = self._turn.send, history.first
        parent_id = first.parent_id if first else send.parent_id
        if parent_id is None or send.conversation_id is None:
            return Before()
        ids = await self._store.conversations.ids_before(
            send.conversation_id, self._user_id, parent_id
        )
        return Before(ids, first.message_id if first else send.message_id)

    async def _summaries(self, before: Before, history: History) -> Sequence[Summary]:
        """Those that were shown last, as long as the conversation begins where it did then: for
        others all that follows would have to be read anew. Else as many as there is room for."""
        if not before.ids or "summary" in self._cut.without:
            return ()
        there = await self._store.summaries.list(self._turn.conversation_id, self._user_id)
        seens = [*history.seens, self._beside.seen or Seen()]
        alike = (seen for seen in reversed(seens) if seen.starts_at == before.starts_at)
        shown = next((seen.summaries for seen in alike), ())
        path, num_before = (*before.ids, *history.ids), len(before.ids)
        same = covering(path, [one for one in there if one.id in shown], num_before)
        if shown and len(same) == len(shown):
            return same
        newest_first = covering(path, there, num_before)[::-1]
        return within(self._room(SUMMARY_SHARE), newest_first, lambda one: len(one.text))[::-1]

    def _found_before(self, history: History) -> Seen | None:
        """An answer that is continued goes on from what it saw, and so does a second reading."""
        is_continued = self._turn.send.action == "continue"
        seen = seen_in(history.asked) if is_continued else self._beside.seen
        if seen is None:
            return None
        without = self._cut.without
        return Seen(
            memories=() if "memory" in without else seen.memories,
            recalled=() if "recalled" in without else seen.recalled,
        )

    async def _find(
        self,
        before: Before,
        history: History,
        standing: Sequence[Seen],
        named: Named,
        profile: Profile,
    ) -> tuple[Seen, Named]:
        """For the question. Nothing that stands in a note already."""
        without, questions = self._cut.without, questions_in(history.asked)
        question = questions[0].text if questions else self._turn.send.text
        memories: Sequence[Memory] = ()
        if profile.uses_memory and "memory" not in without:
            memories = await self._memories(question, standing)
        exchanges: Sequence[Exchange] = ()
        if before.ids and "recalled" not in without:
            exchanges = await self._recalled(question, before, standing, named)
        told = {memory.id: memory.text for memory in memories}
        found = Seen(
            memories=tuple(memory.id for memory in memories),
            recalled=tuple(exchange.message_id for exchange in exchanges),
        )
        return found, named.and_also(told, {one.message_id: one for one in exchanges})

    async def _memories(self, question: str, standing: Sequence[Seen]) -> Sequence[Memory]:
        known = {one for seen in standing for one in seen.memories} | self._beside.forgotten
        found = await self._sources.recall.memories(
            self._user_id, question, most=MOST_MEMORIES, known=known
        )
        return within(self._room(MEMORY_SHARE), found, lambda memory: len(memory.text))

    async def _recalled(
        self, question: str, before: Before, standing: Sequence[Seen], named: Named
    ) -> Sequence[Exchange]:
        """In the order they were said."""
        known = {message_id for seen in standing for message_id in seen.recalled}
        others = [message_id for message_id in before.ids if message_id not in known]
        found = await self._sources.recall.exchanges(
            self._turn.conversation_id,
            self._user_id,
            question,
            before=others,
            most=MOST_RECALLED,
        )
        num_standing = sum(_num_chars(named.exchanges[message_id]) for message_id in known)
        room = (self._room(RECALLED_SHARE) - num_standing) / 2
        wanted = {exchange.message_id: exchange for exchange in within(room, found, _num_chars)}
        return [wanted[message_id] for message_id in others if message_id in wanted]

    def _room(self, share: float) -> int:
        return num_chars_within(share, self._turn.num_window_tokens)

    async def _named(self, seens: Sequence[Seen], profile: Profile) -> Named:
        """In the notes of all questions, read at once."""
        memory_ids = {one for seen in seens for one in seen.memories if profile.uses_memory}
        memory_ids -= self._beside.forgotten
        recalled_ids = {one for seen in seens for one in seen.recalled}
        texts = await self._store.memories.texts(self._user_id, memory_ids) if memory_ids else {}
        exchanges = await self._store.exchanges.get(
            self._turn.conversation_id, self._user_id, recalled_ids
        )
        return Named(await _statements(texts), exchanges)

    async def _system(self, profile: Profile) -> Message:
        instructions = await self._notes.instructions(self._sources.instructions)
        about = await self._notes.profile(profile)
        return Message("system", tuple(_present([instructions, about])), "system")

    async def _notes_of(self, seen: Seen, named: Named) -> list[Text | None]:
        exchanges = [named.exchanges[one] for one in seen.recalled]
        memories = [named.memories[one] for one in seen.memories]
        return [await self._notes.recalled(exchanges), await self._notes.memories(memories)]

    async def _asked(self, history: History, notes: Sequence[Text]) -> tuple[Message, ...]:
        turn = self._turn
        questions = [turn.said] if turn.said else questions_in(history.asked)
        noted = [Message(one.role, (*notes, *one.parts), one.source) for one in questions]
        if turn.send.action != "continue":
            return tuple(noted)
        return (*noted, await begun_in(history.asked, turn, self._store))

    def _seen(
        self,
        found: Seen,
        standing: Sequence[Seen],
        before: Before,
        summaries: Sequence[Summary],
    ) -> Seen:
        recalled = {one for seen in (*standing, found) for one in seen.recalled}
        answers = [at for at, message_id in enumerate(before.ids) if message_id in recalled]
        shown = {before.ids[at] for answer in answers for at in (answer - 1, answer)}
        told = covered_ids(before.ids, summaries) | shown
        return msgspec.structs.replace(
            found,
            starts_at=before.starts_at,
            summaries=tuple(summary.id for summary in summaries),
            num_dropped_messages=len(before.ids) - len(told),
            prompts=tuple(self._notes.used.values()),
        )


def _standing(seen: Seen, starts_at: str | None) -> Seen:
    """What still stands in the notes of an earlier question. What was recalled for it goes when the
    conversation begins at a later message: then all is read anew anyway, and room is needed."""
    if seen.starts_at == starts_at:
        return seen
    return msgspec.structs.replace(seen, recalled=())


async def _statements(texts: Mapping[str, str]) -> Mapping[str, str]:
    """Without what tells nothing. In a thread: many long ones take a while."""
    if not texts:
        return {}
    told = await asyncio.to_thread(lambda: {one: statements(text) for one, text in texts.items()})
    return {one: text for one, text in told.items() if text}


def _told(seen: Seen, named: Named) -> Seen:
    """Without what is gone since, is turned off, or tells nothing."""
    return msgspec.structs.replace(
        seen,
        memories=tuple(one for one in seen.memories if one in named.memories),
        recalled=tuple(one for one in seen.recalled if one in named.exchanges),
    )


def _num_chars(exchange: Exchange) -> int:
    return len(exchange.question) + len(exchange.answer)


def _present(notes: Sequence[Text | None]) -> list[Text]:
    return [note for note in notes if note is not None]
