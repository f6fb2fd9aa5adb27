"""Verified weights on this machine, and their receipts.

A receipt is valid while the file has the size and modification time it had when it was verified,
so a start does not hash a gigabyte again.
"""

import hashlib
from pathlib import Path

import msgspec

from hitsend.engine.models.gguf import read_header
from hitsend.engine.models.partial_file import sha256_of, translate_disk_errors, write_atomically

DEFAULT_WINDOW_TOKENS = 4096
"""Used if the file does not contain the size of the window."""


class Weights(msgspec.Struct, frozen=True):
    """A model's file, verified and ready to load. `name` is what people type."""

    name: str
    title: str
    path: Path
    sha256: str
    num_bytes: int
    quantisation: str | None
    num_window_tokens: int
    can_call_tools: bool


def inspect_weights(path: Path, name: str) -> Weights:
    """Reads the header and the checksum. Raises ModelBroken. Blocks: use a thread."""
    header = read_header(path)
    with translate_disk_errors(path):
        return Weights(
            name=name,
            title=header.title or name,
            path=path,
            sha256=sha256_of(path),
            num_bytes=path.stat().st_size,
            quantisation=header.quantisation,
            num_window_tokens=header.num_window_tokens or DEFAULT_WINDOW_TOKENS,
            can_call_tools=header.can_call_tools,
        )


class Receipt(msgspec.Struct, frozen=True):
    weights: Weights
    modified_ns: int


class Receipts:
    """One small file in the models folder for each verified weights file."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def all(self) -> list[Weights]:
        receipts = sorted(self._directory.glob("*.receipt"))
        return [weights for receipt in receipts if (weights := self._read(receipt))]

    def find(self, path: Path) -> Weights | None:
        return self._read(self._receipt_path(path))

    def write(self, weights: Weights) -> Weights:
        path = weights.path
        # Files beside the receipt are stored by name, so that the folder can be moved.
        stored = Path(path.name) if path.parent == self._directory else path
        receipt = Receipt(msgspec.structs.replace(weights, path=stored), path.stat().st_mtime_ns)
        with translate_disk_errors(path):
            self._directory.mkdir(parents=True, exist_ok=True)
            write_atomically(self._receipt_path(path), msgspec.json.encode(receipt, enc_hook=str))
        return weights

    def remove(self, path: Path) -> bool:
        """Returns whether there was one."""
        receipt = self._receipt_path(path)
        found = receipt.exists()
        receipt.unlink(missing_ok=True)
        return found

    def _read(self, receipt: Path) -> Weights | None:
        try:
            found = msgspec.json.decode(receipt.read_bytes(), type=Receipt, dec_hook=_path)
            path = self._directory / found.weights.path
            stat = path.stat()
        except (OSError, msgspec.DecodeError):
            return None  # no valid receipt: the file is verified again
        if (stat.st_size, stat.st_mtime_ns) != (found.weights.num_bytes, found.modified_ns):
            return None
        return msgspec.structs.replace(found.weights, path=path)

    def _receipt_path(self, path: Path) -> Path:
        if path.parent == self._directory:
            return self._directory / f"{path.name}.receipt"
        place = hashlib.sha256(bytes(path.parent)).hexdigest()[:8]
        return self._directory / f"{path.name}.{place}.receipt"


def _path(kind: type, value: object) -> object:
    if kind is Path and isinstance(value, str):
        return Path(value)
    raise NotImplementedError(kind)
