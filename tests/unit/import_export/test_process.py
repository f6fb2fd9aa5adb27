"""Reading in a subprocess, which a hostile file cannot escape."""

import json
import os
import tempfile
from pathlib import Path
from typing import BinaryIO

import pytest
from tests.unit.import_export.sample_exports import Json, conversation, node

from hitsend.errors import BadImport, StoreDown
from hitsend.import_export.__main__ import Limits
from hitsend.import_export.disk import require_import_space
from hitsend.import_export.imported_conversation import ImportedConversation, Report
from hitsend.import_export.process import read_batches, read_in_subprocess


def many(num_conversations: int, num_messages: int = 2) -> list[Json]:
    roles = ("user", "assistant")
    return [
        conversation(
            *(
                node(str(i), str(i - 1) if i else None, roles[i % 2], "x" * 200)
                for i in range(num_messages)
            ),
            conversation_id=f"c{number}",
        )
        for number in range(num_conversations)
    ]


async def read_file(
    whole: list[Json], folder: Path, limits: Limits | None = None, at_once: int = 500
) -> tuple[Report, list[list[ImportedConversation]]]:
    with tempfile.TemporaryFile() as file, tempfile.TemporaryFile() as output:
        file.write(json.dumps(whole).encode())
        file.flush()
        report = await read_in_subprocess(
            file, output, folder, leaves_out_broken=False, limits=limits or Limits()
        )
        return report, list(read_batches(output, at_once))


async def test_conversations_are_read_in_batches(tmp_path: Path) -> None:
    report, found = await read_file(many(7), tmp_path, at_once=4)
    assert [len(batch) for batch in found] == [2, 2, 2, 1]
    assert [imported.source_id for batch in found for imported in batch] == [
        f"c{i}" for i in range(7)
    ]
    assert report.source == "chatgpt"
    _, whole = await read_file(many(2, num_messages=9), tmp_path, at_once=4)
    assert [len(batch) for batch in whole] == [1, 1]


async def test_errors_cross_the_process_boundary(tmp_path: Path) -> None:
    with pytest.raises(BadImport, match="“Rome” is broken: It has the same id"):
        await read_file(many(1) * 2, tmp_path)


@pytest.mark.parametrize(
    "limits",
    [Limits(memory_bytes=64 << 20), Limits(cpu_s=1), Limits(output_bytes=10_000)],
    ids=["memory", "time", "output"],
)
async def test_a_file_that_takes_too_much_ends_only_the_subprocess(
    tmp_path: Path, limits: Limits
) -> None:
    with pytest.raises(BadImport, match="too long|more (memory|room) than an import may"):
        await read_file(many(60, num_messages=2000), tmp_path, limits)
    assert os.listdir(tmp_path) == []


async def test_a_full_disk_is_not_the_fault_of_the_file(tmp_path: Path) -> None:
    with tempfile.TemporaryFile() as file, full_disk() as output:
        file.write(json.dumps(many(1)).encode())
        file.flush()
        with pytest.raises(StoreDown, match="The disk is full. Make room on it"):
            await read_in_subprocess(file, output, tmp_path, leaves_out_broken=True)


def full_disk() -> BinaryIO:
    return Path("/dev/full").open("wb")


def test_an_import_that_does_not_fit_on_the_disk_is_refused(tmp_path: Path) -> None:
    require_import_space(tmp_path, 0)
    with pytest.raises(StoreDown, match="MB are free, .* MB are needed"):
        require_import_space(tmp_path, 1 << 60)
