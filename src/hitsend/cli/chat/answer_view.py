"""Shows one answer. Ctrl-C stops it on the server; a second Ctrl-C stops waiting."""

import asyncio
import signal
import sys
import termios
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager, suppress
from functools import partial

from rich.console import Console

from hitsend.cli.chat.call_lines import CallLines
from hitsend.cli.chat.look_ahead import LookAhead
from hitsend.cli.chat.markdown_stream import MarkdownStream, escape_controls
from hitsend.cli.chat.questions import Questions
from hitsend.cli.chat.safety_notes import describe_block
from hitsend.cli.chat.session import ChatSession
from hitsend.client import (
    ApprovalAsked,
    ApprovalDecided,
    Finished,
    FormAnswered,
    FormAsked,
    Retrying,
    Started,
    StoreDelayed,
    TextAdded,
    TextCut,
    TextReplaced,
    Update,
)
from hitsend.errors import Conflict, HitsendError

MIN_SHOWN_TRIES = 2
"""A single failed try is not shown."""


class AnswerView:
    def __init__(self, console: Console, session: ChatSession, questions: Questions) -> None:
        self._console = console
        self._session = session
        self._questions = questions
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
            async with aclosing(LookAhead(updates)) as ahead:
                calls = CallLines()
                async for update in ahead:
                    self._draw(update, drawing)
                    if line := calls.take(update):
                        drawing.add_line(line)
                    if calls.has_changed(update):
                        drawing.wait(calls.status)
                    if isinstance(update, ApprovalAsked | FormAsked):
                        await self._ask(update, drawing, ahead)
                    elif isinstance(update, Finished):
                        drawing.add(self._session.placeholders.finish())
                        for line in calls.take_open():
                            drawing.add_line(line)
                        return update
        return None

    def _draw(self, update: Update, drawing: MarkdownStream) -> None:
        if isinstance(update, Started):
            self._started.set()
        elif isinstance(update, TextAdded):
            drawing.add(self._session.placeholders.add(update.text))
        elif isinstance(update, TextCut):
            drawing.add("\n\n*The end of what is above was taken back.*")
        elif isinstance(update, TextReplaced):
            drawing.add(f"\n\n*What is above arrived damaged. It says:*\n\n{update.text}")
        elif isinstance(update, Retrying) and update.num_tries >= MIN_SHOWN_TRIES:
            drawing.wait(f"trying again… {update.problem}")
        elif isinstance(update, StoreDelayed):
            drawing.wait(update.message)

    async def _ask(
        self, asked: ApprovalAsked | FormAsked, drawing: MarkdownStream, ahead: LookAhead
    ) -> None:
        """The answer goes on meanwhile: the person may reply on the page instead."""
        drawing.pause()
        self._questions.on_interrupt = self._begin_stop
        try:
            if isinstance(asked, ApprovalAsked):
                asking = asyncio.ensure_future(self._questions.ask_approval(asked))
                verdict = await ahead.wait_for(asking, partial(_is_decided, asked.call_id))
                if verdict is not None:
                    await self._session.decide(verdict)
            else:
                await self._ask_form(asked, ahead)
        finally:
            drawing.resume()

    async def _ask_form(self, asked: FormAsked, ahead: LookAhead) -> None:
        asking = asyncio.ensure_future(self._questions.ask_form(asked))
        reply = await ahead.wait_for(asking, partial(_is_answered, asked.form_id))
        if reply is not None:
            with suppress(Conflict):  # it was answered elsewhere, or nobody waits any more
                await self._session.client.answer_form(asked.form_id, reply.action, reply.content)

    @contextmanager
    def _handle_ctrl_c(self, reading: "asyncio.Future[Finished | None]") -> Iterator[None]:
        def on_sigint() -> None:
            if self._stopping is None:
                self._begin_stop()
            else:
                reading.cancel()

        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, on_sigint)
        try:
            yield
        finally:
            loop.remove_signal_handler(signal.SIGINT)

    def _begin_stop(self) -> None:
        self._stopping = self._stopping or asyncio.ensure_future(self._stop())

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
        elif finished.is_blocked:
            self._note(describe_block(finished))
        elif finished.status == "finished_partial_completion":
            self._note("Stopped.")
        elif finished.status == "interrupted":
            self._note("The server was interrupted here. /retry tries again.")

    def _note(self, sentence: str) -> None:
        self._console.print(escape_controls(sentence), style="dim", markup=False, highlight=False)


def _is_decided(call_id: str, update: Update) -> bool:
    """A decision that nobody took in time can still be taken."""
    match update:
        case ApprovalDecided(call_id=of_call, decision=decision):
            return of_call == call_id and decision != "expired"
    return False


def _is_answered(form_id: str, update: Update) -> bool:
    return isinstance(update, FormAnswered) and update.form_id == form_id


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
