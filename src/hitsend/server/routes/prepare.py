"""Preparing a Send while it is typed: counts its tokens, and prewarms the model."""

from typing import Literal
from uuid import uuid4

import msgspec
from starlette.responses import Response

from hitsend.engine import Prompt
from hitsend.errors import EngineDown, EngineLost
from hitsend.events import PromptEncoded
from hitsend.server.call import Access, Call, endpoint, json_response
from hitsend.server.edge.until_disconnect import run_until_disconnect
from hitsend.server.turns.prewarm import PLACEHOLDER, sign_conduit_token, stable_prefix
from hitsend.server.turns.start import parse_body
from hitsend.turn import preview_prompt
from hitsend.wire.send import SendBody, SendBodyAuthor, SendBodyContent, SendBodyMessage
from hitsend.wire.side_events import WarmupState

NO_PREWARM = "none"
"""The `client_prepare_state` of a client that only wants the token count."""


class PrewarmReply(msgspec.Struct, frozen=True, kw_only=True):
    """How much of the context window a Send would take, and whether it is prewarmed."""

    status: Literal["ok", "skipped"]
    """`skipped` if nothing is prewarmed."""
    conduit_token: str | None = None
    """The Send passes it on as `x-conduit-token`."""
    warmup_state: WarmupState = "cold"
    num_tokens: int | None = None
    num_window_tokens: int | None = None
    num_dropped_messages: int | None = None
    is_exact: bool | None = None


@endpoint("POST", "/backend-api/f/conversation/prepare", Access.CHAT)
async def prepare(call: Call) -> Response:
    """Count a draft's tokens and prewarm the model. Nothing is sent or stored."""
    app, body = call.app, await call.read_body(SendBody)
    try:
        encoding = _encode(call, _with_placeholder(body))
        prompt, encoded = await run_until_disconnect(call.request, encoding)
    except (EngineDown, EngineLost):
        return json_response(PrewarmReply(status="skipped"))
    prepared = PrewarmReply(
        status="skipped",
        num_tokens=encoded.num_tokens,
        num_window_tokens=encoded.num_window_tokens,
        num_dropped_messages=encoded.num_dropped_messages,
        is_exact=encoded.is_exact,
    )
    is_wanted = app.services.settings.prewarm and body.client_prepare_state != NO_PREWARM
    if is_wanted and (prefix := stable_prefix(prompt)):
        warm_id = app.prewarm.start(call.user_id, prefix)
        prepared = msgspec.structs.replace(
            prepared,
            status="ok",
            conduit_token=sign_conduit_token(app.secret, call.user_id, warm_id),
            warmup_state=app.prewarm.state(warm_id),
        )
    return json_response(prepared)


def _with_placeholder(body: SendBody) -> SendBody:
    """Before the first word is typed, a placeholder stands for the message: the prefix is the same
    for any message."""
    if body.messages or body.action != "next":
        return body
    content = SendBodyContent("text", (PLACEHOLDER,))
    message = SendBodyMessage(str(uuid4()), SendBodyAuthor("user"), content)
    return msgspec.structs.replace(body, messages=(message,))


async def _encode(call: Call, body: SendBody) -> tuple[Prompt, PromptEncoded]:
    async with call.app.prepare_locks.lock(call.user_id):
        send = await parse_body(call.app, body, call.user_id)
        send = msgspec.structs.replace(send, key_id=call.identity.key_id)
        return await preview_prompt(send, call.app.services)
