"""Shares: what a link shows, and what it never shows."""

from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import TypeAlias

import pytest

from hitsend.errors import Conflict, NotFound
from hitsend.events import Stamped
from hitsend.store import NewTurn, Store, User
from hitsend.store.shares import MAX_SHARES

Ask: TypeAlias = Callable[..., Awaitable[NewTurn]]
Answer: TypeAlias = Callable[..., Awaitable[list[Stamped]]]


async def _shown(store: Store, share_id: str) -> list[str]:
    return [message.text for message in (await store.shares.read(share_id)).messages]


async def test_a_share_shows_the_path_and_nothing_said_later_or_beside_it(
    store: Store, ada: User, ask: Ask, answer: Answer
) -> None:
    first = await ask(ada, "one", title="Counting")
    await answer(first, "1")
    beside = await ask(ada, "secret", to=first)
    await answer(beside, "hush")
    share = await store.shares.create(first.conversation_id or "", ada.id, first.answer_id)
    later = await ask(ada, "two", to=first, after=first.answer_id)
    await answer(later, "2")
    assert await _shown(store, share.id) == ["one", "1"]
    assert (await store.shares.read(share.id)).title == "Counting"


async def test_sharing_a_message_again_updates_the_title_of_its_share(
    store: Store, ada: User, ask: Ask, answer: Answer, clock: SimpleNamespace
) -> None:
    turn = await ask(ada, "one", title="Embarrassing")
    await answer(turn, "1")
    conversation_id = turn.conversation_id or ""
    share = await store.shares.create(conversation_id, ada.id, turn.answer_id)
    await store.conversations.update(conversation_id, ada.id, title="Counting")
    assert (await store.shares.read(share.id)).title == "Embarrassing"
    clock.now += 1
    again = await store.shares.create(conversation_id, ada.id, turn.answer_id)
    other = await store.shares.create(conversation_id, ada.id, turn.message_id or "")
    assert (again.id, again.title, again.created_at) == (share.id, "Counting", share.created_at)
    assert other.id != share.id
    assert [line.id for line in await store.shares.list(ada.id)] == [other.id, share.id]
    assert min(len(share.id), len(other.id)) >= 22


async def test_a_running_answer_cannot_be_shared(store: Store, ada: User, ask: Ask) -> None:
    turn = await ask(ada, "one")
    with pytest.raises(Conflict, match="still being written"):
        await store.shares.create(turn.conversation_id or "", ada.id, turn.answer_id)


async def test_a_revoked_hidden_or_deleted_share_cannot_be_read(
    store: Store, ada: User, ask: Ask, answer: Answer
) -> None:
    turn = await ask(ada, "one")
    await answer(turn, "1")
    conversation_id = turn.conversation_id or ""
    share = await store.shares.create(conversation_id, ada.id, turn.answer_id)
    await store.conversations.update(conversation_id, ada.id, is_visible=False)
    assert await store.shares.list(ada.id) == []
    with pytest.raises(NotFound):
        await store.shares.read(share.id)
    await store.conversations.update(conversation_id, ada.id, is_visible=True)
    assert await _shown(store, share.id) == ["one", "1"]
    await store.shares.revoke(share.id, ada.id)
    with pytest.raises(NotFound):
        await store.shares.read(share.id)
    anew = await store.shares.create(conversation_id, ada.id, turn.answer_id)
    assert anew.id != share.id
    await store.conversations.delete(conversation_id, ada.id)
    with pytest.raises(NotFound):
        await store.shares.read(anew.id)


async def test_nobody_can_share_revoke_or_list_for_another_person(
    store: Store, ada: User, eve: User, ask: Ask, answer: Answer
) -> None:
    turn = await ask(ada, "one")
    await answer(turn, "1")
    share = await store.shares.create(turn.conversation_id or "", ada.id, turn.answer_id)
    with pytest.raises(NotFound):
        await store.shares.create(turn.conversation_id or "", eve.id, turn.answer_id)
    with pytest.raises(NotFound):
        await store.shares.revoke(share.id, eve.id)
    assert await store.shares.list(eve.id) == []
    assert await _shown(store, share.id) == ["one", "1"]


async def test_shares_of_a_disabled_account_cannot_be_read(
    store: Store, ada: User, ask: Ask, answer: Answer
) -> None:
    turn = await ask(ada, "one")
    await answer(turn, "1")
    share = await store.shares.create(turn.conversation_id or "", ada.id, turn.answer_id)
    await store.accounts.disable(ada.id)
    with pytest.raises(NotFound):
        await store.shares.read(share.id)


async def test_the_number_of_shares_is_limited(
    store: Store, ada: User, eve: User, ask: Ask, answer: Answer
) -> None:
    turn, hers = await ask(ada, "one"), await ask(eve, "one")
    await answer(turn, "1")
    await answer(hers, "1")
    await store._database.write(
        lambda connection: connection.exec_driver_sql(
            "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n LIMIT ?) "
            "INSERT INTO shares SELECT 'share' || n, ?, 'message' || n, '', n FROM n",
            (MAX_SHARES - 1, turn.conversation_id),
        )
    )
    last = await store.shares.create(turn.conversation_id or "", ada.id, turn.answer_id)
    with pytest.raises(Conflict, match="1,000 links"):
        await store.shares.create(turn.conversation_id or "", ada.id, turn.message_id or "")
    again = await store.shares.create(turn.conversation_id or "", ada.id, turn.answer_id)
    assert again == last
    assert len(await store.shares.list(ada.id)) == MAX_SHARES
    await store.shares.create(hers.conversation_id or "", eve.id, hers.answer_id)
