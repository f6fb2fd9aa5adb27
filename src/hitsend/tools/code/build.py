"""Builds the runner of programs, with the sandbox that the settings ask for."""

from hitsend.settings import Settings
from hitsend.tools.code.monty import MontySandbox
from hitsend.tools.code.runner import CodeRunner
from hitsend.tools.code.sandbox import Limits


def build_code_runner(settings: Settings) -> CodeRunner | None:
    """Starts nothing before the first program. Returns None if Python is turned off."""
    if settings.python == "off":
        return None
    limits = Limits(
        time_s=settings.python_time_s,
        memory_bytes=settings.python_memory_bytes,
        output_bytes=settings.python_output_bytes,
    )
    return CodeRunner(
        MontySandbox(limits, settings.python_running),
        limits,
        max_running=settings.python_running,
        max_interpreters=settings.python_kept,
    )
