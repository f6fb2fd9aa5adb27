"""Feedback on answers: one each, stored with the answer."""

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


async def _feedback_of(store: Store, turn: NewTurn) -> list[Feedback | None]:
    tree = await store.conversations.get(turn.conversation_id or "", turn.user_id)
    return [message.feedback for message in tree.messages]


async def test_new_feedback_replaces_the_old_and_can_be_removed(
    store: Store, ada: User, ask: Ask, answer: Answer
) -> None:
    turn = await ask(ada, "2 + 2?")
    await answer(turn, "5")
    where = turn.conversation_id or "", turn.answer_id, ada.id
    await store.feedback.set(*where, Feedback("up"))
    await store.feedback.set(*where, BAD)
    assert await _feedback_of(store, turn) == [None, BAD]
    path = await store.conversations.path(turn.conversation_id or "", ada.id, turn.answer_id)
    assert path[-1].feedback == BAD
    await store.feedback.remove(*where)
    await store.feedback.remove(*where)
    assert await _feedback_of(store, turn) == [None, None]


async def test_only_answers_can_be_rated(store: Store, ada: User, ask: Ask) -> None:
    turn = await ask(ada, "2 + 2?")
    with pytest.raises(Refused, match="Only an answer"):
        await store.feedback.set(turn.conversation_id or "", turn.message_id or "", ada.id, BAD)


async def test_answers_of_another_person_or_a_hidden_conversation_cannot_be_rated(
    store: Store, ada: User, eve: User, ask: Ask
) -> None:
    turn = await ask(ada, "2 + 2?")
    conversation_id = turn.conversation_id or ""
    with pytest.raises(NotFound):
        await store.feedback.set(conversation_id, turn.answer_id, eve.id, BAD)
    await store.conversations.update(conversation_id, ada.id, is_visible=False)
    with pytest.raises(NotFound):
        await store.feedback.set(conversation_id, turn.answer_id, ada.id, BAD)
    with pytest.raises(NotFound):
        await store.feedback.remove(conversation_id, turn.answer_id, ada.id)
