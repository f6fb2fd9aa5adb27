"""Accounts: the first one, signing in and out, signing up by invitation, one's own."""

import time
from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta
from starlette.responses import Response

from hitsend import __version__
from hitsend.credentials import (
    MAX_NAME_CHARS,
    MAX_PASSWORD_CHARS,
    clean_name,
    csrf_token,
    hash_password,
    hash_token,
    name_key,
    new_token,
    verify_password,
)
from hitsend.errors import Conflict, Refused, Unauthenticated
from hitsend.server.addresses import address_of
from hitsend.server.calls import NOTHING, Access, Call, answer, endpoint
from hitsend.server.leaving import erase_person
from hitsend.server.people import COOKIE, check_origin, set_cookie
from hitsend.store import User

DAY_S = 86_400


# Anyone may send these: they are measured before anything is done with them.
Name: TypeAlias = Annotated[str, Meta(max_length=MAX_NAME_CHARS)]
Password: TypeAlias = Annotated[str, Meta(max_length=MAX_PASSWORD_CHARS)]
Token: TypeAlias = Annotated[str, Meta(max_length=64)]


class Credentials(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: Name
    password: Password


class NewName(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: Name


class NewPassword(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    current: Password
    new: Password


class Farewell(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    password: Password


class SignUp(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    invite: Token
    name: Name
    password: Password


@endpoint("GET", "/backend-api/accounts/check", Access.ANYONE)
async def check(call: Call) -> Response:
    """Whether the first account is still to be made."""
    count = await call.house.services.store.accounts.count()
    return answer({"needs_first_account": count == 0, "version": __version__})


@endpoint("POST", "/backend-api/accounts/first", Access.ANYONE)
async def create_first(call: Call) -> Response:
    """Make the administrator's account. Exactly one call ever succeeds."""
    check_origin(call.request)
    body = await call.body(Credentials)
    accounts, name = call.house.services.store.accounts, clean_name(body.name)
    async with call.house.founding:
        if await accounts.count():
            raise Conflict("There is an account already. Sign in, or ask for an invitation.")
        user = await accounts.create_first(name, await hash_password(body.password))
    return await _signed_in(call, user, 201)


@endpoint("POST", "/backend-api/accounts/sign-in", Access.ANYONE)
async def sign_in(call: Call) -> Response:
    """Begin a session with a name and a password."""
    check_origin(call.request)
    body = await call.body(Credentials)
    who = address_of(call.request), name_key(body.name)
    await call.house.throttle.try_once(*who)
    found = await call.house.services.store.accounts.by_name(body.name)
    # An unknown name takes as long as a wrong password, so that names cannot be found out.
    if not await verify_password(body.password, found[1] if found else None) or not found:
        raise Unauthenticated("The name or the password is wrong.")
    await call.house.throttle.forgive(*who)
    return await _signed_in(call, found[0], 200)


@endpoint("POST", "/backend-api/accounts/sign-up", Access.ANYONE)
async def sign_up(call: Call) -> Response:
    """Make an account with an invitation."""
    check_origin(call.request)
    body = await call.body(SignUp)
    who = address_of(call.request)
    await call.house.throttle.try_once(who)
    accounts, name = call.house.services.store.accounts, clean_name(body.name)
    invite = hash_token(body.invite)
    await accounts.check_invite(invite)  # before the password is hashed, which is not cheap
    user = await accounts.redeem_invite(invite, name, await hash_password(body.password))
    await call.house.throttle.forgive(who)
    return await _signed_in(call, user, 201)


@endpoint("POST", "/backend-api/accounts/sign-out", Access.SESSION)
async def sign_out(call: Call) -> Response:
    """End this session."""
    session = call.person.session
    assert session is not None
    await call.house.services.store.accounts.revoke_session(session.id, call.user_id)
    return _signed_out()


@endpoint("GET", "/backend-api/me", Access.PERSON)
async def me(call: Call) -> Response:
    """Who is calling."""
    session = call.person.session
    return answer(_me(call, call.person.user, session.id if session else None))


@endpoint("PATCH", "/backend-api/me", Access.SESSION)
async def rename(call: Call) -> Response:
    """Change one's name."""
    body = await call.body(NewName)
    accounts = call.house.services.store.accounts
    return answer({"user": await accounts.rename(call.user_id, clean_name(body.name))})


@endpoint("POST", "/backend-api/me/password", Access.SESSION)
async def change_password(call: Call) -> Response:
    """Change one's password. Every other browser is signed out."""
    body, session = await call.body(NewPassword), call.person.session
    assert session is not None
    await _check_password(call, body.current, "current")
    new = await hash_password(body.new)
    await call.house.services.store.accounts.change_password(call.user_id, new, session.id)
    return Response(status_code=NOTHING)


@endpoint("DELETE", "/backend-api/me", Access.SESSION)
async def delete_account(call: Call) -> Response:
    """Delete one's account and everything in it, for good."""
    body = await call.body(Farewell)
    await _check_password(call, body.password, "password")
    await erase_person(call.house, call.user_id)
    return _signed_out()


async def _check_password(call: Call, password: str, param: str) -> None:
    """Also of someone who is signed in: it may be another who sits at their desk."""
    who = address_of(call.request), name_key(call.person.user.name)
    await call.house.throttle.try_once(*who)
    kept = await call.house.services.store.accounts.password_hash(call.user_id)
    if not await verify_password(password, kept):
        raise Refused("The password is wrong.", param=param)
    await call.house.throttle.forgive(*who)


def _signed_out() -> Response:
    response = Response(status_code=NOTHING)
    response.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return response


def _me(call: Call, user: User, session_id: str | None) -> dict[str, object]:
    token = csrf_token(call.house.csrf_secret, session_id) if session_id else None
    return {"user": user, "csrf_token": token}


async def _signed_in(call: Call, user: User, status: int) -> Response:
    token = new_token()
    session = await call.house.services.store.accounts.open_session(
        user.id,
        hash_token(token),
        user_agent=call.request.headers.get("user-agent", "")[:200],
        expires_at=time.time() + call.house.services.settings.session_days * DAY_S,
    )
    response = answer(_me(call, user, session.id), status)
    set_cookie(call.request, response, token, session.expires_at)
    return response
