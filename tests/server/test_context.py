"""What the model sees: all of it while it fits; then the newest, and of the rest what matters."""

import tempfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.server.talking import Talk, talking
from tests.server.world import World

from hitsend.engine import Prompt
from hitsend.errors import PromptTooLong
from hitsend.messages import Seen
from hitsend.store import Profile
from hitsend.turn import weigh

SHORT = "!script\nYes, quite so, and there is more to be said about it some other day."


def filler(number: int) -> str:
    return f"{SHORT} Chapter {number} was about subject{number} and took a while to tell."


async def long_talk(talk: Talk, num_turns: int) -> None:
    for number in range(num_turns):
        await talk.say(filler(number))
        await talk.settle()


async def kept_of(talk: Talk) -> list[object]:
    """All that a turn would leave behind."""
    store, theirs = talk.house.services.store, (talk.conversation_id or "", talk.user_id)
    return [
        await store.conversations.get(*theirs),
        await store.turns.newest(*theirs),
        await store.summaries.list(*theirs),
        await store.exchanges.unlearned(*theirs, "words-1", 100),
        await store.memories.every_text(talk.user_id),
    ]


def question_end(prompt: Prompt) -> int:
    """How many tokens there are up to the last word of the question."""
    spans = list(prompt.spans)
    while spans[-1].source == "template":
        spans.pop()
    return sum(span.num_tokens for span in spans)


async def test_a_talk_that_fits_is_shown_whole(tmp_path: Path) -> None:
    async with talking(tmp_path, 8000) as talk:
        await long_talk(talk, 3)
        assert talk.seen.starts_at is None
        assert talk.seen.num_dropped_messages == 0
        assert [used.name for used in talk.seen.prompts] == ["system"]
        assert [section.source for section in talk.built.sections] == ["system", "history", "user"]
        told = sum(section.num_tokens for section in talk.built.sections)
        assert told == sum(s.num_tokens for s in talk.encoded.spans if s.source != "template")


async def test_when_it_is_full_the_talk_begins_later_and_stays_there(tmp_path: Path) -> None:
    async with talking(tmp_path, 1000) as talk:
        starts: list[str | None] = []
        for number in range(40):
            await talk.say(filler(number))
            assert talk.encoded.num_tokens <= 750
            starts.append(talk.seen.starts_at)
        moves = [at for at, (before, after) in enumerate(pairwise(starts)) if before != after]
        assert len(moves) >= 2
        assert all(later - earlier >= 3 for earlier, later in pairwise(moves))


async def test_what_fell_out_is_summed_up_and_the_rest_is_counted(tmp_path: Path) -> None:
    async with talking(tmp_path, 1000) as talk:
        await long_talk(talk, 30)
        assert talk.seen.summaries
        store = talk.house.services.store
        there = await store.summaries.list(talk.conversation_id or "", talk.user_id)
        assert {summary.level for summary in there} >= {1, 2}, "the oldest become one"
        sources = [section.source for section in talk.built.sections]
        assert sources.index("summary") < sources.index("history")


async def test_an_old_exchange_about_the_question_is_shown_again(tmp_path: Path) -> None:
    async with talking(tmp_path, 1000) as talk:
        await talk.say(f"{SHORT} My tortoise Balthazar was born in Zanzibar.")
        told_id = talk.answer_id
        await long_talk(talk, 25)
        prompt = await talk.say("!script\nHm.\nWhere was my tortoise Balthazar born?")
        assert told_id in talk.seen.recalled
        asked = prompt.messages[-1]
        note = asked.text.removesuffix(asked.own_text)
        assert "<earlier>" in note
        assert "Zanzibar" in note
        assert asked.own_text.endswith("born?")


async def test_a_message_too_large_by_itself_is_refused_with_its_count(tmp_path: Path) -> None:
    async with talking(tmp_path, 1000) as talk:
        await long_talk(talk, 3)
        with pytest.raises(PromptTooLong, match=r"has 1,501 tokens; there is room for \d+"):
            await talk.say("word " * 1500)


async def test_a_profile_is_part_of_the_system_block(tmp_path: Path) -> None:
    async with talking(tmp_path, 8000) as talk:
        profile = Profile(call_me="Ada", style="Short sentences.")
        await talk.house.services.store.profiles.set(talk.user_id, profile)
        prompt = await talk.say("!script\nYes.")
        assert "Short sentences." in prompt.messages[0].text
        assert [s.source for s in talk.built.sections] == ["system", "profile", "user"]


async def test_a_forgotten_memory_is_in_no_note_any_more(tmp_path: Path) -> None:
    async with talking(tmp_path, 8000) as talk:
        memories = talk.house.services.store.memories
        memory = await memories.add(talk.user_id, "I am allergic to peanuts.", "written")
        await talk.house.services.recall.learn_memories(talk.user_id)
        asked = await talk.say("!script\nHm.\nMay I eat peanuts with my allergic reactions?")
        assert talk.seen.memories == (memory.id,)
        after = await talk.say("!script\nHm.\nAnd peanuts in a cake, am I allergic to that?")
        assert not talk.seen.memories, "it stands in a note already"
        assert after.ids[: question_end(asked)] == asked.ids[: question_end(asked)]
        await memories.remove(memory.id, talk.user_id)
        gone = await talk.say("!script\nHm.\nAnything else?")
        assert not any("allergic to peanuts." in message.text for message in gone.messages)


