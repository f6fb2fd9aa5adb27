"""Step 2. What should the model see? Instructions, who it talks to, what was said, the question.

Notes stand in front of the question they were found for, and stay there: see `window` for why.
How many tokens all of it takes is not known here. Where it is too much, it is asked for again
with a `Cut`.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

import msgspec

from hitsend.history import History, begun_in, kept, questions_in, read_history, seen_in
from hitsend.messages import Message, Seen, Text
from hitsend.notes import Notes
from hitsend.prompt_book import PromptBook
from hitsend.recall import Recall
from hitsend.send import Turn
from hitsend.store import Exchange, Profile, Store, Summary
from hitsend.stretches import covered_ids, covering
from hitsend.window import WHOLE, Context, Cut

FEWEST_CHARS_PER_TOKEN = 3
"""What a note is counted by before it is a prompt: rather too many tokens than too few."""

MEMORY_SHARE, RECALLED_SHARE, SUMMARY_SHARE = 1 / 16, 1 / 4, 1 / 8
"""Of the window, at most. With a quarter for the answer, and two fifths of the rest for what was
said last, all of them fit; and what was said last is worth more than any of them. What is recalled
is that of all questions together, and each takes at most half of what is left: a talk that goes
round in circles must not fill its window with itself."""
MOST_MEMORIES, MOST_RECALLED = 5, 4


@dataclass(frozen=True, slots=True)
class Sources:
    """What a context is gathered from."""

    store: Store
    book: PromptBook
    recall: Recall
    instructions: str


async def build_context(
    turn: Turn,
    sources: Sources,
    cut: Cut = WHOLE,
    notes: Sequence[Text] = (),
    forgotten: Collection[str] = (),
) -> Context:
    """To continue an answer, the context ends with what it has said so far. `notes` are put in
    front of the question, after those that are found for it. Memories that this turn is to forget
    are in none of them."""
    if turn.is_api:
        return Context(asked=turn.send.given)
    return await _Gathering(turn, sources, cut, forgotten).context(notes)


class Before(NamedTuple):
    """What comes before the messages that are shown whole."""

    ids: Sequence[str] = ()
    starts_at: str | None = None


class Named(NamedTuple):
    """What is named in notes, as it is now."""

    memories: Mapping[str, str]
    exchanges: Mapping[str, Exchange]


class _Gathering:
    """Of one turn."""

    def __init__(self, turn: Turn, sources: Sources, cut: Cut, forgotten: Collection[str]) -> None:
        self._turn = turn
        self._user_id = turn.send.user_id
        self._sources = sources
        self._store = sources.store
        self._cut = cut
        self._forgotten = frozenset(forgotten)
        self._notes = Notes(sources.book, self._user_id, turn.model)

    async def context(self, more: Sequence[Text]) -> Context:
        profile = await self._store.profiles.in_conversation(
            self._user_id,
            self._turn.conversation_id,
            is_temporary=self._turn.send.is_temporary,
        )
        history = await read_history(self._turn, self._cut, self._store)
        before = await self._before(history)
        summaries = await self._summaries(before, history)
        standing = [_standing(seen, before.starts_at) for seen in history.seens]
        found = await self._found(before, history, standing, profile)
        named = await self._named([*standing, found], profile)

        system = await self._system(profile)
        notes = [await self._notes.summaries(summaries)]
        exchanges = []
        for exchange, seen in zip(history.exchanges, standing, strict=True):
            notes += await self._notes_of(seen, named)
            exchanges.append(kept(exchange, _present(notes)))
            notes = []
        notes += await self._notes_of(found, named)
        return Context(
            asked=await self._asked(history, (*_present(notes), *more)),
            asked_id=history.asked[0].message_id if history.asked else self._turn.question_id or "",
            system=(system,),
            kept=tuple(exchanges),
            seen=self._seen(found, before, summaries),
            cut=self._cut,
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
        alike = (seen for seen in reversed(history.seens) if seen.starts_at == before.starts_at)
        shown = next((seen.summaries for seen in alike), ())
        same = [summary for summary in there if summary.id in shown]
        if shown and len(same) == len(shown):
            return covering(before.ids, same)
        newest_first = covering(before.ids, there)[::-1]
        room = self._num_chars(SUMMARY_SHARE)
        num_kept = _num_within(room, [summary.text for summary in newest_first])
        return newest_first[:num_kept][::-1]

    async def _found(
        self, before: Before, history: History, standing: Sequence[Seen], profile: Profile
    ) -> Seen:
        """For the question. An answer that is continued goes on from what it saw."""
        without = self._cut.without
        if self._turn.send.action == "continue":
            seen = seen_in(history.asked)
            return Seen(
                memories=() if "memory" in without else seen.memories,
                recalled=() if "recalled" in without else seen.recalled,
            )
        questions = questions_in(history.asked)
        question = questions[0].text if questions else self._turn.send.text
        memories: Sequence[str] = ()
        if profile.uses_memory and "memory" not in without:
            memories = await self._memories(question, standing)
        recalled: Sequence[str] = ()
        if before.ids and "recalled" not in without:
            recalled = await self._recalled(question, before, standing)
        return Seen(memories=tuple(memories), recalled=tuple(recalled))

    async def _memories(self, question: str, seens: Sequence[Seen]) -> Sequence[str]:
        """None that stands in a note already."""
        known = {memory_id for seen in seens for memory_id in seen.memories} | self._forgotten
        found = await self._sources.recall.memories(
            self._user_id, question, most=MOST_MEMORIES, known=known
        )
        room = self._num_chars(MEMORY_SHARE)
        num_kept = _num_within(room, [memory.text for memory in found])
        return [memory.id for memory in found[:num_kept]]

    async def _recalled(
        self, question: str, before: Before, seens: Sequence[Seen]
    ) -> Sequence[str]:
        """None that stands in a note already. In the order they were said."""
        known = {message_id for seen in seens for message_id in seen.recalled}
        others = [message_id for message_id in before.ids if message_id not in known]
        conversation_id = self._turn.conversation_id
        nearest = await self._sources.recall.exchanges(
            conversation_id, self._user_id, question, before=others, most=MOST_RECALLED
        )
        told = await self._store.exchanges.get(conversation_id, self._user_id, {*nearest, *known})
        found = [told[message_id] for message_id in nearest if message_id in told]
        num_standing = sum(_num_chars(told[message_id]) for message_id in known & told.keys())
        room = (self._num_chars(RECALLED_SHARE) - num_standing) / 2
        num_kept = _num_within(room, [one.question + one.answer for one in found])
        wanted = {exchange.message_id for exchange in found[:num_kept]}
        return [message_id for message_id in others if message_id in wanted]

    def _num_chars(self, share: float) -> float:
        """That surely fit into so much of the window."""
        return self._turn.num_window_tokens * share * FEWEST_CHARS_PER_TOKEN

    async def _named(self, seens: Sequence[Seen], profile: Profile) -> Named:
        """In the notes of all questions, read at once."""
        memory_ids = {one for seen in seens for one in seen.memories if profile.uses_memory}
        memory_ids -= self._forgotten
        recalled_ids = {one for seen in seens for one in seen.recalled}
        texts = await self._store.memories.texts(self._user_id, memory_ids) if memory_ids else {}
        exchanges = await self._store.exchanges.get(
            self._turn.conversation_id, self._user_id, recalled_ids
        )
        return Named(texts, exchanges)

    async def _system(self, profile: Profile) -> Message:
        instructions = await self._notes.instructions(self._sources.instructions)
        about = await self._notes.profile(profile)
        return Message("system", tuple(_present([instructions, about])), "system")

    async def _notes_of(self, seen: Seen, named: Named) -> list[Text | None]:
        exchanges = [named.exchanges[one] for one in seen.recalled if one in named.exchanges]
        memories = [named.memories[one] for one in seen.memories if one in named.memories]
        return [await self._notes.recalled(exchanges), await self._notes.memories(memories)]

    async def _asked(self, history: History, notes: Sequence[Text]) -> tuple[Message, ...]:
        turn = self._turn
        questions = [turn.said] if turn.said else questions_in(history.asked)
        noted = [Message(one.role, (*notes, *one.parts), one.source) for one in questions]
        if turn.send.action != "continue":
            return tuple(noted)
        return (*noted, await begun_in(history.asked, turn, self._store))

    def _seen(self, found: Seen, before: Before, summaries: Sequence[Summary]) -> Seen:
        place = {message_id: at for at, message_id in enumerate(before.ids)}
        recalled = [place[message_id] for message_id in found.recalled if message_id in place]
        shown = {before.ids[at] for answer in recalled for at in (answer - 1, answer) if at >= 0}
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


def _num_within(num_chars: float, texts: Sequence[str]) -> int:
    """How many of the first have no more than so many."""
    return sum(total <= num_chars for total in accumulate(map(len, texts)))


def _num_chars(exchange: Exchange) -> int:
    return len(exchange.question) + len(exchange.answer)


def _present(notes: Sequence[Text | None]) -> list[Text]:
    return [note for note in notes if note is not None]
