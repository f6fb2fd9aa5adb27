"""The turns that later ones repeat or go on with: what was turned on in them."""

from sqlalchemy import Connection, bindparam, select

from hitsend.events import Action, TurnStarted
from hitsend.store.conversations import is_visible_to
from hitsend.store.database import Database, reads
from hitsend.store.message_queries import select_path_ids
from hitsend.store.prepared import Prepared
from hitsend.store.schema import conversations, messages
from hitsend.store.turn_logs import read_log

IS_VISIBLE = is_visible_to(bindparam("conversation_id"), bindparam("user_id"))
IN_CONVERSATION = messages.c.conversation_id == conversations.c.id
SHOWN_PATH = Prepared(select_path_ids(IS_VISIBLE))
SHOWN_LEAF = Prepared(select(conversations.c.current_node).where(IS_VISIBLE))
TURN_OF = Prepared(
    select(messages.c.turn_id)
    .join(conversations, IN_CONVERSATION)
    .where(IS_VISIBLE, messages.c.id == bindparam("message_id"))
)
NEWEST_ANSWER = Prepared(
    select(messages.c.id)
    .join(conversations, IN_CONVERSATION)
    .where(IS_VISIBLE, messages.c.parent_id == bindparam("message_id"))
    .order_by(messages.c.position.desc())
    .limit(1)
)


class RepeatedTurns:
    def __init__(self, database: Database) -> None:
        self._database = database

    @reads
    def features(
        self,
        connection: Connection,
        conversation_id: str,
        user_id: str,
        message_id: str,
        action: Action,
    ) -> tuple[str, ...]:
        """Returns what was on in the turn of an answer that is continued, or for a variant in that
        of the answer to this question: the one that is shown, or else the newest. Nothing if the
        turn's log was erased."""
        place = {"conversation_id": conversation_id, "user_id": user_id}
        answer_id: str | None = message_id
        if action == "variant":
            answer_id = _find_answer(connection, place, message_id)
        if answer_id is None:
            return ()
        turn = TURN_OF.first(connection, **place, message_id=answer_id)
        first = read_log(connection, turn[0], limit=1) if turn else []
        event = first[0].event if first else None
        return (event.features or ()) if isinstance(event, TurnStarted) else ()


def _find_answer(connection: Connection, place: dict[str, str], question_id: str) -> str | None:
    leaf = SHOWN_LEAF.first(connection, **place)
    if leaf and leaf[0] is not None:
        below = SHOWN_PATH.rows(connection, **place, leaf_id=leaf[0], known_id=question_id)
        if below and below[0][1] == question_id:
            return str(below[0][0])
    newest = NEWEST_ANSWER.first(connection, **place, message_id=question_id)
    return str(newest[0]) if newest else None
