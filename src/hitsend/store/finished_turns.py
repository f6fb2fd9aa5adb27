"""Writes the result of finished turns to messages, turns, the ledger and conversations."""

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, Text, bindparam, case, func, literal, select, update
from sqlalchemy.dialects.sqlite import insert

from hitsend.events import Ending
from hitsend.store.ledger import settle_ledger
from hitsend.store.prepared import Prepared
from hitsend.store.rows import FinishedTurn
from hitsend.store.schema import conversations, ledger, messages, turns
from hitsend.store.screenings import record_guarded
from hitsend.transcript import Status

MAX_TURN_TOKENS = 2**31
"""Far more than any turn uses. Sums of larger counts would not fit an integer of the database."""

REWRITE_MESSAGE = Prepared(
    update(messages)
    .where(messages.c.turn_id == bindparam("of_turn"), messages.c.id == bindparam("of_message"))
    .values(
        parent_id=bindparam("of_parent"),
        parts=bindparam("parts"),
        status=bindparam("status"),
        ending=bindparam("ending"),
        usage=bindparam("usage"),
        problem=bindparam("problem"),
        seen=bindparam("seen"),
        safety=bindparam("safety"),
    )
)

NEW_MESSAGE = select(
    turns.c.conversation_id,
    turns.c.id,
    turns.c.created_at,
    bindparam("of_message", type_=Text),
    bindparam("role", type_=Text),
    literal("[]"),
    literal("in_progress"),
    case((bindparam("role", type_=Text) == "assistant", turns.c.model)),
).where(turns.c.id == bindparam("of_turn"), turns.c.conversation_id.is_not(None))
ADD_MESSAGE = Prepared(
    insert(messages)
    .from_select(
        ["conversation_id", "turn_id", "created_at", "id", "role", "parts", "status", "model"],
        NEW_MESSAGE,
    )
    .on_conflict_do_nothing()
)
"""Adds a message that was not stored when the turn was accepted: what a tool returned, or what the
model said after it."""

END_MESSAGES = Prepared(
    update(messages)
    .where(messages.c.turn_id == bindparam("of_turn"), messages.c.status == "in_progress")
    .values(
        parent_id=func.coalesce(bindparam("of_parent"), messages.c.parent_id),
        status=bindparam("status"),
        ending=bindparam("ending"),
    )
)
"""Ends the answer of a turn that finished before its answer started: no event mentions it."""

SHOW_LAST = Prepared(
    update(conversations)
    .where(
        conversations.c.id
        == select(turns.c.conversation_id)
        .where(
            turns.c.id == bindparam("of_turn"), turns.c.answer_id == conversations.c.current_node
        )
        .scalar_subquery()
    )
    .values(current_node=bindparam("of_message"))
)
"""Unless the person has gone to another branch meanwhile."""

PROMPT_TOKENS = select(ledger.c.num_input_tokens).where(ledger.c.turn_id == bindparam("of_turn"))
"""The prompt's own token count, used where the engine reported none."""

END_TURN = Prepared(
    update(turns)
    .where(turns.c.id == bindparam("of_turn"))
    .values(
        state=bindparam("state"),
        finished_at=bindparam("finished_at"),
        num_input_tokens=func.coalesce(
            bindparam("num_input_tokens"), PROMPT_TOKENS.scalar_subquery(), 0
        ),
        num_cached_tokens=bindparam("num_cached_tokens"),
        num_output_tokens=bindparam("num_output_tokens"),
        num_bytes=None,  # a title that comes later is packed too
    )
)

UPDATE_CONVERSATION = Prepared(
    update(conversations)
    .where(
        conversations.c.id
        == select(turns.c.conversation_id)
        .where(turns.c.id == bindparam("of_turn"))
        .scalar_subquery()
    )
    .values(
        updated_at=func.max(conversations.c.updated_at, bindparam("finished_at")),
        title=case(
            (conversations.c.is_renamed, conversations.c.title),
            else_=func.coalesce(bindparam("title"), conversations.c.title),
        ),
    )
)


