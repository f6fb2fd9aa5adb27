"""Files that are written from code are what the code says."""

import subprocess
import sys
from pathlib import Path

import pytest

from hitsend import events
from hitsend.server.routes import ROUTES

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "script", ["gen_docs.py", "gen_events.py", "gen_prompts.py", "gen_rules.py", "gen_safety.py"]
)
def test_generated_files_are_up_to_date(script: str) -> None:
    ran = subprocess.run(
        [sys.executable, ROOT / "scripts" / script, "--check"],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(ROOT / "src")},
        check=False,
    )
    assert ran.returncode == 0, ran.stderr


def test_every_event_says_what_happened() -> None:
    silent = [event.__name__ for event in events.Event.__subclasses__() if not event.__doc__]
    assert silent == []


def test_every_route_says_what_it_does() -> None:
    assert [route.path for route in ROUTES if not route.summary.endswith(".")] == []
