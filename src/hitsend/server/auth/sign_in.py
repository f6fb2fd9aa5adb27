"""The end of a sign-in: a session, after the second factor where the person has one."""

import asyncio
import time

from starlette.responses import Response

from hitsend.credentials import csrf_token, hash_token, new_token
from hitsend.server.auth.passkeys import authentication_options, passkey_host
from hitsend.server.auth.pending_sign_ins import PENDING_S, PendingSignIn
from hitsend.server.auth.session_cookie import set_session_cookie
from hitsend.server.call import Call, json_response
from hitsend.settings import Settings
from hitsend.store import SecondFactors, Session, User
from hitsend.store.audit_events import FirstStep, SecondStep
from hitsend.wire import responses

DAY_S = 86_400
PENDING_COOKIE = "hitsend_sign_in"
PENDING_PATH = "/backend-api/accounts"


async def open_session(
    call: Call,
    user: User,
    status: int,
    method: FirstStep,
    second_factor: SecondStep | None = None,
) -> Response:
    """Signs the browser in."""
    store, settings = call.app.services.store, call.app.services.settings
    token, is_required = new_token(), is_second_factor_required(settings, user)
    session = await store.accounts.open_session(
        user.id,
        hash_token(token),
        user_agent=call.request.headers.get("user-agent", "")[:200],
        expires_at=time.time() + settings.session_days * DAY_S,
        needs_second_factor=is_required and not (await store.second_factors.get(user.id)).is_on,
        method=method,
        second_factor=second_factor,
        by=call.actor,
    )
    response = json_response(describe_me(call, user, session), status)
    set_session_cookie(call.request, response, token, session.expires_at)
    return response


async def ask_for_second_factor(
    call: Call, sign_in: PendingSignIn, factors: SecondFactors
) -> Response:
    """Answers a right password of a person who has a second factor."""
    host = passkey_host(call.request)
    options = None
    if host is not None and any(passkey.host == host for passkey in factors.passkeys):
        options = await asyncio.to_thread(
            authentication_options, host, sign_in.passkey_challenge, factors.passkeys
        )
    methods: dict[responses.SignInMethod, bool] = {
        "passkey": options is not None,
        "authenticator": factors.authenticator is not None,
        "recovery_code": factors.num_recovery_codes > 0,
    }
    step = responses.SecondStep(
        methods=[method for method, is_there in methods.items() if is_there],
        passkey_options=options,
        other_hosts=sorted({passkey.host for passkey in factors.passkeys} - {host}),
    )
    response = json_response(step, 202)
    response.set_cookie(
        PENDING_COOKIE,
        call.app.pending_sign_ins.begin(sign_in),
        max_age=PENDING_S,
        path=PENDING_PATH,
        httponly=True,
        samesite="strict",
        secure=call.request.url.scheme == "https",
    )
    return response


def describe_me(call: Call, user: User, session: Session | None) -> responses.Me:
    return responses.Me(
        responses.User(user.id, user.name, user.role),
        csrf_token(call.app.csrf_secret, session.id) if session else None,
        session is not None and session.needs_second_factor,
    )


def is_second_factor_required(settings: Settings, user: User) -> bool:
    match settings.require_second_factor:
        case "nobody":
            return False
        case "administrators":
            return user.role == "admin"
        case "everyone":
            return True
