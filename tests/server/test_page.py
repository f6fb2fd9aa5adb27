"""The files of the page, and compression."""

import gzip
import json
from pathlib import Path

import httpx2
import pytest
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from tests.server.world import World

from hitsend.server.edge.compression import accepts_gzip
from hitsend.server.edge.static_files import file_response

PLAIN = b"console.log('hello');" * 50


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "app-1f2e.js"
    path.write_bytes(PLAIN)
    path.with_name(path.name + ".gz").write_bytes(gzip.compress(PLAIN))
    return path


def build_request(**headers: str) -> Request:
    raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return Request({"type": "http", "method": "GET", "path": "/", "headers": raw})


def answer(path: Path, **headers: str) -> Response:
    found = file_response(build_request(**headers), path, "no-cache")
    assert found is not None
    return found


def test_a_browser_that_accepts_gzip_gets_the_gzipped_file(script: Path) -> None:
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


def test_without_a_gzipped_file_the_plain_one_is_sent(script: Path) -> None:
    script.with_name(script.name + ".gz").unlink()
    found = answer(script, accept_encoding="gzip")
    assert "content-encoding" not in found.headers


def test_a_cached_file_is_answered_with_304(script: Path) -> None:
    etag = answer(script, accept_encoding="gzip").headers["etag"]
    again = answer(script, accept_encoding="gzip", if_none_match=f'"other", W/{etag}')
    assert (again.status_code, again.body) == (304, b"")
    assert again.headers["etag"] == etag
    assert answer(script, if_none_match='"other"').status_code == 200


@pytest.mark.parametrize("name", ["missing.js", "x" * 300, "nul\0byte", "."])
def test_a_missing_file_is_not_found(tmp_path: Path, name: str) -> None:
    assert file_response(build_request(), tmp_path / name, "no-cache") is None


def test_a_manifest_has_its_media_type(tmp_path: Path) -> None:
    (tmp_path / "manifest.webmanifest").write_text("{}")
    found = answer(tmp_path / "manifest.webmanifest")
    assert found.headers["content-type"] == "application/manifest+json"


@pytest.mark.parametrize(
    ("offered", "takes"),
    [("gzip", True), ("br;q=1.0, GZIP;q=0.5", True), ("*", True), ("", False), ("br", False),
     ("gzip;q=0", False), ("gzip; q=0.000", False), ("identity", False),
     ("*;q=0, gzip", True), ("gzip;q=0, *", False), ("*;q=0", False)],
)  # fmt: skip
def test_accept_encoding_decides_about_gzip(offered: str, takes: bool) -> None:
    assert accepts_gzip(build_request(accept_encoding=offered)) is takes


@pytest.mark.parametrize(
    "path",
    ["/assets/none.js", "/assets/..%2f..%2fapp.py", "/icons/none.png", f"/assets/{'x' * 300}"],
)
async def test_no_file_outside_the_static_folder_is_served(world: World, path: str) -> None:
    browser = await world.browser()
    assert (await browser.get(path)).status_code == 404


async def test_a_large_response_is_compressed_if_the_client_accepts_that(world: World) -> None:
    ada = await world.someone("ada")
    stream = await ada.send("!script\n" + "Many words. " * 2500)
    path = f"/backend-api/conversation/{stream.conversation_id}"
    sizes = {}
    for encoding in ("gzip", "identity"):
        async with ada.http.stream("GET", path, headers={"accept-encoding": encoding}) as response:
            raw = b"".join([chunk async for chunk in response.aiter_raw()])
        sizes[encoding] = len(raw)
        assert response.headers["vary"] == "accept-encoding"
        assert int(response.headers["content-length"]) == len(raw)
        whole = gzip.decompress(raw) if encoding == "gzip" else raw
        assert json.loads(whole)["conversation_id"] == stream.conversation_id
    assert sizes["gzip"] * 5 < sizes["identity"]


async def test_small_responses_and_streams_are_not_compressed(world: World) -> None:
    ada = await world.someone("ada")
    ada.http.headers["accept-encoding"] = "gzip"
    me: httpx2.Response = await ada.http.get("/backend-api/me")
    stream = await ada.send("!script\n" + "Many words. " * 2500)
    for headers in (me.headers, stream.headers):
        assert headers.get("content-encoding", "identity") == "identity"
