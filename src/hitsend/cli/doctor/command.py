"""`hitsend doctor`: checks the installation and says how to fix problems."""

import asyncio

from rich.console import Console
from rich.text import Text

from hitsend.cli.doctor import installation
from hitsend.cli.doctor.installation import Check, Finding
from hitsend.cli.flags import with_settings
from hitsend.settings import NAMES, Loaded, Settings

STYLES = {"ok": "green", "warn": "yellow", "fail": "bold red"}


@with_settings(*NAMES)
def doctor(loaded: Loaded) -> int:
    return asyncio.run(_run_checks(loaded.settings))


async def _run_checks(settings: Settings) -> int:
    if not await _run_all(installation.CHECKS, settings):
        return 1
    from hitsend.cli.doctor import operation

    return 0 if await _run_all(operation.CHECKS, settings) else 1


async def _run_all(checks: tuple[Check, ...], settings: Settings) -> bool:
    console, is_fine = Console(), True
    for check in checks:
        finding = await check(settings)
        is_fine &= finding.level != "fail"
        _print(console, finding)
    return is_fine


def _print(console: Console, finding: Finding) -> None:
    mark = Text(f"{finding.level:<5} ", STYLES[finding.level])
    console.print(mark + Text(finding.message, "default"), soft_wrap=True)
    if finding.fix:
        console.print(Text(f"      {finding.fix}"), soft_wrap=True)
