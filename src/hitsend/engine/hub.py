"""Weights by their name on a model hub, fetched over HTTP and continued where they stopped.

A hub is any server that answers `/{owner}/{repository}/resolve/main/{file}`; which one is a
setting. The hub may say the file's sha256; whether it holds is the catalogue's to check.
"""

import asyncio
import re
from collections.abc import Callable, Iterator
from urllib.parse import quote

import httpx2
import msgspec

from hitsend.engine.download import Mark, Partial, Report, require_space
from hitsend.errors import ModelBroken, UnknownModel

KEEP_BYTES = 16 * 2**20
TIMEOUT_S = 30.0
PAUSES_S = (0.0, 1.0, 2.0, 4.0, 8.0)
"""Between tries of a download that was under way. One that never began fails at once."""

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
        """One name for a flat folder."""
        return str(self).replace("/", "--")

    def url(self, hub_url: str) -> str:
        path = f"{self.owner}/{self.repository}/resolve/main/{self.file}"
        return f"{hub_url.rstrip('/')}/{quote(path)}"


def parse_hub_name(name: str) -> HubName | None:
    """`owner/repository/file.gguf` or `owner/repository:file.gguf`."""
    found = HUB_NAME.fullmatch(name)
    if found is None or any(set(part) == {"."} for part in re.split("[/:]", name)):
        return None
    return HubName(*found.groups())


class Remote(msgspec.Struct, frozen=True):
    """What the hub says of a file."""

    num_bytes: int
    sha256: str | None
    etag: str | None


async def fill_from_hub(partial: Partial, url: str, report: Report) -> Remote:
    """Goes on after a cut line, with growing pauses as long as nothing arrives."""
    async with httpx2.AsyncClient(follow_redirects=True, timeout=TIMEOUT_S) as client:
        pauses: Iterator[float] = iter(())
        while True:
            before = partial.num_bytes
            try:
                return await _fetch(client, partial, url, report)
            except httpx2.TransportError as error:
                if partial.num_bytes > before:
                    pauses = iter(PAUSES_S)
                pause_s = next(pauses, None)
                if pause_s is None:
                    raise ModelBroken(_cut(url, error)) from error
                await asyncio.sleep(pause_s)
            except httpx2.HTTPError as error:
                raise ModelBroken(_cut(url, error)) from error


async def _fetch(client: httpx2.AsyncClient, partial: Partial, url: str, report: Report) -> Remote:
    mark = partial.mark(url)
    async with client.stream("GET", url, headers=_continuing(mark)) as response:
        start = _start(response, mark, url)
        remote = _remote(response)
        mark = Mark(url, start, etag=remote.etag)
        partial.begin_at(mark)
        require_space(partial.path.parent, remote.num_bytes - start)
        report(start, remote.num_bytes)
        if start < remote.num_bytes:
            await _append(response, partial, mark, lambda done: report(done, remote.num_bytes))
    if partial.num_bytes != remote.num_bytes:
        raise ModelBroken(
            f"{partial.whole.name} arrived with {partial.num_bytes:,} of {remote.num_bytes:,} "
            "bytes. Pull it again."
        )
    return remote


def _continuing(mark: Mark) -> dict[str, str]:
    headers = {"Accept-Encoding": "identity"}
    if mark.num_bytes and mark.etag:
        # If-Range: were the file another one by now, the hub sends it all.
        headers |= {"Range": f"bytes={mark.num_bytes}-", "If-Range": mark.etag}
    return headers


def _start(response: httpx2.Response, mark: Mark, url: str) -> int:
    """Where in the file the response begins: where we stopped, or at 0."""
    content_range = response.headers.get("content-range", "")
    if response.status_code == 200:
        return 0
    if response.status_code == 206:
        found = CONTENT_RANGE.fullmatch(content_range)
        if found and int(found[1]) == mark.num_bytes:
            return mark.num_bytes
        raise ModelBroken(f"{url} answered with another range than was asked for.")
    if response.status_code == 416 and content_range == f"bytes */{mark.num_bytes}":
        return mark.num_bytes
    if response.status_code == 404:
        raise UnknownModel(f"There is no {url}.")
    if response.status_code in (401, 403):
        raise ModelBroken(f"{url} is private: the hub answered {response.status_code}.")
    raise ModelBroken(f"The hub answered {response.status_code} for {url}. Try again later.")


def _remote(response: httpx2.Response) -> Remote:
    headers = response.headers
    whole = re.fullmatch(r"bytes .*/(\d+)", headers.get("content-range", ""))
    num_bytes = whole[1] if whole else headers.get("content-length")
    if num_bytes is None:
        raise ModelBroken(f"{response.url} does not say how long it is.")
    etag = headers.get("etag", "")
    return Remote(int(num_bytes), _sha256(response), etag if etag.startswith('"') else None)


def _sha256(response: httpx2.Response) -> str | None:
    """Hubs name it in the redirect to their storage, or use it as the entity tag."""
    for answer in (*response.history, response):
        for header in ("x-linked-etag", "etag"):
            if found := SHA256.fullmatch(answer.headers.get(header, "")):
                return found[1]
    return None


async def _append(
    response: httpx2.Response, partial: Partial, mark: Mark, report: Callable[[int], None]
) -> None:
    file = await asyncio.to_thread(partial.path.open, "ab")
    try:
        async for piece in response.aiter_raw():
            await asyncio.to_thread(file.write, piece)
            if file.tell() - mark.num_bytes >= KEEP_BYTES:
                await asyncio.to_thread(file.flush)
                mark = msgspec.structs.replace(mark, num_bytes=file.tell())
                partial.keep(mark)
            report(file.tell())
    finally:
        await asyncio.to_thread(file.close)
        partial.keep(msgspec.structs.replace(mark, num_bytes=partial.num_bytes))


def _cut(url: str, error: httpx2.HTTPError) -> str:
    return (
        f"{url} could not be fetched: {error or type(error).__name__}. Check the network, then "
        "pull again; what has arrived is kept."
    )
