"""Encrypts what servers trust us with: tokens, keys, secrets of environments.

The key is a file beside the database, so a copy of the database alone tells nothing. Whoever can
read the whole data directory can decrypt: see docs/mcp.md.
"""

import os
import secrets
from pathlib import Path
from typing import TypeVar

import msgspec

from hitsend.errors import Unavailable

T = TypeVar("T")

NUM_KEY_BYTES = 32
NUM_NONCE_BYTES = 12


class Vault:
    def __init__(self, key: bytes) -> None:
        self._key = key

    def seal(self, value: object, purpose: str) -> bytes:
        """Only `open` with the same purpose, such as the id of the row, reads it again."""
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        nonce = secrets.token_bytes(NUM_NONCE_BYTES)
        return nonce + AESGCM(self._key).encrypt(
            nonce, msgspec.json.encode(value), purpose.encode()
        )

    def open(self, sealed: bytes, kind: type[T], purpose: str) -> T:
        """Raises Unavailable if it was sealed with another key."""
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        nonce, encrypted = sealed[:NUM_NONCE_BYTES], sealed[NUM_NONCE_BYTES:]
        try:
            plain = AESGCM(self._key).decrypt(nonce, encrypted, purpose.encode())
        except InvalidTag:
            raise Unavailable(
                "What is stored of this server cannot be decrypted: the file mcp.key is not the "
                "one it was encrypted with. Enter its key or sign in again."
            ) from None
        return msgspec.json.decode(plain, type=kind)


def open_vault(path: Path) -> Vault:
    """Creates the key file, for this user only, if it is missing."""
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(secrets.token_bytes(NUM_KEY_BYTES))
            file.flush()
            os.fsync(file.fileno())
    except FileExistsError:
        pass
    key = path.read_bytes()
    if len(key) != NUM_KEY_BYTES:
        raise Unavailable(f"{path} is damaged: it has {len(key)} bytes instead of {NUM_KEY_BYTES}.")
    return Vault(key)
