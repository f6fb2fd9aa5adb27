"""The work a server may ask for before it takes a message. Programs with a key are not asked."""

import asyncio
import secrets

import msgspec

from hitsend.client.connection import Connection
from hitsend.errors import Refused
from hitsend.wire.proof import num_expected_hashes, solve

PATH = "/backend-api/sentinel/chat-requirements"
MOST_HASHES = 2.0**26
"""About a minute's work. Servers of ours ask for a quarter of it at the very most."""


class Proof:
    """What was earned, and is sent along until it no longer counts."""

    def __init__(self) -> None:
        self._device = {"oai-device-id": secrets.token_hex(16)}
        self._earned: dict[str, str] = {}

    @property
    def headers(self) -> dict[str, str]:
        return self._earned

    async def earn(self, line: Connection) -> None:
        asked = await line.post(_Asked, f"{PATH}/prepare", {}, self._device)
        shown = {"prepare_token": asked.prepare_token}
        if asked.proofofwork.required:
            shown["proofofwork"] = await _solved(asked.proofofwork)
        earned = await line.post(_Earned, f"{PATH}/finalize", shown, self._device)
        self._earned = self._device | {"hitsend-sentinel-token": earned.token}


class _Work(msgspec.Struct, frozen=True):
    required: bool
    seed: str = ""
    difficulty: str = ""


class _Asked(msgspec.Struct, frozen=True):
    prepare_token: str
    proofofwork: _Work


class _Earned(msgspec.Struct, frozen=True):
    token: str


async def _solved(work: _Work) -> str:
    try:
        is_too_much = num_expected_hashes(work.difficulty) > MOST_HASHES
    except ValueError:
        is_too_much = True
    if is_too_much:
        raise Refused("The server asks for more work than a message is worth.")
    return await asyncio.to_thread(solve, work.seed, work.difficulty, secrets.token_hex(4))
