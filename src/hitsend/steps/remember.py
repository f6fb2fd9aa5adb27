"""What a person wants remembered or forgotten: heard before the prompt is made, so that the model
knows of it, and done once the message is accepted.

Plain words are understood without a model. For others, the model is told how to ask for it. In a
temporary conversation, with an API key, and where memory is off, nothing is done: whoever asks for
it in plain words is told so.
"""

import asyncio
from collections.abc import Sequence
from typing import Literal, TypeAlias

import msgspec

from hitsend.context.notes import Note
from hitsend.engine import Engine, GaveWay
from hitsend.errors import Conflict, HitsendError, NotFound, Refused
from hitsend.events import MemoriesChanged
from hitsend.memory.asks import (
    Ask,
    Forget,
    ForgetAll,
    Remember,
    find_ask,
    hints,
    is_fact,
    is_german,
    says_more,
)
from hitsend.memory.passwords import tells_password
from hitsend.memory.suggestions import (
    is_in_words_of,
    is_said_by_any,
    is_said_in,
    own_fact,
    tells_of_person,
)
from hitsend.messages import ChangedMemory, ToolCall
from hitsend.prompt_book import PromptBook
from hitsend.prompts import find_secret
from hitsend.recall import Recall
from hitsend.send import Turn
from hitsend.store import Memory, Profile, Store
from hitsend.tools import Done, Tools

SUGGESTION_S = 20.0
"""For all of it, waiting for a free engine included."""
REMEMBER, FORGET = "remember", "forget"
"""What a model may ask for."""


Unheard: TypeAlias = Literal["is_temporary", "is_off", "is_by_key"]
"""Why nothing is remembered or forgotten here, whatever it is."""
Undone: TypeAlias = Unheard | Literal["changed_nothing", "asks_for_all", "is_secret", "is_full"]
"""Why a wish is not fulfilled, as the prompt `memory_done` calls it."""


class Wish(msgspec.Struct, frozen=True):
    added: str = ""
    removed: tuple[Memory, ...] = ()
    undone: Undone | None = None
    is_unclear: bool = False
    """It may be one: the model is to tell."""

    @property
    def removed_ids(self) -> frozenset[str]:
        return frozenset(memory.id for memory in self.removed)

    @property
    def is_clear(self) -> bool:
        return bool(self.added or self.removed or self.undone)


NO_WISH = Wish()


async def hear_wish(turn: Turn, store: Store, recall: Recall, engine: Engine) -> Wish:
    if turn.said is None:
        return NO_WISH
    ask = find_ask(turn.send.text)
    if not (ask or hints(turn.send.text)):
        return NO_WISH
    if unheard := await _unheard(turn, store):
        return _not_done(ask, unheard)
    if ask is not None:
        return await understood(ask, turn.send.user_id, store, recall)
    # The smallest models would only be confused by what they may ask for.
    return Wish(is_unclear=(await engine.resolve(turn.model)).can_call_tools)


async def understood(ask: Ask, user_id: str, store: Store, recall: Recall) -> Wish:
    match ask:
        case Remember(text=text):
            if is_secret(text):
                return Wish(undone="is_secret")
            has_room = await store.memories.has_room(user_id)
            return Wish(added=text) if has_room else Wish(undone="is_full")
        case Forget(about=about, is_plain=is_plain):
            meant = await recall.memories_meant(user_id, about)
            is_undone = is_plain and not meant
            return Wish(removed=tuple(meant), undone="changed_nothing" if is_undone else None)
        case ForgetAll():
            return Wish(undone="asks_for_all")


def is_secret(text: str) -> bool:
    """For nobody to keep. Nor would any model be told of it."""
    return find_secret(text) is not None or tells_password(text)


def notes_of(wish: Wish, message: str) -> tuple[Note, ...]:
    """In front of the question: what is done about it, or how to have it done."""
    if wish.is_unclear:
        return (Note("memory_tool"),)
    if not wish.is_clear:
        return ()
    done: dict[str, object] = {
        "is_german": is_german(message),
        "added": [wish.added] if wish.added else [],
        "has_removed": bool(wish.removed),
        "says_more": says_more(message),
    }
    if wish.undone:
        done[wish.undone] = True
    return (Note("memory_done", done),)


async def fulfil(wish: Wish, turn: Turn, store: Store) -> Sequence[MemoriesChanged]:
    """What came of it, if anything: somebody may have been quicker, or have no room left."""
    changed = [*await _added(wish, turn, store), *await _removed(wish, turn, store)]
    return [MemoriesChanged(tuple(changed))] if changed else []


