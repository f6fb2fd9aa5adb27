"""Accounts: creating the first one, signing in, up and out, and changing one's own."""

from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta
from starlette.responses import Response

from hitsend import __version__
from hitsend.credentials import (
    MAX_NAME_CHARS,
    MAX_PASSWORD_CHARS,
    clean_name,
    hash_password,
    hash_token,
    name_key,
    verify_password,
)
from hitsend.errors import Conflict, Refused, Unauthenticated
from hitsend.server.auth.first_account import check_setup_token, needs_setup_token
from hitsend.server.auth.identify import check_origin
from hitsend.server.auth.pending_sign_ins import PendingSignIn
from hitsend.server.auth.session_cookie import COOKIE
from hitsend.server.auth.sign_in import ask_for_second_factor, describe_me, open_session
from hitsend.server.call import NO_CONTENT, Access, Call, endpoint, json_response
from hitsend.server.data.erase import erase_account
from hitsend.server.edge.forwarded_headers import client_address
from hitsend.wire import responses

# Anyone may send these, so their lengths are checked before anything else.
Name: TypeAlias = Annotated[str, Meta(max_length=MAX_NAME_CHARS)]
Password: TypeAlias = Annotated[str, Meta(max_length=MAX_PASSWORD_CHARS)]
Token: TypeAlias = Annotated[str, Meta(max_length=64)]


