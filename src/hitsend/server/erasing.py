"""Erases for good what was deleted with a way back, once there is none any more, and forgets what
was sent so long ago that nobody sends it again."""

import asyncio
import logging

from hitsend.errors import StoreDown
from hitsend.store import Store

log = logging.getLogger(__name__)

LOOK_S = 5.0


async def erase_forever(store: Store, look_s: float = LOOK_S) -> None:
    """Until it is cancelled. What cannot be erased now is tried again."""
    while True:
        try:
            await store.conversations.erase_hidden()
            await store.turns.forget_sends()
        except StoreDown as error:
            log.warning("Cannot erase deleted conversations: %s", error.message)
        await asyncio.sleep(look_s)
