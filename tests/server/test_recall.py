"""Recall of older exchanges."""

from pathlib import Path

from tests.server.direct_chat import DirectChat, open_direct_chat

QUESTION = "Where was my tortoise Balthazar born?"


async def find_exchanges(chat: DirectChat, num_before: int) -> list[str]:
    """Only the first messages are dropped."""
    before = [message.message_id for message in await chat.path()][:num_before]
    exchanges = await chat.app.services.recall.find_exchanges(
        chat.conversation_id or "", chat.user_id, QUESTION, before=before, limit=4
    )
    return [exchange.message_id for exchange in exchanges]


async def embed(chat: DirectChat) -> None:
    recall = chat.app.services.recall
    await recall.embed_exchanges(chat.conversation_id or "", chat.user_id)


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
