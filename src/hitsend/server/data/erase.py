"""Erases accounts, and in the background what has expired: deleted chats and memories that can no
longer be restored, and records that are kept for a time only."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import partial

from hitsend.allowance import DAY_S
from hitsend.errors import StoreDown
from hitsend.runner import Runner
from hitsend.store import Actor, Store

log = logging.getLogger(__name__)

CHECK_S = 5.0


async def erase_account(store: Store, runner: Runner, user_id: str, by: Actor) -> None:
    """Stops the user's turns and erases everything of theirs. The account is closed first: if this
    breaks off, the user is locked out, and an administrator can repeat it."""
    await store.accounts.close_account(user_id, by)
    await runner.stop(user_id)
    await store.accounts.erase(user_id)


async def erase_expired_forever(
    store: Store, num_audit_days: int, num_deleted_days: int = 0, check_s: float = CHECK_S
) -> None:
    """Erases every few seconds, until it is cancelled. A failure is retried in the next round and
    does not stop the other erasures."""
    erasures: Mapping[str, Callable[[], Awaitable[None]]] = {
        "end temporary chats": store.conversations.hide_expired_temporary,
        "erase deleted conversations": partial(
            store.conversations.erase_hidden, num_deleted_days * DAY_S
        ),
        "erase removed memories": store.memories.erase_removed,
        "drop erased words from the search": store.search_index.drop_erased,
        "forget what was sent long ago": store.turns.delete_expired_sends,
        "forget addresses": store.ledger.delete_old_addresses,
        "remove old entries of the audit log": partial(store.audit.expire, num_audit_days),
    }
    while True:
        for purpose, erase in erasures.items():
            try:
                await erase()
            except StoreDown as error:
                log.warning("Cannot %s: %s", purpose, error.message)
        await asyncio.sleep(check_s)
