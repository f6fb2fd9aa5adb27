"""Runs work for a client, and cancels it when the client disconnects."""

import asyncio
from collections.abc import Coroutine
from typing import TypeVar

from starlette.requests import ClientDisconnect, Request

T = TypeVar("T")


async def run_until_disconnect(request: Request, work: Coroutine[None, None, T]) -> T:
    """Returns the result. Raises ClientDisconnect."""
    working = asyncio.create_task(work)
    disconnecting = asyncio.create_task(_wait_for_disconnect(request))
    try:
        await asyncio.wait({working, disconnecting}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        working.cancel()
        disconnecting.cancel()


async def _wait_for_disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        continue
