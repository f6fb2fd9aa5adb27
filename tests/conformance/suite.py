"""Runs the official MCP conformance suite, and reads what it found."""

import asyncio
import json
import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from scripts.setup import conformance

HERE = Path(__file__).parent
SUITE = HERE / "node_modules/@modelcontextprotocol/conformance/dist/index.js"
EXPECTED = HERE / "expected_failures.toml"
Role: TypeAlias = Literal["server", "client"]
REVISIONS = ("2025-11-25", "2026-07-28")

RUN_SCENARIO = re.compile(r"^[✓✗] ([\w/-]+): \d+ passed", re.MULTILINE)
RESULT_FOLDER = re.compile(r"^(?:server-|client-)?(.*?)-\d{4}-\d\d-\d\dT")


def expected_failures(role: Role, revision: str) -> dict[str, str]:
    """Returns the checks that are expected to fail, with the reason of each."""
    groups = tomllib.loads(EXPECTED.read_text()).get(role, [])
    return {
        check: group["reason"]
        for group in groups
        for check in (*group.get("both", ()), *group.get(revision, ()))
    }


def check_failures(role: Role, revision: str, found: Mapping[str, str]) -> None:
    expected = expected_failures(role, revision)
    assert {check: found[check] for check in found.keys() - expected.keys()} == {}
    assert expected.keys() - found.keys() == set(), "these pass now"


async def run_suite(
    role: Role, revision: str, words: Sequence[str], results: Path, key: str = ""
) -> dict[str, str]:
    """Runs everything that the revision requires, and what it does not score. Returns the checks
    that failed or warned, as `scenario:check`, with the words of the suite."""
    node = await asyncio.to_thread(conformance)
    command = [
        str(node.folder / "node"), "--import", str(HERE / "with_key.mjs"), str(SUITE),
        role, "--requirements", revision, "--output-dir", str(results), *words,
    ]  # fmt: skip
    process = await asyncio.create_subprocess_exec(
        *command,
        env=os.environ | {"HITSEND_KEY": key},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        output, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    checks = await asyncio.to_thread(_read_checks, results)
    said = output.decode()
    run = set(RUN_SCENARIO.findall(said))
    assert run, said
    assert run == checks.keys(), "a scenario left no result"
    return {
        f"{scenario}:{check['id']}": check.get("errorMessage") or check.get("description", "")
        for scenario, found in checks.items()
        for check in found
        if check["status"] in ("FAILURE", "WARNING")
    }


def _read_checks(results: Path) -> dict[str, list[dict[str, str]]]:
    found = {}
    for path in results.glob("**/checks.json"):
        name = RESULT_FOLDER.match(str(path.parent.relative_to(results)))
        assert name is not None, path
        found[name[1]] = json.loads(path.read_text())
    return found
