"""Memories and profiles."""

from collections.abc import Awaitable, Callable
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from hitsend.errors import Conflict, NotFound
from hitsend.store import NewTurn, Profile, Store, User
from hitsend.store.memories import MAX_SUGGESTED, RESTORE_S, Memories
from hitsend.store.rows import MemoryOrigin

Ask = Callable[..., Awaitable[NewTurn]]


async def test_nobody_can_read_or_change_another_persons_memories(
    store: Store, ada: User, eve: User
) -> None:
    memories = store.memories
    hers = await memories.add(ada.id, "I bake.", "written")
    await memories.set_vectors(ada.id, "words", {hers.id: "I bake."}, [b"vector"])
    assert (await memories.list(eve.id)).total == 0
    assert list(await memories.get_many(eve.id, [hers.id])) == []
    assert await memories.texts(eve.id, [hers.id]) == await memories.read_all_texts(eve.id) == {}
    assert await memories.vectors(eve.id, "words") == ([], b"")
    for theirs in (
        memories.change(hers.id, eve.id, "mine now"),
        memories.remove(hers.id, eve.id),
        memories.restore(hers.id, eve.id),
        memories.accept(hers.id, eve.id),
    ):
        with pytest.raises(NotFound):
            await theirs
    await memories.clear(eve.id)
    assert await memories.get_many(ada.id, [hers.id]) == [hers]


async def test_a_removed_memory_can_be_restored_for_ten_minutes_and_is_then_erased(
    store: Store, ada: User, clock: SimpleNamespace
) -> None:
    memory = await store.memories.add(ada.id, "I bake.", "asked")
    await store.memories.remove(memory.id, ada.id)
    assert await store.memories.texts(ada.id, [memory.id]) == {}
    clock.now += RESTORE_S - 1
    await store.memories.erase_removed()
    await store.memories.restore(memory.id, ada.id)
    await store.memories.remove(memory.id, ada.id)
    clock.now += RESTORE_S + 1
    await store.memories.erase_removed()
    with pytest.raises(NotFound):
        await store.memories.restore(memory.id, ada.id)


async def test_a_suggestion_is_not_used_until_it_is_accepted(store: Store, ada: User) -> None:
    suggested = await store.memories.add(ada.id, "I bake.", "suggested")
    assert await store.memories.read_all_texts(ada.id) == {}
    asked = await store.memories.add(ada.id, "I BAKE.", "asked")
    assert (asked.id, asked.is_suggested) == (suggested.id, False)
    assert await store.memories.read_all_texts(ada.id) == {asked.id: "I bake."}


async def test_changing_a_memory_deletes_its_vector(store: Store, ada: User) -> None:
    memory = await store.memories.add(ada.id, "I bake.", "written")
    before = store.memories.changes.version
    await store.memories.set_vectors(ada.id, "words", {memory.id: "I bake."}, [b"vector"])
    assert store.memories.changes.since(before, ada.id) == {memory.id}
    assert await store.memories.vectors(ada.id, "words") == ([memory.id], b"vector")
    assert await store.memories.vectors(ada.id, "other") == ([], b"")
    await store.memories.change(memory.id, ada.id, "I cook.")
    assert await store.memories.without_vectors(ada.id, "words", 10) == {memory.id: "I cook."}
    await store.memories.set_vectors(ada.id, "words", {memory.id: "I bake."}, [b"late"])
    assert await store.memories.vectors(ada.id, "words") == ([], b"")


async def test_a_memory_outlives_its_conversation(
    store: Store, ada: User, eve: User, ask: Ask
) -> None:
    turn = await ask(ada, "Remember that I bake.")
    memory = await store.memories.add(ada.id, "I bake.", "asked", turn.conversation_id)
    assert memory.conversation_id == turn.conversation_id
    assert turn.conversation_id is not None
    await store.conversations.delete(turn.conversation_id, ada.id)
    [kept] = await store.memories.get_many(ada.id, [memory.id])
    assert kept.conversation_id is None
    other = await ask(ada, "Hello")
    assert (await store.memories.add(eve.id, "I bake.", "asked", other.conversation_id)) == replace(
        (await store.memories.list(eve.id)).items[0], conversation_id=None
    )


