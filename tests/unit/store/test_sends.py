"""Idempotency keys: accepted once a day, then deleted."""

import asyncio
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import TypeAlias
from uuid import uuid4

import pytest
from msgspec import structs

from hitsend.errors import Conflict, KeyReused
from hitsend.store import NewTurn, Store, User
from hitsend.store.sends import RETENTION_S, DuplicateSend

Ask: TypeAlias = Callable[..., Awaitable[NewTurn]]


@pytest.fixture
def new(ada: User) -> NewTurn:
    return keyed(ada)


def keyed(user: User, key: str = "k", fingerprint: str = "f") -> NewTurn:
    return NewTurn(
        turn_id=str(uuid4()),
        user_id=user.id,
        conversation_id=None,
        action="next",
        model="tiny",
        answer_id=str(uuid4()),
        created_at=0.0,
        key=key,
        fingerprint=fingerprint,
    )


async def test_an_idempotency_key_finds_the_turn_of_its_owner_only(
    store: Store, ada: User, eve: User, new: NewTurn
) -> None:
    assert await store.turns.find_send(ada.id, "k") is None
    await store.turns.accept(new)
    assert await store.turns.find_send(ada.id, "k") == (new.turn_id, "f")
    assert await store.turns.find_send(eve.id, "k") is None
    await store.turns.accept(keyed(eve))


async def test_one_of_twenty_concurrent_sends_with_the_same_key_is_accepted(
    store: Store, ada: User
) -> None:
    turns = [keyed(ada) for _ in range(20)]
    outcomes = await asyncio.gather(*map(store.turns.accept, turns), return_exceptions=True)
    before = [outcome for outcome in outcomes if isinstance(outcome, DuplicateSend)]
    assert len(before) == 19
    (row,) = await store.turns.list_running()
    assert {outcome.turn_id for outcome in before} == {row.id}


async def test_a_key_cannot_be_reused_for_a_different_request(
    store: Store, ada: User, new: NewTurn
) -> None:
    await store.turns.accept(new)
    with pytest.raises(KeyReused):
        await store.turns.accept(keyed(ada, fingerprint="other"))
    assert await store.turns.find_send(ada.id, "k") == (new.turn_id, "f")


async def test_a_key_can_be_used_again_after_a_day(
    store: Store, ada: User, new: NewTurn, clock: SimpleNamespace
) -> None:
    await store.turns.accept(new)
    clock.now += RETENTION_S - 1
    assert await store.turns.find_send(ada.id, "k") is not None
    clock.now += 1
    assert await store.turns.find_send(ada.id, "k") is None
    again = keyed(ada, fingerprint="other")
    await store.turns.accept(again)
    assert await store.turns.find_send(ada.id, "k") == (again.turn_id, "other")


async def test_only_keys_older_than_a_day_are_deleted(
    store: Store, ada: User, new: NewTurn, clock: SimpleNamespace
) -> None:
    await store.turns.accept(new)
    clock.now += RETENTION_S / 2
    later = keyed(ada, key="later")
    await store.turns.accept(later)
    clock.now += RETENTION_S / 2
    await store.turns.delete_expired_sends()
    clock.now -= RETENTION_S  # a key that was not deleted would count again
    assert await store.turns.find_send(ada.id, "k") is None
    assert await store.turns.find_send(ada.id, "later") == (later.turn_id, "f")


@pytest.mark.parametrize("is_new", [True, False])
async def test_the_same_message_under_another_key_is_a_duplicate_and_a_different_one_a_conflict(
    store: Store, ada: User, eve: User, ask: Ask, is_new: bool
) -> None:
    unkeyed = await ask(ada, "Hello?")
    first = structs.replace(
        unkeyed,
        turn_id=str(uuid4()),
        answer_id=str(uuid4()),
        message_id=str(uuid4()),
        creates_conversation=False,
        key="k",
        fingerprint="f",
    )
    await store.turns.accept(first)
    into = {"conversation_id": str(uuid4())} if is_new else {}
    fresh = {"turn_id": str(uuid4()), "answer_id": str(uuid4()), "creates_conversation": is_new}
    again = structs.replace(first, key="other", **fresh, **into)
    with pytest.raises(DuplicateSend) as before:
        await store.turns.accept(again)
    assert before.value.turn_id == first.turn_id
    for other in (
        structs.replace(again, fingerprint="another"),
        structs.replace(again, message_id=unkeyed.message_id),
    ):
        with pytest.raises(Conflict):
            await store.turns.accept(other)
    assert await store.turns.find_send(ada.id, "other") is None
    if is_new:  # other people's keys do not matter
        await store.turns.accept(structs.replace(again, user_id=eve.id))


async def test_a_key_is_deleted_with_its_turn(store: Store, ada: User, ask: Ask) -> None:
    first = await ask(ada, "Hello?")
    second = structs.replace(
        first,
        turn_id=str(uuid4()),
        answer_id=str(uuid4()),
        message_id=str(uuid4()),
        parent_id=first.answer_id,
        creates_conversation=False,
        key="k",
    )
    await store.turns.accept(second)
    await store.conversations.delete(first.conversation_id or "", ada.id)
    assert await store.turns.find_send(ada.id, "k") is None
