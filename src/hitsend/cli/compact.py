"""`hitsend compact`: rewrites the database without free space, once.

A database made by hitsend before it had this command keeps the space of what is deleted. From then
on a running hitsend gives it back by itself.
"""

import shutil

from hitsend.cli.flags import with_settings
from hitsend.cli.output import print_note
from hitsend.errors import NotFound, StoreDown
from hitsend.server.data_dir_lock import lock_data_dir
from hitsend.settings import Loaded
from hitsend.store.storage import compact_file

MB = 1_000_000


@with_settings("data_dir")
def compact(loaded: Loaded) -> int:
    path = loaded.settings.database
    if not path.exists():
        raise NotFound(f"There is no database at {path}.")
    with lock_data_dir(loaded.settings.data_dir):
        before, free = path.stat().st_size, shutil.disk_usage(path.parent).free
        if free < 2 * before:
            raise StoreDown(
                f"There is not enough room on the disk: {free // MB:,} MB are free, "
                f"{2 * before // MB:,} MB may be needed."
            )
        compact_file(path)
    print_note(f"{path} had {before / MB:,.1f} MB and has {path.stat().st_size / MB:,.1f} MB.")
    return 0
