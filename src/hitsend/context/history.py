"""The conversation before a turn, as exchanges, as far back as the model sees it."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, takewhile
from typing import TypeAlias, TypeVar

import msgspec
from msgspec import UNSET

from hitsend.context.attachments import show_attachments
from hitsend.context.tool_results import ResultRoom
from hitsend.context.window import Cut, ShownExchange
from hitsend.errors import Conflict, Refused
from hitsend.events import Action, AnyEvent, Ending, TextArrived
from hitsend.messages import (
    UNKNOWN_ID,
    Message,
    Part,
    PartialAnswer,
    Seen,
    Text,
    ToolCall,
    ToolResult,
)
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
    check_parent(path, send.action)
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


def with_notes(exchange: MessageRows, notes: Sequence[Text], turn: Turn) -> ShownExchange:
    """Puts the notes before the question. Of a blocked one, nothing is shown."""
    ids = tuple(row.message_id for row in exchange)
    readable = tuple(row for row in exchange if not row.is_withheld)
    if not readable:
        return ShownExchange(ids, ())
    first, *others = _model_messages(readable, turn)
    noted = Message(first.role, (*notes, *first.parts), first.source)
    return ShownExchange(ids, (noted, *others))


def user_messages(rows: MessageRows) -> list[Message]:
    return [Message(row.role, row.parts, "user") for row in rows if row.role == "user"]


async def continued_answer(rows: MessageRows, turn: Turn, store: Store) -> list[Message]:
    """Returns the answer that is to be continued, after the calls of tools before it. Raises
    Refused if it is empty."""
    before, answers = _split_last_answers(rows)
    called = [one for one in _model_messages(before, turn) if one.role != "user"]
    if not answers:  # what follows is the result of a call
        return called
    parts = tuple(_merge_texts(_text_parts(answers)))
    begun = PartialAnswer("assistant", parts, "answer")
    if not begun.text:
        raise Refused(
            "The answer was cut short before its first word. Ask for another one instead.",
            param="parent_message_id",
        )
    ids = await _token_ids(turn, answers, store)
    return [*called, msgspec.structs.replace(begun, token_ids=ids)]


def _split_last_answers(rows: MessageRows) -> tuple[MessageRows, MessageRows]:
    """Splits off the answers at the end: they are one answer written in several turns."""
    start = len(rows)
    while start and rows[start - 1].role == "assistant":
        start -= 1
    return rows[:start], rows[start:]


def _model_messages(rows: MessageRows, turn: Turn) -> Iterator[Message]:
    """Merges consecutive answers: they are one answer written in several turns. Calls are shown
    with their results, to models that know tools. For others the text says what came of them."""
    if not turn.can_call_tools:
        rows = tuple(row for row in rows if row.role != "tool")
    results = {result.call_id: result for result in _results(rows)}
    room = ResultRoom(turn.num_window_tokens)
    for role, run in groupby(rows, lambda row: row.role):
        if role == "user":
            yield from (show_attachments(Message(role, row.parts)) for row in run)
        elif role == "assistant":
            answers = list(run)
            calls = [call for call in _calls(answers) if call.call_id in results]
            texts = tuple(_merge_texts(_text_parts(answers)))
            if texts or calls or not any(_calls(answers)):
                yield Message(role, (*texts, *calls))
            for call in calls:
                result = results.pop(call.call_id)
                yield Message("tool", (room.cut(result),), "tool")


def _results(rows: MessageRows) -> Iterator[ToolResult]:
    """Yields the results that there are. A call that was cut short has none."""
    for row in rows:
        for part in row.parts:
            is_done = row.role == "tool" and row.status == "finished"
            if is_done and isinstance(part, ToolResult) and not is_undecided(part):
                yield part


def _calls(answers: Iterable[MessageRow]) -> Iterator[ToolCall]:
    return (part for row in answers for part in row.parts if isinstance(part, ToolCall))


def is_undecided(result: ToolResult) -> bool:
    """Whether the person has still to allow or refuse the call."""
    approval = result.approval
    return approval is not UNSET and approval.decision in (UNSET, "expired")


def find_undecided(rows: MessageRows) -> tuple[ToolCall, ...]:
    """Returns the calls at the end of the path that the person had not decided."""
    tools = list(takewhile(lambda row: row.role == "tool", reversed(rows)))
    asked = [part for row in reversed(tools) for part in row.parts if isinstance(part, ToolResult)]
    calls = {call.call_id: call for call in _calls(row for row in rows if row.role == "assistant")}
    return tuple(calls[one.call_id] for one in asked if is_undecided(one) and one.call_id in calls)


def _text_parts(answers: Iterable[MessageRow]) -> Iterator[Part]:
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


def check_parent(path: MessageRows, action: Action) -> None:
    """Checks the last message of the path: the turn's question or answer follows it."""
    parent = path[-1]
    if parent.status == "in_progress":
        raise Conflict("The last answer is still being written. Stop it or wait for it.")
    match action:
        case "variant" if parent.role != "user":
            problem = "Only a person's message can be answered again."
        case "next" if parent.role == "user":
            problem = "A message follows an answer."
        case "continue" if parent.role == "tool":
            if find_undecided(path):  # its results may be followed by those of other calls
                return
            problem = "Only a call that waits for you can be decided."
        case "continue" if parent.role == "user" or parent.ending not in CUT_SHORT:
            problem = "Only an answer that was cut short can be continued."
        case _:
            return
    raise Refused(problem, param="parent_message_id")
