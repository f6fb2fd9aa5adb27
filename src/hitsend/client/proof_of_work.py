"""Proof of work that a server may require before a Send. It is not required with an API key."""

import asyncio
import secrets

from hitsend.client.connection import Connection
from hitsend.errors import Refused
from hitsend.wire import responses
from hitsend.wire.proof_of_work import num_expected_hashes, solve

PATH = "/backend-api/sentinel/chat-requirements"
MAX_HASHES = 2.0**26
"""About a minute of work. Servers require at most a quarter of it."""


class ProofOfWork:
    """Keeps the token and sends it until it expires."""

    def __init__(self) -> None:
        self._device = {"oai-device-id": secrets.token_hex(16)}
        self._headers: dict[str, str] = {}

    @property
    def headers(self) -> dict[str, str]:
        return self._headers

    async def solve(self, connection: Connection) -> None:
        requirements = await connection.post(
            responses.ChatRequirements, f"{PATH}/prepare", {}, self._device
        )
        solution = {"prepare_token": requirements.prepare_token}
        if requirements.proofofwork.required:
            solution["proofofwork"] = await _solve(requirements.proofofwork)
        earned = await connection.post(
            responses.ProofToken, f"{PATH}/finalize", solution, self._device
        )
        self._headers = self._device | {"hitsend-sentinel-token": earned.token}


async def _solve(work: responses.ProofOfWork) -> str:
    try:
        is_too_much = num_expected_hashes(work.difficulty) > MAX_HASHES
    except ValueError:
        is_too_much = True
    if is_too_much:
        raise Refused("The server asks for too much proof of work.")
    return await asyncio.to_thread(solve, work.seed, work.difficulty, secrets.token_hex(4))
