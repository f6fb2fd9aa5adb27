"""The MCP server against the official conformance suite. `expected_failures.toml` says which of its
checks fail, and why; one that is missing there, or passes, fails the test."""

from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from tests.conformance.fixture_tools import FIXTURE_TOOLS
from tests.conformance.suite import REVISIONS, check_failures, run_suite
from tests.server.world import World

from hitsend.engine import ScriptedEngine
from hitsend.server.app import open_app
from hitsend.server.mcp.endpoint import build_endpoint
from hitsend.server.mcp.tools import TOOLS
from hitsend.server.serve import listen
from hitsend.settings import Settings


@pytest.mark.xdist_group("conformance")
@pytest.mark.timeout(300)
@pytest.mark.parametrize("revision", REVISIONS)
async def test_the_server_fails_only_what_is_expected(
    revision: str, tmp_path: Path, copy_database: Callable[[Path], Path]
) -> None:
    database = copy_database(tmp_path / "data")
    settings = Settings(data_dir=database.parent, engine="scripted", port=0)
    routes = [build_endpoint((*TOOLS, *FIXTURE_TOOLS))]
    async with (
        open_app(settings, ScriptedEngine()) as app,
        listen(app, routes) as url,
        AsyncExitStack() as stack,
    ):
        ada = await World(app, url, stack).someone("ada")
        found = await run_suite(
            "server", revision, ["--url", f"{url}/mcp"], tmp_path / "results", ada.key
        )
    check_failures("server", revision, found)
