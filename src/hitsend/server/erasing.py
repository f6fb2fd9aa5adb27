"""Erases for good what was deleted with a way back, once there is none any more, and what was
meant for a day only. Forgets what was sent so long ago that nobody sends it again, and where it
came from a minute ago."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping

from hitsend.errors import StoreDown
from hitsend.store import Store

log = logging.getLogger(__name__)

LOOK_S = 5.0


async def erase_forever(store: Store, look_s: float = LOOK_S) -> None:
    """Until it is cancelled. What cannot be erased now is tried again, and keeps nothing else."""
    erasures: Mapping[str, Callable[[], Awaitable[None]]] = {
        "end temporary chats": store.conversations.end_temporary,
        "erase deleted conversations": store.conversations.erase_hidden,
        "erase removed memories": store.memories.erase_removed,
        "drop erased words from the search": store.search_index.drop_erased,
        "forget what was sent long ago": store.turns.forget_sends,
        "forget addresses": store.ledger.forget_addresses,
    }
    while True:
        for purpose, erase in erasures.items():
            try:
                await erase()
            except StoreDown as error:
                log.warning("Cannot %s: %s", purpose, error.message)
        await asyncio.sleep(look_s)
