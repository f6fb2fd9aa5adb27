"""Checks of Python and the dependencies. Imports only the standard library and msgspec."""

import importlib
import platform
from collections.abc import Awaitable, Callable
from typing import Literal, TypeAlias

import msgspec

from hitsend import __version__
from hitsend.settings import Settings


class Finding(msgspec.Struct, frozen=True):
    level: Literal["ok", "warn", "fail"]
    message: str
    fix: str = ""
    """How to fix it."""


Check: TypeAlias = Callable[[Settings], Awaitable[Finding]]

DEPENDENCIES = (
    "alembic", "argon2", "cachetools", "cyclopts", "httptools", "httpx2", "jinja2", "msgspec",
    "platformdirs", "prompt_toolkit", "rich", "simsimd", "sqlalchemy", "starlette", "uvicorn",
    "xllamacpp",
)  # fmt: skip

REINSTALL = "Install hitsend again: `make run` in its folder, or `pip install --force-reinstall`."


async def check_python(_: Settings) -> Finding:
    return Finding("ok", f"hitsend {__version__} on Python {platform.python_version()}")


async def check_dependencies(_: Settings) -> Finding:
    problems = []
    for name in DEPENDENCIES:
        try:
            importlib.import_module(name)
        except ImportError as error:
            problems.append(f"{name} ({error})")
    if problems:
        return Finding("fail", f"Cannot be imported: {', '.join(problems)}.", REINSTALL)
    return Finding("ok", f"All {len(DEPENDENCIES)} dependencies can be imported")


CHECKS: tuple[Check, ...] = (check_python, check_dependencies)
