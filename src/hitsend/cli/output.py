"""Output of commands: results to stdout, notes to stderr."""

import sys
from collections.abc import Iterable, Sequence


class Output:
    """Standard output. Rich is imported only for tables."""

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


stdout = Output()


def print_note(sentence: str) -> None:
    """Prints a note for the user to stderr."""
    sys.stderr.write(sentence + "\n")
    sys.stderr.flush()
