"""Runs a code block of an answer for the person who reads it."""

import asyncio
from collections.abc import Sequence
from typing import Annotated

import msgspec
from msgspec import Meta
from starlette.responses import Response

from hitsend.canonical import canonicalize
from hitsend.errors import NotAllowed, Unavailable
from hitsend.server.call import Access, Call, endpoint, json_response
from hitsend.server.edge.until_disconnect import run_until_disconnect
from hitsend.tools.code import CodeRunner, Owner
from hitsend.tools.hosted_tool import CallResult, ToolFile

MAX_BYTES = 400_000
RUNS_PER_MINUTE = 30


class RunBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    code: str
    timezone: Annotated[str, Meta(max_length=100)] = "UTC"
    """Of the person, as an IANA name."""


class CodeResult(msgspec.Struct, frozen=True):
    output: str
    """What it printed, its last value, and how it failed."""
    failed: bool
    files: Sequence[ToolFile]


@endpoint("POST", "/backend-api/conversation/{conversation_id}/run", Access.SESSION)
async def run_code(call: Call) -> Response:
    """Run Python beside a conversation, with its variables. Hanging up ends the program."""
    conversation_id, services = call.path_param("conversation_id"), call.app.services
    body = await call.read_body(RunBody, MAX_BYTES)
    await services.store.conversations.check(conversation_id, call.user_id)
    if call.app.code is None:
        raise Unavailable("Python is turned off on this server.")
    if not await services.toolbox.is_allowed(call.user_id, "code"):
        raise NotAllowed("An administrator has turned Python off for your group.")
    call.app.request_counter.count({("runs", call.user_id): RUNS_PER_MINUTE})
    owner = Owner(call.user_id, conversation_id)
    work = _run(call.app.code, owner, body)
    result = await run_until_disconnect(call.request, work)
    output = await asyncio.to_thread(canonicalize, result.output)
    return json_response(CodeResult(output, result.failed, result.files))


async def _run(code: CodeRunner, owner: Owner, body: RunBody) -> CallResult:
    return await code.run(owner, body.code, lambda _: None, body.timezone)
