"""The context: the whole conversation while it fits; then its newest part, summaries and recalled
exchanges."""

import tempfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.server.direct_chat import DirectChat, open_direct_chat
from tests.server.world import World

from hitsend.engine import Prompt
from hitsend.errors import PromptTooLong
from hitsend.messages import Seen
from hitsend.store import Profile
from hitsend.turn import preview_prompt

SHORT = "!script\nYes, quite so, and there is more to be said about it some other day."


def filler(number: int) -> str:
    return f"{SHORT} Chapter {number} was about subject{number} and took a while to tell."


async def chat_at_length(chat: DirectChat, num_turns: int) -> None:
    for number in range(num_turns):
        await chat.send(filler(number))
        await chat.settle()


async def read_stored(chat: DirectChat) -> list[object]:
    """Reads everything that a turn would add to."""
    store, theirs = chat.app.services.store, (chat.conversation_id or "", chat.user_id)
    return [
        await store.conversations.get(*theirs),
        await store.turns.find_newest(*theirs),
        await store.summaries.list(*theirs),
        await store.exchanges.vectors(*theirs, "words-1"),
        await store.memories.read_all_texts(chat.user_id),
    ]


def question_end(prompt: Prompt) -> int:
    """Number of tokens up to the end of the question."""
    spans = list(prompt.spans)
    while spans[-1].source == "template":
        spans.pop()
    return sum(span.num_tokens for span in spans)


async def test_a_conversation_that_fits_is_shown_whole(tmp_path: Path) -> None:
    async with open_direct_chat(tmp_path, 8000) as chat:
        await chat_at_length(chat, 3)
        assert chat.seen.starts_at is None
        assert chat.seen.num_dropped_messages == 0
        assert [used.name for used in chat.seen.prompts] == ["system"]
        assert [section.source for section in chat.built.sections] == ["system", "history", "user"]
        covered = sum(section.num_tokens for section in chat.built.sections)
        assert covered == sum(s.num_tokens for s in chat.encoded.spans if s.source != "template")


async def test_in_a_full_window_the_conversation_starts_later_and_stays_there(
    tmp_path: Path,
) -> None:
    async with open_direct_chat(tmp_path, 1000) as chat:
        starts: list[str | None] = []
        for number in range(40):
            await chat.send(filler(number))
            assert chat.encoded.num_tokens <= 750
            starts.append(chat.seen.starts_at)
        moves = [at for at, (before, after) in enumerate(pairwise(starts)) if before != after]
        assert len(moves) >= 2
        assert all(later - earlier >= 3 for earlier, later in pairwise(moves))


async def test_dropped_messages_are_summarised_and_counted(tmp_path: Path) -> None:
    async with open_direct_chat(tmp_path, 1000) as chat:
        await chat_at_length(chat, 30)
        assert chat.seen.summaries
        store = chat.app.services.store
        there = await store.summaries.list(chat.conversation_id or "", chat.user_id)
        assert {summary.level for summary in there} >= {1, 2}, "the oldest become one"
        sources = [section.source for section in chat.built.sections]
        assert sources.index("summary") < sources.index("history")


async def test_a_relevant_old_exchange_is_recalled(tmp_path: Path) -> None:
    async with open_direct_chat(tmp_path, 1000) as chat:
        await chat.send(f"{SHORT} My tortoise Balthazar was born in Zanzibar.")
        told_id = chat.answer_id
        await chat_at_length(chat, 25)
        prompt = await chat.send("!script\nHm.\nWhere was my tortoise Balthazar born?")
        assert told_id in chat.seen.recalled
        asked = prompt.messages[-1]
        note = asked.text.removesuffix(asked.own_text)
        assert "<earlier>" in note
        assert "Zanzibar" in note
        assert asked.own_text.endswith("born?")


async def test_a_message_too_large_by_itself_is_refused_with_its_count(tmp_path: Path) -> None:
    async with open_direct_chat(tmp_path, 1000) as chat:
        await chat_at_length(chat, 3)
        with pytest.raises(PromptTooLong, match=r"has 1,501 tokens; there is room for \d+"):
            await chat.send("word " * 1500)


async def test_a_profile_is_part_of_the_system_block(tmp_path: Path) -> None:
    async with open_direct_chat(tmp_path, 8000) as chat:
        profile = Profile(call_me="Ada", style="Short sentences.")
        await chat.app.services.store.profiles.set(chat.user_id, profile)
        prompt = await chat.send("!script\nYes.")
        assert "Short sentences." in prompt.messages[0].text
        assert [s.source for s in chat.built.sections] == ["system", "profile", "user"]


async def test_a_removed_memory_is_in_no_note(tmp_path: Path) -> None:
    async with open_direct_chat(tmp_path, 8000) as chat:
        memories = chat.app.services.store.memories
        memory = await memories.add(chat.user_id, "I am allergic to peanuts.", "written")
        await chat.app.services.recall.embed_memories(chat.user_id)
        asked = await chat.send("!script\nHm.\nMay I eat peanuts with my allergic reactions?")
        assert chat.seen.memories == (memory.id,)
        after = await chat.send("!script\nHm.\nAnd peanuts in a cake, am I allergic to that?")
        assert not chat.seen.memories, "it stands in a note already"
        assert after.ids[: question_end(asked)] == asked.ids[: question_end(asked)]
        await memories.remove(memory.id, chat.user_id)
        gone = await chat.send("!script\nHm.\nAnything else?")
        assert not any("allergic to peanuts." in message.text for message in gone.messages)


