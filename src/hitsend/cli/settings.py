"""`hitsend settings`: every setting with its value and origin."""

from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import Parameter

from hitsend.cli.flags import with_settings
from hitsend.cli.output import stdout
from hitsend.settings import NAMES, SECRET, Loaded


@with_settings(*NAMES)
def settings(
    loaded: Loaded,
    *,
    as_json: Annotated[
        bool, Parameter(name="--json", negative="", help="As JSON, for programs.")
    ] = False,
) -> int:
    rows = [Row(name, _value(loaded, name), loaded.origins[name]) for name in NAMES]
    if as_json:
        stdout.write(msgspec.json.format(msgspec.json.encode(rows), indent=2).decode())
    else:
        lines = [(row.setting, _text(row), row.origin) for row in rows]
        stdout.table(("setting", "value", "from"), lines)
    return 0


class Row(msgspec.Struct, frozen=True, rename={"origin": "from"}):
    setting: str
    value: object
    origin: str


def _value(loaded: Loaded, name: str) -> object:
    value = getattr(loaded.settings, name)
    if name in SECRET and value is not None:
        return "(set, not shown)"
    return str(value) if isinstance(value, Path) else value


def _text(row: Row) -> str:
    return "" if row.value is None else str(row.value)
