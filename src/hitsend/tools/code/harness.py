"""Runs programs inside a sandbox, one after another, with the same variables.

Its text is what a sandbox runs: it imports the standard library alone, and nothing of hitsend. What
it sends is not to be trusted, since a program can do all that it can.
"""

import ast
import importlib
import json
import os
import sys
import time
import types
from collections.abc import Callable, Iterator
from typing import Any

MAX_VALUE_CHARS = 20_000
MAX_REASON_CHARS = 2_000
MAX_LINE_CHARS = 200
MAX_CELL_CHARS = 200
MAX_ROWS, MAX_COLUMNS = 50, 30
MAX_FILES, MAX_FILES_BYTES = 8, 8 * 2**20
PROGRAM = "<program>"
PLOTS = "hitsend_plots"
"""The module that matplotlib shows figures with."""

Send = Callable[[bytes], object]
"""Takes a kind, which is one byte, and what it is about."""


class Harness:
    def __init__(self, send: Send) -> None:
        self._send = send
        self._seen: dict[str, tuple[int, int]] = {}
        self._num_plots = 0
        self._is_fresh = True
        self.main = types.ModuleType("__main__")
        sys.modules["__main__"] = self.main
        sys.stdout, sys.stderr = Printer(send), Printer(send)
        sys.modules[PLOTS] = self._make_plot_module()
        os.environ["MPLBACKEND"] = f"module://{PLOTS}"

    def run(self, request: bytes) -> None:
        asked = json.loads(request)
        set_time_zone(asked["time_zone"])
        self._num_plots = 0
        self._write_attached(asked["files"])
        self._seen = dict(list_files())
        value = error = None
        try:
            value = self._execute(asked["code"])
        except SystemExit as exit:
            if exit.code not in (None, 0):
                error = cut(f"SystemExit: {exit.code}", MAX_REASON_CHARS)
        except BaseException as raised:
            error = describe_error(raised, asked["code"], is_fresh=self._is_fresh)
        self._is_fresh = False
        self._finish(value, error)

    def _execute(self, code: str) -> str:
        """Returns what to show of the last value."""
        tree = ast.parse(code, PROGRAM)
        last = tree.body[-1] if tree.body else None
        names = self.main.__dict__
        if not isinstance(last, ast.Expr):
            exec(compile(tree, PROGRAM, "exec"), names)
            return ""
        tree.body.pop()
        exec(compile(tree, PROGRAM, "exec"), names)
        value = eval(compile(ast.Expression(last.value), PROGRAM, "eval"), names)
        return "" if value is None else describe_value(value)

    def _finish(self, value: str | None, error: str | None) -> None:
        """What fails here is the program's doing as well."""
        try:
            self._save_open_plots()
            self._send_files()
        except BaseException as raised:
            error = error or describe_error(raised, "", is_fresh=False)
        for printer in (sys.stdout, sys.stderr):
            if isinstance(printer, Printer):
                printer.flush()
        if value:
            self._send(b"v" + encode(value))
        if error is not None:
            self._send(b"e" + encode(cut(error, MAX_VALUE_CHARS)))

    def _write_attached(self, files: dict[str, str]) -> None:
        """They are copies: a program that changes one gets it back as it was."""
        for name, text in files.items():
            with open(name, "w", encoding="utf-8", newline="") as file:
                file.write(text)

    def _send_files(self) -> None:
        """Sends what the program wrote into its folder."""
        num_bytes = num_files = 0
        for name, stamp in sorted(list_files()):
            if self._seen.get(name) == stamp:
                continue
            num_files += 1
            num_bytes += stamp[0]
            if num_files <= MAX_FILES and num_bytes <= MAX_FILES_BYTES:
                with open(name, "rb") as file:
                    self._send(b"f" + encode(os.path.basename(name)) + b"\0" + file.read())
            else:
                self._send(b"l")

    def _make_plot_module(self) -> types.ModuleType:
        """Its names are found when matplotlib asks for them: matplotlib takes long to load."""
        module = types.ModuleType(PLOTS)

        def find(name: str) -> Any:
            if name != "FigureCanvas":
                raise AttributeError(name)
            canvas = make_canvas()
            module.__dict__[name] = canvas
            return canvas

        module.__dict__.update(__getattr__=find, show=self._show_plots)
        return module

    def _show_plots(self, *_: object, **__: object) -> None:
        plots = importlib.import_module("matplotlib.pyplot")
        for number in plots.get_fignums():
            figure = plots.figure(number)
            if not getattr(figure, "is_saved", False):
                self._num_plots += 1
                figure.savefig(f"plot-{self._num_plots}.png", dpi=110, bbox_inches="tight")
        plots.close("all")

    def _save_open_plots(self) -> None:
        if "matplotlib.pyplot" in sys.modules:
            self._show_plots()


class Printer:
    """What `print` writes to. It sends each line at once."""

    encoding = "utf-8"
    errors = "replace"
    closed = False

    def __init__(self, send: Send) -> None:
        self._send = send
        self._pieces: list[str] = []
        self._num_chars = 0

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self._pieces.append(text)
        self._num_chars += len(text)
        if "\n" in text or self._num_chars > 1_000:
            self.flush()
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        text, self._pieces, self._num_chars = "".join(self._pieces), [], 0
        for start in range(0, len(text), 10_000):
            self._send(b"o" + encode(text[start : start + 10_000]))

    def isatty(self) -> bool:
        return False

    def writable(self) -> bool:
        return True

    def readable(self) -> bool:
        return False


