"""`hitsend chat`: a conversation in the terminal, with a server that runs or one of its own."""

import asyncio
import signal
import sys
from typing import Annotated

from cyclopts import Parameter

from hitsend.cli.chat.access import Wanted, reach
from hitsend.cli.chat.once import answer_once
from hitsend.cli.flags import with_settings
from hitsend.settings import Loaded, Settings


@with_settings("data_dir", "port")
def chat(
    loaded: Loaded,
    *,
    url: Annotated[
        str | None, Parameter(env_var="HITSEND_URL", help="Server, if not the local one.")
    ] = None,
    key: Annotated[
        str | None, Parameter(env_var="HITSEND_KEY", help="API key; made by itself locally.")
    ] = None,
    user: Annotated[str | None, Parameter(help="Whose account, where there are several.")] = None,
    model: Annotated[str, Parameter(help="Which model answers.")] = "auto",
) -> int:
    """On a terminal, a conversation; otherwise one answer to what standard input says."""
    wanted = Wanted(url=url, key=key, user=user)
    return asyncio.run(_chat(loaded.settings, wanted, model))


async def _chat(settings: Settings, wanted: Wanted, model: str) -> int:
    _leave_tidily_on_signals()
    async with reach(settings, wanted) as client:
        if not sys.stdin.isatty() or not sys.stdout.isatty():
            return await answer_once(client, model)
        # prompt-toolkit and Markdown take a fifth of a second that a pipe need not wait for.
        from hitsend.cli.chat.terminal import Terminal

        return await Terminal(client, model).run()


def _leave_tidily_on_signals() -> None:
    """A server started for this chat has to end with it, also when the window is closed."""
    task = asyncio.current_task()
    assert task is not None
    for number in (signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
