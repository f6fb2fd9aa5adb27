"""Prints growing Markdown: finished blocks once, only the last block is redrawn.

Nothing flickers or is printed twice, and the terminal's scrollback stays correct.
"""

import asyncio
import re
from types import TracebackType
from typing import Self

from markdown_it import MarkdownIt
from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.markdown import Markdown
from rich.segment import Segment
from rich.text import Text

REDRAW_S = 0.08

UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Characters that could move the cursor, change colours, set the clipboard or reverse text."""

_parser = MarkdownIt("commonmark").enable("table")


class MarkdownStream:
    def __init__(self, console: Console) -> None:
        self._console = console
        self._tail = ""
        self._wait = ""
        self._has_printed = False
        self._ends_in_line = False
        self._live = Live(console=console, auto_refresh=False, transient=True)
        self._due: asyncio.TimerHandle | None = None

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Prints the rest."""
        self.pause()

    def pause(self) -> None:
        """Prints the rest, and leaves the terminal to others until `resume`."""
        self.redraw()
        self._live.update("")
        self._live.stop()
        self._print(self._tail)
        self._tail = ""

    def resume(self) -> None:
        self._live.start()

    def add_line(self, line: str) -> None:
        """Ends the text so far, and prints one line below it, cut to the width of the screen."""
        self.redraw()
        self._live.update("")
        self._print(self._tail)
        self._tail = ""
        if self._has_printed and not self._ends_in_line:
            self._console.print()
        text = Text(escape_controls(line).replace("\n", " "), style="dim", no_wrap=True)
        text.truncate(self._console.width, overflow="ellipsis")
        self._console.print(text)
        self._has_printed = self._ends_in_line = True

    def add(self, text: str) -> None:
        self._wait = ""
        self._tail += escape_controls(text)
        self._redraw_soon()

    def wait(self, sentence: str) -> None:
        """Shows a status line until more text arrives."""
        self._wait = escape_controls(sentence)
        self._redraw_soon()

    def _redraw_soon(self) -> None:
        if self._due is None:
            self._due = asyncio.get_running_loop().call_later(REDRAW_S, self.redraw)

    def redraw(self) -> None:
        if self._due is not None:
            self._due.cancel()
        self._due = None
        finished, self._tail = split_blocks(self._tail)
        if finished:
            self._print(finished)
        self._live.update(_Tail(self._tail, self._wait, has_gap=self._has_printed), refresh=True)

    def _print(self, blocks: str) -> None:
        if not blocks.strip():
            return
        if self._has_printed:
            self._console.print()
        self._console.print(render_markdown(blocks))
        self._has_printed, self._ends_in_line = True, False


def split_blocks(text: str) -> tuple[str, str]:
    """Splits off the blocks that more text cannot change from the last block, which may grow."""
    tops = [token for token in _parser.parse(text) if token.level == 0 and token.map]
    if len(tops) < 2 or tops[-1].map is None:
        return "", text
    lines = text.splitlines(keepends=True)
    at = tops[-1].map[0]
    return "".join(lines[:at]), "".join(lines[at:])


def render_markdown(text: str) -> Markdown:
    # Show link targets: a terminal has no hover.
    return Markdown(text, hyperlinks=False)


class _Tail:
    """The growing block, cut to the end that fits the screen, and the status line below it."""

    def __init__(self, text: str, wait: str, *, has_gap: bool) -> None:
        self._text = text
        self._wait = wait
        self._has_gap = has_gap

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines = console.render_lines(render_markdown(self._text), options, pad=False)
        if self._has_gap:
            yield Segment.line()
        for line in lines[-max(1, options.size.height - 3) :]:
            yield from line
            yield Segment.line()
        if self._wait:
            yield Text(self._wait, style="dim")


def escape_controls(text: str) -> str:
    return UNSAFE.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))