def memory_tools(turn: Turn, store: Store, recall: Recall) -> Tools:
    """For a wish that only a model understands: it asks, and what is done is the same."""

    async def use(call: ToolCall) -> Done:
        ask, unheard = _asked(call, turn.send.text), await _unheard(turn, store)
        wish = Wish(undone=unheard or "changed_nothing")
        if ask is not None and unheard is None:  # still
            wish = await understood(ask, turn.send.user_id, store, recall)
        changed = await fulfil(wish, turn, store)
        output = f"{sum(len(event.changed) for event in changed)} changed"
        return Done(output, notes_of(wish, turn.send.text), tuple(changed))

    return dict.fromkeys((REMEMBER, FORGET), use)


async def suggest_memory(
    turn: Turn, store: Store, engine: Engine, book: PromptBook
) -> MemoriesChanged | None:
    """Something lasting that the person told of themselves, for them to accept or not. Trouble is
    none: nobody asked for it."""
    message = turn.send.text
    if turn.said is None or not tells_of_person(message) or not await _suggests(turn, store):
        return None
    try:
        async with asyncio.timeout(SUGGESTION_S):
            fact = own_fact(await _written(message, turn, engine, book), message)
            if fact is None or await _is_known(fact, turn, store):
                return None
            memory = await store.memories.add_heard(
                turn.send.user_id, fact, "suggested", turn.conversation_id
            )
    except (TimeoutError, GaveWay, HitsendError):
        return None
    return MemoriesChanged((ChangedMemory(memory.id, "suggested"),)) if memory else None


async def _written(message: str, turn: Turn, engine: Engine, book: PromptBook) -> str:
    context, picked = await book.messages(
        "memory_suggestion",
        {"message": message[:1_000]},
        user_id=turn.send.user_id,
        model=turn.model,
    )
    prompt = await engine.encode(turn.model, context)
    return await engine.aside(prompt, picked.sampling)


async def _is_known(fact: str, turn: Turn, store: Store) -> bool:
    """Also what they refused a moment ago."""
    texts = await store.memories.every_known_text(turn.send.user_id)
    return await asyncio.to_thread(is_said_by_any, fact, texts.values())


async def _added(wish: Wish, turn: Turn, store: Store) -> list[ChangedMemory]:
    if not wish.added:
        return []
    try:
        memory = await store.memories.add_heard(
            turn.send.user_id, wish.added, "asked", turn.conversation_id
        )
    except Conflict:  # no room left, meanwhile
        return []
    return [ChangedMemory(memory.id, "added")] if memory else []


async def _removed(wish: Wish, turn: Turn, store: Store) -> list[ChangedMemory]:
    removed = []
    for memory in wish.removed:
        try:
            await store.memories.remove(memory.id, turn.send.user_id)
        except NotFound:  # meanwhile
            continue
        removed.append(ChangedMemory(memory.id, "removed"))
    return removed


async def _unheard(turn: Turn, store: Store) -> Unheard | None:
    if (await _profile(turn, store)).uses_memory:
        return None
    if turn.send.key_id is not None:
        return "is_by_key"
    is_on = (await store.profiles.get(turn.send.user_id)).uses_memory
    return "is_temporary" if is_on else "is_off"


def _not_done(ask: Ask | None, why: Unheard) -> Wish:
    match ask:
        case ForgetAll():  # where that is done, it can be done all the same
            return Wish(undone="asks_for_all")
        case None | Forget(is_plain=False):  # it would be one only if a memory said so
            return NO_WISH
        case Remember() | Forget():
            return Wish(undone=why)


async def _suggests(turn: Turn, store: Store) -> bool:
    profile = await _profile(turn, store)
    return profile.uses_memory and profile.suggests_memories


async def _profile(turn: Turn, store: Store) -> Profile:
    return await store.profiles.in_conversation(
        turn.send.user_id, turn.conversation_id, has_memory=turn.send.has_memory
    )


def _asked(call: ToolCall, message: str) -> Ask | None:
    """Only what the person said: a small model may make something up, or turn it round."""
    said = _first_text(call.arguments)
    if call.tool == REMEMBER:
        return Remember(said) if is_fact(said) and is_said_in(said, message) else None
    return Forget(said) if is_in_words_of(said, message) else None


def _first_text(arguments: str) -> str:
    """However the model called it."""
    try:
        given = msgspec.json.decode(arguments, type=dict[str, object])
    except msgspec.DecodeError:
        raise Refused("The arguments are no JSON object.", param="arguments") from None
    return next((value for value in given.values() if isinstance(value, str)), "")
