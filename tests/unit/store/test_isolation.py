"""Another person's rows are not found: every query by id, run as somebody else."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias
from uuid import uuid4

import pytest
from msgspec import structs

from hitsend.errors import NotFound
from hitsend.messages import Feedback
from hitsend.store import NewTurn, Store, User

Ask: TypeAlias = Callable[..., Awaitable[NewTurn]]
Question: TypeAlias = Callable[[Store, User, NewTurn], Awaitable[object]]


def _send(user: User, to: NewTurn, **changes: str | None) -> NewTurn:
    given = {"turn_id": str(uuid4()), "message_id": str(uuid4()), "answer_id": str(uuid4())}
    sent = structs.replace(to, user_id=user.id, creates_conversation=False, **given)
    return structs.replace(sent, **changes)


QUESTIONS: dict[str, Question] = {
    "get": lambda s, u, t: s.conversations.get(t.conversation_id or "", u.id),
    "path": lambda s, u, t: s.conversations.path(t.conversation_id or "", u.id, t.answer_id),
    "rename": lambda s, u, t: s.conversations.update(t.conversation_id or "", u.id, title="Mine"),
    "hide": lambda s, u, t: s.conversations.update(t.conversation_id or "", u.id, is_visible=False),
    "rate": lambda s, u, t: s.feedback.set(
        t.conversation_id or "", t.answer_id, u.id, Feedback("up")
    ),
    "take back": lambda s, u, t: s.feedback.remove(t.conversation_id or "", t.answer_id, u.id),
    "share": lambda s, u, t: s.shares.create(t.conversation_id or "", u.id, t.message_id or ""),
    "delete": lambda s, u, t: s.conversations.delete(t.conversation_id or "", u.id),
    "events": lambda s, u, t: s.turns.events(t.turn_id, u.id),
    "turn": lambda s, u, t: s.turns.get(t.turn_id, u.id),
    "send": lambda s, u, t: s.turns.accept(_send(u, t, parent_id=t.answer_id)),
    "send first": lambda s, u, t: s.turns.accept(_send(u, t, parent_id=None)),
    "regenerate": lambda s, u, t: s.turns.accept(
        _send(u, t, message_id=None, parent_id=t.message_id)
    ),
}


@pytest.mark.parametrize("name", QUESTIONS)
async def test_another_persons_rows_raise_the_same_error_as_missing_ones(
    store: Store, ada: User, eve: User, ask: Ask, name: str
) -> None:
    hers = await ask(ada, "A secret", title="Secret")
    nowhere = structs.replace(hers, turn_id="none", conversation_id="none", answer_id="none")
    before = await store.conversations.get(hers.conversation_id or "", ada.id)
    with pytest.raises(NotFound) as not_yours:
        await QUESTIONS[name](store, eve, hers)
    with pytest.raises(NotFound) as not_there:
        await QUESTIONS[name](store, eve, nowhere)
    assert not_yours.value.message == not_there.value.message
    assert not_yours.value.param == not_there.value.param
    assert await store.conversations.get(hers.conversation_id or "", ada.id) == before
    await QUESTIONS[name](store, ada, hers)


async def test_another_persons_message_cannot_be_a_parent_or_current_node(
    store: Store, ada: User, eve: User, ask: Ask
) -> None:
    hers, mine = await ask(ada, "A secret"), await ask(eve, "Hello")
    conversation_id = mine.conversation_id or ""
    with pytest.raises(NotFound):
        await store.turns.accept(_send(eve, mine, parent_id=hers.answer_id))
    with pytest.raises(NotFound):
        await store.conversations.path(conversation_id, eve.id, hers.answer_id)
    with pytest.raises(NotFound):
        await store.conversations.update(conversation_id, eve.id, current_node=hers.answer_id)


async def test_lists_and_search_return_only_ones_own_conversations(
    store: Store, ada: User, eve: User, ask: Ask
) -> None:
    await ask(ada, "A secret", title="Secret")
    await store.accounts.open_session(ada.id, "token", user_agent="", expires_at=2e6)
    await store.accounts.create_key(ada.id, "key", "hs-abc", "mine")
    assert (await store.conversations.list(eve.id)).total == 0
    assert (await store.conversations.search(eve.id, "secret")).total == 0
    assert (await store.conversations.search(ada.id, "secret")).total == 1
    assert await store.accounts.list_sessions(eve.id) == []
    assert await store.accounts.list_keys(eve.id) == []


async def test_another_persons_sessions_and_keys_cannot_be_revoked(
    store: Store, ada: User, eve: User
) -> None:
    session = await store.accounts.open_session(ada.id, "token", user_agent="", expires_at=2e6)
    key = await store.accounts.create_key(ada.id, "key", "hs-abc", "mine")
    with pytest.raises(NotFound):
        await store.accounts.revoke_session(session.id, eve.id)
    with pytest.raises(NotFound):
        await store.accounts.revoke_key(key.id, eve.id)
    assert await store.accounts.find_by_session("token") is not None
    assert await store.accounts.find_by_key("key") is not None
