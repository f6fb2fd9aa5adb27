"""Two-step sign-in: its second step, and the caller's authenticator app, passkeys and recovery
codes. Whoever changes these has given the password in the last ten minutes."""

import asyncio
import secrets
import time
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta
from starlette.responses import Response

from hitsend.credentials import MAX_NAME_CHARS, clean_name, name_key
from hitsend.errors import Refused, TokenExpired, TokenInvalid, Unauthenticated
from hitsend.server.auth import passkeys
from hitsend.server.auth.codes import (
    draw_qr_code,
    find_totp_counter,
    hash_recovery_code,
    new_recovery_codes,
    new_totp_secret,
)
from hitsend.server.auth.identify import check_origin
from hitsend.server.auth.pending_sign_ins import PendingSignIn
from hitsend.server.auth.sign_in import (
    PENDING_COOKIE,
    PENDING_PATH,
    is_second_factor_required,
    open_session,
)
from hitsend.server.auth.signed_tokens import Claims, sign, verify
from hitsend.server.call import NO_CONTENT, Access, Call, endpoint, json_response
from hitsend.server.edge.forwarded_headers import client_address
from hitsend.store import Authenticator, Passkey, Session
from hitsend.wire import responses

PATH = "/backend-api/me/second-factor"
SET_UP_S = 900

Code = Annotated[str, Meta(max_length=64)]
SetUpToken = Annotated[str, Meta(max_length=2048)]


