"""Runs a code block of an answer for the person who reads it."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import suppress
from typing import Annotated

import msgspec
from msgspec import Meta
from starlette.responses import Response

from hitsend.canonical import canonicalize
from hitsend.context.attachments import read_attached_files
from hitsend.errors import HitsendError, NotAllowed, Unavailable
from hitsend.server.call import Access, Call, endpoint, json_response
from hitsend.server.edge.until_disconnect import run_until_disconnect
from hitsend.server.turns.stream import HEADERS, RevocableStream
from hitsend.sse import encode_frame, encode_heartbeat
from hitsend.tools.code import Owner
from hitsend.tools.hosted_tool import ToolFile
from hitsend.wire.problem import ErrorBody, describe_error

MAX_BYTES = 400_000
RUNS_PER_MINUTE = 30
HEARTBEAT_S = 10.0


class RunBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    code: str
    timezone: Annotated[str, Meta(max_length=100)] = "UTC"
    """Of the person, as an IANA name."""
    message_id: Annotated[str, Meta(min_length=1, max_length=100)] | None = None
    """The answer that it is from: the program can read the files attached before it."""
    stream: bool = False
    """Answer with events: what it prints as it prints it, then the result."""


class CodeResult(msgspec.Struct, frozen=True):
    output: str
    """What it printed, its last value, and how it failed."""
    failed: bool
    files: Sequence[ToolFile]


class CodePrinted(msgspec.Struct, frozen=True):
    text: str


@endpoint("POST", "/backend-api/conversation/{conversation_id}/run", Access.SESSION)
async def run_code(call: Call) -> Response:
    """Run Python beside a conversation, with its variables. Hanging up ends the program."""
    conversation_id, services = call.path_param("conversation_id"), call.app.services
    body = await call.read_body(RunBody, MAX_BYTES)
    await services.store.conversations.check(conversation_id, call.user_id)
    code = call.app.code
    if code is None:
        raise Unavailable("Python is turned off on this server.")
    if not await services.toolbox.is_allowed(call.user_id, "code"):
        raise NotAllowed("An administrator has turned Python off for your group.")
    call.app.request_counter.count({("runs", call.user_id): RUNS_PER_MINUTE})
    owner = Owner(call.user_id, conversation_id)
    files = await read_attached_files(services.store, *owner, body.message_id)

    async def run(report: Callable[[str], None]) -> CodeResult:
        result = await code.run(owner, body.code, report, body.timezone, files)
        output = await asyncio.to_thread(canonicalize, result.output)
        return CodeResult(output, result.failed, result.files)

    if body.stream:
        return RevocableStream(_encode(run), media_type="text/event-stream", headers=HEADERS)
    return json_response(await run_until_disconnect(call.request, run(lambda _: None)))


async def _encode(
    run: Callable[[Callable[[str], None]], Coroutine[None, None, CodeResult]],
) -> AsyncGenerator[bytes, None]:
    """An error after the stream began is an event as well."""
    printed: asyncio.Queue[str] = asyncio.Queue()
    running = asyncio.create_task(run(printed.put_nowait))
    running.add_done_callback(lambda _: printed.put_nowait(""))
    try:
        while True:
            text = None
            with suppress(TimeoutError):
                async with asyncio.timeout(HEARTBEAT_S):
                    text = await printed.get()
            if text is None:
                yield encode_heartbeat(int(time.time() * 1000))
            elif text:
                event = CodePrinted(canonicalize(text))
                yield encode_frame(msgspec.json.encode(event), "printed")
            elif running.done():
                break
        try:
            yield encode_frame(msgspec.json.encode(running.result()), "result")
        except HitsendError as error:
            yield encode_frame(msgspec.json.encode(ErrorBody(describe_error(error))), "error")
    finally:
        running.cancel()
        await asyncio.wait({running})
