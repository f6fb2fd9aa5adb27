"""Step 5, context: what the model sees. Instructions, profile, history, notes and the question.

Notes (memories, recalled exchanges, summaries) stand in front of the question they were found for,
and stay there; `context/window.py` says why. Tokens are not counted here: a context that does not
fit is built again with a `Cut`.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

import msgspec

from hitsend.context.attachments import show_attachments
from hitsend.context.history import (
    History,
    continued_answer,
    find_seen,
    find_undecided,
    read_history,
    user_messages,
    with_notes,
)
from hitsend.context.notes import Note, Notes
from hitsend.context.recall import Recall
from hitsend.context.summary_ranges import Covered, count_covered, select_cover
from hitsend.context.window import (
    MEMORY_SHARE,
    RECALLED_SHARE,
    SUMMARY_SHARE,
    Context,
    Cut,
    chars_in_share,
    take_fitting,
)
from hitsend.memory.imperatives import remove_imperatives
from hitsend.messages import Message, Seen, Text
from hitsend.prompts.picker import PromptPicker
from hitsend.send import Turn
from hitsend.settings import Settings
from hitsend.store import Exchange, Memory, MessagePath, Profile, Store

MAX_MEMORIES, MAX_RECALLED = 5, 4


class Sources(Protocol):
    """Where the pieces of a context come from."""

    @property
    def settings(self) -> Settings: ...

    @property
    def store(self) -> Store: ...

    @property
    def prompts(self) -> PromptPicker: ...

    @property
    def recall(self) -> Recall: ...


class TurnNotes(msgspec.Struct, frozen=True):
    """What the turn itself adds to its context."""

    notes: Sequence[Note] = ()
    """Shown in front of the question, after the notes found for it."""
    forgotten: frozenset[str] = frozenset()
    """Ids of memories that no note may show any more."""
    seen: Seen | None = None
    """What the first round of the answer saw. Later rounds see the same."""
    rounds: Sequence[Message] = ()
    """What the model has said and read in this turn: its calls of tools, and their results."""


NO_NOTES = TurnNotes()


class OlderMessages(NamedTuple):
    """The messages before the first one that is shown whole."""

    path: MessagePath = MessagePath()
    """All messages of the conversation up to the last one that is read."""
    num: int = 0
    """How many of them are older."""
    starts_at: str | None = None

    @property
    def ids(self) -> MessagePath:
        return self.path.prefix(self.num)


class ResolvedRefs(NamedTuple):
    """The current texts of what notes refer to. Of a memory, only its statements."""

    memories: Mapping[str, str]
    exchanges: Mapping[str, Exchange]

    def add(self, memories: Mapping[str, str], exchanges: Mapping[str, Exchange]) -> "ResolvedRefs":
        return ResolvedRefs({**self.memories, **memories}, {**self.exchanges, **exchanges})


class ContextBuilder:
    def __init__(self, turn: Turn, sources: Sources, cut: Cut, turn_notes: TurnNotes) -> None:
        self._turn = turn
        self._user_id = turn.send.user_id
        self._sources = sources
        self._store = sources.store
        self._cut = cut
        self._turn_notes = turn_notes
        self._notes = Notes(sources.prompts, self._user_id, turn.model)

    async def build(self) -> Context:
        """To continue an answer, the context ends with the text it has so far."""
        if self._turn.is_api:
            return Context(question=(*self._turn.send.given, *self._turn_notes.rounds))
        profile = await self._read_profile()
        history = await read_history(self._turn, self._cut, self._store)
        older = await self._find_older(history)
        earlier = [_drop_moved(seen, older.starts_at) for seen in history.seen]
        found = self._reuse_found(history)
        summaries = await self._select_summaries(older, history)
        refs = await self._resolve_refs([*earlier, found or Seen()], profile)
        earlier = [_drop_unresolved(seen, refs) for seen in earlier]
        if found is None:
            found, refs = await self._search(older, history, earlier, refs, profile)
        found = _drop_unresolved(found, refs)

        system = await self._build_system(profile)
        notes = [await self._notes.summaries([one.summary for one in summaries])]
        exchanges = []
        for exchange, seen in zip(history.exchanges, earlier, strict=True):
            notes += await self._render_notes(seen, refs)
            exchanges.append(with_notes(exchange, _present(notes), self._turn))
            notes = []
        notes += await self._render_notes(found, refs)
        notes += [await self._notes.from_note(note) for note in self._turn_notes.notes]
        return Context(
            question=await self._build_question(history, _present(notes)),
            question_id=history.question[0].message_id
            if history.question
            else self._turn.question_id or "",
            system=(system,),
            instructions=await self._notes.operator_instructions(self._sources.settings),
            exchanges=tuple(exchanges),
            seen=self._record_seen(found, earlier, older, summaries),
            cut=self._cut,
            undecided=find_undecided(history.question),
        )

    async def _read_profile(self) -> Profile:
        return await self._store.profiles.in_conversation(
            self._user_id,
            self._turn.conversation_id,
            has_memory=self._turn.send.has_memory,
        )

    async def _find_older(self, history: History) -> OlderMessages:
        """Empty while the conversation is shown from its first message."""
        send, first = self._turn.send, history.first
        leaf_id = send.parent_id
        if leaf_id is None or send.conversation_id is None or (first and first.parent_id is None):
            return OlderMessages()
        path = await self._store.conversations.path_ids(
            send.conversation_id, self._user_id, leaf_id
        )
        if first is None:
            return OlderMessages(path, len(path), send.message_id)
        return OlderMessages(path, path.place(first.message_id) or 0, first.message_id)

    async def _select_summaries(self, older: OlderMessages, history: History) -> Sequence[Covered]:
        """Keeps the summaries of the last turn while the conversation starts at the same message:
        others would invalidate the KV cache. Else returns as many as there is room for."""
        if not older.num or "summary" in self._cut.without:
            return ()
        there = await self._store.summaries.list(self._turn.conversation_id, self._user_id)
        seens = [*history.seen, self._turn_notes.seen or Seen()]
        alike = (seen for seen in reversed(seens) if seen.starts_at == older.starts_at)
        shown = next((seen.summaries for seen in alike), ())
        same = select_cover(older.path, (one for one in there if one.id in shown), older.num)
        if shown and len(same) == len(shown):
            return same
        newest_first = select_cover(older.path, there, older.num)[::-1]
        room = self._room(SUMMARY_SHARE)
        return take_fitting(room, newest_first, lambda one: len(one.summary.text))[::-1]

    def _reuse_found(self, history: History) -> Seen | None:
        """Returns what the answer saw before, when it is continued or in a later round."""
        is_continued = self._turn.send.action == "continue"
        seen = find_seen(history.question) if is_continued else self._turn_notes.seen
        if seen is None:
            return None
        without = self._cut.without
        return Seen(
            memories=() if "memory" in without else seen.memories,
            recalled=() if "recalled" in without else seen.recalled,
        )

    async def _search(
        self,
        older: OlderMessages,
        history: History,
        earlier: Sequence[Seen],
        refs: ResolvedRefs,
        profile: Profile,
    ) -> tuple[Seen, ResolvedRefs]:
        """Finds memories and exchanges for the question that no note shows yet."""
        without, questions = self._cut.without, user_messages(history.question)
        question = questions[0].text if questions else self._turn.send.text
        memories: Sequence[Memory] = ()
        if profile.uses_memory and "memory" not in without:
            memories = await self._search_memories(question, earlier)
        exchanges: Sequence[Exchange] = ()
        if older.num and "recalled" not in without:
            exchanges = await self._search_recalled(question, older, earlier, refs)
        texts = {memory.id: memory.text for memory in memories}
        found = Seen(
            memories=tuple(memory.id for memory in memories),
            recalled=tuple(exchange.message_id for exchange in exchanges),
        )
        return found, refs.add(texts, {one.message_id: one for one in exchanges})

    async def _search_memories(self, question: str, earlier: Sequence[Seen]) -> Sequence[Memory]:
        known = {one for seen in earlier for one in seen.memories} | self._turn_notes.forgotten
        found = await self._sources.recall.find_memories(
            self._user_id, question, limit=MAX_MEMORIES, known=known
        )
        return take_fitting(self._room(MEMORY_SHARE), found, lambda memory: len(memory.text))

    async def _search_recalled(
        self, question: str, older: OlderMessages, earlier: Sequence[Seen], refs: ResolvedRefs
    ) -> Sequence[Exchange]:
        """Returns them in the order of the conversation."""
        known = {message_id for seen in earlier for message_id in seen.recalled}
        found = await self._sources.recall.find_exchanges(
            self._turn.conversation_id,
            self._user_id,
            question,
            before=older.ids,
            known=known,
            limit=MAX_RECALLED,
        )
        num_shown = sum(_num_chars(refs.exchanges[message_id]) for message_id in known)
        room = (self._room(RECALLED_SHARE) - num_shown) / 2
        wanted = take_fitting(room, found, _num_chars)
        return sorted(wanted, key=lambda exchange: older.path.place(exchange.message_id) or 0)

    def _room(self, share: float) -> int:
        return chars_in_share(share, self._turn.num_window_tokens)

    async def _resolve_refs(self, seens: Sequence[Seen], profile: Profile) -> ResolvedRefs:
        """Reads what the notes of all questions refer to."""
        memory_ids = {one for seen in seens for one in seen.memories if profile.uses_memory}
        memory_ids -= self._turn_notes.forgotten
        recalled_ids = {one for seen in seens for one in seen.recalled}
        texts = await self._store.memories.texts(self._user_id, memory_ids) if memory_ids else {}
        exchanges = await self._store.exchanges.get(
            self._turn.conversation_id, self._user_id, recalled_ids
        )
        return ResolvedRefs(await _remove_imperatives(texts), exchanges)

    async def _build_system(self, profile: Profile) -> Message:
        instructions = await self._notes.instructions(self._sources.settings)
        about = await self._notes.profile(profile)
        return Message("system", tuple(_present([instructions, about])), "system")

    async def _render_notes(self, seen: Seen, refs: ResolvedRefs) -> list[Text | None]:
        exchanges = [refs.exchanges[one] for one in seen.recalled]
        memories = [refs.memories[one] for one in seen.memories]
        return [await self._notes.recalled(exchanges), await self._notes.memories(memories)]

    async def _build_question(self, history: History, notes: Sequence[Text]) -> tuple[Message, ...]:
        turn = self._turn
        asked = [turn.user_message] if turn.user_message else user_messages(history.question)
        questions = map(show_attachments, asked)
        noted = [Message(one.role, (*notes, *one.parts), one.source) for one in questions]
        if turn.send.action == "continue":
            noted += await continued_answer(history.question, turn, self._store)
        return (*noted, *self._turn_notes.rounds)

    def _record_seen(
        self,
        found: Seen,
        earlier: Sequence[Seen],
        older: OlderMessages,
        summaries: Sequence[Covered],
    ) -> Seen:
        recalled = {one for seen in (*earlier, found) for one in seen.recalled}
        answers = [at for one in recalled if (at := older.ids.place(one)) is not None]
        shown = {at for answer in answers for at in (answer - 1, answer)}
        return msgspec.structs.replace(
            found,
            starts_at=older.starts_at,
            summaries=tuple(one.summary.id for one in summaries),
            num_dropped_messages=older.num - count_covered(summaries, shown, older.num),
            prompts=tuple(self._notes.used.values()),
        )


def _drop_moved(seen: Seen, starts_at: str | None) -> Seen:
    """Drops the recalled exchanges of an earlier question once the conversation starts at a later
    message: everything is read anew then anyway, and the room is needed."""
    if seen.starts_at == starts_at:
        return seen
    return msgspec.structs.replace(seen, recalled=())


async def _remove_imperatives(texts: Mapping[str, str]) -> Mapping[str, str]:
    """Keeps the statements of each memory. In a thread: many long ones take a while."""
    if not texts:
        return {}
    found = await asyncio.to_thread(
        lambda: {one: remove_imperatives(text) for one, text in texts.items()}
    )
    return {one: text for one, text in found.items() if text}


def _drop_unresolved(seen: Seen, refs: ResolvedRefs) -> Seen:
    """Drops memories and exchanges that were deleted or turned off, or state nothing."""
    return msgspec.structs.replace(
        seen,
        memories=tuple(one for one in seen.memories if one in refs.memories),
        recalled=tuple(one for one in seen.recalled if one in refs.exchanges),
    )


def _num_chars(exchange: Exchange) -> int:
    return len(exchange.question) + len(exchange.answer)


def _present(notes: Sequence[Text | None]) -> list[Text]:
    return [note for note in notes if note is not None]
