"""An answer drawn while it grows ends up as it would have been drawn whole."""

import asyncio
import io

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from hitsend.cli.chat.markdown_stream import (
    MarkdownStream,
    escape_controls,
    render_markdown,
    split_blocks,
)

ANSWER = """\
# Title

First paragraph with **bold** and `code`.

- one
- two

```python
print("a")

print("b")
```

| a | b |
| - | - |
| 1 | 2 |

Last words."""


def console() -> Console:
    return Console(file=io.StringIO(), width=60, height=20, force_terminal=False)


def printed(screen: Console) -> list[str]:
    """Lines with something in them. How blocks are spaced is a matter of taste."""
    assert isinstance(screen.file, io.StringIO)
    return [line.rstrip() for line in screen.file.getvalue().splitlines() if line.strip()]


@given(st.text("ab \n#-`|>*1.", max_size=80))
def test_splitting_loses_nothing(text: str) -> None:
    finished, growing = split_blocks(text)
    assert finished + growing == text


def test_a_code_block_is_not_split_at_its_blank_lines() -> None:
    finished, growing = split_blocks("Look:\n\n```python\na\n\nb\n")
    assert finished == "Look:\n\n"
    assert growing == "```python\na\n\nb\n"


def test_the_last_block_may_still_grow() -> None:
    assert split_blocks("one\n\ntwo") == ("one\n\n", "two")
    assert split_blocks("only") == ("", "only")


@given(st.lists(st.integers(0, len(ANSWER)), max_size=12))
def test_what_was_drawn_in_pieces_is_what_would_be_drawn_at_once(cuts: list[int]) -> None:
    whole = console()
    whole.print(render_markdown(ANSWER))
    pieces = console()
    asyncio.run(draw(pieces, sorted({0, *cuts, len(ANSWER)})))
    assert printed(pieces) == printed(whole)


async def draw(screen: Console, ends: list[int]) -> None:
    with MarkdownStream(screen) as drawing:
        for start, end in zip(ends, ends[1:], strict=False):
            drawing.add(ANSWER[start:end])
            drawing.redraw()


def test_nothing_an_answer_says_can_steer_the_terminal() -> None:
    hostile = "\x1b]52;c;aGk=\x07 \x1b[2J\x9b31m a\u202eb \r\nnext\tcell"
    screen = console()
    screen.print(render_markdown(escape_controls(hostile)))
    assert not {"\x1b", "\x07", "\x9b", "\r", "\u202e"} & set("".join(printed(screen)))
    assert escape_controls(hostile).endswith("\nnext\tcell")


async def test_the_status_line_disappears_with_the_next_text() -> None:
    screen = Console(file=io.StringIO(), width=60, height=20, force_terminal=True)
    with MarkdownStream(screen) as drawing:
        drawing.add("First words,")
        drawing.wait("reconnecting…")
        drawing.redraw()
        assert isinstance(screen.file, io.StringIO)
        assert "reconnecting…" in screen.file.getvalue()
        drawing.add(" last words.")
        seen = len(screen.file.getvalue())
        drawing.redraw()
    assert "reconnecting…" not in screen.file.getvalue()[seen:]
    assert "First words, last words." in screen.file.getvalue()[seen:]
