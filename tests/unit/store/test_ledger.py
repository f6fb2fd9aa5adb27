"""The ledger: what is set aside, what was used, and what there is no room for."""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from uuid import uuid4

import pytest
from alembic import command
from alembic.config import Config
from msgspec import structs
from sqlalchemy import create_engine
from tests.unit.store.test_lists import hearing

from hitsend.errors import QuotaSpent, TooFast
from hitsend.events import AnswerStarted, Ending, TurnFinished
from hitsend.store import Budget, Caller, Closing, Limit, NewTurn, Store, User
from hitsend.transcript import fold

Ask = Callable[..., Awaitable[NewTurn]]
Answer = Callable[..., Awaitable[object]]

DAY = 86_400
HERE = "203.0.113.1"


def asking(
    user: User,
    clock: SimpleNamespace,
    *,
    prompt: int = 10,
    answer: int = 90,
    key_id: str = "",
    address: str | None = HERE,
) -> NewTurn:
    return NewTurn(
        turn_id=str(uuid4()),
        user_id=user.id,
        conversation_id=None,
        action="next",
        model="tiny",
        answer_id=str(uuid4()),
        key_id=key_id or None,
        address=address,
        num_prompt_tokens=prompt,
        num_answer_tokens=answer,
        created_at=clock.now,
    )


async def budget(
    store: Store, user: User, span: str = "day", scope: str = "user", address: str | None = None
) -> Budget:
    bounds = await store.limits.bounds(user.id, None)
    assert bounds is not None
    budgets = await store.ledger.budgets(bounds, Caller(user.id, None, address))
    return next(one for one in budgets if (one.span, one.scope) == (span, scope))


async def test_an_answer_gets_what_it_asks_for_where_nothing_is_limited(
    store: Store, ada: User, clock: SimpleNamespace
) -> None:
    assert await store.turns.accept(asking(ada, clock, answer=90)) == 90
    assert await store.limits.bounds(ada.id, None) is None


async def test_an_answer_is_granted_what_the_day_has_left(
    store: Store, ada: User, clock: SimpleNamespace
) -> None:
    await store.limits.set("everyone", "", Limit(tokens_per_day=150))
    assert await store.turns.accept(asking(ada, clock, prompt=10, answer=90)) == 90
    assert await store.turns.accept(asking(ada, clock, prompt=10, answer=90)) == 40
    assert (await budget(store, ada)).num_left == 0


async def test_what_is_too_little_to_begin_with_is_refused_and_nothing_is_stored(
    store: Store, ada: User, clock: SimpleNamespace
) -> None:
    await store.limits.set("everyone", "", Limit(tokens_per_day=125))
    await store.turns.accept(asking(ada, clock, prompt=10, answer=90))
    with pytest.raises(QuotaSpent, match="midnight") as refused:
        await store.turns.accept(asking(ada, clock, prompt=10, answer=90))
    assert refused.value.retry_after_s == DAY - clock.now % DAY
    assert refused.value.allowances[0].remaining == 25
    assert len(await store.turns.unfinished()) == 1
    # An answer of which few words are wanted fits where a longer one would not be begun.
    assert await store.turns.accept(asking(ada, clock, prompt=10, answer=5)) == 5


async def test_a_new_day_in_utc_brings_new_tokens(
    store: Store, ada: User, clock: SimpleNamespace
) -> None:
    clock.now = 20 * DAY - 1.0
    await store.limits.set("user", ada.id, Limit(tokens_per_day=100))
    await store.turns.accept(asking(ada, clock))
    with pytest.raises(QuotaSpent):
        await store.turns.accept(asking(ada, clock))
    clock.now += 1
    await store.turns.accept(asking(ada, clock))


async def test_who_is_too_fast_hears_when_enough_is_a_minute_old(
    store: Store, ada: User, clock: SimpleNamespace
) -> None:
    await store.limits.set("user", ada.id, Limit(tokens_per_minute=300))
    for _ in range(3):
        await store.turns.accept(asking(ada, clock))
        clock.now += 10
    with pytest.raises(TooFast) as refused:
        await store.turns.accept(asking(ada, clock, prompt=120))
    assert not isinstance(refused.value, QuotaSpent)
    assert refused.value.retry_after_s == 40  # the first two, of which the second came at 10 s
    clock.now += 39.9
    with pytest.raises(TooFast):
        await store.turns.accept(asking(ada, clock, prompt=120))
    clock.now += 0.1
    assert await store.turns.accept(asking(ada, clock, prompt=120)) == 80


@pytest.mark.parametrize("limit", [Limit(tokens_per_minute=100), Limit(tokens_per_day=100)])
async def test_what_never_fits_says_so(
    store: Store, ada: User, clock: SimpleNamespace, limit: Limit
) -> None:
    await store.limits.set("user", ada.id, limit)
    with pytest.raises(TooFast, match="shorter"):
        await store.turns.accept(asking(ada, clock, prompt=90))


