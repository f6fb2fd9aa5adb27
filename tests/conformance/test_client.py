"""The host of MCP servers against the official conformance suite, as `test_server.py`."""

import asyncio
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest
from tests.conformance.people import People, Scenario, open_people
from tests.conformance.suite import HERE, REVISIONS, check_failures, run_suite

COMMAND = HERE / "client_command.py"


@pytest.mark.xdist_group("conformance")
@pytest.mark.timeout(600)
@pytest.mark.parametrize("revision", REVISIONS)
async def test_the_host_fails_only_what_is_expected(
    revision: str, tmp_path: Path, copy_database: Callable[[Path], Path]
) -> None:
    place = tmp_path / "s"
    async with open_people(copy_database(tmp_path / "data")) as people, listen(people, place):
        command = f"{sys.executable} -S -E {COMMAND} {place}"
        found = await run_suite("client", revision, ["--command", command], tmp_path / "results")
    check_failures("client", revision, found)


@asynccontextmanager
async def listen(people: People, place: Path) -> AsyncGenerator[None]:
    """Takes scenarios from the command that the suite starts."""

    async def play(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        scenario = msgspec.json.decode(await reader.readline(), type=Scenario)
        writer.write((await people.play(scenario)).encode())
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    async with await asyncio.start_unix_server(play, place, limit=2**20):
        yield
