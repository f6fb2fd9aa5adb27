"""What was sent under which key: never twice within a day, and then forgotten."""

import asyncio
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import TypeAlias
from uuid import uuid4

import pytest
from msgspec import structs

from hitsend.errors import Conflict, KeyReused
from hitsend.store import NewTurn, Store, User
from hitsend.store.sends import KEPT_S, SentBefore

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


async def test_a_key_finds_its_turn_and_only_its_owner_finds_it(
    store: Store, ada: User, eve: User, new: NewTurn
) -> None:
    assert await store.turns.sent(ada.id, "k") is None
    await store.turns.accept(new)
    assert await store.turns.sent(ada.id, "k") == (new.turn_id, "f")
    assert await store.turns.sent(eve.id, "k") is None
    await store.turns.accept(keyed(eve))


async def test_of_twenty_at_once_one_is_accepted(store: Store, ada: User) -> None:
    turns = [keyed(ada) for _ in range(20)]
    outcomes = await asyncio.gather(*map(store.turns.accept, turns), return_exceptions=True)
    before = [outcome for outcome in outcomes if isinstance(outcome, SentBefore)]
    assert len(before) == 19
    (row,) = await store.turns.unfinished()
    assert {outcome.turn_id for outcome in before} == {row.id}


async def test_a_key_cannot_ask_for_something_else(store: Store, ada: User, new: NewTurn) -> None:
    await store.turns.accept(new)
    with pytest.raises(KeyReused):
        await store.turns.accept(keyed(ada, fingerprint="other"))
    assert await store.turns.sent(ada.id, "k") == (new.turn_id, "f")


async def test_after_a_day_a_key_is_new_again(
    store: Store, ada: User, new: NewTurn, clock: SimpleNamespace
) -> None:
    await store.turns.accept(new)
    clock.now += KEPT_S - 1
    assert await store.turns.sent(ada.id, "k") is not None
    clock.now += 1
    assert await store.turns.sent(ada.id, "k") is None
    again = keyed(ada, fingerprint="other")
    await store.turns.accept(again)
    assert await store.turns.sent(ada.id, "k") == (again.turn_id, "other")


async def test_what_is_a_day_old_is_erased_and_nothing_else(
    store: Store, ada: User, new: NewTurn, clock: SimpleNamespace
) -> None:
    await store.turns.accept(new)
    clock.now += KEPT_S / 2
    later = keyed(ada, key="later")
    await store.turns.accept(later)
    clock.now += KEPT_S / 2
    await store.turns.forget_sends()
    clock.now -= KEPT_S  # what is still there would count again
    assert await store.turns.sent(ada.id, "k") is None
    assert await store.turns.sent(ada.id, "later") == (later.turn_id, "f")


@pytest.mark.parametrize("is_new", [True, False])
async def test_a_message_that_is_there_is_the_same_turn_under_any_key_and_else_a_conflict(
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
    with pytest.raises(SentBefore) as before:
        await store.turns.accept(again)
    assert before.value.turn_id == first.turn_id
    for other in (
        structs.replace(again, fingerprint="another"),
        structs.replace(again, message_id=unkeyed.message_id),
    ):
        with pytest.raises(Conflict):
            await store.turns.accept(other)
    assert await store.turns.sent(ada.id, "other") is None
    if is_new:  # and nobody else's matters
        await store.turns.accept(structs.replace(again, user_id=eve.id))


async def test_a_key_goes_with_its_turn(store: Store, ada: User, ask: Ask) -> None:
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
    assert await store.turns.sent(ada.id, "k") is None
