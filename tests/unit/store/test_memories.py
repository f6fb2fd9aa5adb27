"""Memories and profiles, kept and forgotten."""

from collections.abc import Awaitable, Callable
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from hitsend.errors import Conflict, NotFound
from hitsend.store import NewTurn, Profile, Store, User
from hitsend.store.memories import WAY_BACK_S, Memories

Ask = Callable[..., Awaitable[NewTurn]]


async def test_nobody_reaches_what_somebody_else_remembers(
    store: Store, ada: User, eve: User
) -> None:
    memories = store.memories
    hers = await memories.add(ada.id, "I bake.", "written")
    await memories.learn(ada.id, "words", {hers.id: "I bake."}, [b"vector"])
    assert (await memories.list(eve.id)).total == 0
    assert list(await memories.some(eve.id, [hers.id])) == []
    assert await memories.texts(eve.id, [hers.id]) == await memories.every_text(eve.id) == {}
    assert await memories.vectors(eve.id, "words") == ([], b"")
    for theirs in (
        memories.get(hers.id, eve.id),
        memories.change(hers.id, eve.id, "mine now"),
        memories.remove(hers.id, eve.id),
        memories.bring_back(hers.id, eve.id),
        memories.accept(hers.id, eve.id),
    ):
        with pytest.raises(NotFound):
            await theirs
    await memories.clear(eve.id)
    assert await memories.get(hers.id, ada.id) == hers


async def test_what_is_removed_comes_back_within_ten_minutes_and_is_then_erased(
    store: Store, ada: User, clock: SimpleNamespace
) -> None:
    memory = await store.memories.add(ada.id, "I bake.", "asked")
    await store.memories.remove(memory.id, ada.id)
    assert await store.memories.texts(ada.id, [memory.id]) == {}
    clock.now += WAY_BACK_S - 1
    await store.memories.erase_removed()
    await store.memories.bring_back(memory.id, ada.id)
    await store.memories.remove(memory.id, ada.id)
    clock.now += WAY_BACK_S + 1
    await store.memories.erase_removed()
    with pytest.raises(NotFound):
        await store.memories.bring_back(memory.id, ada.id)


async def test_a_suggestion_is_no_memory_until_it_is_accepted(store: Store, ada: User) -> None:
    suggested = await store.memories.add(ada.id, "I bake.", "suggested", is_suggested=True)
    assert await store.memories.every_text(ada.id) == {}
    asked = await store.memories.add(ada.id, "I BAKE.", "asked")
    assert (asked.id, asked.is_suggested) == (suggested.id, False)
    assert await store.memories.every_text(ada.id) == {asked.id: "I bake."}


async def test_a_changed_memory_has_to_be_learned_anew(store: Store, ada: User) -> None:
    memory = await store.memories.add(ada.id, "I bake.", "written")
    before = store.memories.version(ada.id)
    await store.memories.learn(ada.id, "words", {memory.id: "I bake."}, [b"vector"])
    assert store.memories.version(ada.id) != before
    assert await store.memories.vectors(ada.id, "words") == ([memory.id], b"vector")
    assert await store.memories.vectors(ada.id, "other") == ([], b"")
    await store.memories.change(memory.id, ada.id, "I cook.")
    assert await store.memories.unseen(ada.id, "words", 10) == {memory.id: "I cook."}
    await store.memories.learn(ada.id, "words", {memory.id: "I bake."}, [b"late"])
    assert await store.memories.vectors(ada.id, "words") == ([], b"")


async def test_a_memory_outlives_the_conversation_it_was_asked_for_in(
    store: Store, ada: User, eve: User, ask: Ask
) -> None:
    turn = await ask(ada, "Remember that I bake.")
    memory = await store.memories.add(ada.id, "I bake.", "asked", turn.conversation_id)
    assert memory.conversation_id == turn.conversation_id
    assert turn.conversation_id is not None
    await store.conversations.delete(turn.conversation_id, ada.id)
    assert (await store.memories.get(memory.id, ada.id)).conversation_id is None
    other = await ask(ada, "Hello")
    assert (await store.memories.add(eve.id, "I bake.", "asked", other.conversation_id)) == replace(
        (await store.memories.list(eve.id)).items[0], conversation_id=None
    )


async def test_there_is_an_end_to_what_can_be_remembered(store: Store, ada: User) -> None:
    memories = Memories(store._database, most=2)
    await memories.add(ada.id, "one", "written")
    two = await memories.add(ada.id, "two", "written")
    with pytest.raises(Conflict):
        await memories.add(ada.id, "three", "written")
    await memories.remove(two.id, ada.id)
    await memories.add(ada.id, "three", "written")


async def test_an_account_takes_its_memories_and_profile_along(
    store: Store, ada: User, eve: User
) -> None:
    for user in (ada, eve):
        await store.memories.add(user.id, "I bake.", "written")
        await store.profiles.set(user.id, Profile(call_me=user.name))
    await store.accounts.erase(ada.id)
    assert await store.memories.every_text(ada.id) == {}
    assert await store.profiles.get(ada.id) == Profile()
    assert len(await store.memories.every_text(eve.id)) == 1
    assert (await store.profiles.get(eve.id)).call_me == "Eve"


async def test_a_temporary_conversation_is_gone_after_a_day(
    store: Store, ada: User, ask: Ask, clock: SimpleNamespace
) -> None:
    lasting = await ask(ada, "Hello")
    turn = replace(lasting, turn_id="t", conversation_id="c", message_id="m", answer_id="a")
    turn = replace(turn, is_temporary=True, creates_conversation=True, key=None)
    await store.turns.accept(turn)
    assert list(await store.conversations.ids(ada.id)) == [lasting.conversation_id]
    profile = await store.profiles.in_conversation(ada.id, "c")
    assert (profile.uses_memory, profile.suggests_memories) == (False, False)
    clock.now += 86_000
    await store.conversations.end_temporary()
    assert (await store.conversations.get("c", ada.id)).is_temporary
    clock.now += 401
    await store.conversations.end_temporary()
    await store.conversations.erase_hidden()
    with pytest.raises(NotFound):
        await store.conversations.get("c", ada.id)
    assert lasting.conversation_id is not None
    await store.conversations.get(lasting.conversation_id, ada.id)
