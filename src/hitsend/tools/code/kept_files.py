"""The files that a program writes and the person sees: how many, how large, and of which type."""

from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from hitsend.tools.code.sandbox import cut
from hitsend.tools.hosted_tool import ToolFile

MAX_FILES, MAX_FILES_BYTES = 8, 8 * 2**20
MAX_NAME_CHARS = 100
UNKNOWN = "application/octet-stream"
MEDIA_TYPES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".svg": "image/svg+xml",
    ".csv": "text/csv",
    ".tsv": "text/tab-separated-values",
    ".txt": "text/plain",
    ".md": "text/markdown",
    ".json": "application/json",
    ".html": "text/html",
    ".pdf": "application/pdf",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".zip": "application/zip",
}


def make_file(path: str, content: bytes) -> ToolFile:
    name = cut(PurePosixPath(path).name or "file", MAX_NAME_CHARS)
    return ToolFile(name, MEDIA_TYPES.get(PurePosixPath(name).suffix.lower(), UNKNOWN), content)


def pick_kept(files: Iterable[ToolFile]) -> Sequence[ToolFile]:
    """Returns those that fit, in their order."""
    kept: list[ToolFile] = []
    num_bytes_left = MAX_FILES_BYTES
    for file in files:
        if len(kept) < MAX_FILES and len(file.content) <= num_bytes_left:
            kept.append(file)
            num_bytes_left -= len(file.content)
    return kept
