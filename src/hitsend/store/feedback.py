"""Feedback on answers. Each answer has at most one; a new one replaces it."""

from msgspec import structs
from sqlalchemy import Connection, delete, select
from sqlalchemy.dialects.sqlite import insert

from hitsend.errors import Refused
from hitsend.messages import Feedback
from hitsend.store.conversations import is_visible_to, message_not_found
from hitsend.store.database import Database, writes
from hitsend.store.reviews import report_answer
from hitsend.store.schema import conversations, feedback, messages


class AnswerFeedback:
    def __init__(self, database: Database) -> None:
        self._database = database

    @writes
    def set(
        self,
        connection: Connection,
        conversation_id: str,
        message_id: str,
        user_id: str,
        new: Feedback,
    ) -> None:
        values = {**structs.asdict(new), "created_at": self._database.now()}
        position = _answer_position(connection, conversation_id, message_id, user_id)
        row = insert(feedback).values(message_position=position, **values)
        connection.execute(row.on_conflict_do_update(["message_position"], set_=values))
        if new.reason == "unsafe":
            now = self._database.now()
            report_answer(connection, conversation_id, message_id, user_id, now)

    @writes
    def remove(
        self, connection: Connection, conversation_id: str, message_id: str, user_id: str
    ) -> None:
        """Does nothing if there is no feedback."""
        position = _answer_position(connection, conversation_id, message_id, user_id)
        connection.execute(delete(feedback).where(feedback.c.message_position == position))


def _answer_position(
    connection: Connection, conversation_id: str, message_id: str, user_id: str
) -> int:
    query = (
        select(messages.c.position, messages.c.role)
        .join(conversations, conversations.c.id == messages.c.conversation_id)
        .where(is_visible_to(conversation_id, user_id), messages.c.id == message_id)
    )
    row = connection.execute(query).one_or_none()
    if row is None:
        raise message_not_found()
    position, role = row
    if role != "assistant":
        raise Refused("Only an answer can be rated.", param="message_id")
    return position
