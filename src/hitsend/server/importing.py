"""A file of conversations on its way in: to the disk first, read apart from the server, and then
into the store.

Each person brings one at a time, and one at a time is read: that may take memory, and the disk.
"""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, contextmanager
from typing import BinaryIO

from starlette.requests import Request

from hitsend.errors import Conflict, StoreDown
from hitsend.server.calls import House, check_declared, too_large
from hitsend.store import Imported
from hitsend.takeout.disk import require_space, sentence
from hitsend.takeout.process import batches, read_apart
from hitsend.takeout.taken import Report, TakenConversation

MESSAGES_AT_ONCE = 500


async def imported(
    house: House, user_id: str, request: Request, *, leaves_out_broken: bool
) -> tuple[Report, Imported]:
    # To wait would be no good: nobody reads the body meanwhile, and the connection runs out.
    if house.importers.is_busy(user_id):
        raise Conflict("A file of yours is being imported. Wait for it, then bring the next.")
    async with house.importers.one_of(user_id):
        return await _imported(house, user_id, request, leaves_out_broken)


async def _imported(
    house: House, user_id: str, request: Request, leaves_out_broken: bool
) -> tuple[Report, Imported]:
    settings = house.services.settings
    folder = settings.data_dir
    num_bytes = check_declared(request, settings.max_import_bytes)
    require_space(folder, settings.max_import_bytes if num_bytes is None else num_bytes)
    with ExitStack() as files:
        with _keeping():
            # Nameless, and beside the database: the system's own folder may be in memory.
            file = files.enter_context(tempfile.TemporaryFile(dir=folder))
            output = files.enter_context(tempfile.TemporaryFile(dir=folder))
        await _receive(request, file, settings.max_import_bytes)
        async with house.importing:
            report = await read_apart(file, output, folder, leaves_out_broken=leaves_out_broken)
            done = await house.services.store.imports.add(user_id, _in_batches(output))
    return report, done


async def _receive(request: Request, file: BinaryIO, most: int) -> None:
    num_bytes = 0
    async for chunk in request.stream():
        num_bytes += len(chunk)
        if num_bytes > most:
            raise too_large(most)
        with _keeping():
            await asyncio.to_thread(file.write, chunk)
    with _keeping():
        await asyncio.to_thread(file.flush)


@contextmanager
def _keeping() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreDown(sentence(error)) from error


async def _in_batches(output: BinaryIO) -> AsyncIterator[list[TakenConversation]]:
    reading = batches(output, MESSAGES_AT_ONCE)
    while batch := await asyncio.to_thread(next, reading, None):
        yield batch
