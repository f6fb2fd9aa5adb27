"""The page's files, and answers made smaller on the way."""

import gzip
import json
from pathlib import Path

import httpx2
import pytest
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from tests.server.world import World

from hitsend.server.compression import takes_gzip
from hitsend.server.files import file_answer

PLAIN = b"console.log('hello');" * 50


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "app-1f2e.js"
    path.write_bytes(PLAIN)
    path.with_name(path.name + ".gz").write_bytes(gzip.compress(PLAIN))
    return path


def asking(**headers: str) -> Request:
    raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return Request({"type": "http", "method": "GET", "path": "/", "headers": raw})


def answer(path: Path, **headers: str) -> Response:
    found = file_answer(asking(**headers), path, "no-cache")
    assert found is not None
    return found


def test_a_browser_that_takes_it_gets_the_smaller_file(script: Path) -> None:
    smaller, whole = answer(script, accept_encoding="br, gzip"), answer(script)
    assert isinstance(smaller, FileResponse)
    assert isinstance(whole, FileResponse)
    assert smaller.headers["content-encoding"] == "gzip"
    assert int(smaller.headers["content-length"]) < len(PLAIN)
    assert "content-encoding" not in whole.headers
    assert (Path(smaller.path), Path(whole.path)) == (script.with_name(script.name + ".gz"), script)
    for found in (smaller, whole):
        assert found.headers["vary"] == "accept-encoding"
        assert found.headers["content-type"].startswith("text/javascript")
    assert smaller.headers["etag"] != whole.headers["etag"]


def test_without_a_smaller_file_the_whole_one_is_sent(script: Path) -> None:
    script.with_name(script.name + ".gz").unlink()
    found = answer(script, accept_encoding="gzip")
    assert "content-encoding" not in found.headers


def test_a_browser_that_has_the_file_is_told_so(script: Path) -> None:
    etag = answer(script, accept_encoding="gzip").headers["etag"]
    again = answer(script, accept_encoding="gzip", if_none_match=f'"other", W/{etag}')
    assert (again.status_code, again.body) == (304, b"")
    assert again.headers["etag"] == etag
    assert answer(script, if_none_match='"other"').status_code == 200


@pytest.mark.parametrize("name", ["missing.js", "x" * 300, "nul\0byte", "."])
def test_what_is_no_file_is_not_found(tmp_path: Path, name: str) -> None:
    assert file_answer(asking(), tmp_path / name, "no-cache") is None


def test_a_manifest_is_called_one(tmp_path: Path) -> None:
    (tmp_path / "manifest.webmanifest").write_text("{}")
    found = answer(tmp_path / "manifest.webmanifest")
    assert found.headers["content-type"] == "application/manifest+json"


@pytest.mark.parametrize(
    ("offered", "takes"),
    [("gzip", True), ("br;q=1.0, GZIP;q=0.5", True), ("*", True), ("", False), ("br", False),
     ("gzip;q=0", False), ("gzip; q=0.000", False), ("identity", False),
     ("*;q=0, gzip", True), ("gzip;q=0, *", False), ("*;q=0", False)],
)  # fmt: skip
def test_who_takes_gzip(offered: str, takes: bool) -> None:
    assert takes_gzip(asking(accept_encoding=offered)) is takes


@pytest.mark.parametrize(
    "path",
    ["/assets/none.js", "/assets/..%2f..%2fapp.py", "/icons/none.png", f"/assets/{'x' * 300}"],
)
async def test_there_is_nothing_outside_the_pages_folder(world: World, path: str) -> None:
    browser = await world.browser()
    assert (await browser.get(path)).status_code == 404


async def test_a_long_answer_is_compressed_for_those_who_take_it(world: World) -> None:
    ada = await world.someone("ada")
    heard = await ada.send("!script\n" + "Many words. " * 2500)
    path = f"/backend-api/conversation/{heard.conversation_id}"
    sizes = {}
    for encoding in ("gzip", "identity"):
        async with ada.http.stream("GET", path, headers={"accept-encoding": encoding}) as response:
            raw = b"".join([chunk async for chunk in response.aiter_raw()])
        sizes[encoding] = len(raw)
        assert response.headers["vary"] == "accept-encoding"
        assert int(response.headers["content-length"]) == len(raw)
        whole = gzip.decompress(raw) if encoding == "gzip" else raw
        assert json.loads(whole)["conversation_id"] == heard.conversation_id
    assert sizes["gzip"] * 5 < sizes["identity"]


async def test_short_answers_and_streams_are_sent_as_they_are(world: World) -> None:
    ada = await world.someone("ada")
    ada.http.headers["accept-encoding"] = "gzip"
    me: httpx2.Response = await ada.http.get("/backend-api/me")
    heard = await ada.send("!script\n" + "Many words. " * 2500)
    for headers in (me.headers, heard.headers):
        assert headers.get("content-encoding", "identity") == "identity"