async def test_weighing_a_draft_in_a_full_window_keeps_nothing(tmp_path: Path) -> None:
    async with talking(tmp_path, 1000) as talk:
        await long_talk(talk, 12)
        before, num_read = await kept_of(talk), len(talk.engine.prompts)
        prompt, encoded = await weigh(talk.next_send("What now?"), talk.house.services)
        assert prompt.num_tokens == encoded.num_tokens <= 750
        await talk.settle()
        assert await kept_of(talk) == before
        assert len(talk.engine.prompts) == num_read, "nothing was answered either"


async def test_another_answer_sees_what_the_first_one_saw(tmp_path: Path) -> None:
    async with talking(tmp_path, 1000) as talk:
        await long_talk(talk, 20)
        first, seen = talk.engine.prompts[-1], talk.seen
        question = (await talk.path())[-2].message_id
        again = await talk.say("", action="variant", message_id=None, parent_id=question)
        assert again.ids == first.ids
        assert talk.seen.starts_at == seen.starts_at


TURNS = st.lists(st.tuples(st.integers(1, 60), st.integers(1, 60)), min_size=8, max_size=24)


@settings(max_examples=12)
@given(TURNS, st.sampled_from([600, 1000]))
async def test_a_prompt_begins_like_the_one_before_until_the_talk_begins_later(
    turns: list[tuple[int, int]], num_window_tokens: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with talking(Path(folder), num_window_tokens) as talk:
            seens: list[Seen] = []
            for number, (num_asked, num_answered) in enumerate(turns):
                answer, asked = "word " * num_answered, "more " * num_asked
                await talk.say(f"!script\n{number}: {answer}\n{asked}")
                seens.append(talk.seen)
                assert talk.encoded.num_tokens <= num_window_tokens * 3 // 4
                await assert_everything_is_told(talk)
                if number % 3 == 0:
                    await talk.settle()
            assert_each_goes_on(talk.engine.prompts, seens)


def assert_each_goes_on(prompts: Sequence[Prompt], seens: Sequence[Seen]) -> None:
    turns = list(zip(prompts, seens, strict=True))
    for (before, seen), (after, later) in pairwise(turns):
        if (seen.starts_at, seen.summaries) == (later.starts_at, later.summaries):
            end = question_end(before)
            assert after.ids[:end] == before.ids[:end]


async def assert_everything_is_told(talk: Talk) -> None:
    """What is neither kept, summed up nor recalled, as the model reads it, is counted."""
    path, read = await talk.path(), talk.engine.prompts[-1].messages
    notes = "".join(one.text.removesuffix(one.own_text) for one in read)
    place = {stored.message_id: at for at, stored in enumerate(path)}
    told: set[int] = set()
    store = talk.house.services.store
    for one in await store.summaries.list(talk.conversation_id or "", talk.user_id):
        if one.id in talk.seen.summaries:
            assert one.text in notes
            told.update(range(place[one.first_message_id], place[one.last_message_id] + 1))
    kept = {one.own_text for one in read}
    questions = [at for at, stored in enumerate(path) if stored.role == "user"]
    for at in questions:
        if path[at].text in kept or f"Question: {path[at].text[:20]}" in notes:
            told |= {at, at + 1}
    assert talk.seen.num_dropped_messages == len(path) - len(told)


async def test_hidden_context_travels_first_and_says_nothing(world: World) -> None:
    ada = await world.someone("ada")
    await world.house.services.store.profiles.set(ada.user_id, Profile(call_me="Countess"))
    heard = await ada.send("!script\nYes.")
    assert [one["metadata"]["seen_source"] for one in heard.hidden] == ["system", "profile"]
    assert all(one["metadata"]["is_visually_hidden_from_conversation"] for one in heard.hidden)
    assert b"Countess" not in heard.raw
    again = await ada.follow(heard.turn_id)
    assert again.hidden == heard.hidden
    assert again.messages == heard.messages


async def test_people_see_what_of_theirs_was_used_and_only_admins_see_prompts(
    world: World,
) -> None:
    ada, root = await world.someone("ada"), await world.someone("root", "admin")
    for person in (ada, root):
        profile = Profile(call_me="Countess")
        await world.house.services.store.profiles.set(person.user_id, profile)
    shown = {}
    for person in (ada, root):
        heard = await person.send("!script\nYes.")
        assert heard.answer
        url = f"/backend-api/conversation/{heard.conversation_id}/message/{heard.answer['id']}"
        response = await person.http.get(f"{url}/context")
        assert response.status_code == 200
        shown[person.name] = response.json()
    assert "Countess" in shown["ada"]["profile"]
    assert [used["name"] for used in shown["ada"]["prompts"]] == ["system", "profile_note"]
    assert {used["text"] for used in shown["ada"]["prompts"]} == {None}
    assert all(used["text"] for used in shown["root"]["prompts"])
    assert [s["source"] for s in shown["ada"]["sections"]] == ["system", "profile", "user"]
