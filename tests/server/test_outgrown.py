"""A conversation that outgrew its window: what fell out is told in short, and found again."""

from itertools import pairwise
from pathlib import Path

from tests.server.talking import Talk, talking

from hitsend.engine import Script
from hitsend.store import Summary

SHORT = "!script\nYes, quite so, and there is more to be said about it some other day."
LONG = "!script\n" + "Yes, quite so, and there is more to be said about it some other day. " * 6
TOLD = "The person spoke of trains, dates and plans, and was told what to do next. " * 12
"""As long as a real model's summary is."""


def filler(number: int) -> str:
    return f"{SHORT} Chapter {number} was about subject{number} and took a while to tell."


async def shown_summaries(talk: Talk) -> list[Summary]:
    store = talk.house.services.store
    there = await store.summaries.list(talk.conversation_id or "", talk.user_id)
    return [one for one in there if one.id in talk.seen.summaries]


async def num_unlearned(talk: Talk) -> int:
    store = talk.house.services.store
    theirs = talk.conversation_id or "", talk.user_id
    return len(await store.exchanges.unlearned(*theirs, "words-1", 1000))


async def test_an_exchange_too_long_to_be_kept_takes_no_notes_along(tmp_path: Path) -> None:
    async with talking(tmp_path, 1000) as talk:
        for number in range(10):
            await talk.say(filler(number))
            await talk.settle()
        await talk.say("!script\nok\n" + "big " * 420)
        await talk.settle()
        prompt = await talk.say("!script\nok\nAnd now?")
        assert not any("big big" in message.own_text for message in prompt.messages)
        assert talk.seen.summaries, "there is room for them again"
        assert talk.encoded.num_tokens <= 750


async def test_in_a_small_window_all_that_fell_out_is_told_coarser_with_age(tmp_path: Path) -> None:
    async with talking(tmp_path, 2048, asides=[Script(TOLD)] * 300) as talk:
        moves = 0
        starts: list[str | None] = [None]
        for number in range(60):
            await talk.say(f"{LONG} Chapter {number} was about subject{number}.")
            await talk.settle()
            starts.append(talk.seen.starts_at)
            if starts[-1] != starts[-2]:
                moves += 1
                assert talk.seen.num_dropped_messages <= 4, "less than a stretch"
        assert moves > 4
        shown = await shown_summaries(talk)
        assert len(shown) > 1
        assert max(one.level for one in shown) > 2
        assert all(one.text.endswith("what to do next.") for one in shown), "whole sentences"


async def test_a_summary_of_what_fell_out_and_of_what_did_not_is_shown(tmp_path: Path) -> None:
    async with talking(tmp_path, 1000) as talk:
        seens = []
        for number in range(45):
            await talk.say(filler(number))
            await talk.settle()
            seens.append(talk.seen)
        at_moves = [
            after.num_dropped_messages
            for before, after in pairwise(seens)
            if before.starts_at != after.starts_at
        ]
        assert len(at_moves) > 4
        assert at_moves[1:] == [0] * len(at_moves[1:])


async def test_what_a_smaller_model_cannot_be_shown_is_learned_at_once(tmp_path: Path) -> None:
    async with talking(tmp_path, 80_000) as talk:
        await talk.say(f"{SHORT} My tortoise Balthazar was born in Zanzibar.")
        for number in range(40):
            await talk.say(filler(number))
        await talk.settle()
        assert await num_unlearned(talk) == 41
    async with talking(tmp_path, 1500, before=talk) as smaller:
        await smaller.say("!script\nYes.\nWell then?")
        assert smaller.encoded.num_tokens < 900, "the window is far from full"
        assert smaller.seen.num_dropped_messages > 40
        await smaller.settle()
        assert await num_unlearned(smaller) == 0
        await smaller.say("!script\nYes.\nWell then?")
        assert smaller.seen.summaries
