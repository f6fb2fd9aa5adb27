"""An answer, as whoever asked for it reads it: in updates, as text, or whole."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from types import TracebackType
from typing import Self

from hitsend.client.failures import Garbled, Interrupted
from hitsend.client.updates import Finished, Started, TextAdded, TextReplaced, Update
from hitsend.errors import HitsendError
from hitsend.wire.problem import rebuilt

Stop = Callable[[str, str], Awaitable[None]]


class Answer:
    """Nothing is sent before it is read. It is read once, and may be left at any time: the turn
    goes on without us unless it is stopped. `async with` closes the connection at once; otherwise
    it goes with the answer, or with the client."""

    def __init__(self, updates: AsyncGenerator[Update, None], stop: Stop) -> None:
        self.started: Started | None = None
        self.finished: Finished | None = None
        self.is_being_read = False
        """Somebody waits for the next update right now."""
        self._updates = updates
        self._stop = stop
        self._is_begun = False
        self._is_known = asyncio.Event()
        """Whether there is something to stop is known from here on."""

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
        """The words as they come. Raises what the answer failed with, if it did, after them;
        and Interrupted where the server was stopped before its end."""
        async with self:
            async for update in self:
                if isinstance(update, TextAdded):
                    yield update.text
                elif isinstance(update, TextReplaced):
                    raise Garbled("What arrived so far was damaged. Read the stored answer.")
        _check(self.finished)

    async def whole(self) -> Finished:
        """The answer once it is there, to the end. Raises as `text` does."""
        async for _ in self:
            continue
        return _check(self.finished)

    async def stop(self) -> None:
        """End the answer; what was said so far is kept, and the iteration comes to its end."""
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

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()


def _check(finished: Finished | None) -> Finished:
    if finished is None:
        raise HitsendError("This answer was left before its end.")
    if failure := finished.failure:
        wait_ms = failure.retry_after_ms
        raise rebuilt(failure.code, failure.message, None if wait_ms is None else wait_ms / 1000)
    if finished.status == "interrupted":
        raise Interrupted("The server was stopped in the middle of this answer.")
    return finished
