"""Recall of older exchanges."""

from pathlib import Path

from tests.server.direct_chat import DirectChat, open_direct_chat

from hitsend.store import MessagePath

QUESTION = "Where was my tortoise Balthazar born?"


async def find_exchanges(chat: DirectChat, num_before: int) -> list[str]:
    """Only the first messages are dropped."""
    before = (await message_path(chat)).prefix(num_before)
    exchanges = await chat.app.services.recall.find_exchanges(
        chat.conversation_id or "", chat.user_id, QUESTION, before=before, limit=4
    )
    return [exchange.message_id for exchange in exchanges]


async def embed(chat: DirectChat) -> None:
    recall, path = chat.app.services.recall, await message_path(chat)
    while await recall.embed_exchanges(chat.conversation_id or "", chat.user_id, path):
        continue


async def message_path(chat: DirectChat) -> MessagePath:
    conversations = chat.app.services.store.conversations
    return await conversations.path_ids(
        chat.conversation_id or "", chat.user_id, chat.answer_id or ""
    )


async def test_recall_finds_an_exchange_among_many_similar_ones(tmp_path: Path) -> None:
    async with open_direct_chat(tmp_path, 80_000) as chat:
        await chat.send("!script\nNoted.\nMy tortoise Balthazar was born in Zanzibar.")
        first_id = chat.answer_id
        for number in range(70):
            await chat.send(f"!script\nFine.\nMy tortoise Balthazar, born {number}")
        await embed(chat)
        assert await find_exchanges(chat, 2) == [first_id]


async def test_an_exchange_without_a_vector_is_found_by_its_words(tmp_path: Path) -> None:
    async with open_direct_chat(tmp_path, 80_000) as chat:
        await chat.send("!script\nNoted.\nMy tortoise Caspar was born in Zagreb.")
        first_id = chat.answer_id
        await embed(chat)
        await chat.send("!script\nNoted.\nMy tortoise Balthazar was born in Zanzibar.")
        second_id = chat.answer_id
        await chat.send("!script\nFine.\nGood night.")
        assert await find_exchanges(chat, 5) == [second_id, first_id]


async def test_a_long_conversation_is_embedded_in_portions_oldest_first(tmp_path: Path) -> None:
    async with open_direct_chat(tmp_path, 80_000) as chat:
        for number in range(40):
            await chat.send(f"!script\nFine.\nChapter {number}")
        store, path = chat.app.services.store, await message_path(chat)
        answer_ids = [*path][1::2]
        place, has_more = (chat.conversation_id or "", chat.user_id), True
        for num_embedded in (16, 32, 40):
            assert has_more
            has_more = await chat.app.services.recall.embed_exchanges(*place, path)
            embedded, _ = await store.exchanges.vectors(*place, "words-1")
            assert set(embedded) == set(answer_ids[:num_embedded])
        assert not has_more
        await chat.send("!script\nFine.\nGood night.")
        assert not await chat.app.services.recall.embed_exchanges(*place, await message_path(chat))
        embedded, _ = await store.exchanges.vectors(*place, "words-1")
        assert len(embedded) == 40, "one new exchange waits for others"