@pytest.mark.parametrize("limit", [Limit(tokens_per_minute=0), Limit(tokens_per_day=0)])
async def test_who_may_use_nothing_is_told_whom_to_ask(
    store: Store, ada: User, clock: SimpleNamespace, limit: Limit
) -> None:
    await store.limits.set("user", ada.id, limit)
    with pytest.raises(TooFast, match="administrator"):
        await store.turns.accept(asking(ada, clock))


async def test_an_end_settles_what_was_set_aside(
    store: Store, ada: User, ask: Ask, answer: Answer
) -> None:
    await store.limits.set("everyone", "", Limit(tokens_per_day=1000))
    turn = await ask(ada, "Hello?")
    await answer(turn, "Hi")
    assert (await budget(store, ada)).num_spent == 12  # seven in, three of them cached; five out
    await answer(turn, "Hi")
    assert (await budget(store, ada)).num_spent == 12


@pytest.mark.parametrize(
    ("ending", "num_used"), [("stopped", 40), ("interrupted", 0), ("failed", 0)]
)
async def test_a_prompt_that_was_left_before_it_was_read_counts_unless_it_is_our_fault(
    store: Store, ada: User, clock: SimpleNamespace, ending: Ending, num_used: int
) -> None:
    await store.limits.set("everyone", "", Limit(tokens_per_day=1000))
    turn = asking(ada, clock, prompt=40)
    await store.turns.accept(turn)
    assert (await budget(store, ada)).num_spent == 130
    left = fold([AnswerStarted(turn.answer_id, None, "tiny"), TurnFinished(ending)])
    await store.turns.append([], [Closing(turn.turn_id, left, clock.now)])
    assert (await budget(store, ada)).num_spent == num_used
    assert (await store.turns.get(turn.turn_id, ada.id)).num_input_tokens == num_used


async def test_what_was_used_stays_used_when_its_conversation_is_deleted(
    store: Store, ada: User, ask: Ask, answer: Answer, clock: SimpleNamespace
) -> None:
    await store.limits.set("everyone", "", Limit(tokens_per_day=1000))
    turn = await ask(ada, "Hello?")
    await store.conversations.delete(turn.conversation_id or "", ada.id)
    clock.now += 1000
    await store.conversations.erase_hidden()
    await answer(turn, "Hi")
    assert (await budget(store, ada)).num_spent == 12


async def test_the_row_that_is_most_about_a_person_counts_whole(store: Store, ada: User) -> None:
    async def of_ada() -> Limit:
        bounds = await store.limits.bounds(ada.id, None)
        assert bounds is not None
        return bounds.user

    group = await store.groups.create("Staff")
    await store.accounts.change_person(ada.id, group_id=group.id)
    await store.limits.set("everyone", "", Limit(1, 2, 3))
    assert await of_ada() == Limit(1, 2, 3)
    await store.limits.set("group", group.id, Limit(4, 5, 6))
    assert await of_ada() == Limit(4, 5, None)
    await store.limits.set("user", ada.id, Limit(7, None, None))
    assert await of_ada() == Limit(7, None, None)
    await store.limits.remove("user", ada.id)
    await store.accounts.change_person(ada.id, group_id=None)
    assert await of_ada() == Limit(1, 2, 3)


async def test_a_group_shares_its_day(
    store: Store, ada: User, eve: User, clock: SimpleNamespace
) -> None:
    group = await store.groups.create("Staff")
    for user in (ada, eve):
        await store.accounts.change_person(user.id, group_id=group.id)
    await store.limits.set("group", group.id, Limit(tokens_per_day=150))
    assert await store.turns.accept(asking(ada, clock)) == 90
    assert await store.turns.accept(asking(eve, clock)) == 40
    with pytest.raises(QuotaSpent, match="your group"):
        await store.turns.accept(asking(eve, clock))
    # Whoever leaves has their own again, and what they used stays the group's.
    await store.accounts.change_person(eve.id, group_id=None)
    assert await store.turns.accept(asking(eve, clock)) == 90
    assert (await budget(store, ada, scope="group")).num_left == 0


async def test_a_key_has_its_own_bounds_beside_those_of_its_owner(
    store: Store, ada: User, clock: SimpleNamespace
) -> None:
    key = await store.accounts.create_key(ada.id, "hash", "hs-1", "robot")
    await store.limits.set("key", key.id, Limit(tokens_per_day=50))
    await store.limits.set("user", ada.id, Limit(tokens_per_day=120))
    assert await store.turns.accept(asking(ada, clock, key_id=key.id)) == 40
    with pytest.raises(QuotaSpent):
        await store.turns.accept(asking(ada, clock, key_id=key.id))
    assert await store.turns.accept(asking(ada, clock)) == 60


async def test_where_nothing_is_limited_nothing_is_asked(
    store: Store, ada: User, clock: SimpleNamespace
) -> None:
    await store.turns.accept(asking(ada, clock))
    with hearing() as heard:
        assert await store.limits.bounds(ada.id, None) is None
        await store.turns.accept(asking(ada, clock))
    said = [statement for statement, _ in heard]
    assert [one.split()[:3] for one in said if "ledger" in one] == [["INSERT", "INTO", "ledger"]]
    assert not [one for one in said if "limits" in one]


