"""Keys this terminal made for itself, in a file only its owner can read."""

import os
from pathlib import Path

import msgspec
import platformdirs

Keys = dict[str, str]


def kept_key(database: Path, user: str) -> str | None:
    return _read().get(_name(database, user))


def keep_key(database: Path, user: str, key: str) -> None:
    keys = _read() | {_name(database, user): key}
    path = private_file("keys.json")
    fresh = private_file("keys.json.new")
    fresh.write_bytes(msgspec.json.encode(keys))
    fresh.replace(path)


def private_file(name: str) -> Path:
    """A file of this terminal's own, there and closed to others."""
    folder = Path(platformdirs.user_state_dir("hitsend"))
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / name
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    path.chmod(0o600)
    return path


def _read() -> Keys:
    try:
        return msgspec.json.decode(private_file("keys.json").read_bytes(), type=Keys)
    except msgspec.DecodeError:
        return {}  # new, or damaged: keys can be made again


def _name(database: Path, user: str) -> str:
    return f"{user} {database.absolute()}"
