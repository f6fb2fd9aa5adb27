"""An answer, read as updates, as text, or whole."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Self

from hitsend.client.errors import Interrupted, StreamInvalid
from hitsend.client.updates import Finished, Started, TextAdded, TextReplaced, Update
from hitsend.errors import HitsendError
from hitsend.wire.problem import error_from_code

Stop = Callable[[str, str], Awaitable[None]]


class Answer:
    """Sends nothing before it is read. It can be read once. Closing it does not stop the turn;
    `stop` does. `async with` closes the connection at the end of the block; otherwise it is
    closed at the end of the answer, or with the client."""

    def __init__(self, updates: AsyncGenerator[Update, None], stop: Stop) -> None:
        self.started: Started | None = None
        self.finished: Finished | None = None
        self.is_being_read = False
        """A task waits for the next update."""
        self._updates = updates
        self._stop = stop
        self._is_begun = False
        self._is_known = asyncio.Event()
        """Set once the turn has started or the updates have ended."""

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Update:
        self._is_begun = True
        update = await self._next()
        if isinstance(update, Started):
            self.started = update
            self._is_known.set()
        elif isinstance(update, Finished):
            self.finished = update
        return update

    async def _next(self) -> Update:
        self.is_being_read, is_over = True, True
        try:
            update = await anext(self._updates)
            is_over = False
        finally:
            self.is_being_read = False
            if is_over:
                self._is_known.set()
        return update

    async def text(self) -> AsyncGenerator[str, None]:
        """Yields text as it arrives; after calls of tools a new paragraph begins. Then raises the
        error of a failed answer, or Interrupted if the server was stopped before the end."""
        message_id = ""
        async with self:
            async for update in self:
                if isinstance(update, TextAdded):
                    if message_id not in ("", update.message_id):
                        yield "\n\n"
                    message_id = update.message_id
                    yield update.text
                elif isinstance(update, TextReplaced):
                    raise StreamInvalid("The text so far was damaged. Read the stored answer.")
        _check_finished(self.finished)

    async def whole(self) -> Finished:
        """Waits for the end and returns the answer. Raises as `text` does."""
        async for _ in self:
            continue
        return _check_finished(self.finished)

    async def stop(self) -> None:
        """Stops the answer; the text so far is kept, and the iteration ends."""
        if not self._is_begun:
            await self.aclose()
            return
        await self._is_known.wait()
        if self.started is not None and self.finished is None:
            await self._stop(self.started.conversation_id, self.started.turn_id)

    async def aclose(self) -> None:
        await self._updates.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


def _check_finished(finished: Finished | None) -> Finished:
    if finished is None:
        raise HitsendError("This answer was left before its end.")
    if failure := finished.failure:
        wait_ms = failure.retry_after_ms
        raise error_from_code(
            failure.code, failure.message, None if wait_ms is None else wait_ms / 1000
        )
    if finished.status == "interrupted":
        raise Interrupted("The server was stopped in the middle of this answer.")
    return finished
