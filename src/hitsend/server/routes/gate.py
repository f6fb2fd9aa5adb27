"""The proof-of-work gate: get a challenge, redeem its solution for a token, renew the token.

Paths and fields are those of ChatGPT's sentinel API. Nothing about the browser is asked.
"""

import math
import time
from typing import Annotated

import msgspec
from msgspec import Meta
from starlette.responses import Response

from hitsend.errors import TokenInvalid
from hitsend.server.auth.signed_tokens import MAX_CHARS
from hitsend.server.call import Access, Call, endpoint, json_response
from hitsend.server.limits.gate import Challenge, ProofToken
from hitsend.server.limits.send_limits import gate_client, read_proof_token, record_refusals
from hitsend.wire import proof_of_work, responses

PATH = "/backend-api/sentinel"
MAX_BYTES = 8192

Token = Annotated[str, Meta(max_length=MAX_CHARS)]
Solution = Annotated[str, Meta(max_length=proof_of_work.MAX_CHARS)]


class Prepare(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    p: Solution = ""
    """Others ask for a proof with a seed of the client's choice. Here it is ignored."""


class Request(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    prepare_token: Token
    flow: Annotated[str, Meta(max_length=32)] = "conversation"


class Finalize(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    prepare_token: Token
    proofofwork: Solution | None = None


@endpoint("POST", f"{PATH}/chat-requirements/prepare", Access.CHAT)
async def issue_challenge(call: Call) -> Response:
    """Get a proof-of-work challenge, and whether one is needed now."""
    await call.read_body(Prepare, MAX_BYTES)
    return _challenge_response(call, *call.app.gate.issue_challenge(gate_client(call)))


@endpoint("POST", f"{PATH}/req", Access.CHAT)
async def exchange_challenge(call: Call) -> Response:
    """Exchange a challenge whose seed has expired or was used."""
    body = await call.read_body(Request, MAX_BYTES)
    with record_refusals(call.app, call.identity):
        return _challenge_response(
            call, *call.app.gate.exchange(gate_client(call), body.prepare_token)
        )


@endpoint("POST", f"{PATH}/chat-requirements/finalize", Access.CHAT)
async def redeem_challenge(call: Call) -> Response:
    """Redeem a solved challenge for the token to send with."""
    body = await call.read_body(Finalize, MAX_BYTES)
    gate, solution = call.app.gate, body.proofofwork or ""
    with record_refusals(call.app, call.identity):
        return _token_response(call, *gate.redeem(gate_client(call), body.prepare_token, solution))


@endpoint("POST", f"{PATH}/ping", Access.CHAT)
async def renew_token(call: Call) -> Response:
    """Renew the token to send with."""
    with record_refusals(call.app, call.identity):
        if (token := read_proof_token(call.request.headers)) is None:
            raise TokenInvalid("There is no token to renew.")
        return _token_response(call, *call.app.gate.renew(gate_client(call), token))


def _challenge_response(call: Call, token: str, challenge: Challenge) -> Response:
    work = responses.ProofOfWork(challenge.bits > 0, challenge.seed, challenge.difficulty)
    return json_response(
        responses.ChatRequirements(
            persona=call.identity.user.role,
            prepare_token=token,
            proofofwork=work,
            expire_after=_seconds_until(challenge.seed_until),
        )
    )


def _token_response(call: Call, token: str, proof: ProofToken) -> Response:
    return json_response(
        responses.ProofToken(
            persona=call.identity.user.role,
            token=token,
            expire_after=_seconds_until(proof.expires_at),
            expire_at=math.floor(proof.expires_at),
        )
    )


def _seconds_until(moment: float) -> int:
    return round(moment - time.time())
