"""The way through the gate: ask what work there is, show it, and keep what it earned alive.

Every answer has the public shape of such a gate, though nothing is asked about the browser.
"""

import math
import time
from typing import Annotated

import msgspec
from msgspec import Meta
from starlette.responses import Response

from hitsend.errors import PassInvalid
from hitsend.server.admission import blaming, holder_of, token_of
from hitsend.server.calls import Access, Call, answer, endpoint
from hitsend.server.passes import MAX_CHARS
from hitsend.server.proofs import Challenge, Earned
from hitsend.wire import proof

PATH = "/backend-api/sentinel"
MAX_BYTES = 8192

Token = Annotated[str, Meta(max_length=MAX_CHARS)]
Answer = Annotated[str, Meta(max_length=proof.MAX_CHARS)]


class Prepare(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    p: Answer = ""
    """A proof against a seed of one's own choosing, as others ask for. It earns nothing here."""


class Request(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    prepare_token: Token
    flow: Annotated[str, Meta(max_length=32)] = "conversation"


class Finalize(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    prepare_token: Token
    proofofwork: Answer | None = None


@endpoint("POST", f"{PATH}/chat-requirements/prepare", Access.PERSON)
async def prepare(call: Call) -> Response:
    """Ask which work a message takes now, if any."""
    await call.body(Prepare, MAX_BYTES)
    return _asked(call, *call.house.gate.challenge(holder_of(call)))


@endpoint("POST", f"{PATH}/req", Access.PERSON)
async def request(call: Call) -> Response:
    """Get a fresh seed for one that has expired or was used."""
    body = await call.body(Request, MAX_BYTES)
    with blaming(call.house, call.person):
        return _asked(call, *call.house.gate.exchange(holder_of(call), body.prepare_token))


@endpoint("POST", f"{PATH}/chat-requirements/finalize", Access.PERSON)
async def finalize(call: Call) -> Response:
    """Show the work, and get the token to send with."""
    body = await call.body(Finalize, MAX_BYTES)
    gate, shown = call.house.gate, body.proofofwork or ""
    with blaming(call.house, call.person):
        return _earned(call, *gate.redeem(holder_of(call), body.prepare_token, shown))


@endpoint("POST", f"{PATH}/ping", Access.PERSON)
async def ping(call: Call) -> Response:
    """Exchange the token to send with for one that holds longer."""
    with blaming(call.house, call.person):
        if (token := token_of(call)) is None:
            raise PassInvalid("There is no token to renew.")
        return _earned(call, *call.house.gate.renew(holder_of(call), token))


def _asked(call: Call, token: str, challenge: Challenge) -> Response:
    return answer(
        {
            "persona": call.person.user.role,
            "prepare_token": token,
            "turnstile": {"required": False},
            "proofofwork": {
                "required": challenge.bits > 0,
                "seed": challenge.seed,
                "difficulty": challenge.difficulty,
            },
            "expire_after": _seconds_until(challenge.seed_until),
        }
    )


def _earned(call: Call, token: str, earned: Earned) -> Response:
    return answer(
        {
            "persona": call.person.user.role,
            "token": token,
            "expire_after": _seconds_until(earned.expires_at),
            "expire_at": math.floor(earned.expires_at),
        }
    )


def _seconds_until(moment: float) -> int:
    return round(moment - time.time())
