"""Thousands of turns, one after the other: memory, files and rows per turn do not grow."""

import asyncio
import logging
import time
from itertools import count
from pathlib import Path

import pytest
from tests.faults.process import Served, key_in, serve_process
from tests.faults.raw_send import COMPLETIONS, percentile, send_raw

log = logging.getLogger(__name__)

ANSWER = "!script tokens=30\nAn answer of some words, "
NUM_AT_ONCE = 8
NUM_PEOPLE = 4


async def test_hundreds_of_turns_leave_nothing_open(tmp_path: Path) -> None:
    await run_turns(tmp_path, portions=[100, 200, 200])


@pytest.mark.soak
@pytest.mark.timeout(1800)
async def test_ten_thousand_turns_take_no_more_memory_than_the_first_thousands(
    tmp_path: Path,
) -> None:
    sizes = await run_turns(tmp_path, portions=[2_000, 2_000, 2_000, 2_000, 2_000])
    assert sizes[-1] <= sizes[1] * 1.05, "memory of the last turns and of the first 4,000"


async def run_turns(data_dir: Path, portions: list[int]) -> list[float]:
    """Returns the resident memory after each portion."""
    keys = [await key_in(data_dir, f"person {number}") for number in range(NUM_PEOPLE)]
    sizes, files, database, times = list[float](), list[int](), list[float](), list[float]()
    numbers = count()
    async with (
        serve_process(data_dir, log_level="warning") as served,
        asyncio.timeout(1_700),
    ):
        for portion in portions:
            took = await asyncio.gather(
                *(
                    ask_one_by_one(served, keys, [next(numbers) for _ in range(portion // 8)])
                    for _ in range(NUM_AT_ONCE)
                )
            )
            times.append(percentile([one for some in took for one in some], 50))
            sizes.append(served.num_resident_kb())
            files.append(served.num_files())
            database.append((data_dir / "hitsend.db").stat().st_size / 1000)
    log.warning(
        "turns in portions of %s: memory %s MB, open files %s, database %s MB, %s ms per turn",
        portions,
        *(" ".join(f"{size / 1000:.1f}" for size in some) for some in (sizes,)),
        files,
        " ".join(f"{size / 1000:.1f}" for size in database),
        " ".join(f"{1000 * one:.0f}" for one in times),
    )
    assert max(files) <= files[0] + 2 * NUM_AT_ONCE, "files stay open"
    return sizes


async def ask_one_by_one(served: Served, keys: list[str], numbers: list[int]) -> list[float]:
    """Half of them on the page's route, with a conversation each, and half on /v1."""
    times = []
    for number in numbers:
        began = time.monotonic()
        more = {"path": COMPLETIONS} if number % 2 else {}
        one = await send_raw(served.url, keys[number % NUM_PEOPLE], f"{ANSWER}{number}", **more)
        await one.read_whole()
        assert one.is_whole, (one.status, one.body[:500])
        times.append(time.monotonic() - began)
    return times
