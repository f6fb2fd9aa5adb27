"""Whether what hitsend needs is there. Imports nothing that might not be."""

import importlib
import platform

from hitsend import __version__
from hitsend.cli.doctor.finding import Check, Finding
from hitsend.settings import Settings

DEPENDENCIES = (
    "aiosqlite", "alembic", "argon2", "cyclopts", "httptools", "httpx2", "limits", "msgspec",
    "platformdirs", "prompt_toolkit", "rich", "sqlalchemy", "starlette", "uvicorn", "xllamacpp",
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