async def test_preparing_a_draft_in_a_full_window_stores_nothing(tmp_path: Path) -> None:
    async with open_direct_chat(tmp_path, 1000) as chat:
        await chat_at_length(chat, 12)
        before, num_read = await read_stored(chat), len(chat.engine.prompts)
        prompt, encoded = await preview_prompt(chat.next_send("What now?"), chat.app.services)
        assert prompt.num_tokens == encoded.num_tokens <= 750
        await chat.settle()
        assert await read_stored(chat) == before
        assert len(chat.engine.prompts) == num_read, "nothing was answered either"


async def test_a_variant_sees_the_same_context_as_the_first_answer(tmp_path: Path) -> None:
    async with open_direct_chat(tmp_path, 1000) as chat:
        await chat_at_length(chat, 20)
        first, seen = chat.engine.prompts[-1], chat.seen
        question = (await chat.path())[-2].message_id
        again = await chat.send("", action="variant", message_id=None, parent_id=question)
        assert again.ids == first.ids
        assert chat.seen.starts_at == seen.starts_at


TURNS = st.lists(st.tuples(st.integers(1, 60), st.integers(1, 60)), min_size=8, max_size=24)


@settings(max_examples=12)
@given(TURNS, st.sampled_from([600, 1000]))
async def test_a_prompt_shares_its_prefix_with_the_last_one_until_messages_are_dropped(
    turns: list[tuple[int, int]], num_window_tokens: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with open_direct_chat(Path(folder), num_window_tokens) as chat:
            seens: list[Seen] = []
            for number, (num_asked, num_answered) in enumerate(turns):
                answer, asked = "word " * num_answered, "more " * num_asked
                await chat.send(f"!script\n{number}: {answer}\n{asked}")
                seens.append(chat.seen)
                assert chat.encoded.num_tokens <= num_window_tokens * 3 // 4
                await assert_dropped_messages_are_counted(chat)
                if number % 3 == 0:
                    await chat.settle()
            assert_prefixes_are_shared(chat.engine.prompts, seens)


def assert_prefixes_are_shared(prompts: Sequence[Prompt], seens: Sequence[Seen]) -> None:
    turns = list(zip(prompts, seens, strict=True))
    for (before, seen), (after, later) in pairwise(turns):
        if (seen.starts_at, seen.summaries) == (later.starts_at, later.summaries):
            end = question_end(before)
            assert after.ids[:end] == before.ids[:end]


async def assert_dropped_messages_are_counted(chat: DirectChat) -> None:
    """Counts the messages that the model sees neither whole, summarised nor recalled."""
    path, read = await chat.path(), chat.engine.prompts[-1].messages
    notes = "".join(one.text.removesuffix(one.own_text) for one in read)
    place = {stored.message_id: at for at, stored in enumerate(path)}
    covered: set[int] = set()
    store = chat.app.services.store
    for one in await store.summaries.list(chat.conversation_id or "", chat.user_id):
        if one.id in chat.seen.summaries:
            assert one.text in notes
            covered.update(range(place[one.first_message_id], place[one.last_message_id] + 1))
    kept = {one.own_text for one in read}
    questions = [at for at, stored in enumerate(path) if stored.role == "user"]
    for at in questions:
        if path[at].text in kept or f"Question: {path[at].text[:20]}" in notes:
            covered |= {at, at + 1}
    assert chat.seen.num_dropped_messages == len(path) - len(covered)


async def test_hidden_context_messages_come_first_and_have_no_text(world: World) -> None:
    ada = await world.someone("ada")
    await world.app.services.store.profiles.set(ada.user_id, Profile(call_me="Countess"))
    stream = await ada.send("!script\nYes.")
    assert [one["metadata"]["seen_source"] for one in stream.hidden] == ["system", "profile"]
    assert all(one["metadata"]["is_visually_hidden_from_conversation"] for one in stream.hidden)
    assert b"Countess" not in stream.raw
    again = await ada.follow(stream.turn_id)
    assert again.hidden == stream.hidden
    assert again.messages == stream.messages


async def test_users_see_their_own_data_in_a_context_and_only_admins_see_prompts(
    world: World,
) -> None:
    ada, root = await world.someone("ada"), await world.someone("root", "admin")
    for person in (ada, root):
        profile = Profile(call_me="Countess")
        await world.app.services.store.profiles.set(person.user_id, profile)
    shown = {}
    for person in (ada, root):
        stream = await person.send("!script\nYes.")
        assert stream.answer
        url = f"/backend-api/conversation/{stream.conversation_id}/message/{stream.answer['id']}"
        response = await person.http.get(f"{url}/context")
        assert response.status_code == 200
        shown[person.name] = response.json()
    assert "Countess" in shown["ada"]["profile"]
    assert [used["name"] for used in shown["ada"]["prompts"]] == [
        "system",
        "safety_instructions",
        "profile_note",
    ]
    assert {used["text"] for used in shown["ada"]["prompts"]} == {None}
    assert all(used["text"] for used in shown["root"]["prompts"])
    assert [s["source"] for s in shown["ada"]["sections"]] == ["system", "profile", "user"]
