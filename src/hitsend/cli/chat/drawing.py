"""An answer as it grows: finished blocks are printed for good, only the last one is redrawn.

So nothing flickers, nothing is printed twice, and the terminal's own scrollback stays right.
Knows Markdown and the screen, not where the text comes from.
"""

import asyncio
from types import TracebackType
from typing import Self

from markdown_it import MarkdownIt
from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.markdown import Markdown
from rich.segment import Segment
from rich.text import Text

from hitsend.cli.chat.text import harmless

REDRAW_S = 0.08

_parser = MarkdownIt("commonmark").enable("table")


class Drawing:
    def __init__(self, console: Console) -> None:
        self._console = console
        self._tail = ""
        self._wait = ""
        self._has_printed = False
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
        """What is left is final, however it came to an end."""
        self.redraw()
        self._live.update("")
        self._live.stop()
        self._print(self._tail)

    def add(self, text: str) -> None:
        self._wait = ""
        self._tail += harmless(text)
        self._redraw_soon()

    def wait(self, sentence: str) -> None:
        """What it waits for, until there is more text."""
        self._wait = harmless(sentence)
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
        self._console.print(as_markdown(blocks))
        self._has_printed = True


def split_blocks(text: str) -> tuple[str, str]:
    """What no further text can change, and the last block, which may still grow."""
    tops = [token for token in _parser.parse(text) if token.level == 0 and token.map]
    if len(tops) < 2 or tops[-1].map is None:
        return "", text
    lines = text.splitlines(keepends=True)
    at = tops[-1].map[0]
    return "".join(lines[:at]), "".join(lines[at:])


def as_markdown(text: str) -> Markdown:
    # Links show where they lead: a terminal cannot say so on hovering.
    return Markdown(text, hyperlinks=False)


class _Tail:
    """The growing block; of one taller than the screen, its end. Below it, what it waits for."""

    def __init__(self, text: str, wait: str, *, has_gap: bool) -> None:
        self._text = text
        self._wait = wait
        self._has_gap = has_gap

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines = console.render_lines(as_markdown(self._text), options, pad=False)
        if self._has_gap:
            yield Segment.line()
        for line in lines[-max(1, options.size.height - 3) :]:
            yield from line
            yield Segment.line()
        if self._wait:
            yield Text(self._wait, style="dim")
