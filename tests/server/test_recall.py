"""Which older parts of a talk are found again."""

from pathlib import Path

from tests.server.talking import Talk, talking

QUESTION = "Where was my tortoise Balthazar born?"


async def found(talk: Talk, num_before: int) -> list[str]:
    """Where only the first messages are no longer shown."""
    before = [message.message_id for message in await talk.path()][:num_before]
    exchanges = await talk.house.services.recall.exchanges(
        talk.conversation_id or "", talk.user_id, QUESTION, before=before, most=4
    )
    return [exchange.message_id for exchange in exchanges]


async def learn(talk: Talk) -> None:
    recall = talk.house.services.recall
    await recall.learn_exchanges(talk.conversation_id or "", talk.user_id)


async def test_however_much_of_what_is_shown_is_alike_the_rest_is_found(tmp_path: Path) -> None:
    async with talking(tmp_path, 80_000) as talk:
        await talk.say("!script\nNoted.\nMy tortoise Balthazar was born in Zanzibar.")
        first_id = talk.answer_id
        for number in range(70):
            await talk.say(f"!script\nFine.\nMy tortoise Balthazar, born {number}")
        await learn(talk)
        assert await found(talk, 2) == [first_id]


async def test_what_is_not_learned_yet_is_found_by_its_words(tmp_path: Path) -> None:
    async with talking(tmp_path, 80_000) as talk:
        await talk.say("!script\nNoted.\nMy tortoise Caspar was born in Zagreb.")
        first_id = talk.answer_id
        await learn(talk)
        await talk.say("!script\nNoted.\nMy tortoise Balthazar was born in Zanzibar.")
        second_id = talk.answer_id
        await talk.say("!script\nFine.\nGood night.")
        assert await found(talk, 5) == [second_id, first_id]
