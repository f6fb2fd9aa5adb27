"""Step 4, remember: does the person ask to remember or forget something?

The request is read before the prompt is built, so that the model knows of it, and carried out once
the message is accepted. Plain requests are understood without a model; for unclear ones the model
gets tools. In a temporary conversation, with an API key, and where memory is off, nothing is done;
after a plain request a note tells the model so.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

import msgspec

from hitsend.context.build import TurnNotes
from hitsend.context.notes import Note
from hitsend.context.recall import Recall
from hitsend.errors import Conflict, NotFound, Refused
from hitsend.events import MemoriesChanged
from hitsend.memory.intent import (
    Forget,
    ForgetAll,
    Intent,
    Remember,
    has_more_text,
    is_fact,
    is_german,
    may_be_intent,
    parse_intent,
)
from hitsend.memory.suggestions import has_words_of, is_stated_in
from hitsend.messages import ANY_OBJECT, ChangedMemory, Tool
from hitsend.safety import find_secret, has_password
from hitsend.safety.redaction import PLACEHOLDER
from hitsend.send import Turn
from hitsend.services import Services
from hitsend.store import Memory, Store
from hitsend.tools import Call, CallResult, HostedTool

REMEMBER, FORGET = "remember", "forget"
"""The tools a model may call."""

MemoryOff: TypeAlias = Literal["is_temporary", "is_off", "is_by_key"]
"""Why there is no memory in this turn."""
NotDone: TypeAlias = MemoryOff | Literal["changed_nothing", "asks_for_all", "is_secret", "is_full"]
"""Why a request is not carried out, by the names of the slots of the prompt `memory_done`."""


class Change(msgspec.Struct, frozen=True):
    """The memories to add and remove, or why nothing is changed."""

    added: str = ""
    removed: tuple[Memory, ...] = ()
    not_done: NotDone | None = None

    @property
    def is_empty(self) -> bool:
        return not (self.added or self.removed or self.not_done)


NO_CHANGE = Change()


class MemoryRequest:
    def __init__(
        self,
        turn: Turn,
        store: Store,
        change: Change = NO_CHANGE,
        tools: Sequence[HostedTool] = (),
    ) -> None:
        self._turn = turn
        self._store = store
        self._change = change
        self.tools = tools
        """For a request that only a model understands."""

    @property
    def notes(self) -> TurnNotes:
        """In front of the question: what is done, or which tools to call."""
        if self.tools:
            return TurnNotes([Note("memory_tool")])
        removed = frozenset(memory.id for memory in self._change.removed)
        return TurnNotes(_change_notes(self._change, self._turn.send.text), forgotten=removed)

    async def apply(self) -> Sequence[MemoriesChanged]:
        return await _apply(self._change, self._turn, self._store)


async def read_memory_request(turn: Turn, services: Services) -> MemoryRequest:
    message, store, recall = turn.send.text, services.store, services.recall
    ask = parse_intent(message) if turn.user_message else None
    if turn.user_message is None or not (ask or may_be_intent(message)):
        return MemoryRequest(turn, store)
    if memory_off := await _find_off_reason(turn, store):
        return MemoryRequest(turn, store, _refuse(ask, memory_off))
    if ask is not None:
        return MemoryRequest(turn, store, await _resolve(ask, turn.send.user_id, store, recall))
    # Tools would only confuse the smallest models.
    tools = _memory_tools(turn, services) if turn.can_call_tools else ()
    return MemoryRequest(turn, store, tools=tools)


async def _resolve(ask: Intent, user_id: str, store: Store, recall: Recall) -> Change:
    match ask:
        case Remember(text=text):
            if is_secret(text):
                return Change(not_done="is_secret")
            has_room = await store.memories.has_room(user_id)
            return Change(added=text) if has_room else Change(not_done="is_full")
        case Forget(about=about, is_certain=is_certain):
            removed = tuple(await recall.match_memories(user_id, about))
            is_vain = is_certain and not removed
            return Change(removed=removed, not_done="changed_nothing" if is_vain else None)
        case ForgetAll():
            return Change(not_done="asks_for_all")


def is_secret(text: str) -> bool:
    """A secret is never stored as a memory, nor what stands in its place."""
    has_placeholder = PLACEHOLDER.search(text) is not None
    return has_placeholder or find_secret(text) is not None or has_password(text)


def _change_notes(change: Change, message: str) -> tuple[Note, ...]:
    if change.is_empty:
        return ()
    return (Note("memory_done", _describe_change(change, message)),)


def _describe_change(change: Change, message: str) -> Mapping[str, object]:
    """Returns the values of the prompt `memory_done`."""
    values: dict[str, object] = {
        "is_german": is_german(message),
        "added": [change.added] if change.added else [],
        "has_removed": bool(change.removed),
        "says_more": has_more_text(message),
    }
    if change.not_done:
        values[change.not_done] = True
    return values


async def _apply(change: Change, turn: Turn, store: Store) -> Sequence[MemoriesChanged]:
    """Returns the actual changes: another request may have made them first, or used up the room."""
    changed = [*await _add(change, turn, store), *await _remove(change, turn, store)]
    return [MemoriesChanged(tuple(changed))] if changed else []


def _memory_tools(turn: Turn, services: Services) -> Sequence[HostedTool]:
    """A note in front of the question tells the model about them, so that the rest of its prompt
    stays in the KV cache."""
    message, store = turn.send.text, services.store

    async def use(tool: str, arguments: str) -> CallResult:
        ask, memory_off = _read_call(tool, arguments, message), await _find_off_reason(turn, store)
        change = Change(not_done=memory_off or "changed_nothing")
        if ask is not None and memory_off is None:  # it may have been turned off meanwhile
            change = await _resolve(ask, turn.send.user_id, store, services.recall)
        changed = await _apply(change, turn, store)
        output, _ = await services.prompts.render_text(
            "memory_done",
            _describe_change(change, message),
            user_id=turn.send.user_id,
            model=turn.model,
        )
        memories = tuple(one for event in changed for one in event.changed)
        return CallResult(output, changed_memories=memories)

    async def remember(call: Call, arguments: str) -> CallResult:
        return await use(REMEMBER, arguments)

    async def forget(call: Call, arguments: str) -> CallResult:
        return await use(FORGET, arguments)

    return [
        HostedTool(spec=Tool(name, "", ANY_OBJECT), feature="memory", run=run, effect="changes")
        for name, run in ((REMEMBER, remember), (FORGET, forget))
    ]


async def _add(change: Change, turn: Turn, store: Store) -> list[ChangedMemory]:
    if not change.added:
        return []
    try:
        memory = await store.memories.add_if_wanted(
            turn.send.user_id, change.added, "asked", turn.conversation_id
        )
    except Conflict:  # the room was taken meanwhile
        return []
    return [ChangedMemory(memory.id, "added")] if memory else []


async def _remove(change: Change, turn: Turn, store: Store) -> list[ChangedMemory]:
    removed = []
    for memory in change.removed:
        try:
            await store.memories.remove(memory.id, turn.send.user_id)
        except NotFound:  # removed by someone else meanwhile
            continue
        removed.append(ChangedMemory(memory.id, "removed"))
    return removed


async def _find_off_reason(turn: Turn, store: Store) -> MemoryOff | None:
    send, profiles = turn.send, store.profiles
    profile = await profiles.in_conversation(
        send.user_id, turn.conversation_id, has_memory=send.has_memory
    )
    if profile.uses_memory:
        return None
    if send.key_id is not None:
        return "is_by_key"
    is_on = (await profiles.get(send.user_id)).uses_memory
    return "is_temporary" if is_on else "is_off"


def _refuse(ask: Intent | None, why: MemoryOff) -> Change:
    match ask:
        case ForgetAll():  # the page that deletes all memories works without memory, too
            return Change(not_done="asks_for_all")
        case None | Forget(is_certain=False):  # only a matching memory would make it a request
            return NO_CHANGE
        case Remember() | Forget():
            return Change(not_done=why)


def _read_call(tool: str, arguments: str, message: str) -> Intent | None:
    """Returns None unless the argument is in the person's own words: a small model may invent a
    fact, or negate one."""
    text = _first_text(arguments)
    if tool == REMEMBER:
        return Remember(text) if is_fact(text) and is_stated_in(text, message) else None
    return Forget(text) if has_words_of(text, message) else None


def _first_text(arguments: str) -> str:
    """Returns the first string argument, whatever its name."""
    try:
        given = msgspec.json.decode(arguments, type=dict[str, object])
    except msgspec.DecodeError:
        raise Refused("The arguments are not a JSON object.", param="arguments") from None
    return next((value for value in given.values() if isinstance(value, str)), "")
