"""Downloads weights from a model hub over HTTP, and resumes interrupted downloads.

A hub is any server with the path `/{owner}/{repository}/resolve/main/{file}`; the setting
`hub_url` chooses it. The hub may send the file's sha256, which the catalogue verifies.
"""

import asyncio
import re
from collections.abc import Callable, Iterator
from urllib.parse import quote

import httpx2
import msgspec

from hitsend.engine.models.partial_file import (
    Checkpoint,
    PartialFile,
    ReportProgress,
    require_space,
)
from hitsend.errors import ModelBroken, UnknownModel

CHECKPOINT_BYTES = 16 * 2**20
TIMEOUT_S = 30.0
BACKOFF_S = (0.0, 1.0, 2.0, 4.0, 8.0)
"""Delays between attempts of a download that has begun. One that never began fails at once."""

HUB_NAME = re.compile(r"([\w.-]+)/([\w.-]+)[/:]((?:[\w.+-]+/)*[\w.+-]+\.gguf)", re.ASCII)
SHA256 = re.compile(r'"?([0-9a-f]{64})"?')
CONTENT_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+)")


class HubName(msgspec.Struct, frozen=True):
    owner: str
    repository: str
    file: str

    def __str__(self) -> str:
        return f"{self.owner}/{self.repository}/{self.file}"

    @property
    def file_name(self) -> str:
        """A name without folders."""
        return str(self).replace("/", "--")

    def url(self, hub_url: str) -> str:
        path = f"{self.owner}/{self.repository}/resolve/main/{self.file}"
        return f"{hub_url.rstrip('/')}/{quote(path)}"


def parse_hub_name(name: str) -> HubName | None:
    """Parses `owner/repository/file.gguf` or `owner/repository:file.gguf`."""
    found = HUB_NAME.fullmatch(name)
    if found is None or any(set(part) == {"."} for part in re.split("[/:]", name)):
        return None
    return HubName(*found.groups())


class RemoteFile(msgspec.Struct, frozen=True):
    """The response headers of a file."""

    num_bytes: int
    sha256: str | None
    etag: str | None


async def fill_from_hub(partial: PartialFile, url: str, report: ReportProgress) -> RemoteFile:
    """Resumes after a lost connection, with backoff while no data arrives."""
    async with httpx2.AsyncClient(follow_redirects=True, timeout=TIMEOUT_S) as client:
        delays: Iterator[float] = iter(())
        while True:
            before = partial.num_bytes
            try:
                return await _fetch(client, partial, url, report)
            except httpx2.TransportError as error:
                if partial.num_bytes > before:
                    delays = iter(BACKOFF_S)
                delay_s = next(delays, None)
                if delay_s is None:
                    raise ModelBroken(_describe_failure(url, error)) from error
                await asyncio.sleep(delay_s)
            except httpx2.HTTPError as error:
                raise ModelBroken(_describe_failure(url, error)) from error


async def _fetch(
    client: httpx2.AsyncClient, partial: PartialFile, url: str, report: ReportProgress
) -> RemoteFile:
    checkpoint = partial.checkpoint(url)
    async with client.stream("GET", url, headers=_range_headers(checkpoint)) as response:
        start = _start_offset(response, checkpoint, url)
        remote = _parse_headers(response)
        checkpoint = Checkpoint(url, start, etag=remote.etag)
        partial.truncate(checkpoint)
        require_space(partial.path.parent, remote.num_bytes - start)
        report(start, remote.num_bytes)
        if start < remote.num_bytes:
            await _append(
                response, partial, checkpoint, lambda done: report(done, remote.num_bytes)
            )
    if partial.num_bytes != remote.num_bytes:
        raise ModelBroken(
            f"{partial.final_path.name} arrived with {partial.num_bytes:,} of {remote.num_bytes:,} "
            "bytes. Pull it again."
        )
    return remote


def _range_headers(checkpoint: Checkpoint) -> dict[str, str]:
    headers = {"Accept-Encoding": "identity"}
    if checkpoint.num_bytes and checkpoint.etag:
        # If-Range: the hub sends the whole file if it has changed.
        headers |= {"Range": f"bytes={checkpoint.num_bytes}-", "If-Range": checkpoint.etag}
    return headers


def _start_offset(response: httpx2.Response, checkpoint: Checkpoint, url: str) -> int:
    """Returns where in the file the response begins: at the checkpoint, or at 0."""
    content_range = response.headers.get("content-range", "")
    if response.status_code == 200:
        return 0
    if response.status_code == 206:
        found = CONTENT_RANGE.fullmatch(content_range)
        if found and int(found[1]) == checkpoint.num_bytes:
            return checkpoint.num_bytes
        raise ModelBroken(f"{url} answered with another range than was asked for.")
    if response.status_code == 416 and content_range == f"bytes */{checkpoint.num_bytes}":
        return checkpoint.num_bytes
    if response.status_code == 404:
        raise UnknownModel(f"There is no {url}.")
    if response.status_code in (401, 403):
        raise ModelBroken(f"{url} is private: the hub answered {response.status_code}.")
    raise ModelBroken(f"The hub answered {response.status_code} for {url}. Try again later.")


def _parse_headers(response: httpx2.Response) -> RemoteFile:
    headers = response.headers
    total = re.fullmatch(r"bytes .*/(\d+)", headers.get("content-range", ""))
    num_bytes = total[1] if total else headers.get("content-length")
    if num_bytes is None:
        raise ModelBroken(f"{response.url} does not say how long it is.")
    etag = headers.get("etag", "")
    return RemoteFile(int(num_bytes), _sha256(response), etag if etag.startswith('"') else None)


def _sha256(response: httpx2.Response) -> str | None:
    """Hubs send it with the redirect to their storage, or use it as the ETag."""
    for one in (*response.history, response):
        for header in ("x-linked-etag", "etag"):
            if found := SHA256.fullmatch(one.headers.get(header, "")):
                return found[1]
    return None


async def _append(
    response: httpx2.Response,
    partial: PartialFile,
    checkpoint: Checkpoint,
    report: Callable[[int], None],
) -> None:
    file = await asyncio.to_thread(partial.path.open, "ab")
    try:
        async for piece in response.aiter_raw():
            await asyncio.to_thread(file.write, piece)
            if file.tell() - checkpoint.num_bytes >= CHECKPOINT_BYTES:
                await asyncio.to_thread(file.flush)
                checkpoint = msgspec.structs.replace(checkpoint, num_bytes=file.tell())
                partial.save(checkpoint)
            report(file.tell())
    finally:
        await asyncio.to_thread(file.close)
        partial.save(msgspec.structs.replace(checkpoint, num_bytes=partial.num_bytes))


def _describe_failure(url: str, error: httpx2.HTTPError) -> str:
    return (
        f"{url} could not be fetched: {error or type(error).__name__}. Check the network, then "
        "pull again; what has arrived is kept."
    )
