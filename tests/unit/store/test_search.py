"""Full-text search finds messages and titles, shows where, and accepts any query."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hitsend.events import Stamped
from hitsend.store import NewTurn, Store, User

Ask: TypeAlias = Callable[..., Awaitable[NewTurn]]
Answer: TypeAlias = Callable[..., Awaitable[list[Stamped]]]


async def _found(store: Store, user: User, query: str) -> list[str]:
    page = await store.conversations.search(user.id, query)
    assert page.total == len(page.items)
    return [line.title for line in page.items]


async def test_questions_answers_and_titles_are_found(
    store: Store, ada: User, ask: Ask, answer: Answer
) -> None:
    await answer(await ask(ada, "Where do penguins live?", title="Birds"), "Antarctica.")
    await answer(await ask(ada, "Why is the sky blue?", title="Light"), "Scattering.")
    assert await _found(store, ada, "penguins") == ["Birds"]
    assert await _found(store, ada, "SCATTERING") == ["Light"]
    assert await _found(store, ada, "birds") == ["Birds"]
    assert await _found(store, ada, "sky why") == ["Light"]
    assert await _found(store, ada, "sky penguins") == []
    assert await _found(store, ada, "walrus") == []


async def test_accents_do_not_matter_and_the_last_word_may_be_unfinished(
    store: Store, ada: User, ask: Ask
) -> None:
    await ask(ada, "Un café crème à Zürich", title="Trip")
    for query in ("cafe creme", "CAFÉ", "zur", "café zuri"):
        assert await _found(store, ada, query) == ["Trip"]
    assert await _found(store, ada, "caf creme") == []


async def test_the_match_is_marked_in_the_message(store: Store, ada: User, ask: Ask) -> None:
    long = "filler " * 200 + "the needle is here " + "filler " * 200
    turn = await ask(ada, "an old needle")
    newest = await ask(ada, long, to=turn, after=turn.answer_id)
    (line,) = (await store.conversations.search(ada.id, "needle")).items
    assert line.found is not None
    assert line.found.message_id == newest.message_id
    assert "\x02needle\x03 is here" in line.found.snippet
    assert len(line.found.snippet) < 200


async def test_a_match_in_the_title_alone_has_no_snippet(store: Store, ada: User, ask: Ask) -> None:
    await ask(ada, "Hello", title="Astronomy")
    (line,) = (await store.conversations.search(ada.id, "astronomy")).items
    assert (line.title, line.found) == ("Astronomy", None)


async def test_search_follows_every_change(
    store: Store, ada: User, ask: Ask, answer: Answer
) -> None:
    turn = await ask(ada, "Hello", title="First")
    conversation_id = turn.conversation_id or ""
    assert await _found(store, ada, "marmalade") == []
    await answer(turn, "marmalade", title="Second")
    assert await _found(store, ada, "marmalade") == ["Second"]
    assert await _found(store, ada, "first") == []
    await store.conversations.update(conversation_id, ada.id, title="Third", is_archived=True)
    assert await _found(store, ada, "third") == ["Third"]
    await store.conversations.update(conversation_id, ada.id, is_visible=False)
    assert await _found(store, ada, "third") == []
    await store.conversations.update(conversation_id, ada.id, is_visible=True)
    await store.conversations.delete(conversation_id, ada.id)
    assert await _found(store, ada, "marmalade") == []


async def test_results_are_paged(store: Store, ada: User, ask: Ask) -> None:
    for number in range(5):
        await ask(ada, "a common word", title=str(number))
    page = await store.conversations.search(ada.id, "common", offset=1, limit=2)
    assert ([line.title for line in page.items], page.total) == (["3", "2"], 5)


HOSTILE = ('"', '""', "*", "NEAR(", "NEAR(a b, 2)", "a AND", "OR", "-", "text:", "^", "{a}", "(")
STRANGE = ("", "   ", "🐧", "\0", "a\0b", "\ud800", "%", "';--", "a" * 10_000, "\x02", "text : x")


@pytest.mark.parametrize("query", HOSTILE + STRANGE)
async def test_no_query_is_an_error(store: Store, ada: User, ask: Ask, query: str) -> None:
    await ask(ada, 'The "quoted" NEAR( word 🐧 OR not*', title="Odd")
    await store.conversations.search(ada.id, query)


async def test_words_of_the_query_language_are_just_words(
    store: Store, ada: User, ask: Ask
) -> None:
    await ask(ada, 'The "quoted" thing is NEAR( or far', title="Odd")
    for query in ('"quoted', "near(", "or", "NEAR far", "thing* is"):
        assert await _found(store, ada, query) == ["Odd"]
    assert await _found(store, ada, "thing NOT far") == []


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=st.text(st.characters(codec=None), max_size=30))
async def test_any_text_can_be_searched_for(store: Store, ada: User, query: str) -> None:
    await store.conversations.search(ada.id, query)
