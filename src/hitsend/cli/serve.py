"""`hitsend serve`: the page and the API, until Ctrl-C or SIGTERM."""

import asyncio
import os
import sys
from collections.abc import Coroutine

from hitsend.cli.flags import with_settings
from hitsend.cli.output import print_note, stdout
from hitsend.settings import NAMES, Loaded, check_binding


@with_settings(*NAMES)
def serve(loaded: Loaded) -> int:
    check_binding(loaded.settings)
    from hitsend.server.local_risks import PRIVATE_UMASK
    from hitsend.server.serve import serve as serve_until_stopped

    os.umask(PRIVATE_UMASK)

    def announce(address: str, setup: str | None) -> None:
        if setup is not None:
            print_note(setup)
        stdout.write(f"hitsend is at {address}")

    _run(serve_until_stopped(loaded.settings, announce=announce))
    return 0


def _run(coroutine: Coroutine[None, None, None]) -> None:
    if sys.platform == "win32":
        asyncio.run(coroutine)
    else:
        import uvloop

        uvloop.run(coroutine)