def make_canvas() -> type:
    """Returns a canvas that notes which figures the program has saved by itself."""
    base: Any = importlib.import_module("matplotlib.backends.backend_agg").FigureCanvasAgg

    def print_figure(self: Any, *args: Any, **options: Any) -> Any:
        self.figure.is_saved = True
        return base.print_figure(self, *args, **options)

    return type("Canvas", (base,), {"print_figure": print_figure})


def describe_value(value: object) -> str:
    if is_plot(value) or isinstance(value, list | tuple) and value and all(map(is_plot, value)):
        return ""
    pandas: Any = sys.modules.get("pandas")
    if pandas is not None and isinstance(value, pandas.Series):
        value = value.to_frame(value.name if value.name is not None else "value")
    if pandas is not None and isinstance(value, pandas.DataFrame):
        return describe_table(value)
    return cut(repr(value), MAX_VALUE_CHARS)


def is_plot(value: object) -> bool:
    """Whether it is what matplotlib's functions return, which says nothing to a reader."""
    return type(value).__module__.partition(".")[0] == "matplotlib"


def describe_table(table: Any) -> str:
    """Returns a table in Markdown, which the page draws."""
    num_rows, num_columns = table.shape
    shown = table.iloc[:MAX_ROWS, :MAX_COLUMNS]
    cells = shown.to_numpy(dtype=object)
    rows = [["", *shown.columns], ["---"] * (shown.shape[1] + 1)]
    rows += ([index, *row] for index, row in zip(shown.index, cells, strict=True))
    lines = [f"| {' | '.join(map(describe_cell, row))} |" for row in rows]
    if num_rows > MAX_ROWS or num_columns > MAX_COLUMNS:
        lines.append(f"({num_rows} rows and {num_columns} columns in all)")
    return "\n".join(lines)


def describe_cell(cell: object) -> str:
    text = f"{cell:.6g}" if isinstance(cell, float) else str(cell)
    return cut(" ".join(text.split()), MAX_CELL_CHARS).replace("|", "\\|")


def describe_error(error: BaseException, code: str, *, is_fresh: bool) -> str:
    """Returns a short traceback, with what a small model needs to repair the program."""
    try:
        reason = cut(f"{type(error).__name__}: {error}".removesuffix(": "), MAX_REASON_CHARS)
    except BaseException:
        reason = type(error).__name__
    hint = []
    if isinstance(error, ModuleNotFoundError):
        hint = ["This Python does not have it, and nothing can be installed."]
    elif isinstance(error, NameError) and is_fresh:
        hint = [
            "There are no variables from earlier runs: define everything that the program uses."
        ]
    frames = shorten(list(list_frames(error, code.split("\n"))))
    return "\n".join(["Traceback:", *frames, reason, *hint])


def list_frames(error: BaseException, lines: list[str]) -> Iterator[str]:
    """Yields those of the program, and not those of the libraries that it uses."""
    if isinstance(error, SyntaxError) and error.filename == PROGRAM and error.lineno:
        yield describe_line(error.lineno, "", lines)
        return
    at = error.__traceback__
    while at is not None:
        of = at.tb_frame.f_code
        if of.co_filename == PROGRAM:
            name = "" if of.co_name == "<module>" else f", in {of.co_name}"
            yield describe_line(at.tb_lineno, name, lines)
        at = at.tb_next


def describe_line(number: int, function: str, lines: list[str]) -> str:
    text = lines[number - 1].strip() if number <= len(lines) else ""
    return f"  line {number}{function}: {cut(text, MAX_LINE_CHARS)}"


def shorten(frames: list[str]) -> list[str]:
    return frames if len(frames) <= 6 else [*frames[:3], "  …", *frames[-2:]]


def list_files() -> Iterator[tuple[str, tuple[int, int]]]:
    """Yields the files in the folder of the program and in its subfolders, but no links."""
    for folder, folders, names in os.walk("."):
        folders[:] = [name for name in folders if not name.startswith((".", "__"))][:20]
        for name in names[:1_000]:
            path = os.path.normpath(os.path.join(folder, name))
            if not name.startswith(".") and os.path.isfile(path) and not os.path.islink(path):
                status = os.stat(path)
                yield path, (status.st_size, status.st_mtime_ns)


def serve(receive: Callable[[], bytes | None], send: Send) -> None:
    """Runs programs until there are no more. After each one it sends that it has ended."""
    harness = Harness(send)
    send(b"d")
    while (request := receive()) is not None:
        harness.run(request)
        send(b"d")


def set_time_zone(name: str) -> None:
    os.environ["TZ"] = name
    if hasattr(time, "tzset"):
        time.tzset()


def cut(text: str, max_chars: int) -> str:
    return text if len(text) <= max_chars else text[:max_chars] + "…"


def encode(text: str) -> bytes:
    return text.encode("utf-8", "replace")
