"""A conversation longer than the window: dropped messages are summarised and recalled."""

from itertools import pairwise
from pathlib import Path

from tests.server.direct_chat import DirectChat, open_direct_chat

from hitsend.engine import Script
from hitsend.store import Summary

SHORT = "!script\nYes, quite so, and there is more to be said about it some other day."
LONG = "!script\n" + "Yes, quite so, and there is more to be said about it some other day. " * 6
TOLD = "The person spoke of trains, dates and plans, and was told what to do next. " * 12
"""A summary as long as a real model's."""


def filler(number: int) -> str:
    return f"{SHORT} Chapter {number} was about subject{number} and took a while to tell."


async def shown_summaries(chat: DirectChat) -> list[Summary]:
    store = chat.app.services.store
    there = await store.summaries.list(chat.conversation_id or "", chat.user_id)
    return [one for one in there if one.id in chat.seen.summaries]


async def num_without_vectors(chat: DirectChat) -> int:
    """Counts exchanges before the last one."""
    store = chat.app.services.store
    theirs = chat.conversation_id or "", chat.user_id
    ids = [message.message_id for message in (await chat.path())[:-2]]
    return len(await store.exchanges.without_vectors(*theirs, "words-1", ids, 1000))


async def test_dropping_a_long_exchange_keeps_the_notes(tmp_path: Path) -> None:
    async with open_direct_chat(tmp_path, 1000) as chat:
        for number in range(10):
            await chat.send(filler(number))
            await chat.settle()
        await chat.send("!script\nok\n" + "big " * 420)
        await chat.settle()
        prompt = await chat.send("!script\nok\nAnd now?")
        assert not any("big big" in message.own_text for message in prompt.messages)
        assert chat.seen.summaries, "there is room for them again"
        assert chat.encoded.num_tokens <= 750


async def test_in_a_small_window_summaries_get_coarser_with_age(tmp_path: Path) -> None:
    async with open_direct_chat(tmp_path, 2048, idle_answers=[Script(TOLD)] * 300) as chat:
        moves = 0
        starts: list[str | None] = [None]
        for number in range(60):
            await chat.send(f"{LONG} Chapter {number} was about subject{number}.")
            await chat.settle()
            starts.append(chat.seen.starts_at)
            if starts[-1] != starts[-2]:
                moves += 1
                assert chat.seen.num_dropped_messages <= 4, "less than a stretch"
        assert moves > 4
        shown = await shown_summaries(chat)
        assert len(shown) > 1
        assert max(one.level for one in shown) > 2
        assert all(one.text.endswith("what to do next.") for one in shown), "whole sentences"


async def test_a_summary_of_dropped_and_shown_messages_is_shown(tmp_path: Path) -> None:
    async with open_direct_chat(tmp_path, 1000) as chat:
        seens = []
        for number in range(45):
            await chat.send(filler(number))
            await chat.settle()
            seens.append(chat.seen)
        at_moves = [
            after.num_dropped_messages
            for before, after in pairwise(seens)
            if before.starts_at != after.starts_at
        ]
        assert len(at_moves) > 4
        assert at_moves[1:] == [0] * len(at_moves[1:])


async def test_messages_too_long_for_a_smaller_model_are_indexed_at_once(tmp_path: Path) -> None:
    async with open_direct_chat(tmp_path, 80_000) as chat:
        await chat.send(f"{SHORT} My tortoise Balthazar was born in Zanzibar.")
        for number in range(40):
            await chat.send(filler(number))
        await chat.settle()
        assert await num_without_vectors(chat) == 40
    async with open_direct_chat(tmp_path, 1500, before=chat) as smaller:
        await smaller.send("!script\nYes.\nWell then?")
        assert smaller.encoded.num_tokens < 900, "the window is far from full"
        assert smaller.seen.num_dropped_messages > 40
        await smaller.settle()
        assert await num_without_vectors(smaller) == 0
        await smaller.send("!script\nYes.\nWell then?")
        assert smaller.seen.summaries
