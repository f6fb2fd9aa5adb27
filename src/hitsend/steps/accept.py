"""Step 5. From here on it is ours: the message is stored before anyone hears of it."""

from hitsend.events import AnyEvent, MessageAdded, TitleChosen, TurnAccepted
from hitsend.send import Turn
from hitsend.store import NewTurn, Store
from hitsend.titles import title_from


async def accept(turn: Turn, store: Store) -> list[AnyEvent]:
    title = title_from(turn.send.text) if turn.is_first else ""
    await store.turns.accept(_new_turn(turn, title))
    events: list[AnyEvent] = [TurnAccepted()]
    if turn.said and turn.send.message_id:
        events.append(MessageAdded(turn.send.message_id, turn.send.parent_id, turn.said))
    if title:
        events.append(TitleChosen(title, revision=1))
    return events


def _new_turn(turn: Turn, title: str) -> NewTurn:
    return NewTurn(
        turn_id=turn.turn_id,
        user_id=turn.send.user_id,
        conversation_id=turn.conversation_id or None,
        creates_conversation=turn.is_first and not turn.is_api,
        title=title,
        action=turn.send.action,
        model=turn.model,
        message_id=turn.send.message_id if turn.said else None,
        parent_id=turn.send.parent_id,
        parts=turn.said.parts if turn.said else (),
        answer_id=turn.answer_id,
        given=turn.send.given,
        created_at=turn.created_at,
    )
