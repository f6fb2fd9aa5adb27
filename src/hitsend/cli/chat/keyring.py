"""API keys that this terminal created, in a file only its owner can read."""

import os
from pathlib import Path

import msgspec
import platformdirs

Keys = dict[str, str]


def load_key(database: Path, user: str) -> str | None:
    return _load_keys().get(_key_name(database, user))


def save_key(database: Path, user: str, key: str) -> None:
    keys = _load_keys() | {_key_name(database, user): key}
    path = private_file("keys.json")
    fresh = private_file("keys.json.new")
    fresh.write_bytes(msgspec.json.encode(keys))
    fresh.replace(path)


def private_file(name: str) -> Path:
    """Returns a file of the terminal chat; creates it, unreadable to others."""
    folder = Path(platformdirs.user_state_dir("hitsend"))
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / name
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    path.chmod(0o600)
    return path


def _load_keys() -> Keys:
    try:
        return msgspec.json.decode(private_file("keys.json").read_bytes(), type=Keys)
    except msgspec.DecodeError:
        return {}  # new or damaged: keys can be created again


def _key_name(database: Path, user: str) -> str:
    return f"{user} {database.absolute()}"
