"""An export takes few of the resources that requests share: threads, statements and memory."""

import asyncio
from collections.abc import AsyncIterator, Sequence

from tests.server.test_cost_of_a_send import CountingLoop, Counts, counting_sql

from hitsend.import_export.imported_conversation import ImportedConversation, ImportedMessage
from hitsend.server.data.export import PORTION_MESSAGES, write_export
from hitsend.settings import Settings
from hitsend.store import Store

NUM_CONVERSATIONS, NUM_MESSAGES = 120, 10
TEXT = "Bread rises because yeast makes gas. " * 10
NUM_PORTIONS = NUM_CONVERSATIONS * NUM_MESSAGES // PORTION_MESSAGES
NUM_OTHER = 13
"""Statements and trips for the rest of an export: profile, memories, folders, keys, shares."""


def test_an_export_is_read_in_few_trips_and_streamed_in_small_pieces(settings: Settings) -> None:
    counts = Counts()
    with (
        asyncio.Runner(loop_factory=lambda: CountingLoop(counts)) as runner,
        counting_sql(counts),
    ):
        pieces, cost = runner.run(export(settings, counts))
    num_passes = 2  # texts to read, and JSON to import
    assert cost["thread hops"] <= num_passes * 2 * NUM_PORTIONS + NUM_OTHER
    assert cost["SQL statements"] <= num_passes * 2 * NUM_CONVERSATIONS + NUM_OTHER
    assert max(pieces) <= 2 * PORTION_MESSAGES * len(TEXT)
    assert len(pieces) >= num_passes * NUM_PORTIONS


async def export(settings: Settings, counts: Counts) -> tuple[list[int], Counts]:
    """Returns the length of each piece, and what the export itself cost."""
    store = await Store.open(settings.database)
    ada = await store.accounts.create("ada", "", "member")
    await store.imports.add(ada.id, conversations())
    before = counts.copy()
    pieces = [len(piece) async for piece in write_export(store, ada)]
    cost = counts - before
    await store.close()
    return pieces, cost


async def conversations() -> AsyncIterator[Sequence[ImportedConversation]]:
    for number in range(NUM_CONVERSATIONS):
        yield [
            ImportedConversation(
                source_id=str(number),
                title=f"Bread {number}",
                created_at=number,
                updated_at=number,
                current_node=str(NUM_MESSAGES - 1),
                messages=tuple(map(message, range(NUM_MESSAGES))),
            )
        ]


def message(number: int) -> ImportedMessage:
    return ImportedMessage(
        id=str(number),
        parent_id=str(number - 1) if number else None,
        role="assistant" if number % 2 else "user",
        text=f"{number}: {TEXT}",
        created_at=number,
    )
