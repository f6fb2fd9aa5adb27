"""Finds what on this machine weakens the protection of people's data: running as root, and files
that other users may read."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from hitsend.settings import Settings

OTHERS = stat.S_IRWXG | stat.S_IRWXO
PRIVATE_UMASK = 0o077

ROOT = (
    "hitsend runs as root: a fault in it, or in a library, would have all of this machine. Run it "
    "as a user of its own. See docs/hosting.md."
)


def find_local_risks(settings: Settings) -> list[str]:
    return [*_find_root(), *_find_readable_data(settings), *_find_readable_key(settings.tls_key)]


def _find_root() -> Iterator[str]:
    if os.geteuid() == 0:
        yield ROOT


def _find_readable_data(settings: Settings) -> Iterator[str]:
    """Skips files in a directory that only its owner may enter: nobody else can read them."""
    folder = settings.data_dir
    if not (folder.is_dir() and _mode(folder) & OTHERS and os.access(folder, os.R_OK | os.X_OK)):
        return
    yield f"Other users of this machine may look into {folder}. Run: chmod 700 {folder}"
    for path in sorted(folder.iterdir()):
        if path.is_file() and _mode(path) & OTHERS:
            yield f"Other users of this machine may read {path}. Run: chmod 600 {path}"


def _find_readable_key(path: Path | None) -> Iterator[str]:
    """A group may share a key: it is how distributions give servers access to theirs."""
    if path is not None and _mode(path) & stat.S_IRWXO:
        yield f"Any user of this machine may read the TLS key {path}. Run: chmod o= {path}"


def _mode(path: Path) -> int:
    return path.stat().st_mode if path.exists() else 0