async def test_the_number_of_memories_is_limited(store: Store, ada: User) -> None:
    memories = Memories(store._database, max_memories=2)
    await memories.add(ada.id, "one", "written")
    two = await memories.add(ada.id, "two", "written")
    with pytest.raises(Conflict):
        await memories.add(ada.id, "three", "written")
    assert not await memories.has_room(ada.id)
    await memories.remove(two.id, ada.id)
    assert await memories.has_room(ada.id)
    await memories.add(ada.id, "three", "written")
    with pytest.raises(Conflict):
        await memories.restore(two.id, ada.id)


async def test_suggestions_have_their_own_limit(store: Store, ada: User) -> None:
    memories = Memories(store._database, max_memories=1)
    one = await memories.add(ada.id, "one", "suggested")
    two = await memories.add(ada.id, "two", "suggested")
    await memories.accept(one.id, ada.id)
    await memories.accept(one.id, ada.id)
    with pytest.raises(Conflict):
        await memories.accept(two.id, ada.id)
    for number in range(MAX_SUGGESTED - 1):
        await memories.add(ada.id, f"more {number}", "suggested")
    with pytest.raises(Conflict):
        await memories.add(ada.id, "too many", "suggested")


async def test_the_same_text_is_stored_once(store: Store, ada: User) -> None:
    memories = store.memories
    apples = await memories.add(ada.id, "Äpfel mag ich.", "written")
    assert await memories.add(ada.id, "äpfel mag ich.", "written") == apples
    pears = await memories.add(ada.id, "Birnen mag ich.", "written")
    with pytest.raises(Conflict):
        await memories.change(pears.id, ada.id, "ÄPFEL mag ich.")
    assert (await memories.change(apples.id, ada.id, "ÄPFEL mag ich.")).id == apples.id
    await memories.remove(apples.id, ada.id)
    again = await memories.add(ada.id, "Äpfel mag ich.", "written")
    with pytest.raises(Conflict):
        await memories.restore(apples.id, ada.id)
    assert set(await memories.read_all_texts(ada.id)) == {pears.id, again.id}
    assert (await memories.restore(again.id, ada.id)).id == again.id


async def test_a_memory_found_in_the_background_is_added_only_while_memory_is_on(
    store: Store, ada: User, ask: Ask
) -> None:
    conversation_id = (await ask(ada, "Hello")).conversation_id or ""

    async def try_add(text: str, origin: MemoryOrigin) -> bool:
        return await store.memories.add_if_wanted(ada.id, text, origin, conversation_id) is not None

    assert await try_add("I bake.", "asked")
    assert not await try_add("i bake.", "asked")
    assert not await try_add("I cook.", "suggested")
    await store.profiles.change(ada.id, suggests_memories=True)
    assert await try_add("I cook.", "suggested")
    assert not await try_add("I cook.", "suggested")
    assert await try_add("I cook.", "asked")
    await store.profiles.change(ada.id, uses_memory=False)
    assert not await try_add("I fly.", "asked")
    assert not await try_add("I fly.", "suggested")
    assert len(await store.memories.read_all_texts(ada.id)) == 2


async def test_deleting_an_account_deletes_its_memories_and_profile(
    store: Store, ada: User, eve: User
) -> None:
    for user in (ada, eve):
        await store.memories.add(user.id, "I bake.", "written")
        await store.profiles.set(user.id, Profile(call_me=user.name))
    await store.accounts.erase(ada.id)
    assert await store.memories.read_all_texts(ada.id) == {}
    assert await store.profiles.get(ada.id) == Profile()
    assert len(await store.memories.read_all_texts(eve.id)) == 1
    assert (await store.profiles.get(eve.id)).call_me == "Eve"


async def test_a_temporary_conversation_is_deleted_after_a_day(
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
    await store.conversations.hide_expired_temporary()
    assert (await store.conversations.get("c", ada.id)).is_temporary
    clock.now += 401
    await store.conversations.hide_expired_temporary()
    await store.conversations.erase_hidden()
    with pytest.raises(NotFound):
        await store.conversations.get("c", ada.id)
    assert lasting.conversation_id is not None
    await store.conversations.get(lasting.conversation_id, ada.id)
