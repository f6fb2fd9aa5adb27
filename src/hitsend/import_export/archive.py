"""Splits an uploaded file, JSON or a zip with JSON, into conversations.

The file is not trusted: its stated sizes and file names are ignored, and one conversation is
parsed at a time.
"""

import lzma
import mmap
import re
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from hitsend.errors import BadImport
from hitsend.import_export.disk import DISK_ERRNOS

MAX_CONVERSATION_BYTES = 1 << 26
MAX_MEMBERS = 100_000
CHUNK = 1 << 20
ENCRYPTED = 0x1

DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,
    RuntimeError,
    NotImplementedError,
)
"""Raised by zipfile and its decompressors for damaged archives."""

CONVERSATIONS = re.compile(r"(?:.*/)?conversations(?:-\d+)?\.json")
"""ChatGPT splits large exports into several files."""

NEXT_BRACKET = re.compile(
    rb"""[^][{}"]*+(?:"[^"\\]*+(?:\\.[^"\\]*+)*+"[^][{}"]*+)*+([][{}"])""", re.DOTALL
)
"""Matches the next bracket outside of strings, or the opening quote of an unterminated string."""
BETWEEN = re.compile(rb"\s*(?:,\s*)?")
BOM = b"\xef\xbb\xbf"

NEITHER = "This is neither a zip file nor JSON. Choose the file as it was exported."
CUT_OFF = "The file is cut off: its end is missing. Fetch it again."


def split_conversations(file: BinaryIO, folder: Path, most_bytes: int) -> Iterator[bytes]:
    """Yields the JSON of each conversation. Zip members are unpacked in `folder`."""
    if not zipfile.is_zipfile(file):
        file.seek(0)
        if file.read(4) == b"PK\x03\x04":
            raise BadImport(CUT_OFF)
        with _map_file(file, most_bytes) as text:
            yield from split_elements(text)
        return
    with _open_zip(file) as archive:
        for unpacked in _unpack(archive, folder, most_bytes):
            with _map_file(unpacked, most_bytes) as text:
                yield from split_elements(text)


def _open_zip(file: BinaryIO) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(file)
    except DAMAGED as error:
        raise _damage_error(error) from None


def _unpack(archive: zipfile.ZipFile, folder: Path, most_bytes: int) -> Iterator[BinaryIO]:
    num_bytes = 0
    for member in _members(archive):
        with tempfile.TemporaryFile(dir=folder) as unpacked:
            for chunk in _chunks(archive, member):
                num_bytes += len(chunk)
                if num_bytes > most_bytes:
                    raise BadImport(f"Unpacked it is larger than {most_bytes:,} bytes.")
                unpacked.write(chunk)
            unpacked.flush()
            yield unpacked


def _chunks(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Iterator[bytes]:
    if member.flag_bits & ENCRYPTED:
        raise BadImport("The zip file is encrypted. Unpack it and choose what is in it.")
    try:
        with archive.open(member) as packed:
            while chunk := packed.read(CHUNK):
                yield chunk
    except DAMAGED as error:
        raise _damage_error(error) from None


def _damage_error(error: Exception) -> Exception:
    if isinstance(error, OSError) and error.errno in DISK_ERRNOS:
        return error
    return BadImport(f"The zip file is damaged or of a kind that cannot be read: {error}.")


def _members(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    members = archive.infolist()[:MAX_MEMBERS]
    wanted = [member for member in members if CONVERSATIONS.fullmatch(member.filename)]
    if not wanted:
        wanted = [member for member in members if member.filename.endswith(".json")]
        if len(wanted) != 1:
            raise BadImport("There is no conversations.json in the zip file.")
    return sorted(wanted, key=lambda member: member.filename)


@contextmanager
def _map_file(file: BinaryIO, most_bytes: int) -> Iterator[mmap.mmap]:
    file.seek(0, 2)
    if file.tell() == 0:
        raise BadImport("The file is empty.")
    if file.tell() > most_bytes:
        raise BadImport(f"It is larger than {most_bytes:,} bytes.")
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
        yield text


def split_elements(text: bytes | mmap.mmap) -> Iterator[bytes]:
    """Yields the elements of a JSON array, or a single object, unparsed."""
    start = len(BOM) if text[: len(BOM)] == BOM else 0
    start = _match_end(BETWEEN, text, start)
    match text[start : start + 1]:
        case b"{":
            yield _cut_object(text, start)[0]
        case b"[":
            yield from _split_array(text, start + 1)
        case _:
            raise BadImport(NEITHER)


def _split_array(text: bytes | mmap.mmap, position: int) -> Iterator[bytes]:
    while True:
        position = _match_end(BETWEEN, text, position)
        match text[position : position + 1]:
            case b"{":
                value, position = _cut_object(text, position)
                yield value
            case b"]":
                return
            case b"":
                raise BadImport(CUT_OFF)
            case _:
                raise BadImport("Its list contains something that is not a conversation.")


def _cut_object(text: bytes | mmap.mmap, start: int) -> tuple[bytes, int]:
    """Returns the object that begins at `start`, and its end."""
    depth, end = 0, start
    while depth > 0 or end == start:
        found = NEXT_BRACKET.match(text, end)
        if found is None or found[1] == b'"':
            raise BadImport(CUT_OFF)
        depth += 1 if found[1] in b"{[" else -1
        end = found.end()
    if end - start > MAX_CONVERSATION_BYTES:
        raise BadImport(f"A conversation in it is larger than {MAX_CONVERSATION_BYTES:,} bytes.")
    return text[start:end], end


def _match_end(pattern: re.Pattern[bytes], text: bytes | mmap.mmap, position: int) -> int:
    found = pattern.match(text, position)
    return found.end() if found else position