def finish_turns(connection: Connection, finished: Sequence[FinishedTurn]) -> None:
    unstarted = [turn for turn in finished if not _is_answer_started(turn)]
    added = [row for turn in finished for row in _added_rows(turn)]
    if added:
        ADD_MESSAGE.run_many(connection, added)
    REWRITE_MESSAGE.run_many(connection, (row for turn in finished for row in _message_rows(turn)))
    END_MESSAGES.run_many(connection, map(_unstarted_answer_row, unstarted))
    END_TURN.run_many(connection, map(_turn_row, finished))
    settle_ledger(connection, map(_ledger_row, finished))
    UPDATE_CONVERSATION.run_many(connection, map(_conversation_row, finished))
    record_guarded(connection, finished)
    if added:
        SHOW_LAST.run_many(connection, map(_last_row, filter(_is_answer_started, finished)))


def _added_rows(turn: FinishedTurn) -> Iterable[dict[str, object]]:
    """The results of tools, and the answers after the first. A title that comes later finishes
    the turn again."""
    answers = [one for one in turn.transcript.messages if one.role == "assistant"]
    for message in turn.transcript.messages:
        if message.role == "tool" or message in answers[1:]:
            yield {
                "of_turn": turn.turn_id,
                "of_message": message.message_id,
                "role": message.role,
            }


def _last_row(turn: FinishedTurn) -> dict[str, object]:
    return {"of_turn": turn.turn_id, "of_message": turn.transcript.messages[-1].message_id}


def _message_rows(turn: FinishedTurn) -> Iterable[dict[str, object]]:
    for message in turn.transcript.messages:
        yield {
            "of_turn": turn.turn_id,
            "of_message": message.message_id,
            "of_parent": message.parent_id,
            "parts": message.parts,
            "status": message.status,
            "ending": message.ending,
            "usage": message.usage,
            "problem": message.problem,
            "seen": message.seen,
            "safety": message.safety,
        }


def _unstarted_answer_row(turn: FinishedTurn) -> dict[str, object]:
    ending = _ending(turn)
    status: Status = "failed" if ending == "failed" else "partial"
    tools = [one.message_id for one in turn.transcript.messages if one.role == "tool"]
    parent_id = tools[-1] if tools else None
    return {"of_turn": turn.turn_id, "of_parent": parent_id, "status": status, "ending": ending}


def _turn_row(turn: FinishedTurn) -> dict[str, object]:
    return _token_counts(turn) | {"state": _ending(turn), "finished_at": turn.finished_at}


def _token_counts(turn: FinishedTurn) -> dict[str, object]:
    usages = [message.usage for message in turn.transcript.messages if message.usage is not None]
    num_input_tokens = _clamp(sum(usage.num_input_tokens for usage in usages))
    is_unknown = _is_stopped_before_usage(turn, num_input_tokens)
    return {
        "of_turn": turn.turn_id,
        "num_input_tokens": None if is_unknown else num_input_tokens,
        "num_cached_tokens": _clamp(sum(usage.num_cached_tokens for usage in usages)),
        "num_output_tokens": _clamp(sum(usage.num_output_tokens for usage in usages)),
    }


def _clamp(num_tokens: int) -> int:
    return min(max(num_tokens, 0), MAX_TURN_TOKENS)


def _ledger_row(turn: FinishedTurn) -> dict[str, object]:
    usages = [message.usage for message in turn.transcript.messages if message.usage is not None]
    num_searched_tokens = _clamp(sum(usage.num_searched_tokens or 0 for usage in usages))
    return _token_counts(turn) | {"num_searched_tokens": num_searched_tokens}


def _is_stopped_before_usage(turn: FinishedTurn, num_input_tokens: int) -> bool:
    """Whether the person stopped the turn before the engine reported the tokens it read. A turn
    that lacks the report for another reason, a fault of ours, is free."""
    return _is_answer_started(turn) and num_input_tokens == 0 and _ending(turn) == "stopped"


def _is_answer_started(turn: FinishedTurn) -> bool:
    return any(message.role == "assistant" for message in turn.transcript.messages)


def _conversation_row(turn: FinishedTurn) -> dict[str, object]:
    return {
        "of_turn": turn.turn_id,
        "finished_at": turn.finished_at,
        "title": turn.transcript.title,
    }


def _ending(turn: FinishedTurn) -> Ending:
    """A log without an ending was cut short."""
    return turn.transcript.ending or "interrupted"
