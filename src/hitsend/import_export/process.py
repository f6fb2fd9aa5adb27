"""Parses a file in a subprocess, so that a hostile file cannot harm the server."""

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from hitsend.errors import BadImport, StoreDown
from hitsend.import_export.__main__ import Limits, ReadRequest
from hitsend.import_export.imported_conversation import ImportedConversation, Report

LIMITS = Limits()
TIMEOUT_S = 300.0
TOO_MUCH = "It takes too long to read, or too much memory. Import it in smaller files."


async def read_in_subprocess(
    file: BinaryIO,
    output: BinaryIO,
    folder: Path,
    *,
    leaves_out_broken: bool,
    limits: Limits = LIMITS,
) -> Report:
    """Writes the conversations to `output` and returns the report.

    Raises BadImport for a bad file, StoreDown for a disk problem.
    """
    file.seek(0)
    request = ReadRequest(output.fileno(), str(folder), leaves_out_broken, limits)
    process = await asyncio.create_subprocess_exec(
        *(
            sys.executable,
            "-I",
            "-m",
            "hitsend.import_export",
            msgspec.json.encode(request).decode(),
        ),
        stdin=file,
        stdout=PIPE,
        stderr=DEVNULL,  # it may quote messages
        pass_fds=[output.fileno()],
        start_new_session=True,  # Ctrl-C reaches only the server, which ends this process
    )
    try:
        async with asyncio.timeout(TIMEOUT_S):
            report_json, _ = await process.communicate()
    except TimeoutError:
        raise BadImport(TOO_MUCH) from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode != 0:
        raise BadImport(TOO_MUCH)
    report = msgspec.json.decode(report_json, type=Report)
    if report.problem is not None and report.is_ours:
        raise StoreDown(report.problem)
    if report.problem is not None:
        # Without a broken conversation the file itself is bad, and skipping would not help.
        raise BadImport(report.problem, param="conversations" if report.left_out else None)
    return report


def read_batches(output: BinaryIO, most: int) -> Iterator[list[ImportedConversation]]:
    """Yields the conversations in batches of up to `most` messages, at least one conversation."""
    decode = msgspec.json.Decoder(ImportedConversation).decode
    output.seek(0)
    batch: list[ImportedConversation] = []
    num_messages = 0
    for line in output:
        conversation = decode(line)
        if batch and num_messages + len(conversation.messages) > most:
            yield batch
            batch, num_messages = [], 0
        batch.append(conversation)
        num_messages += len(conversation.messages)
    if batch:
        yield batch
