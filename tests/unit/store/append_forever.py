"""Run by test_crash.py: appends to one log until killed, and prints what was acknowledged."""

import asyncio
import sys
from pathlib import Path

from hitsend.events import Stamped, TextArrived
from hitsend.store import LogEntry, NewTurn, Store


async def main(path: Path) -> None:
    store = await Store.open(path)
    user = await store.accounts.create_first("Ada", "hash")
    turn = NewTurn(
        turn_id="t",
        user_id=user.id,
        conversation_id="c",
        creates_conversation=True,
        action="next",
        model="tiny",
        message_id="m",
        answer_id="a",
        created_at=1.0,
    )
    await store.turns.accept(turn)
    seq = 0
    while True:
        words = [Stamped(seq + n, 1.0, TextArrived(f"{seq + n} ")) for n in (1, 2, 3)]
        await store.turns.append([LogEntry("t", word) for word in words])
        seq += 3
        sys.stdout.write(f"{seq}\n")
        sys.stdout.flush()


asyncio.run(main(Path(sys.argv[1])))
