"""A Send costs the same in a long conversation as in one that has just outgrown its window.

What does not depend on the machine is compared: statements, the steps SQLite takes to run them,
and trips to its threads. Milliseconds are in `bench.scale`.
"""

import asyncio
import sqlite3
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from typing import cast

from bench.load import Answer, Target, send
from sqlalchemy import event
from sqlalchemy.pool import Pool
from tests.server.test_cost_of_a_send import (
    ANSWER,
    CountingLoop,
    Counts,
    counting_sql,
    until_quiet,
)
from tests.server.world import Someone, World, open_world

from hitsend.engine import Engine, ScriptedEngine
from hitsend.import_export.imported_conversation import ImportedConversation, ImportedMessage
from hitsend.settings import Settings

SHORT, LONG = 300, 3_000
"""Messages. Neither fits the window."""
TEXT = "Bread rises because yeast makes gas, which the dough holds; soda does it as well. " * 3
NUM_TURNS = 8
"""While the first ones are answered, the conversation is indexed."""
NUM_STEPS = 100
"""SQLite reports each hundredth step."""
MORE = {"SQL statements": 3, "SQL steps": 100, "thread hops": 3}
"""Tolerances: the amount that is summarised after a Send differs by a little."""


def test_a_send_costs_the_same_in_a_long_conversation(settings: Settings) -> None:
    counts = Counts()
    with (
        asyncio.Runner(loop_factory=lambda: CountingLoop(counts)) as runner,
        counting_sql(counts),
        counting_sql_steps(counts),
    ):
        short, long = runner.run(cost_of_sends(settings, counts))
    for name, more in MORE.items():
        sys.stdout.write(f"\n{name:<16} {short[name]:>5} {long[name]:>5}   at most {more} more")
        assert short[name], f"{name} are not counted any more"
        assert long[name] <= short[name] + more, f"A long conversation costs more {name}"


async def cost_of_sends(settings: Settings, counts: Counts) -> tuple[Counts, Counts]:
    engine = ScriptedEngine([ANSWER] * 3 * NUM_TURNS)
    async with open_world(settings, cast(Engine, engine)) as world:
        ada = await world.someone("ada")
        return (
            await cost_of_a_send(world, ada, counts, SHORT),
            await cost_of_a_send(world, ada, counts, LONG),
        )


async def cost_of_a_send(world: World, ada: Someone, counts: Counts, num_messages: int) -> Counts:
    chat = Target(world.url, "/backend-api/f/conversation", "v1", ada.key)
    answer = await import_conversation(world, ada, num_messages)
    costs = []
    for number in range(NUM_TURNS):
        await until_quiet(world, counts)
        before = counts.copy()
        answer = await send(chat, f"And what of sourdough? Question {number}.", after=answer)
        await until_quiet(world, counts)
        costs.append(counts - before)
    return Counts({name: min(cost[name] for cost in costs[NUM_TURNS // 2 :]) for name in MORE})


async def import_conversation(world: World, ada: Someone, num_messages: int) -> Answer:
    messages = [
        ImportedMessage(
            id=str(number),
            parent_id=str(number - 1) if number else None,
            role="assistant" if number % 2 else "user",
            text=f"{number}: {TEXT}",
            created_at=number,
        )
        for number in range(num_messages)
    ]
    conversation = ImportedConversation(
        source_id=f"of {num_messages}",
        title="Bread",
        created_at=num_messages,
        updated_at=num_messages,
        current_node=messages[-1].id,
        messages=tuple(messages),
    )

    async def batches() -> AsyncIterator[Sequence[ImportedConversation]]:
        yield [conversation]

    await world.app.services.store.imports.add(ada.user_id, batches())
    [item] = (await world.app.services.store.conversations.list(ada.user_id, limit=1)).items
    imported = await world.app.services.store.conversations.get(item.id, ada.user_id)
    return Answer(0, 0, 0, 0, 0, (), item.id, imported.current_node or "")


@contextmanager
def counting_sql_steps(counts: Counts) -> Iterator[None]:
    def count() -> None:
        counts["SQL steps"] += 1

    def watch(connection: sqlite3.Connection, _: object) -> None:
        connection.set_progress_handler(count, NUM_STEPS)

    event.listen(Pool, "connect", watch)
    try:
        yield
    finally:
        event.remove(Pool, "connect", watch)
