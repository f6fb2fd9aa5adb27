"""Shows one answer. Ctrl-C stops it on the server; a second Ctrl-C stops waiting."""

import asyncio
import signal
import sys
import termios
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager

from rich.console import Console

from hitsend.cli.chat.markdown_stream import MarkdownStream, escape_controls
from hitsend.cli.chat.session import ChatSession
from hitsend.client import Finished, Retrying, Started, TextAdded, TextReplaced, Update
from hitsend.errors import HitsendError

MIN_SHOWN_TRIES = 2
"""A single failed try is not shown."""


class AnswerView:
    def __init__(self, console: Console, session: ChatSession) -> None:
        self._console = console
        self._session = session
        self._started = asyncio.Event()
        self._stopping: asyncio.Task[None] | None = None

    async def show(self, updates: AsyncGenerator[Update, None]) -> None:
        reading = asyncio.ensure_future(self._read(updates))
        with mute_keyboard(), self._handle_ctrl_c(reading):
            try:
                finished = await reading
            except asyncio.CancelledError:
                if not reading.cancelled() or self._stopping is None:
                    raise
                self._note("Not waiting for it any longer.")
            except HitsendError as error:
                self._note(error.message)
            else:
                self._print_ending(finished)
            finally:
                reading.cancel()
                await self._finish_stop()

    async def _read(self, updates: AsyncGenerator[Update, None]) -> Finished | None:
        with MarkdownStream(self._console) as drawing:
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
                    elif isinstance(update, Retrying) and update.num_tries >= MIN_SHOWN_TRIES:
                        drawing.wait(f"reconnecting… {update.problem}")
                    elif isinstance(update, Finished):
                        return update
        return None

    @contextmanager
    def _handle_ctrl_c(self, reading: "asyncio.Future[Finished | None]") -> Iterator[None]:
        def on_sigint() -> None:
            if self._stopping is None:
                self._stopping = asyncio.ensure_future(self._stop())
            else:
                reading.cancel()

        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, on_sigint)
        try:
            yield
        finally:
            loop.remove_signal_handler(signal.SIGINT)

    async def _stop(self) -> None:
        await self._started.wait()  # before that there is nothing to stop
        await self._session.stop()

    async def _finish_stop(self) -> None:
        if self._stopping is None:
            return
        self._stopping.cancel()
        (outcome,) = await asyncio.gather(self._stopping, return_exceptions=True)
        if isinstance(outcome, HitsendError):
            self._note(outcome.message)

    def _print_ending(self, finished: Finished | None) -> None:
        if finished is None:
            return
        if finished.failure is not None:
            self._note(f"{finished.failure.message} /retry tries again.")
        elif finished.status == "finished_partial_completion":
            self._note("Stopped.")
        elif finished.status == "interrupted":
            self._note("The server was interrupted here. /retry tries again.")

    def _note(self, sentence: str) -> None:
        self._console.print(escape_controls(sentence), style="dim", markup=False, highlight=False)


@contextmanager
def mute_keyboard() -> Iterator[None]:
    """Turns echo off during an answer; typed keys wait for the prompt.

    NOFLSH: otherwise Ctrl-C would discard pending output."""
    before = termios.tcgetattr(sys.stdin)
    during = termios.tcgetattr(sys.stdin)
    during[3] = during[3] & ~termios.ECHO | termios.NOFLSH
    termios.tcsetattr(sys.stdin, termios.TCSADRAIN, during)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
