"""`hitsend audit`: checks and exports the activity log, straight from the database, read-only."""

from typing import Annotated

import msgspec
from cyclopts import Parameter

from hitsend.cli.flags import with_settings
from hitsend.cli.output import print_note, stdout
from hitsend.settings import Loaded
from hitsend.store.audit_chain import parse_head
from hitsend.store.audit_file import read_entries, verify_audit

BROKEN = 1


@with_settings("data_dir")
def verify(
    loaded: Loaded,
    /,
    *,
    expect: Annotated[
        str | None, Parameter(help="What this command printed at an earlier time: 12:ab34…")
    ] = None,
) -> int:
    expected = parse_head(expect) if expect is not None else None
    verdict = verify_audit(loaded.settings.database, expected)
    if verdict.problem:
        print_note(f"{verdict.problem} Entries before it that are whole: {verdict.num_entries:,}.")
        return BROKEN
    if verdict.num_expired:
        print_note(f"{verdict.num_expired:,} older entries were removed because of their age.")
    if expected and expected.position < verdict.num_expired:
        print_note(f"Entry {expected.position} was among them: its hash cannot be compared.")
    print_note(f"All {verdict.num_entries:,} entries are whole. The newest one and its hash:")
    stdout.write(str(verdict.newest))
    return 0


@with_settings("data_dir")
def export(loaded: Loaded) -> int:
    for entry in read_entries(loaded.settings.database):
        stdout.write(msgspec.json.encode(entry).decode())
    return 0
