"""A turn reads the end of a conversation's path, its summaries and its older exchanges."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

import pytest

from hitsend.errors import NotFound
from hitsend.store import NewTurn, PathLimit, Store, User
from hitsend.store.summaries import new_summary

Ask: TypeAlias = Callable[..., Awaitable[NewTurn]]
Answer: TypeAlias = Callable[..., Awaitable[object]]


@pytest.fixture
async def talk(ada: User, ask: Ask, answer: Answer) -> list[NewTurn]:
    turns: list[NewTurn] = []
    for number in range(6):
        to, after = (turns[0], turns[-1].answer_id) if turns else (None, None)
        turns.append(await ask(ada, f"question {number}", to=to, after=after))
        await answer(turns[-1], f"answer{number}")
    return turns


async def test_a_path_is_read_back_to_its_limit(
    store: Store, ada: User, talk: list[NewTurn]
) -> None:
    conversation_id, leaf_id = talk[0].conversation_id or "", talk[-1].answer_id

    async def read(reach: PathLimit) -> list[str]:
        path = await store.conversations.path(conversation_id, ada.id, leaf_id, reach)
        return [message.text for message in path]

    last = ["question 5", "answer5"]
    assert await read(PathLimit("tiny", 10**6, talk[5].message_id)) == last
    assert len(await read(PathLimit("tiny", 10**6))) == 12
    assert await read(PathLimit("tiny", 1)) == ["answer5"]
    ids = await store.conversations.path_ids(conversation_id, ada.id, leaf_id)
    assert (next(iter(ids)), ids.last, len(ids)) == (talk[0].message_id, leaf_id, 12)


async def test_the_cached_path_of_a_conversation_serves_shorter_longer_and_other_paths(
    store: Store, ada: User, talk: list[NewTurn], ask: Ask
) -> None:
    place = talk[0].conversation_id or "", ada.id
    whole = [one for turn in talk for one in (turn.message_id, turn.answer_id)]
    for num_turns in (3, 6, 1, 5):
        ids = await store.conversations.path_ids(*place, talk[num_turns - 1].answer_id)
        assert list(ids) == whole[: 2 * num_turns]
    other = await ask(ada, "another question", to=talk[0], after=talk[1].answer_id)
    ids = await store.conversations.path_ids(*place, other.answer_id)
    assert list(ids) == [*whole[:4], other.message_id, other.answer_id]
    ids = await store.conversations.path_ids(*place, talk[-1].answer_id)
    assert list(ids) == whole


async def test_exchanges_and_summaries_belong_to_their_owner_and_are_deleted_with_the_conversation(
    store: Store, ada: User, eve: User, talk: list[NewTurn]
) -> None:
    conversation_id, answer_id = talk[0].conversation_id or "", talk[0].answer_id
    hers, others = (conversation_id, ada.id), (conversation_id, eve.id)
    summary = new_summary(talk[0].message_id or "", answer_id, 1, "Ada asked.")
    for theirs in (hers, others):
        await store.summaries.add(*theirs, "tiny", summary)
        await store.exchanges.set_vectors(*theirs, "words", {answer_id: b"\0\0\0\0"})
    assert list(await store.summaries.list(*hers)) == [summary]
    later = new_summary(talk[1].message_id or "", answer_id, 1, "Ada asked again.")
    await store.summaries.add(*hers, "tiny", later)
    assert list(await store.summaries.list(*hers)) == [summary, later]
    assert await store.exchanges.vectors(*hers, "words") == ([answer_id], b"\0\0\0\0")
    assert (await store.exchanges.get(*hers, [answer_id]))[answer_id].question == "question 0"
    answer_ids = [turn.answer_id for turn in talk]
    left = await store.exchanges.without_vectors(*hers, "words", answer_ids, 100)
    assert [one.message_id for one in left] == answer_ids[1:]
    assert await store.exchanges.without_vectors(*hers, "words", answer_ids, 2) == left[:2]

    assert not await store.summaries.list(*others)
    assert await store.exchanges.get(*others, [answer_id]) == {}
    assert await store.exchanges.vectors(*others, "words") == ([], b"")
    assert await store.exchanges.without_vectors(*others, "words", answer_ids, 100) == []
    assert not await store.conversations.path_ids(*others, answer_id)
    assert await store.conversations.sizes(*others, answer_ids) == []
    with pytest.raises(NotFound):
        await store.conversations.path(*others, answer_id, PathLimit("tiny", 10))

    await store.conversations.delete(*hers)
    assert not await store.summaries.list(*hers)
    await store.exchanges.set_vectors(*hers, "words", {answer_id: b"\0\0\0\0"})
    assert await store.exchanges.vectors(*hers, "words") == ([], b"")
