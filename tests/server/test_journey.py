"""A Send passes through the functions that docs/journey.md draws."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from tests.docs.test_journey import SOURCES, drawn_functions
from tests.server.world import open_world

from hitsend.engine import Script, ScriptedEngine
from hitsend.settings import Settings

NUM_TRIES = 10
"""Events that come together, as on a busy machine, are encoded together, which skips a function."""


@contextmanager
def recording_calls() -> Iterator[set[tuple[str, str]]]:
    """Collects file and name of the functions of hitsend that are called meanwhile, in all threads
    that are started meanwhile."""
    calls: set[tuple[str, str]] = set()

    def record(frame: FrameType, event: str, _: object) -> None:
        file = Path(frame.f_code.co_filename)
        if event == "call" and file.is_relative_to(SOURCES):
            calls.add((file.relative_to(SOURCES).as_posix(), frame.f_code.co_qualname))

    before = sys.getprofile()
    threading.setprofile(record)
    sys.setprofile(record)
    try:
        yield calls
    finally:
        sys.setprofile(before)
        threading.setprofile(before)


def missing_functions(calls: set[tuple[str, str]]) -> set[tuple[str, str]]:
    return drawn_functions() - {(file, name.rpartition("<locals>.")[2]) for file, name in calls}


async def test_a_send_calls_each_function_of_the_path(settings: Settings) -> None:
    slow = Script("Yeast makes gas, which the dough holds.", pace_s=0.02)
    with recording_calls() as calls:
        async with open_world(settings, ScriptedEngine([slow] * NUM_TRIES)) as world:
            ada = await world.someone("ada")
            for _ in range(NUM_TRIES):
                await ada.send("Why does bread rise?")
                if len(missing := missing_functions(calls)) == 1:
                    break
    assert missing == {("steps/tools/loop.py", "ToolLoop.run")}
