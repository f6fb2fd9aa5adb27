"""Write docs/settings.md, docs/events.md and docs/routes.md from the code they describe.

With --check nothing is written: it only says which of them is not what the code says.
"""

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from hitsend import events
from hitsend.cli.flags import describe
from hitsend.server.call import Endpoint, SocketEndpoint
from hitsend.server.routes import ROUTES, SOCKETS
from hitsend.settings import HINTS, NAMES, PREFIX, Settings

DOCS = Path(__file__).parent.parent / "docs"


SETTINGS = """\
# Settings

A value comes from the command line (`--data-dir`), else the environment (`HITSEND_DATA_DIR`),
else the TOML file (`data_dir = …` in `config.toml`, or in the file `HITSEND_CONFIG` names), else
its default. One that does not fit stops the start. `hitsend settings` shows what holds and where
it came from.
"""

EVENTS = """\
# Events

Everything that can happen between Send and the last word. A turn is a log of these, numbered
from 1; every message, stream and page is made from it."""

ROUTE_LIST = """\
# Routes

Every route, and who may call it. A session is a browser's cookie; an API key is sent as
`Authorization: Bearer`. `WS` is a [WebSocket](websocket.md), which is opened with a ticket.
"""


def settings_page() -> list[str]:
    heads = ("setting", "variable", "values", "default", "what it does")
    rows = [
        (f"`{name}`", f"`{PREFIX}{name.upper()}`", _values(name), _default(name), describe(name))
        for name in NAMES
    ]
    return [SETTINGS, *_table(heads, rows)]


def events_page() -> list[str]:
    return [EVENTS, *(line for event in get_args(events.AnyEvent) for line in _event(event))]


def routes_page() -> list[str]:
    every: list[Endpoint | SocketEndpoint] = [*ROUTES, *SOCKETS]
    heads = ("method", "path", "who", "what it does")
    rows = [
        (f"`{route.method}`", f"`{route.path}`", route.access.value, route.summary)
        for route in every
    ]
    return [ROUTE_LIST, *_table(heads, rows)]


def _event(event: type[msgspec.Struct]) -> list[str]:
    notes = _field_notes(event)
    rows = [
        (f"`{name}`", f"`{_format_type(hint)}`", notes.get(name, ""))
        for name, hint in get_type_hints(event, include_extras=True).items()
    ]
    about = inspect.cleandoc(event.__dict__.get("__doc__") or "").splitlines()
    table = ["", *_table(("field", "type", ""), rows)] if rows else []
    return ["", f"## {event.__name__}", *(["", *about] if about else []), *table]


def _field_notes(event: type) -> dict[str, str]:
    """The string below a field, which Python itself forgets."""
    found = re.findall(
        r'^    (\w+): [^\n]*\n    """(.*?)"""', inspect.getsource(event), re.MULTILINE | re.DOTALL
    )
    return {name: " ".join(note.split()) for name, note in found}


def _values(name: str) -> str:
    limits = [
        f"{sign} {limit:,}"
        for meta in HINTS[name].__metadata__
        for sign, limit in (("≥", meta.ge), (">", meta.gt), ("≤", meta.le))
        if limit is not None
    ]
    return ", ".join([_format_type(HINTS[name]).removesuffix(" or null"), *limits])


def _default(name: str) -> str:
    """Returns the default as a user would write it, or a note if it depends on the machine."""
    value = getattr(Settings(), name)
    if value is None or value == "":
        return ""
    if isinstance(value, Path):
        return "the platform's own folder"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _format_type(hint: object) -> str:
    args = get_args(hint)
    match get_origin(hint):
        case origin if origin is Annotated:
            return _format_type(args[0])
        case origin if origin is Literal:
            return " or ".join(f"{arg}" for arg in args)
        case origin if origin in (Union, UnionType):
            return " or ".join(_format_type(arg) for arg in args)
        case origin if origin is tuple:
            return f"list of {_format_type(args[0])}"
    return PLAIN.get(hint, getattr(hint, "__name__", str(hint)))


PLAIN: dict[object, str] = {
    str: "text",
    int: "number",
    float: "number",
    bool: "true or false",
    Path: "path",
    NoneType: "null",
    msgspec.UnsetType: "absent",
}


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [heads, ["---"] * len(heads), *rows]
    return ["| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines]


PAGES: dict[str, Callable[[], list[str]]] = {
    "settings.md": settings_page,
    "events.md": events_page,
    "routes.md": routes_page,
}
NOTE = "<!-- Written by `make generate` from the code. Do not edit. -->\n"


def main() -> int:
    pages = {DOCS / name: "\n".join([NOTE, *page(), ""]) for name, page in PAGES.items()}
    if "--check" not in sys.argv[1:]:
        for path, page in pages.items():
            path.write_text(page)
        return 0
    stale = [
        path.name for path, page in pages.items() if not path.exists() or path.read_text() != page
    ]
    for name in stale:
        print(f"docs/{name} is not what the code says: run `make generate`.", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
