"""The ledger: reservations, usage, and refusals."""

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
from tests.unit.store.test_lists import collect_statements

from hitsend.errors import QuotaSpent, TooFast
from hitsend.events import AnswerStarted, Ending, TurnFinished
from hitsend.store import Budget, Caller, FinishedTurn, Limit, NewTurn, Store, User
from hitsend.transcript import fold

Ask = Callable[..., Awaitable[NewTurn]]
Answer = Callable[..., Awaitable[object]]

DAY = 86_400
ADDRESS = "203.0.113.1"


def new_turn(
    user: User,
    clock: SimpleNamespace,
    *,
    prompt: int = 10,
    answer: int = 90,
    key_id: str = "",
    address: str | None = ADDRESS,
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
    bounds = await store.limits.find(user.id, None)
    assert bounds is not None
    budgets = await store.ledger.budgets(bounds, Caller(user.id, None, address))
    return next(one for one in budgets if (one.period, one.scope) == (span, scope))


async def test_without_limits_an_answer_gets_the_tokens_it_requests(
    store: Store, ada: User, clock: SimpleNamespace
) -> None:
    assert await store.turns.accept(new_turn(ada, clock, answer=90)) == 90
    assert await store.limits.find(ada.id, None) is None


async def test_an_answer_gets_the_tokens_left_of_the_day(
    store: Store, ada: User, clock: SimpleNamespace
) -> None:
    await store.limits.set("everyone", "", Limit(tokens_per_day=150))
    assert await store.turns.accept(new_turn(ada, clock, prompt=10, answer=90)) == 90
    assert await store.turns.accept(new_turn(ada, clock, prompt=10, answer=90)) == 40
    assert (await budget(store, ada)).num_left == 0


async def test_a_turn_with_too_few_tokens_left_is_refused_and_not_stored(
    store: Store, ada: User, clock: SimpleNamespace
) -> None:
    await store.limits.set("everyone", "", Limit(tokens_per_day=125))
    await store.turns.accept(new_turn(ada, clock, prompt=10, answer=90))
    with pytest.raises(QuotaSpent, match="midnight") as refused:
        await store.turns.accept(new_turn(ada, clock, prompt=10, answer=90))
    assert refused.value.retry_after_s == DAY - clock.now % DAY
    assert refused.value.allowances[0].remaining == 25
    assert len(await store.turns.list_running()) == 1
    # A short answer fits where a longer one is refused.
    assert await store.turns.accept(new_turn(ada, clock, prompt=10, answer=5)) == 5


async def test_a_new_day_in_utc_brings_new_tokens(
    store: Store, ada: User, clock: SimpleNamespace
) -> None:
    clock.now = 20 * DAY - 1.0
    await store.limits.set("user", ada.id, Limit(tokens_per_day=100))
    await store.turns.accept(new_turn(ada, clock))
    with pytest.raises(QuotaSpent):
        await store.turns.accept(new_turn(ada, clock))
    clock.now += 1
    await store.turns.accept(new_turn(ada, clock))


async def test_a_refusal_by_minute_tells_when_enough_tokens_are_free(
    store: Store, ada: User, clock: SimpleNamespace
) -> None:
    await store.limits.set("user", ada.id, Limit(tokens_per_minute=300))
    for _ in range(3):
        await store.turns.accept(new_turn(ada, clock))
        clock.now += 10
    with pytest.raises(TooFast) as refused:
        await store.turns.accept(new_turn(ada, clock, prompt=120))
    assert not isinstance(refused.value, QuotaSpent)
    assert refused.value.retry_after_s == 40  # the second turn came at 10 s
    clock.now += 39.9
    with pytest.raises(TooFast):
        await store.turns.accept(new_turn(ada, clock, prompt=120))
    clock.now += 0.1
    assert await store.turns.accept(new_turn(ada, clock, prompt=120)) == 80


@pytest.mark.parametrize("limit", [Limit(tokens_per_minute=100), Limit(tokens_per_day=100)])
async def test_a_turn_that_never_fits_its_limit_says_so(
    store: Store, ada: User, clock: SimpleNamespace, limit: Limit
) -> None:
    await store.limits.set("user", ada.id, limit)
    with pytest.raises(TooFast, match="shorter"):
        await store.turns.accept(new_turn(ada, clock, prompt=90))


@pytest.mark.parametrize("limit", [Limit(tokens_per_minute=0), Limit(tokens_per_day=0)])
async def test_a_limit_of_zero_says_to_ask_an_administrator(
    store: Store, ada: User, clock: SimpleNamespace, limit: Limit
) -> None:
    await store.limits.set("user", ada.id, limit)
    with pytest.raises(TooFast, match="administrator"):
        await store.turns.accept(new_turn(ada, clock))


async def test_finishing_a_turn_replaces_its_reservation_by_its_usage(
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
async def test_a_turn_stopped_before_its_usage_was_reported_pays_for_its_prompt_unless_it_failed(
    store: Store, ada: User, clock: SimpleNamespace, ending: Ending, num_used: int
) -> None:
    await store.limits.set("everyone", "", Limit(tokens_per_day=1000))
    turn = new_turn(ada, clock, prompt=40)
    await store.turns.accept(turn)
    assert (await budget(store, ada)).num_spent == 130
    left = fold([AnswerStarted(turn.answer_id, None, "tiny"), TurnFinished(ending)])
    await store.turns.append([], [FinishedTurn(turn.turn_id, left, clock.now)])
    assert (await budget(store, ada)).num_spent == num_used
    assert (await store.turns.get(turn.turn_id, ada.id)).num_input_tokens == num_used


async def test_deleting_a_conversation_does_not_give_tokens_back(
    store: Store, ada: User, ask: Ask, answer: Answer, clock: SimpleNamespace
) -> None:
    await store.limits.set("everyone", "", Limit(tokens_per_day=1000))
    turn = await ask(ada, "Hello?")
    await store.conversations.delete(turn.conversation_id or "", ada.id)
    clock.now += 1000
    await store.conversations.erase_hidden()
    await answer(turn, "Hi")
    assert (await budget(store, ada)).num_spent == 12


async def test_the_most_specific_limit_applies_as_a_whole(store: Store, ada: User) -> None:
    async def of_ada() -> Limit:
        bounds = await store.limits.find(ada.id, None)
        assert bounds is not None
        return bounds.user

    group = await store.groups.create("Staff")
    await store.accounts.change_account(ada.id, group_id=group.id)
    await store.limits.set("everyone", "", Limit(1, 2, 3))
    assert await of_ada() == Limit(1, 2, 3)
    await store.limits.set("group", group.id, Limit(4, 5, 6))
    assert await of_ada() == Limit(4, 5, None)
    await store.limits.set("user", ada.id, Limit(7, None, None))
    assert await of_ada() == Limit(7, None, None)
    await store.limits.remove("user", ada.id)
    await store.accounts.change_account(ada.id, group_id=None)
    assert await of_ada() == Limit(1, 2, 3)


async def test_a_group_shares_its_daily_limit(
    store: Store, ada: User, eve: User, clock: SimpleNamespace
) -> None:
    group = await store.groups.create("Staff")
    for user in (ada, eve):
        await store.accounts.change_account(user.id, group_id=group.id)
    await store.limits.set("group", group.id, Limit(tokens_per_day=150))
    assert await store.turns.accept(new_turn(ada, clock)) == 90
    assert await store.turns.accept(new_turn(eve, clock)) == 40
    with pytest.raises(QuotaSpent, match="your group"):
        await store.turns.accept(new_turn(eve, clock))
    # After leaving, a person has their own limit again; their usage stays with the group.
    await store.accounts.change_account(eve.id, group_id=None)
    assert await store.turns.accept(new_turn(eve, clock)) == 90
    assert (await budget(store, ada, scope="group")).num_left == 0


async def test_a_keys_limits_apply_besides_those_of_its_owner(
    store: Store, ada: User, clock: SimpleNamespace
) -> None:
    key = await store.accounts.create_key(ada.id, "hash", "hs-1", "robot")
    await store.limits.set("key", key.id, Limit(tokens_per_day=50))
    await store.limits.set("user", ada.id, Limit(tokens_per_day=120))
    assert await store.turns.accept(new_turn(ada, clock, key_id=key.id)) == 40
    with pytest.raises(QuotaSpent):
        await store.turns.accept(new_turn(ada, clock, key_id=key.id))
    assert await store.turns.accept(new_turn(ada, clock)) == 60


async def test_without_limits_no_query_runs(
    store: Store, ada: User, clock: SimpleNamespace
) -> None:
    await store.turns.accept(new_turn(ada, clock))
    with collect_statements() as statements:
        assert await store.limits.find(ada.id, None) is None
        await store.turns.accept(new_turn(ada, clock))
    texts = [statement for statement, _ in statements]
    assert [one.split()[:3] for one in texts if "ledger" in one] == [["INSERT", "INTO", "ledger"]]
    assert not [one for one in texts if "limits" in one]


async def test_a_change_by_another_process_applies_within_a_second(
    store: Store, ada: User, clock: SimpleNamespace, tmp_path: Path
) -> None:
    await store.turns.accept(new_turn(ada, clock))
    other = await Store.open(tmp_path / "data" / "hitsend.db", now=lambda: clock.now)
    try:
        await other.limits.set("everyone", "", Limit(tokens_per_day=0))
        clock.now += 1
        with pytest.raises(QuotaSpent):
            await store.turns.accept(new_turn(ada, clock))
        with pytest.raises(QuotaSpent):
            await other.turns.accept(new_turn(ada, clock))
    finally:
        await other.close()


async def test_concurrent_turns_do_not_exceed_a_quota(
    store: Store, ada: User, clock: SimpleNamespace
) -> None:
    await store.limits.set("everyone", "", Limit(tokens_per_day=1000))
    turns = [store.turns.accept(new_turn(ada, clock)) for _ in range(100)]
    granted = await asyncio.gather(*turns, return_exceptions=True)
    assert sum(isinstance(one, int) for one in granted) == 10
    assert sum(isinstance(one, QuotaSpent) for one in granted) == 90
    assert (await budget(store, ada)).num_spent == 1000


async def test_deleting_an_account_deletes_its_ledger_rows(
    store: Store, ada: User, eve: User, clock: SimpleNamespace
) -> None:
    for user in (ada, ada, eve):
        await store.turns.accept(new_turn(user, clock))
    await store.accounts.erase(ada.id)
    assert [(row.of, row.num_turns) for row in await store.usage.by_person(0)] == [(eve.id, 1)]


async def test_limits_are_deleted_with_their_target(store: Store, ada: User, eve: User) -> None:
    group = await store.groups.create("Staff")
    key = await store.accounts.create_key(ada.id, "hash", "hs-1", "")
    hers = await store.accounts.create_key(eve.id, "hash 2", "hs-2", "")
    await store.accounts.change_account(eve.id, group_id=group.id)
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
    assert [person.group_id for person in await store.accounts.list_accounts()] == [None]


async def test_the_ledger_includes_usage_from_before_it_existed(tmp_path: Path) -> None:
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


async def test_reservations_of_deleted_turns_are_released_after_a_crash(
    store: Store, ada: User, clock: SimpleNamespace
) -> None:
    await store.limits.set("everyone", "", Limit(tokens_per_day=1000))
    running = new_turn(ada, clock, prompt=0, answer=100)
    in_a_talk = {"conversation_id": "talk", "creates_conversation": True, "message_id": "m"}
    deleted = structs.replace(new_turn(ada, clock, prompt=0, answer=300), **in_a_talk)
    await store.turns.accept(running)
    await store.turns.accept(deleted)
    await store.conversations.delete("talk", ada.id)
    clock.now += DAY / 24
    await store.conversations.erase_hidden()
    assert (await budget(store, ada)).num_left == 600
    await store.ledger.release_orphans()
    assert (await budget(store, ada)).num_left == 900
