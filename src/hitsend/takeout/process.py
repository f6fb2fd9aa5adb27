"""Reading a file, in a process of its own: whatever is in it, the server goes on."""

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from hitsend.errors import BadImport, StoreDown
from hitsend.takeout.__main__ import Limits, Order
from hitsend.takeout.taken import Report, TakenConversation

LIMITS = Limits()
MOST_S = 300.0
TOO_MUCH = "It takes too long to read, or too much memory. Import it in smaller files."


async def read_apart(
    file: BinaryIO,
    output: BinaryIO,
    folder: Path,
    *,
    leaves_out_broken: bool,
    limits: Limits = LIMITS,
) -> Report:
    """How it went; the conversations are then in `output`. Raises BadImport, or StoreDown where
    the file is not to blame."""
    file.seek(0)
    order = Order(output.fileno(), str(folder), leaves_out_broken, limits)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-m", "hitsend.takeout", msgspec.json.encode(order).decode()),
        stdin=file,
        stdout=PIPE,
        stderr=DEVNULL,  # it may quote what people said
        pass_fds=[output.fileno()],
    )
    try:
        async with asyncio.timeout(MOST_S):
            said, _ = await process.communicate()
    except TimeoutError:
        raise BadImport(TOO_MUCH) from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode != 0:
        raise BadImport(TOO_MUCH)
    report = msgspec.json.decode(said, type=Report)
    if report.problem is not None and report.is_ours:
        raise StoreDown(report.problem)
    if report.problem is not None:
        # Without a conversation to blame, the file itself is bad: there are no others to take.
        raise BadImport(report.problem, param="conversations" if report.left_out else None)
    return report


def batches(output: BinaryIO, most: int) -> Iterator[list[TakenConversation]]:
    """What was read, up to so many messages at once but at least one conversation."""
    decode = msgspec.json.Decoder(TakenConversation).decode
    output.seek(0)
    batch: list[TakenConversation] = []
    num_messages = 0
    for line in output:
        taken = decode(line)
        if batch and num_messages + len(taken.messages) > most:
            yield batch
            batch, num_messages = [], 0
        batch.append(taken)
        num_messages += len(taken.messages)
    if batch:
        yield batch
