"""What people think of answers: one opinion each, kept with the answer."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

import pytest

from hitsend.errors import NotFound, Refused
from hitsend.events import Stamped
from hitsend.messages import Feedback
from hitsend.store import NewTurn, Store, User

Ask: TypeAlias = Callable[..., Awaitable[NewTurn]]
Answer: TypeAlias = Callable[..., Awaitable[list[Stamped]]]

BAD = Feedback("down", "wrong", 'It said "2 + 2 = 5" <script>')


async def _told(store: Store, turn: NewTurn) -> list[Feedback | None]:
    tree = await store.conversations.get(turn.conversation_id or "", turn.user_id)
    return [message.feedback for message in tree.messages]


async def test_the_newest_opinion_is_kept_until_it_is_taken_back(
    store: Store, ada: User, ask: Ask, answer: Answer
) -> None:
    turn = await ask(ada, "2 + 2?")
    await answer(turn, "5")
    where = turn.conversation_id or "", turn.answer_id, ada.id
    await store.feedback.give(*where, Feedback("up"))
    await store.feedback.give(*where, BAD)
    assert await _told(store, turn) == [None, BAD]
    path = await store.conversations.path(turn.conversation_id or "", ada.id, turn.answer_id)
    assert path[-1].feedback == BAD
    await store.feedback.take_back(*where)
    await store.feedback.take_back(*where)
    assert await _told(store, turn) == [None, None]


async def test_only_answers_can_be_rated(store: Store, ada: User, ask: Ask) -> None:
    turn = await ask(ada, "2 + 2?")
    with pytest.raises(Refused, match="Only an answer"):
        await store.feedback.give(turn.conversation_id or "", turn.message_id or "", ada.id, BAD)


async def test_answers_of_another_or_in_what_is_hidden_cannot_be_rated(
    store: Store, ada: User, eve: User, ask: Ask
) -> None:
    turn = await ask(ada, "2 + 2?")
    conversation_id = turn.conversation_id or ""
    with pytest.raises(NotFound):
        await store.feedback.give(conversation_id, turn.answer_id, eve.id, BAD)
    await store.conversations.update(conversation_id, ada.id, is_visible=False)
    with pytest.raises(NotFound):
        await store.feedback.give(conversation_id, turn.answer_id, ada.id, BAD)
    with pytest.raises(NotFound):
        await store.feedback.take_back(conversation_id, turn.answer_id, ada.id)
