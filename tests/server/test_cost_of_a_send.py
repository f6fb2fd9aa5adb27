"""The parts of a Send's cost that do not depend on the machine, held as upper bounds.

Lower a bound when the code does less; raise one only with a reason in the commit. To see the
counts: `pytest -s tests/server/test_cost_of_a_send.py`. CPU and time are in `bench.send`.
"""

import asyncio
import sqlite3
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias, TypeVarTuple, Unpack, cast

from bench.load import Answer, Target, send
from sqlalchemy import event
from sqlalchemy.pool import Pool
from tests.server.world import World, open_world

from hitsend.engine import Engine, Script, ScriptedEngine
from hitsend.settings import Settings

MOST = {
    # at most:         first  tenth Send of a conversation
    "SQL statements": (27, 27),
    "commits": (3, 3),
    "thread hops": (7, 8),
    "engine calls": (5, 3),
    "bytes": (6100, 6000),
}
NUM_TURNS = 10
NUM_CONVERSATIONS, MOST_CONVERSATIONS = 3, 12
"""Each count is the lowest of several conversations: timers of the server add to some of them, and
to more of them on a busy machine."""
QUESTION = "Could you explain to me why bread rises, and what I could use instead of yeast?"
ANSWER = Script("Yeast makes gas, which the dough holds. Try soda. " * 2, num_batch_tokens=100)
QUIET_S = 0.05


def test_a_send_costs_no_more_than_its_bounds(settings: Settings) -> None:
    counts = Counts()
    with (
        asyncio.Runner(loop_factory=lambda: CountingLoop(counts)) as runner,
        counting_sql(counts),
    ):
        first, tenth = runner.run(cost_of_sends(settings, counts))
    for name, bounds in MOST.items():
        sys.stdout.write(f"\n{name:<16} {first[name]:>5} {tenth[name]:>5}   at most {bounds}")
        assert first[name], f"{name} are not counted any more"
        assert tenth[name], f"{name} are not counted any more"
    assert not (grown := grown_counts(first, tenth)), "A Send costs more: " + "; ".join(grown)


Counts: TypeAlias = Counter[str]
Ts = TypeVarTuple("Ts")


async def cost_of_sends(settings: Settings, counts: Counts) -> tuple[Counts, Counts]:
    """The counts of the first and of the last Send of a conversation."""
    answers = [ANSWER] * NUM_TURNS * MOST_CONVERSATIONS
    engine = CountingEngine(ScriptedEngine(answers), counts)
    async with open_world(settings, cast(Engine, engine)) as world:
        ada = await world.someone("ada")
        chat = Target(world.url, "/backend-api/f/conversation", "v1", ada.key)
        costs = []
        for number in range(1, MOST_CONVERSATIONS + 1):
            costs.append(await cost_of_conversation(world, chat, counts))
            first, tenth = (lowest([cost[turn] for cost in costs]) for turn in (0, -1))
            if number >= NUM_CONVERSATIONS and not grown_counts(first, tenth):
                break
    return first, tenth


def grown_counts(first: Counts, tenth: Counts) -> list[str]:
    return [
        f"{cost[name]} {name} in the {which} Send, at most {most}"
        for name, bounds in MOST.items()
        for which, cost, most in zip(("first", "tenth"), (first, tenth), bounds, strict=True)
        if cost[name] > most
    ]


async def cost_of_conversation(world: World, chat: Target, counts: Counts) -> list[Counts]:
    costs = []
    answer: Answer | None = None
    for number in range(NUM_TURNS):
        await until_quiet(world, counts)
        before = counts.copy()
        answer = await send(chat, f"{QUESTION} Question {number}.", after=answer)
        assert answer.text == ANSWER.text
        await until_quiet(world, counts)
        costs.append(counts - before + Counts({"bytes": answer.num_bytes}))
    return costs


async def until_quiet(world: World, counts: Counts) -> None:
    """Work that follows an answer, such as its title, belongs to it."""
    while True:
        before = counts.copy()
        await world.app.services.background.until_idle()
        await world.app.services.idle_work.until_idle()
        await asyncio.sleep(QUIET_S)
        if counts == before:
            return


def lowest(costs: list[Counts]) -> Counts:
    return Counts({name: min(one[name] for one in costs) for name in MOST})


class CountingLoop(asyncio.SelectorEventLoop):
    """Counts results that come from other threads: one for each trip to a thread and back."""

    def __init__(self, counts: Counts) -> None:
        super().__init__()
        self._counts = counts
        self._thread = threading.get_ident()

    def call_soon_threadsafe(
        self, callback: Callable[[Unpack[Ts]], object], *args: *Ts, context: Any = None
    ) -> asyncio.Handle:
        if threading.get_ident() != self._thread:
            self._counts["thread hops"] += 1
        return super().call_soon_threadsafe(callback, *args, context=context)


class CountingEngine:
    """Counts the calls of an engine's methods."""

    def __init__(self, engine: Engine, counts: Counts) -> None:
        self._engine = engine
        self._counts = counts

    def __getattr__(self, name: str) -> Callable[..., object]:
        method = getattr(self._engine, name)

        def call(*args: object, **options: object) -> object:
            self._counts["engine calls"] += 1
            return method(*args, **options)

        return call


@contextmanager
def counting_sql(counts: Counts) -> Iterator[None]:
    """Has SQLite report the statements it runs, on every connection that is opened."""

    def trace(connection: sqlite3.Connection, _: object) -> None:
        last_write = ""

        def count(statement: str) -> None:
            nonlocal last_write
            verb = statement.split(maxsplit=1)[0]
            is_write = verb in ("INSERT", "UPDATE", "DELETE", "REPLACE")
            # A trigger reports the statement that set it off once more, and full-text search its
            # own statements as comments.
            if verb in ("--", "BEGIN", "ROLLBACK") or (is_write and statement == last_write):
                return
            last_write = statement if is_write else ""
            counts["SQL statements"] += verb != "COMMIT"
            counts["commits"] += verb == "COMMIT" or (is_write and not connection.in_transaction)

        connection.set_trace_callback(count)

    event.listen(Pool, "connect", trace)
    try:
        yield
    finally:
        event.remove(Pool, "connect", trace)
