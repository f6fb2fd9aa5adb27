"""Keeps the database small in the background: packs the logs of finished turns, forgets tokens and
logs that are older than the settings allow, and gives free space back to the disk."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterator
from functools import partial

from hitsend.errors import StoreDown
from hitsend.settings import Settings
from hitsend.store import Store

log = logging.getLogger(__name__)

CHECK_S = 5.0
REST_FACTOR = 3
"""After each step, rests this many times as long as it took: old logs can take hours to pack, and
people are being answered meanwhile."""

Step = Callable[[], Awaitable[bool]]
"""Returns whether there was anything to do."""


async def pack_logs_forever(store: Store, settings: Settings, check_s: float = CHECK_S) -> None:
    """Looks for work every few seconds, until it is cancelled. A step that fails is tried again in
    the next round."""
    while True:
        for step in _steps(store, settings):
            try:
                await _repeat(step)
            except StoreDown as error:
                log.warning("Cannot keep the database small: %s", error.message)
        await asyncio.sleep(check_s)


async def _repeat(step: Step) -> None:
    has_more = True
    while has_more:
        began = time.monotonic()
        has_more = await step()
        await asyncio.sleep(REST_FACTOR * (time.monotonic() - began) if has_more else 0)


def _steps(store: Store, settings: Settings) -> Iterator[Step]:
    packing = store.log_packing
    yield packing.pack_finished
    if days := settings.token_record_days:
        yield partial(packing.forget_tokens, days)
    if days := settings.turn_log_days:
        yield partial(packing.erase_logs, days)
    yield store.storage.give_back_space
