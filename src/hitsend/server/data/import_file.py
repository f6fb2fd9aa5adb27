"""Importing a file of conversations: received to disk, parsed in another process, then stored.

Each user imports one file at a time, and the server parses one at a time: that takes memory and
disk space.
"""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, contextmanager
from typing import BinaryIO

from starlette.requests import Request

from hitsend.errors import Conflict, StorageSpent, StoreDown
from hitsend.import_export.disk import describe_os_error, require_import_space
from hitsend.import_export.imported_conversation import ImportedConversation, Report
from hitsend.import_export.process import read_batches, read_in_subprocess
from hitsend.server.app import App
from hitsend.server.call import check_content_length, too_large
from hitsend.store import ImportCounts

MESSAGES_AT_ONCE = 500
MB = 1_000_000


async def import_file(
    app: App,
    user_id: str,
    request: Request,
    *,
    leaves_out_broken: bool,
    most_bytes: int | None = None,
) -> tuple[Report, ImportCounts]:
    """`most_bytes` of text may be stored: what is left of the person's storage."""
    lock = app.import_locks.lock(user_id)
    # Waiting would not help: nobody reads the body meanwhile, and the connection times out.
    if lock.locked():
        raise Conflict("A file of yours is being imported. Wait until it is done.")
    async with lock:
        return await _receive_and_store(app, user_id, request, leaves_out_broken, most_bytes)


async def _receive_and_store(
    app: App, user_id: str, request: Request, leaves_out_broken: bool, most_bytes: int | None
) -> tuple[Report, ImportCounts]:
    settings = app.services.settings
    folder = settings.data_dir
    num_bytes = check_content_length(request, settings.max_import_bytes)
    require_import_space(folder, settings.max_import_bytes if num_bytes is None else num_bytes)
    with ExitStack() as files:
        with _disk_errors():
            # Beside the database: the system's folder for temporary files may be in memory.
            file = files.enter_context(tempfile.TemporaryFile(dir=folder))
            output = files.enter_context(tempfile.TemporaryFile(dir=folder))
        await _receive(request, file, settings.max_import_bytes)
        async with app.import_parser_lock:
            report = await read_in_subprocess(
                file, output, folder, leaves_out_broken=leaves_out_broken
            )
            imported = await app.services.store.imports.add(
                user_id, _in_batches(output, most_bytes)
            )
    return report, imported


async def _receive(request: Request, file: BinaryIO, max_bytes: int) -> None:
    num_bytes = 0
    async for chunk in request.stream():
        num_bytes += len(chunk)
        if num_bytes > max_bytes:
            raise too_large(max_bytes)
        with _disk_errors():
            await asyncio.to_thread(file.write, chunk)
    with _disk_errors():
        await asyncio.to_thread(file.flush)


@contextmanager
def _disk_errors() -> Iterator[None]:
    """Translates OSError into StoreDown."""
    try:
        yield
    except OSError as error:
        raise StoreDown(describe_os_error(error)) from error


async def _in_batches(
    output: BinaryIO, most_bytes: int | None
) -> AsyncIterator[list[ImportedConversation]]:
    reading = read_batches(output, MESSAGES_AT_ONCE)
    num_bytes = 0
    while batch := await asyncio.to_thread(next, reading, None):
        num_bytes += sum(one.num_bytes for one in batch)
        if most_bytes is not None and num_bytes > most_bytes:
            raise StorageSpent(
                f"The conversations in this file take more than the {most_bytes / MB:,.1f} MB that "
                "are left of your storage. Delete conversations that you no longer need first."
            )
        yield batch
