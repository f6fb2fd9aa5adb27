"""What people think of the answers they got. One opinion to an answer; a new one replaces it."""

from msgspec import structs
from sqlalchemy import delete, select
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from hitsend.errors import Refused
from hitsend.messages import Feedback
from hitsend.store.conversations import is_here, no_message
from hitsend.store.database import Database
from hitsend.store.schema import conversations, feedback, messages


class AnswerFeedback:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def give(
        self, conversation_id: str, message_id: str, user_id: str, given: Feedback
    ) -> None:
        opinion = {**structs.asdict(given), "created_at": self._database.now()}
        async with self._database.write() as connection:
            position = await _answer(connection, conversation_id, message_id, user_id)
            adding = insert(feedback).values(message_position=position, **opinion)
            await connection.execute(
                adding.on_conflict_do_update(["message_position"], set_=opinion)
            )

    async def take_back(self, conversation_id: str, message_id: str, user_id: str) -> None:
        """Taking back what was never given does nothing."""
        async with self._database.write() as connection:
            position = await _answer(connection, conversation_id, message_id, user_id)
            await connection.execute(
                delete(feedback).where(feedback.c.message_position == position)
            )


async def _answer(
    connection: AsyncConnection, conversation_id: str, message_id: str, user_id: str
) -> int:
    """Where it stands among all messages."""
    named = (
        select(messages.c.position, messages.c.role)
        .join(conversations, conversations.c.id == messages.c.conversation_id)
        .where(is_here(conversation_id, user_id), messages.c.id == message_id)
    )
    row = (await connection.execute(named)).one_or_none()
    if row is None:
        raise no_message()
    position, role = row
    if role != "assistant":
        raise Refused("Only an answer can be rated.", param="message_id")
    return position
