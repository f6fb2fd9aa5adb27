"""What commands write to the terminal with: results to stdout, everything else to stderr."""

import sys
from collections.abc import Iterable, Sequence


class Screen:
    """Standard output. Rich is loaded only by what draws with it."""

    def write(self, line: str) -> None:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()

    def table(self, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False, header_style="bold")
        for head in heads:
            table.add_column(head, overflow="fold")
        for row in rows:
            table.add_row(*(Text(cell) for cell in row))
        Console().print(table)


out = Screen()


def say(sentence: str) -> None:
    """Something for the person, not for whoever reads stdout."""
    sys.stderr.write(sentence + "\n")
    sys.stderr.flush()
