"""The verbs of the Makefile, and the rules by which the page is built again."""

import gzip
import os
import subprocess
from pathlib import Path

import pytest
from scripts import build_web

ROOT = Path(__file__).parents[3]


def make(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", "--no-print-directory", *words],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )


def test_make_alone_explains_every_verb() -> None:
    explained = make().stdout
    for verb in ("run", "test", "check", "bench", "generate", "lock", "clean"):
        assert f"make {verb} " in explained


def test_without_a_python_that_is_new_enough_make_says_so() -> None:
    ran = make("run", "PYTHON=")
    assert ran.returncode != 0
    assert "Python 3.11 or later" in ran.stderr


def test_ci_runs_everything() -> None:
    assert os.access(ROOT / ".ci/run", os.X_OK)
    assert "make test" in (ROOT / ".ci/run").read_text()


@pytest.mark.parametrize(
    ("major", "minor", "is_fine"),
    [(18, 99, False), (20, 18, False), (20, 19, True), (21, 9, False), (22, 11, False),
     (22, 12, True), (24, 0, True)],
)  # fmt: skip
def test_only_a_node_the_build_tools_run_on_is_used(major: int, minor: int, is_fine: bool) -> None:
    assert build_web.is_new_enough(major, minor) is is_fine


def test_the_node_of_the_lock_is_the_one_a_wheel_is_built_with() -> None:
    assert (ROOT / "requirements/node.lock").read_text().startswith(build_web.NODE_PACKAGE)


def test_the_page_is_built_again_when_a_source_changes_and_only_then(tmp_path: Path) -> None:
    source = tmp_path / "web/src/main.ts"
    page = tmp_path / "src/hitsend/server/static/index.html"
    for path in (source, page, tmp_path / "web/node_modules/x.js"):
        path.parent.mkdir(parents=True)
        path.write_text("1")
    assert not build_web.is_built(tmp_path)
    key = build_web.digest(build_web.sources(tmp_path / "web"))
    build_web.write_stamp(tmp_path / ".cache/stamps/web", key)
    assert build_web.is_built(tmp_path)
    source.touch()
    (tmp_path / "web/node_modules/x.js").write_text("2")
    assert build_web.is_built(tmp_path)
    source.write_text("2")
    assert not build_web.is_built(tmp_path)
    source.write_text("1")
    page.unlink()
    assert not build_web.is_built(tmp_path)


def test_the_build_adds_gzipped_copies(tmp_path: Path) -> None:
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text("<p>Hello</p>" * 100)
    (tmp_path / "assets/tiny.js").write_text("1")
    build_web.compress(tmp_path)
    build_web.compress(tmp_path)
    found = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert found == {"index.html", "index.html.gz", "assets/tiny.js"}
    assert gzip.decompress((tmp_path / "index.html.gz").read_bytes()).startswith(b"<p>Hello")
