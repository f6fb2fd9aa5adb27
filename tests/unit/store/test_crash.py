"""Acknowledged writes survive kill -9, and the store recovers from a full disk."""

import asyncio
import os
import sys
from asyncio.subprocess import PIPE, Process
from pathlib import Path

from hitsend.store import Store

HERE = Path(__file__).parent
FAILED = "The disk failed to read or write the database."


async def test_nothing_acknowledged_is_lost_to_kill_9(tmp_path: Path) -> None:
    for num_lines in (1, 40):
        path = tmp_path / f"{num_lines}.db"
        num_acknowledged = await _kill_after(num_lines, path)
        store = await Store.open(path)
        log = (await store.turns.logs(["t"]))["t"]
        assert [left.id for left in await store.turns.list_running()] == ["t"]
        await store.close()
        assert len(log) >= num_acknowledged
        assert [line.seq for line in log] == list(range(1, len(log) + 1))
        assert len(log) % 3 == 0, "a group is stored whole"


async def test_a_full_disk_is_reported_and_the_store_recovers_without_a_restart(
    tmp_path: Path,
) -> None:
    process = await _run("fill_the_disk.py", tmp_path / "hitsend.db")
    async with asyncio.timeout(60):
        output, _ = await process.communicate()
    assert output.decode().splitlines() == [FAILED, FAILED, "recovered"]
    assert process.returncode == 0


async def _kill_after(num_lines: int, path: Path) -> int:
    """Kills the process and returns how many events it had acknowledged."""
    process = await _run("append_forever.py", path)
    assert process.stdout is not None
    async with asyncio.timeout(60):
        lines = [await process.stdout.readline() for _ in range(num_lines)]
        process.kill()
        lines += (await process.stdout.read()).splitlines(keepends=True)
        await process.wait()
    return max(int(line) for line in lines if line.endswith(b"\n"))


async def _run(script: str, path: Path) -> Process:
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return await asyncio.create_subprocess_exec(
        sys.executable, str(HERE / script), str(path), stdout=PIPE, env=environ
    )
