"""What comes from one address: counted together, and forgotten after a minute."""

import asyncio
import sqlite3
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.unit.store.test_ledger import HERE, asking, budget
from tests.unit.store.test_lists import hearing, plans_of

from hitsend.errors import TooFast
from hitsend.events import AnswerStarted, TurnFinished
from hitsend.store import Closing, Limit, Store, User
from hitsend.transcript import fold

THERE = "203.0.113.2"


def addresses(database: Path) -> list[str]:
    """All that the ledger has in mind."""
    connection = sqlite3.connect(database)
    try:
        rows = connection.execute("SELECT address FROM ledger WHERE address IS NOT NULL")
        return sorted(address for (address,) in rows)
    finally:
        connection.close()


async def test_an_address_has_its_own_minute_whoever_asks_from_it(
    store: Store, ada: User, eve: User, clock: SimpleNamespace
) -> None:
    await store.limits.set("address", "", Limit(tokens_per_minute=150))
    assert await store.turns.accept(asking(ada, clock)) == 90
    clock.now += 20
    assert await store.turns.accept(asking(eve, clock)) == 40
    with pytest.raises(TooFast, match="your address") as refused:
        await store.turns.accept(asking(eve, clock))
    assert refused.value.retry_after_s == 40
    assert refused.value.allowances[0].remaining == 0
    assert await store.turns.accept(asking(eve, clock, address=THERE)) == 90
    clock.now += 40
    assert await store.turns.accept(asking(ada, clock)) == 90


async def test_an_address_pays_for_what_was_used_and_not_for_what_was_set_aside(
    store: Store, ada: User, clock: SimpleNamespace
) -> None:
    await store.limits.set("address", "", Limit(tokens_per_minute=150))
    turn = asking(ada, clock, prompt=40)
    await store.turns.accept(turn)
    of_here = partial(budget, store, ada, "minute", "address", HERE)
    assert (await of_here()).num_spent == 130
    stopped = fold([AnswerStarted(turn.answer_id, None, "tiny"), TurnFinished("stopped")])
    await store.turns.append([], [Closing(turn.turn_id, stopped, clock.now)])
    assert (await of_here()).num_spent == 40


async def test_however_many_come_at_once_the_minute_of_an_address_holds(
    store: Store, ada: User, eve: User, clock: SimpleNamespace
) -> None:
    await store.limits.set("address", "", Limit(tokens_per_minute=1000))
    asked = [store.turns.accept(asking(user, clock)) for user in (ada, eve) * 50]
    granted = await asyncio.gather(*asked, return_exceptions=True)
    assert sum(isinstance(one, int) for one in granted) == 10
    assert sum(isinstance(one, TooFast) for one in granted) == 90
    assert (await budget(store, ada, "minute", "address", HERE)).num_spent == 1000


async def test_an_address_is_put_down_only_while_it_is_limited_and_for_a_minute(
    store: Store, ada: User, clock: SimpleNamespace, tmp_path: Path
) -> None:
    database = tmp_path / "data" / "hitsend.db"
    await store.turns.accept(asking(ada, clock))
    await store.limits.set("address", "", Limit(requests_per_minute=5))
    await store.turns.accept(asking(ada, clock))
    assert addresses(database) == []
    await store.limits.set("address", "", Limit(tokens_per_minute=1000))
    await store.turns.accept(asking(ada, clock))
    clock.now += 1
    await store.turns.accept(asking(ada, clock, address=THERE))
    await store.limits.remove("address", "")
    clock.now += 59
    await store.ledger.forget_addresses()
    assert addresses(database) == [THERE]
    clock.now += 1
    await store.ledger.forget_addresses()
    assert addresses(database) == []
    (used,) = await store.usage.by_person(0)
    assert used.num_turns == 4


async def test_no_line_is_read_to_count_or_forget_an_address(
    store: Store, ada: User, clock: SimpleNamespace, tmp_path: Path
) -> None:
    await store.limits.set("address", "", Limit(tokens_per_minute=1000))
    await store.turns.accept(asking(ada, clock))
    clock.now += 60
    with hearing() as heard:
        await budget(store, ada, "minute", "address", HERE)
        await store.ledger.forget_addresses()
    of_ledger = [one for one in heard if "ledger" in one[0]]
    plans = plans_of(tmp_path / "data" / "hitsend.db", of_ledger)
    assert len(plans) == 3
    assert all("ix_ledger_address_at" in plan for plan in plans)