class Credentials(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: Name
    password: Password


class FirstAccount(Credentials, frozen=True, forbid_unknown_fields=True):
    setup_token: Token = ""


class NewName(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: Name


class NewPassword(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    current: Password
    new: Password
    revokes_keys: bool = False


class ConfirmedPassword(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    password: Password


class SignUp(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    invite: Token
    name: Name
    password: Password


@endpoint("GET", "/backend-api/accounts/check", Access.ANYONE)
async def check_first_account(call: Call) -> Response:
    """Tell whether the first account has to be created, and whether that needs the setup token."""
    setup = await call.app.services.store.first_account.state()
    check = responses.FirstAccountCheck(
        needs_first_account=setup.needs_first_account,
        needs_setup_token=setup.needs_first_account
        and needs_setup_token(call.request, call.app, setup),
        is_database_lost=setup.is_database_lost,
        version=__version__,
    )
    return json_response(check)


@endpoint("POST", "/backend-api/accounts/first", Access.ANYONE)
async def create_first_account(call: Call) -> Response:
    """Create the administrator's account. Exactly one call ever succeeds."""
    check_origin(call.request)
    body = await call.read_body(FirstAccount)
    store, name = call.app.services.store, clean_name(body.name)
    async with call.app.first_account_lock:
        setup = await store.first_account.state()
        if not setup.needs_first_account:
            raise Conflict("There is an account already. Sign in, or ask for an invitation.")
        if needs_setup_token(call.request, call.app, setup):
            await check_setup_token(call.request, call.app, body.setup_token)
        address = client_address(call.request)
        password_hash = await hash_password(body.password, name=name, address=address)
        user = await store.accounts.create_first(name, password_hash, call.actor)
    return await open_session(call, user, 201, "first account")


@endpoint("POST", "/backend-api/accounts/sign-in", Access.ANYONE)
async def sign_in(call: Call) -> Response:
    """Sign in with a name and a password. Answers 202 where a second factor is needed."""
    check_origin(call.request)
    body = await call.read_body(Credentials)
    address, app = client_address(call.request), call.app
    found = await app.services.store.accounts.find_by_name(body.name)
    async with app.sign_in_failures.record_failures(call.actor, found[0].id if found else None):
        with app.sign_in_throttle.begin(address, name_key(body.name)) as attempt:
            # An unknown name takes as long as a wrong password: names cannot be enumerated.
            password_hash = found[1] if found else None
            is_right = await verify_password(body.password, password_hash, address=address)
            if not is_right or not found:
                attempt.record_failure()
                raise Unauthenticated("The name or the password is wrong.")
            user, password_hash = found
            factors = await app.services.store.second_factors.get(user.id)
            if factors.is_on:
                # Neither failed nor succeeded: that would forget the wrong codes that were tried.
                pending = PendingSignIn(user, password_hash)
                return await ask_for_second_factor(call, pending, factors)
            attempt.record_success()
    return await open_session(call, user, 200, "password")


@endpoint("POST", "/backend-api/accounts/sign-up", Access.ANYONE)
async def sign_up(call: Call) -> Response:
    """Create an account with an invitation."""
    check_origin(call.request)
    body = await call.read_body(SignUp)
    address = client_address(call.request)
    accounts, name = call.app.services.store.accounts, clean_name(body.name)
    invite = hash_token(body.invite)
    with call.app.sign_in_throttle.begin(address, None) as attempt:
        try:
            await accounts.check_invite(invite)  # before the password is hashed, which is slow
        except Refused:
            attempt.record_failure()
            raise
    password_hash = await hash_password(body.password, name=name, address=address)
    user = await accounts.redeem_invite(invite, name, password_hash, call.actor)
    return await open_session(call, user, 201, "invite")


@endpoint("POST", "/backend-api/accounts/sign-out", Access.SESSION, is_for_set_up=True)
async def sign_out(call: Call) -> Response:
    """End this session."""
    session = call.identity.session
    assert session is not None
    await call.app.services.store.accounts.revoke_session(session.id, call.user_id, call.actor)
    return _clear_cookie()


@endpoint("GET", "/backend-api/me", Access.USER, is_for_set_up=True)
async def get_me(call: Call) -> Response:
    """Get the caller's account and the page's CSRF token."""
    return json_response(describe_me(call, call.identity.user, call.identity.session))


@endpoint("PATCH", "/backend-api/me", Access.SESSION)
async def rename(call: Call) -> Response:
    """Change the caller's name."""
    body = await call.read_body(NewName)
    accounts, name = call.app.services.store.accounts, clean_name(body.name)
    return json_response({"user": await accounts.rename(call.user_id, name, call.actor)})


@endpoint("POST", "/backend-api/me/password", Access.SESSION)
async def change_password(call: Call) -> Response:
    """Change the caller's password, and sign out every other browser.

    `revokes_keys` deletes the caller's API keys, too.
    """
    body, session = await call.read_body(NewPassword), call.identity.session
    assert session is not None
    await _check_password(call, body.current, "current")
    name, address = call.identity.user.name, client_address(call.request)
    new = await hash_password(body.new, name=name, address=address)
    await call.app.services.store.accounts.change_password(
        call.user_id, new, session.id, call.actor, revokes_keys=body.revokes_keys
    )
    return Response(status_code=NO_CONTENT)


@endpoint("POST", "/backend-api/me/confirm", Access.SESSION, is_for_set_up=True)
async def confirm_password(call: Call) -> Response:
    """Give the password again, which allows changes to two-step sign-in for ten minutes."""
    body, session = await call.read_body(ConfirmedPassword), call.identity.session
    assert session is not None
    await _check_password(call, body.password, "password")
    await call.app.services.store.accounts.confirm_session(session.id)
    return Response(status_code=NO_CONTENT)


@endpoint("DELETE", "/backend-api/me", Access.SESSION)
async def delete_account(call: Call) -> Response:
    """Delete the caller's account and everything in it, permanently."""
    body = await call.read_body(ConfirmedPassword)
    await _check_password(call, body.password, "password")
    await erase_account(call.app.services.store, call.app.runner, call.user_id, call.actor)
    return _clear_cookie()


async def _check_password(call: Call, password: str, param: str) -> None:
    """Asks even a signed-in user: someone else may sit at their computer."""
    address, account = client_address(call.request), name_key(call.identity.user.name)
    password_hash = await call.app.services.store.accounts.password_hash(call.user_id)
    async with call.app.sign_in_failures.record_failures(call.actor, call.user_id):
        with call.app.sign_in_throttle.begin(address, account) as attempt:
            if not await verify_password(password, password_hash, address=address):
                attempt.record_failure()
                raise Refused("The password is wrong.", param=param)
            attempt.record_success()


def _clear_cookie() -> Response:
    response = Response(status_code=NO_CONTENT)
    response.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return response
