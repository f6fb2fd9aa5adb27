"""Token limits by client address, which is deleted after a minute."""

import asyncio
import sqlite3
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.unit.store.test_ledger import ADDRESS, budget, new_turn
from tests.unit.store.test_lists import collect_statements, plans_of

from hitsend.errors import TooFast
from hitsend.events import AnswerStarted, TurnFinished
from hitsend.store import FinishedTurn, Limit, Store, User
from hitsend.transcript import fold

OTHER_ADDRESS = "203.0.113.2"


def addresses(database: Path) -> list[str]:
    """All addresses in the ledger."""
    connection = sqlite3.connect(database)
    try:
        rows = connection.execute("SELECT address FROM ledger WHERE address IS NOT NULL")
        return sorted(address for (address,) in rows)
    finally:
        connection.close()


async def test_an_address_has_one_minute_limit_for_everyone_behind_it(
    store: Store, ada: User, eve: User, clock: SimpleNamespace
) -> None:
    await store.limits.set("address", "", Limit(tokens_per_minute=150))
    assert await store.turns.accept(new_turn(ada, clock)) == 90
    clock.now += 20
    assert await store.turns.accept(new_turn(eve, clock)) == 40
    with pytest.raises(TooFast, match="your address") as refused:
        await store.turns.accept(new_turn(eve, clock))
    assert refused.value.retry_after_s == 40
    assert refused.value.allowances[0].remaining == 0
    assert await store.turns.accept(new_turn(eve, clock, address=OTHER_ADDRESS)) == 90
    clock.now += 40
    assert await store.turns.accept(new_turn(ada, clock)) == 90


async def test_an_address_is_charged_for_usage_and_not_for_the_reservation(
    store: Store, ada: User, clock: SimpleNamespace
) -> None:
    await store.limits.set("address", "", Limit(tokens_per_minute=150))
    turn = new_turn(ada, clock, prompt=40)
    await store.turns.accept(turn)
    of_here = partial(budget, store, ada, "minute", "address", ADDRESS)
    assert (await of_here()).num_spent == 130
    stopped = fold([AnswerStarted(turn.answer_id, None, "tiny"), TurnFinished("stopped")])
    await store.turns.append([], [FinishedTurn(turn.turn_id, stopped, clock.now)])
    assert (await of_here()).num_spent == 40


async def test_concurrent_turns_do_not_exceed_an_addresss_minute_limit(
    store: Store, ada: User, eve: User, clock: SimpleNamespace
) -> None:
    await store.limits.set("address", "", Limit(tokens_per_minute=1000))
    turns = [store.turns.accept(new_turn(user, clock)) for user in (ada, eve) * 50]
    granted = await asyncio.gather(*turns, return_exceptions=True)
    assert sum(isinstance(one, int) for one in granted) == 10
    assert sum(isinstance(one, TooFast) for one in granted) == 90
    assert (await budget(store, ada, "minute", "address", ADDRESS)).num_spent == 1000


async def test_an_address_is_stored_only_while_addresses_are_limited_and_for_a_minute(
    store: Store, ada: User, clock: SimpleNamespace, tmp_path: Path
) -> None:
    database = tmp_path / "data" / "hitsend.db"
    await store.turns.accept(new_turn(ada, clock))
    await store.limits.set("address", "", Limit(requests_per_minute=5))
    await store.turns.accept(new_turn(ada, clock))
    assert addresses(database) == []
    await store.limits.set("address", "", Limit(tokens_per_minute=1000))
    await store.turns.accept(new_turn(ada, clock))
    clock.now += 1
    await store.turns.accept(new_turn(ada, clock, address=OTHER_ADDRESS))
    await store.limits.remove("address", "")
    clock.now += 59
    await store.ledger.delete_old_addresses()
    assert addresses(database) == [OTHER_ADDRESS]
    clock.now += 1
    await store.ledger.delete_old_addresses()
    assert addresses(database) == []
    (used,) = await store.usage.by_person(0)
    assert used.num_turns == 4


async def test_counting_and_deleting_addresses_uses_the_index_only(
    store: Store, ada: User, clock: SimpleNamespace, tmp_path: Path
) -> None:
    await store.limits.set("address", "", Limit(tokens_per_minute=1000))
    await store.turns.accept(new_turn(ada, clock))
    clock.now += 60
    with collect_statements() as statements:
        await budget(store, ada, "minute", "address", ADDRESS)
        await store.ledger.delete_old_addresses()
    of_ledger = [one for one in statements if "ledger" in one[0]]
    plans = plans_of(tmp_path / "data" / "hitsend.db", of_ledger)
    assert len(plans) == 3
    assert all("ix_ledger_address_at" in plan for plan in plans)