class Proof(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A second factor. A passkey has a credential, the other methods have a code."""

    method: responses.SignInMethod
    code: Code = ""
    credential: dict[str, Any] = {}


class NewAuthenticator(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    token: SetUpToken
    code: Code


class NewPasskey(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    token: SetUpToken
    name: Annotated[str, Meta(max_length=MAX_NAME_CHARS)]
    credential: dict[str, Any]


class NewPasskeyName(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: Annotated[str, Meta(max_length=MAX_NAME_CHARS)]


class AuthenticatorClaims(Claims, frozen=True, kw_only=True):
    kind = "authenticator set-up"

    session_id: str
    secret: str


class PasskeyClaims(Claims, frozen=True, kw_only=True):
    kind = "passkey set-up"

    session_id: str
    challenge: bytes


SetUp = TypeVar("SetUp", AuthenticatorClaims, PasskeyClaims)


@endpoint("POST", "/backend-api/accounts/sign-in/second-factor", Access.ANYONE)
async def finish_sign_in(call: Call) -> Response:
    """Finish a sign-in with a code, a passkey or a recovery code."""
    check_origin(call.request)
    proof = await call.read_body(Proof)
    token, pending = call.request.cookies.get(PENDING_COOKIE, ""), call.app.pending_sign_ins
    sign_in = pending.find(token)
    address, account = client_address(call.request), name_key(sign_in.user.name)
    async with call.app.sign_in_failures.record_failures(call.actor, sign_in.user.id):
        with call.app.sign_in_throttle.begin(address, account) as attempt:
            if not await _is_right(call, sign_in, proof):
                attempt.record_failure()
                raise Unauthenticated("This is wrong, or it was used already.", param=proof.method)
            pending.finish(token)
            await _check_password_unchanged(call, sign_in)
            attempt.record_success()
    response = await open_session(call, sign_in.user, 200, "password", proof.method)
    response.delete_cookie(PENDING_COOKIE, PENDING_PATH, httponly=True, samesite="strict")
    return response


@endpoint("GET", PATH, Access.SESSION, is_for_set_up=True)
async def get_second_factor(call: Call) -> Response:
    """Get the caller's authenticator app, passkeys and number of recovery codes."""
    factors = await call.app.services.store.second_factors.get(call.user_id)
    host = passkeys.passkey_host(call.request)
    status = responses.SecondFactorStatus(
        authenticator=_authenticator_item(factors.authenticator),
        passkeys=[_passkey_item(passkey, host) for passkey in factors.passkeys],
        num_recovery_codes=factors.num_recovery_codes,
        host=host,
        is_required=_is_required(call),
    )
    return json_response(status)


@endpoint("POST", f"{PATH}/authenticator/setup", Access.CONFIRMED, is_for_set_up=True)
async def set_up_authenticator(call: Call) -> Response:
    """Make a secret for an authenticator app. It counts once a code confirms it."""
    secret = new_totp_secret()
    host = call.request.url.hostname or "localhost"
    name = call.identity.user.name
    claims = AuthenticatorClaims(
        user_id=call.user_id,
        expires_at=time.time() + SET_UP_S,
        session_id=_session(call).id,
        secret=secret,
    )
    set_up = responses.AuthenticatorSetup(
        secret=secret,
        qr_code=await asyncio.to_thread(draw_qr_code, secret, name, host),
        token=sign(call.app.secret, claims),
    )
    return json_response(set_up)


@endpoint("PUT", f"{PATH}/authenticator", Access.CONFIRMED, is_for_set_up=True)
async def set_authenticator(call: Call) -> Response:
    """Add or replace the authenticator app. The first factor comes with recovery codes."""
    body = await call.read_body(NewAuthenticator)
    claims = _verify_set_up(call, AuthenticatorClaims, body.token)
    counter = find_totp_counter(claims.secret, body.code)
    if counter is None:
        raise Refused("The code is wrong. Is the clock of your device right?", param="code")
    codes = new_recovery_codes()
    is_first = await call.app.services.store.second_factors.set_authenticator(
        call.user_id, claims.secret, counter, codes.hashes, call.actor
    )
    return json_response(responses.RecoveryCodes(codes.shown if is_first else None))


@endpoint("DELETE", f"{PATH}/authenticator", Access.CONFIRMED)
async def remove_authenticator(call: Call) -> Response:
    """Remove the authenticator app."""
    factors = call.app.services.store.second_factors
    await factors.remove_authenticator(call.user_id, call.actor, is_required=_is_required(call))
    return Response(status_code=NO_CONTENT)


@endpoint("POST", f"{PATH}/passkeys/setup", Access.CONFIRMED, is_for_set_up=True)
async def set_up_passkey(call: Call) -> Response:
    """Get what the browser needs to make a passkey."""
    host, challenge = _own_host(call), secrets.token_bytes(32)
    known = (await call.app.services.store.second_factors.get(call.user_id)).passkeys
    options = await asyncio.to_thread(
        passkeys.registration_options, call.identity.user, host, challenge, known
    )
    claims = PasskeyClaims(
        user_id=call.user_id,
        expires_at=time.time() + SET_UP_S,
        session_id=_session(call).id,
        challenge=challenge,
    )
    set_up = responses.PasskeySetup(options=options, token=sign(call.app.secret, claims))
    return json_response(set_up)


@endpoint("POST", f"{PATH}/passkeys", Access.CONFIRMED, is_for_set_up=True)
async def add_passkey(call: Call) -> Response:
    """Add a passkey. The first factor comes with recovery codes."""
    body = await call.read_body(NewPasskey, passkeys.MAX_BODY_BYTES)
    name, claims = clean_name(body.name), _verify_set_up(call, PasskeyClaims, body.token)
    passkey = await asyncio.to_thread(
        passkeys.verify_registration,
        call.request,
        _own_host(call),
        claims.challenge,
        body.credential,
    )
    codes = new_recovery_codes()
    is_first = await call.app.services.store.second_factors.add_passkey(
        call.user_id, passkey, name, codes.hashes, call.actor
    )
    return json_response(responses.RecoveryCodes(codes.shown if is_first else None), 201)


@endpoint("PATCH", f"{PATH}/passkeys/{{passkey_id}}", Access.CONFIRMED)
async def rename_passkey(call: Call) -> Response:
    """Rename a passkey."""
    name = clean_name((await call.read_body(NewPasskeyName)).name)
    passkey_id = call.path_param("passkey_id")
    await call.app.services.store.second_factors.rename_passkey(call.user_id, passkey_id, name)
    return Response(status_code=NO_CONTENT)


@endpoint("DELETE", f"{PATH}/passkeys/{{passkey_id}}", Access.CONFIRMED)
async def remove_passkey(call: Call) -> Response:
    """Remove a passkey."""
    await call.app.services.store.second_factors.remove_passkey(
        call.user_id, call.path_param("passkey_id"), call.actor, is_required=_is_required(call)
    )
    return Response(status_code=NO_CONTENT)


@endpoint("POST", f"{PATH}/recovery-codes", Access.CONFIRMED)
async def replace_recovery_codes(call: Call) -> Response:
    """Make new recovery codes. Those of before become invalid."""
    codes = new_recovery_codes()
    await call.app.services.store.second_factors.replace_recovery_codes(
        call.user_id, codes.hashes, call.actor
    )
    return json_response(responses.RecoveryCodes(codes.shown))


@endpoint("DELETE", PATH, Access.CONFIRMED)
async def turn_off_second_factor(call: Call) -> Response:
    """Turn two-step sign-in off: remove the app, all passkeys and recovery codes."""
    factors = call.app.services.store.second_factors
    await factors.turn_off(call.user_id, call.actor, is_required=_is_required(call))
    return Response(status_code=NO_CONTENT)


async def _is_right(call: Call, sign_in: PendingSignIn, proof: Proof) -> bool:
    """Uses up what it accepts: a code is right once."""
    factors, user_id = call.app.services.store.second_factors, sign_in.user.id
    match proof.method:
        case "authenticator":
            secret = await factors.authenticator_secret(user_id)
            counter = find_totp_counter(secret, proof.code) if secret else None
            if secret is None or counter is None:
                return False
            return await factors.use_code(user_id, secret, counter)
        case "recovery_code":
            return await factors.use_recovery_code(
                user_id, hash_recovery_code(proof.code), call.actor
            )
        case "passkey":
            known = (await factors.get(user_id)).passkeys
            verified = await asyncio.to_thread(
                passkeys.verify_assertion,
                call.request,
                sign_in.passkey_challenge,
                proof.credential,
                known,
            )
            return verified is not None and await factors.use_passkey(user_id, *verified)


async def _check_password_unchanged(call: Call, sign_in: PendingSignIn) -> None:
    """Also ends the sign-in of an account that was disabled meanwhile."""
    current = await call.app.services.store.accounts.password_hash(sign_in.user.id)
    if current != sign_in.password_hash:
        raise TokenExpired("Your password was changed. Begin again.")


def _verify_set_up(call: Call, kind: type[SetUp], token: str) -> SetUp:
    """The token counts only in the session that asked for it."""
    claims = verify(call.app.secret, kind, token, call.user_id)
    if claims.session_id != _session(call).id:
        raise TokenInvalid("This token is not one of ours, or not for this.")
    return claims


def _own_host(call: Call) -> str:
    host = passkeys.passkey_host(call.request)
    if host is None:
        raise Refused("Passkeys need a host name: this page was opened by an IP address.")
    return host


def _authenticator_item(app: Authenticator | None) -> responses.AuthenticatorItem | None:
    if app is None:
        return None
    return responses.AuthenticatorItem(created_at=app.created_at, last_used_at=app.last_used_at)


def _passkey_item(passkey: Passkey, host: str | None) -> responses.PasskeyItem:
    return responses.PasskeyItem(
        id=passkey.id,
        name=passkey.name,
        host=passkey.host,
        works_here=passkey.host == host,
        created_at=passkey.created_at,
        last_used_at=passkey.last_used_at,
    )


def _is_required(call: Call) -> bool:
    return is_second_factor_required(call.app.services.settings, call.identity.user)


def _session(call: Call) -> Session:
    session = call.identity.session
    assert session is not None
    return session
