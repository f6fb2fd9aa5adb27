"""The conversation before a turn, as exchanges, as far back as the model sees it."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TypeAlias, TypeVar

import msgspec

from hitsend.context.window import Cut, ShownExchange
from hitsend.errors import Conflict, Refused
from hitsend.events import Action, AnyEvent, Ending, TextArrived
from hitsend.messages import UNKNOWN_ID, Message, Part, PartialAnswer, Seen, Text
from hitsend.send import Turn
from hitsend.store import MessageRow, MessageSize, PathLimit, Store

CUT_SHORT: frozenset[Ending] = frozenset({"length", "stopped", "interrupted", "failed"})

MAX_CHARS_PER_TOKEN = 16
"""An upper bound of the average over a conversation; prose has four. It limits how much is read."""

MessageRows: TypeAlias = tuple[MessageRow, ...]
AnyMessage = TypeVar("AnyMessage", MessageRow, MessageSize)


class History(msgspec.Struct, frozen=True):
    exchanges: tuple[MessageRows, ...] = ()
    """Each starts with a question, except perhaps the first of the conversation."""
    question: MessageRows = ()
    """For a variant, the question; for a continuation, the question and the partial answer."""

    @property
    def first(self) -> MessageRow | None:
        return next(
            (one for exchange in (*self.exchanges, self.question) for one in exchange), None
        )

    @property
    def seen(self) -> list[Seen]:
        return [find_seen(exchange) for exchange in self.exchanges]


async def read_history(turn: Turn, cut: Cut, store: Store) -> History:
    send = turn.send
    if send.conversation_id is None or send.parent_id is None:
        return History()
    is_alone = send.action == "next" and cut.starts_at == send.message_id
    since = send.parent_id if is_alone else cut.starts_at
    limit = PathLimit(turn.model, turn.num_window_tokens * MAX_CHARS_PER_TOKEN, since)
    path = await store.conversations.path(send.conversation_id, send.user_id, send.parent_id, limit)
    check_parent(path[-1], send.action)
    exchanges = () if is_alone else tuple(split_exchanges(path))
    if send.action == "next":
        return History(exchanges)
    return History(exchanges[:-1], exchanges[-1])


def split_exchanges(path: tuple[AnyMessage, ...]) -> Iterator[tuple[AnyMessage, ...]]:
    """Drops the rest of an exchange whose start was too far back to be read."""
    starts: list[int] = [at for at, row in enumerate(path) if row.role == "user"]
    if path and (path[0].parent_id is None or not starts):
        starts = sorted({0, *starts})
    for start, end in zip(starts, [*starts[1:], len(path)], strict=True):
        yield path[start:end]


def find_seen(exchange: MessageRows) -> Seen:
    """Returns what the model was shown with the question, besides the messages."""
    return next((one.seen for one in exchange if one.seen is not None), Seen())


def with_notes(exchange: MessageRows, notes: Sequence[Text]) -> ShownExchange:
    """Puts the notes before the question."""
    first, *others = _model_messages(exchange)
    noted = Message(first.role, (*notes, *first.parts), first.source)
    ids = tuple(row.message_id for row in exchange)
    return ShownExchange(ids, (noted, *others))


def user_messages(rows: MessageRows) -> list[Message]:
    return [Message(row.role, row.parts, "user") for row in rows if row.role == "user"]


async def partial_answer(rows: MessageRows, turn: Turn, store: Store) -> PartialAnswer:
    """Returns the answer that is to be continued. Raises Refused if it is empty."""
    answers = [row for row in rows if row.role != "user"]
    parts = tuple(_merge_texts(_text_parts(answers)))
    begun = PartialAnswer("assistant", parts, "answer")
    if not begun.text:
        raise Refused(
            "The answer was cut short before its first word. Ask for another one instead.",
            param="parent_message_id",
        )
    return msgspec.structs.replace(begun, token_ids=await _token_ids(turn, answers, store))


def _model_messages(exchange: MessageRows) -> Iterator[Message]:
    """Merges consecutive answers: they are one answer written in several turns."""
    for role, run in groupby(exchange, lambda row: row.role):
        if role == "assistant":
            yield Message(role, tuple(_merge_texts(_text_parts(run))))
        else:
            yield from (Message(role, row.parts) for row in run)


def _text_parts(answers: Iterable[MessageRow]) -> Iterator[Part]:
    """Drops tool calls: the text says what came of them."""
    return (part for row in answers for part in row.parts if isinstance(part, Text))


def _merge_texts(parts: Iterable[Part]) -> Iterator[Part]:
    """Merges consecutive texts, so a word cut in two is whole again."""
    for is_text, run in groupby(parts, lambda part: isinstance(part, Text)):
        if is_text:
            yield Text("".join(part.text for part in run if isinstance(part, Text)))
        else:
            yield from run


async def _token_ids(turn: Turn, answers: Sequence[MessageRow], store: Store) -> tuple[int, ...]:
    """Returns the tokens of the answer so far, if the same model wrote them."""
    if any(row.model != turn.model or row.is_imported for row in answers):
        return ()
    if any(not isinstance(part, Text) for row in answers for part in row.parts):
        return ()
    ids: list[int] = []
    for row in answers:
        events = await store.turns.events(row.turn_id, turn.send.user_id)
        own = _complete_token_ids(stamped.event for stamped in events)
        if row.parts and not own:
            return ()  # its token records were erased
        ids += own
    return () if UNKNOWN_ID in ids else tuple(ids)


def _complete_token_ids(events: Iterable[AnyEvent]) -> list[int]:
    """Drops final tokens that start a character without completing it."""
    tokens = [token for event in events if isinstance(event, TextArrived) for token in event.tokens]
    while tokens and not tokens[-1].text:
        tokens.pop()
    return [token.token_id for token in tokens]


def check_parent(parent: MessageRow, action: Action) -> None:
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
