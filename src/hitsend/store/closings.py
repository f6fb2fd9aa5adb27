"""The end of turns: what their events amount to, written where conversations are read."""

from collections.abc import Iterable, Sequence

from sqlalchemy import bindparam, case, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from hitsend.events import Ending
from hitsend.store.rows import Closing
from hitsend.store.schema import conversations, ledger, messages, turns
from hitsend.transcript import Status

REWRITE_MESSAGE = (
    update(messages)
    .where(messages.c.turn_id == bindparam("of_turn"), messages.c.id == bindparam("of_message"))
    .values(
        parts=bindparam("parts"),
        status=bindparam("status"),
        ending=bindparam("ending"),
        usage=bindparam("usage"),
        problem=bindparam("problem"),
        seen=bindparam("seen"),
    )
)

END_MESSAGES = (
    update(messages)
    .where(messages.c.turn_id == bindparam("of_turn"), messages.c.status == "in_progress")
    .values(status=bindparam("status"), ending=bindparam("ending"))
)
"""For a turn that ended before its answer was begun: no event speaks of the answer."""

PUT_DOWN = select(ledger.c.num_input_tokens).where(ledger.c.turn_id == bindparam("of_turn"))
"""As many as the prompt was counted to have. They stand where nobody said how many were read."""

END_TURN = (
    update(turns)
    .where(turns.c.id == bindparam("of_turn"))
    .values(
        state=bindparam("state"),
        finished_at=bindparam("finished_at"),
        num_input_tokens=func.coalesce(
            bindparam("num_input_tokens"), PUT_DOWN.scalar_subquery(), 0
        ),
        num_cached_tokens=bindparam("num_cached_tokens"),
        num_output_tokens=bindparam("num_output_tokens"),
    )
)

SETTLE = (
    update(ledger)
    .where(ledger.c.turn_id == bindparam("of_turn"))
    .values(
        num_reserved_tokens=0,
        num_input_tokens=func.coalesce(bindparam("num_input_tokens"), ledger.c.num_input_tokens),
        num_cached_tokens=bindparam("num_cached_tokens"),
        num_output_tokens=func.max(
            bindparam("num_output_tokens"),
            func.min(bindparam("num_searched_tokens"), ledger.c.num_reserved_tokens),
        ),
    )
)
"""What was used stands for what was set aside. Also of a turn that was deleted while it ran. A
search has used what it looked into, and never more than was set aside for it: what it had to
evaluate twice, for lack of room in the engine's memory, is ours."""

UPDATE_CONVERSATION = (
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


async def close_turns(connection: AsyncConnection, closings: Sequence[Closing]) -> None:
    if rewritten := [row for closing in closings for row in _rewritten(closing)]:
        await connection.execute(REWRITE_MESSAGE, rewritten)
    await connection.execute(END_MESSAGES, [_ended(closing) for closing in closings])
    await connection.execute(END_TURN, [_closed(closing) for closing in closings])
    await connection.execute(SETTLE, [_settled(closing) for closing in closings])
    await connection.execute(UPDATE_CONVERSATION, [_told(closing) for closing in closings])


def _rewritten(closing: Closing) -> Iterable[dict[str, object]]:
    for said in closing.transcript.messages:
        yield {
            "of_turn": closing.turn_id,
            "of_message": said.message_id,
            "parts": said.parts,
            "status": said.status,
            "ending": said.ending,
            "usage": said.usage,
            "problem": said.problem,
            "seen": said.seen,
        }


def _ended(closing: Closing) -> dict[str, object]:
    ending = _ending(closing)
    status: Status = "failed" if ending == "failed" else "partial"
    return {"of_turn": closing.turn_id, "status": status, "ending": ending}


def _closed(closing: Closing) -> dict[str, object]:
    return _used(closing) | {"state": _ending(closing), "finished_at": closing.finished_at}


def _used(closing: Closing) -> dict[str, object]:
    usages = [said.usage for said in closing.transcript.messages if said.usage is not None]
    num_input_tokens = sum(usage.num_input_tokens for usage in usages)
    return {
        "of_turn": closing.turn_id,
        "num_input_tokens": None if _is_left_early(closing, num_input_tokens) else num_input_tokens,
        "num_cached_tokens": sum(usage.num_cached_tokens for usage in usages),
        "num_output_tokens": sum(usage.num_output_tokens for usage in usages),
    }


def _settled(closing: Closing) -> dict[str, object]:
    usages = [said.usage for said in closing.transcript.messages if said.usage is not None]
    searched = sum(usage.num_searched_tokens or 0 for usage in usages)
    return _used(closing) | {"num_searched_tokens": searched}


def _is_left_early(closing: Closing, num_input_tokens: int) -> bool:
    """Stopped before the engine said what it had read. Where it is our fault that it never did,
    nobody pays for it."""
    is_begun = any(said.role == "assistant" for said in closing.transcript.messages)
    return is_begun and num_input_tokens == 0 and _ending(closing) == "stopped"


def _told(closing: Closing) -> dict[str, object]:
    return {
        "of_turn": closing.turn_id,
        "finished_at": closing.finished_at,
        "title": closing.transcript.title,
    }


def _ending(closing: Closing) -> Ending:
    """A log that does not say how its turn ended was cut short."""
    return closing.transcript.ending or "interrupted"