async def test_what_another_program_changes_holds_within_a_second(
    store: Store, ada: User, clock: SimpleNamespace, tmp_path: Path
) -> None:
    await store.turns.accept(asking(ada, clock))
    other = await Store.open(tmp_path / "data" / "hitsend.db", now=lambda: clock.now)
    try:
        await other.limits.set("everyone", "", Limit(tokens_per_day=0))
        clock.now += 1
        with pytest.raises(QuotaSpent):
            await store.turns.accept(asking(ada, clock))
        with pytest.raises(QuotaSpent):
            await other.turns.accept(asking(ada, clock))
    finally:
        await other.close()


async def test_however_many_come_at_once_a_quota_holds(
    store: Store, ada: User, clock: SimpleNamespace
) -> None:
    await store.limits.set("everyone", "", Limit(tokens_per_day=1000))
    asked = [store.turns.accept(asking(ada, clock)) for _ in range(100)]
    granted = await asyncio.gather(*asked, return_exceptions=True)
    assert sum(isinstance(one, int) for one in granted) == 10
    assert sum(isinstance(one, QuotaSpent) for one in granted) == 90
    assert (await budget(store, ada)).num_spent == 1000


async def test_what_a_person_used_goes_with_them(
    store: Store, ada: User, eve: User, clock: SimpleNamespace
) -> None:
    for user in (ada, ada, eve):
        await store.turns.accept(asking(user, clock))
    await store.accounts.erase(ada.id)
    assert [(row.of, row.num_turns) for row in await store.usage.by_person(0)] == [(eve.id, 1)]


async def test_limits_go_with_what_they_are_for(store: Store, ada: User, eve: User) -> None:
    group = await store.groups.create("Staff")
    key = await store.accounts.create_key(ada.id, "hash", "hs-1", "")
    hers = await store.accounts.create_key(eve.id, "hash 2", "hs-2", "")
    await store.accounts.change_person(eve.id, group_id=group.id)
    await store.limits.set("user", ada.id, Limit(1))
    await store.limits.set("key", key.id, Limit(1))
    await store.limits.set("key", hers.id, Limit(1))
    await store.limits.set("group", group.id, Limit(1))
    names = {line.target_name for line in await store.limits.list()}
    assert names == {"Ada", "hs-1", "hs-2", "Staff"}
    await store.groups.delete(group.id)
    await store.accounts.revoke_key(hers.id, eve.id)
    assert {line.target for line in await store.limits.list()} == {ada.id, key.id}
    await store.accounts.erase(ada.id)
    assert await store.limits.list() == []
    assert [person.group_id for person in await store.accounts.people()] == [None]


async def test_what_was_used_before_there_was_a_ledger_is_in_it(tmp_path: Path) -> None:
    path = tmp_path / "hitsend.db"
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        config = Config(attributes={"connection": connection})
        config.set_main_option("script_location", "hitsend.store:migrations")
        config.set_main_option("path_separator", "os")
        command.upgrade(config, "0002")
    engine.dispose()
    with sqlite3.connect(path) as filling:
        filling.execute("INSERT INTO users VALUES ('ada', 'Ada', 'ada', 'hash', 'admin', 1, NULL)")
        for name, surface in (("first", "api"), ("second", "api"), ("elsewhere", "import")):
            filling.execute(
                "INSERT INTO turns (id, user_id, surface, action, model, answer_id, state, "
                "created_at, num_input_tokens, num_cached_tokens, num_output_tokens) "
                "VALUES (?, 'ada', ?, 'next', 'tiny', 'a', 'stop', 100, 30, 20, 5)",
                (name, surface),
            )
    filling.close()
    store = await Store.open(path)
    try:
        (used,) = await store.usage.by_day(0, "ada")
        assert (used.of, used.model, used.num_turns) == (0, "tiny", 2)
        assert (used.num_input_tokens, used.num_cached_tokens) == (60, 40)
        assert used.num_output_tokens == 10
    finally:
        await store.close()


async def test_what_a_crash_left_set_aside_for_a_deleted_turn_is_given_back(
    store: Store, ada: User, clock: SimpleNamespace
) -> None:
    await store.limits.set("everyone", "", Limit(tokens_per_day=1000))
    running = asking(ada, clock, prompt=0, answer=100)
    in_a_talk = {"conversation_id": "talk", "creates_conversation": True, "message_id": "m"}
    deleted = structs.replace(asking(ada, clock, prompt=0, answer=300), **in_a_talk)
    await store.turns.accept(running)
    await store.turns.accept(deleted)
    await store.conversations.delete("talk", ada.id)
    clock.now += DAY / 24
    await store.conversations.erase_hidden()
    assert (await budget(store, ada)).num_left == 600
    await store.ledger.release_left()
    assert (await budget(store, ada)).num_left == 900
