"""What a turn reads of a conversation: the end of its path, summaries, and old exchanges."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

import pytest

from hitsend.errors import NotFound
from hitsend.store import NewTurn, Reach, Store, User
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


async def test_a_path_is_read_back_to_where_it_is_to_begin(
    store: Store, ada: User, talk: list[NewTurn]
) -> None:
    conversation_id, leaf_id = talk[0].conversation_id or "", talk[-1].answer_id

    async def read(reach: Reach) -> list[str]:
        path = await store.conversations.path(conversation_id, ada.id, leaf_id, reach)
        return [message.text for message in path]

    last = ["question 5", "answer5"]
    assert await read(Reach("tiny", 10**6, talk[5].message_id)) == last
    assert len(await read(Reach("tiny", 10**6))) == 12
    assert await read(Reach("tiny", 1)) == ["answer5"]
    ids = await store.conversations.path_ids(conversation_id, ada.id, leaf_id)
    assert (ids[0], ids[-1], len(ids)) == (talk[0].message_id, leaf_id, 12)


async def test_exchanges_and_summaries_are_ones_own_only_and_go_with_the_conversation(
    store: Store, ada: User, eve: User, talk: list[NewTurn]
) -> None:
    conversation_id, answer_id = talk[0].conversation_id or "", talk[0].answer_id
    hers, others = (conversation_id, ada.id), (conversation_id, eve.id)
    summary = new_summary(talk[0].message_id or "", answer_id, 1, "Ada asked.")
    for theirs in (hers, others):
        await store.summaries.add(*theirs, "tiny", summary)
        await store.exchanges.learn(*theirs, "words", {answer_id: b"\0\0\0\0"})
    assert await store.summaries.list(*hers) == [summary]
    assert await store.exchanges.vectors(*hers, "words") == ([answer_id], b"\0\0\0\0")
    assert (await store.exchanges.get(*hers, [answer_id]))[answer_id].question == "question 0"
    assert len(await store.exchanges.unlearned(*hers, "words", 100)) == 5

    assert await store.summaries.list(*others) == []
    assert await store.exchanges.get(*others, [answer_id]) == {}
    assert await store.exchanges.vectors(*others, "words") == ([], b"")
    assert await store.exchanges.unlearned(*others, "words", 100) == []
    assert await store.conversations.path_ids(*others, answer_id) == []
    with pytest.raises(NotFound):
        await store.conversations.path(*others, answer_id, Reach("tiny", 10))

    await store.conversations.delete(*hers)
    assert await store.summaries.list(*hers) == []
    await store.exchanges.learn(*hers, "words", {answer_id: b"\0\0\0\0"})
    assert await store.exchanges.vectors(*hers, "words") == ([], b"")
