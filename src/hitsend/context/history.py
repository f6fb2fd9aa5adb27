"""What was said before a turn: exchange by exchange, as far back as a model is to see it."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TypeAlias

import msgspec

from hitsend.context.window import Cut, Kept
from hitsend.errors import Conflict, Refused
from hitsend.events import Action, AnyEvent, Ending, TextArrived
from hitsend.messages import UNTOLD, Begun, Message, Part, Seen, Text
from hitsend.send import Turn
from hitsend.store import Reach, Store, StoredMessage

CUT_SHORT: frozenset[Ending] = frozenset({"length", "stopped", "interrupted", "failed"})

MOST_CHARS_PER_TOKEN = 16
"""On average, over a conversation; prose has four. What is further back cannot fit."""

Stored: TypeAlias = tuple[StoredMessage, ...]


class History(msgspec.Struct, frozen=True):
    exchanges: tuple[Stored, ...] = ()
    """Each begins with a question; the very first of a conversation may lack it."""
    asked: Stored = ()
    """The question that is answered again, or with the answer that is continued."""

    @property
    def first(self) -> StoredMessage | None:
        return next((one for exchange in (*self.exchanges, self.asked) for one in exchange), None)

    @property
    def ids(self) -> list[str]:
        return [one.message_id for exchange in (*self.exchanges, self.asked) for one in exchange]

    @property
    def seens(self) -> list[Seen]:
        return [seen_in(exchange) for exchange in self.exchanges]


async def read_history(turn: Turn, cut: Cut, store: Store) -> History:
    send = turn.send
    if send.conversation_id is None or send.parent_id is None:
        return History()
    is_alone = send.action == "next" and cut.starts_at == send.message_id
    since = send.parent_id if is_alone else cut.starts_at
    reach = Reach(turn.model, turn.num_window_tokens * MOST_CHARS_PER_TOKEN, since)
    path = await store.conversations.path(send.conversation_id, send.user_id, send.parent_id, reach)
    check_parent(path[-1], send.action)
    exchanges = () if is_alone else tuple(exchanges_in(path))
    if send.action == "next":
        return History(exchanges)
    return History(exchanges[:-1], exchanges[-1])


def exchanges_in(path: Stored) -> Iterator[Stored]:
    """Without the end of one whose beginning was too far back."""
    starts = [at for at, stored in enumerate(path) if stored.role == "user"]
    if path[0].parent_id is None or not starts:
        starts = sorted({0, *starts})
    for start, end in zip(starts, [*starts[1:], len(path)], strict=True):
        yield path[start:end]


def seen_in(exchange: Stored) -> Seen:
    """What the model saw besides when it answered."""
    return next((one.seen for one in exchange if one.seen is not None), Seen())


def kept(exchange: Stored, notes: Sequence[Text]) -> Kept:
    """As the model is shown it, with the notes in front of the question."""
    first, *others = _messages(exchange)
    noted = Message(first.role, (*notes, *first.parts), first.source)
    ids = tuple(stored.message_id for stored in exchange)
    return Kept(ids, (noted, *others))


def questions_in(asked: Stored) -> list[Message]:
    return [Message(one.role, one.parts, "user") for one in asked if one.role == "user"]


async def begun_in(asked: Stored, turn: Turn, store: Store) -> Begun:
    """The answer that is to be continued."""
    answers = [stored for stored in asked if stored.role != "user"]
    parts = tuple(_joined(_spoken(answers)))
    begun = Begun("assistant", parts, "answer")
    if not begun.text:
        raise Refused(
            "The answer was cut short before its first word. Ask for another one instead.",
            param="parent_message_id",
        )
    return msgspec.structs.replace(begun, token_ids=await _token_ids(turn, answers, store))


def _messages(exchange: Stored) -> Iterator[Message]:
    """Answers that follow one another are one answer, written in several turns."""
    for role, run in groupby(exchange, lambda stored: stored.role):
        if role == "assistant":
            yield Message(role, tuple(_joined(_spoken(run))))
        else:
            yield from (Message(role, stored.parts) for stored in run)


def _spoken(answers: Iterable[StoredMessage]) -> Iterator[Part]:
    """Without what a tool was asked for on the way: the answer tells what came of it."""
    return (part for stored in answers for part in stored.parts if isinstance(part, Text))


def _joined(parts: Iterable[Part]) -> Iterator[Part]:
    """The same parts, with text that follows text as one: a word cut in two is whole again."""
    for is_text, run in groupby(parts, lambda part: isinstance(part, Text)):
        if is_text:
            yield Text("".join(part.text for part in run if isinstance(part, Text)))
        else:
            yield from run


async def _token_ids(turn: Turn, answers: Sequence[StoredMessage], store: Store) -> tuple[int, ...]:
    """The tokens of the answer so far, if they are those of the model that goes on."""
    if any(stored.model != turn.model or stored.is_imported for stored in answers):
        return ()
    if any(not isinstance(part, Text) for stored in answers for part in stored.parts):
        return ()
    ids: list[int] = []
    for stored in answers:
        events = await store.turns.events(stored.turn_id, turn.send.user_id)
        ids += _ids_of_characters(stamped.event for stamped in events)
    return () if UNTOLD in ids else tuple(ids)


def _ids_of_characters(events: Iterable[AnyEvent]) -> list[int]:
    """Without those at the end that began a character and did not come to complete it."""
    tokens = [token for event in events if isinstance(event, TextArrived) for token in event.tokens]
    while tokens and not tokens[-1].text:
        tokens.pop()
    return [token.token_id for token in tokens]


def check_parent(parent: StoredMessage, action: Action) -> None:
    if parent.status == "in_progress":
        raise Conflict("The last answer is still being written. Stop it or wait for it.")
    match action:
        case "variant" if parent.role != "user":
            problem = "Only a person's message can be answered again."
        case "next" if parent.role == "user":
            problem = "A message follows an answer."
        case "continue" if parent.role == "user" or parent.ending not in CUT_SHORT:
            problem = "Only an answer that was cut short can be continued."
        case _:
            return
    raise Refused(problem, param="parent_message_id")
