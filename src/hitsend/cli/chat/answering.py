"""One answer on the screen. Ctrl-C asks the server to stop it; a second one leaves it be."""

import asyncio
import signal
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager

from rich.console import Console

from hitsend.cli.chat.drawing import Drawing
from hitsend.cli.chat.keys import quiet_keys
from hitsend.cli.chat.talk import Talk
from hitsend.cli.chat.text import harmless
from hitsend.client import Finished, Retrying, Started, TextAdded, TextReplaced, Update
from hitsend.errors import HitsendError

NOTICED = 2
"""A connection that is back at the first try was hardly gone: nobody need hear of it."""


class Answering:
    def __init__(self, console: Console, talk: Talk) -> None:
        self._console = console
        self._talk = talk
        self._started = asyncio.Event()
        self._stopping: asyncio.Task[None] | None = None

    async def show(self, updates: AsyncGenerator[Update, None]) -> None:
        reading = asyncio.ensure_future(self._read(updates))
        with quiet_keys(), self._ctrl_c(reading):
            try:
                finished = await reading
            except asyncio.CancelledError:
                if not reading.cancelled() or self._stopping is None:
                    raise
                self._note("Not waiting for it any longer.")
            except HitsendError as error:
                self._note(error.message)
            else:
                self._tell_ending(finished)
            finally:
                reading.cancel()
                await self._stopped()

    async def _read(self, updates: AsyncGenerator[Update, None]) -> Finished | None:
        with Drawing(self._console) as drawing:
            async with aclosing(updates):
                async for update in updates:
                    if isinstance(update, Started):
                        self._started.set()
                    elif isinstance(update, TextAdded):
                        drawing.add(update.text)
                    elif isinstance(update, TextReplaced):
                        drawing.add(
                            f"\n\n*What is above arrived damaged. It says:*\n\n{update.text}"
                        )
                    elif isinstance(update, Retrying) and update.num_tries >= NOTICED:
                        drawing.wait(f"reconnecting… {update.problem}")
                    elif isinstance(update, Finished):
                        return update
        return None

    @contextmanager
    def _ctrl_c(self, reading: "asyncio.Future[Finished | None]") -> Iterator[None]:
        def pressed() -> None:
            if self._stopping is None:
                self._stopping = asyncio.ensure_future(self._stop())
            else:
                reading.cancel()

        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, pressed)
        try:
            yield
        finally:
            loop.remove_signal_handler(signal.SIGINT)

    async def _stop(self) -> None:
        await self._started.wait()  # before that there is nothing to stop
        await self._talk.stop()

    async def _stopped(self) -> None:
        if self._stopping is None:
            return
        self._stopping.cancel()
        (outcome,) = await asyncio.gather(self._stopping, return_exceptions=True)
        if isinstance(outcome, HitsendError):
            self._note(outcome.message)

    def _tell_ending(self, finished: Finished | None) -> None:
        if finished is None:
            return
        if finished.failure is not None:
            self._note(f"{finished.failure.message} /retry tries again.")
        elif finished.status == "finished_partial_completion":
            self._note("Stopped.")
        elif finished.status == "interrupted":
            self._note("The server was interrupted here. /retry tries again.")

    def _note(self, sentence: str) -> None:
        self._console.print(harmless(sentence), style="dim", markup=False, highlight=False)
