"""Run by test_crash.py: writes until the disk is full, then frees space and continues."""

import asyncio
import resource
import sys
from pathlib import Path

from hitsend.errors import StoreDown
from hitsend.events import Stamped, TextArrived
from hitsend.store import LogEntry, NewTurn, Store

TEXT = "x" * 50_000


def allow(num_bytes: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (num_bytes, resource.RLIM_INFINITY))


async def main(path: Path) -> None:
    store = await Store.open(path)
    user = await store.accounts.create_first("Ada", "hash")
    turn = NewTurn(
        turn_id="t",
        user_id=user.id,
        conversation_id=None,
        action="next",
        model="tiny",
        answer_id="a",
        created_at=1.0,
    )
    await store.turns.accept(turn)
    allow(1_000_000)
    num_stored = await append_until_full(store)
    try:
        await store.accounts.create("Eve", TEXT * 20, "member")
    except StoreDown as error:
        sys.stdout.write(f"{error.message}\n")
    assert len((await store.turns.logs(["t"]))["t"]) == num_stored
    allow(resource.RLIM_INFINITY)
    await append(store, num_stored + 1)
    await store.check()
    assert len((await store.turns.logs(["t"]))["t"]) == num_stored + 1
    await store.close()
    sys.stdout.write("recovered\n")


async def append_until_full(store: Store) -> int:
    num_stored = 0
    try:
        while True:
            await append(store, num_stored + 1)
            num_stored += 1
    except StoreDown as error:
        sys.stdout.write(f"{error.message}\n")
    return num_stored


async def append(store: Store, seq: int) -> None:
    await store.turns.append([LogEntry("t", Stamped(seq, 1.0, TextArrived(TEXT)))])


asyncio.run(main(Path(sys.argv[1])))
