"""One request of an MCP client, and its answer: JSON if it comes soon, else a stream with progress
before it and heartbeats in between.

A client that leaves, or cancels, ends what the request does. The revision 2025-11-25 would rather
let it go on; but its result could only be read by a client that resumes the stream, and hitsend
keeps no streams.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, ExitStack
from typing import Protocol

import msgspec
from msgspec import UNSET
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from hitsend.errors import HitsendError, Refused
from hitsend.server.call import Call, json_response
from hitsend.server.edge.forwarded_headers import client_address
from hitsend.server.edge.until_disconnect import run_until_disconnect
from hitsend.server.mcp.tool import McpTool
from hitsend.server.turns.start import VISIBLE_ASCII
from hitsend.server.turns.stream import HEADERS, RevocableStream
from hitsend.sse import encode_frame, encode_heartbeat
from hitsend.wire.json_rpc import (
    REQUEST_CANCELLED,
    RequestId,
    RpcError,
    RpcFailure,
    RpcMessage,
    describe_failure,
)

END = b""
"""The frame after the last notification."""


IDEMPOTENCY_KEY = "hitsend/idempotency-key"
"""In `_meta` of a call: the same key gets the same turn."""


class Revision(msgspec.Struct, frozen=True):
    """The revision of MCP that a request speaks."""

    version: str
    is_modern: bool
    """From 2026-07-28 on: no handshake and no sessions."""
    client_info: object = None
    client_capabilities: object = None


class Reply(msgspec.Struct, frozen=True):
    """A JSON-RPC response, and its HTTP status."""

    body: object
    status: int = 200


class McpServer(Protocol):
    """The SDK's part of the server."""

    def find_revision(
        self, message: RpcMessage, headers: Mapping[str, str]
    ) -> Revision | RpcFailure: ...

    async def answer(self, exchange: "Exchange") -> Reply: ...


class Exchange:
    """A request that is being answered."""

    def __init__(
        self,
        call: Call,
        message: RpcMessage,
        revision: Revision,
        session_id: str | None,
        tool: McpTool | None,
    ) -> None:
        assert message.id is not UNSET
        self.call = call
        self.request_id: RequestId = message.id
        self.message = message
        self.revision = revision
        self.reply: Reply | None = None
        """Set once it has been answered."""
        self.refusal: HitsendError | None = None
        """Why it was not even begun."""
        self._session_id = session_id
        self._tool = tool
        self._frames: asyncio.Queue[bytes] = asyncio.Queue()
        self._began = time.monotonic()
        self._running: asyncio.Task[None] | None = None
        self._is_cancelled = False

    def start(self, server: McpServer) -> None:
        self._running = asyncio.create_task(self._run(server))

    def report(self, text: str) -> None:
        """Notifies the client of progress, if it asked for that. The progress is the seconds since
        the request came: how much is left is not known."""
        if (token := self._progress_token()) is None:
            return
        progress = round(time.monotonic() - self._began, 3)
        params = {"progressToken": token, "progress": progress, "message": text}
        self._frames.put_nowait(
            _encode({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
        )

    def cancel(self) -> None:
        """The client no longer wants the answer."""
        self._is_cancelled = True
        self.leave()

    def leave(self) -> None:
        """Nobody reads the answer."""
        if self._running is not None:
            self._running.cancel()

    async def read_frame(self, timeout_s: float | None) -> bytes:
        """Returns the next notification, or END once the reply is there. Raises TimeoutError."""
        async with asyncio.timeout(timeout_s):
            return await self._frames.get()

    def encode_reply(self) -> bytes:
        assert self.reply is not None
        return _encode(self.reply.body)

    async def _run(self, server: McpServer) -> None:
        try:
            async with AsyncExitStack() as stack:
                if self._session_id is not None:
                    requests = self.call.app.mcp_requests
                    stack.enter_context(
                        requests.hold(self._session_id, self.request_id, self.cancel)
                    )
                if self._tool is None or not self._tool.is_send:
                    call = self.call
                    counting = call.app.open_calls.count(
                        call.identity, client_address(call.request)
                    )
                    await stack.enter_async_context(counting)
                self.reply = await server.answer(self)
        except HitsendError as error:
            self.refusal = error
            failure = describe_failure(error)
            self.reply = Reply(msgspec.structs.replace(failure, id=self.request_id), error.status)
        except asyncio.CancelledError:
            if not self._is_cancelled:
                raise
            cancelled = RpcError(REQUEST_CANCELLED, "You cancelled this request.")
            self.reply = Reply(RpcFailure(cancelled, self.request_id))
        finally:
            self._frames.put_nowait(END)

    def read_idempotency_key(self) -> str | None:
        """Raises Refused if there is one, and it cannot be a key."""
        meta = self.message.params.get("_meta")
        key = meta.get(IDEMPOTENCY_KEY) if isinstance(meta, dict) else None
        if key is not None and not (isinstance(key, str) and VISIBLE_ASCII.fullmatch(key)):
            raise Refused(f"`{IDEMPOTENCY_KEY}` has to be 1 to 255 visible ASCII characters.")
        return key

    def _progress_token(self) -> RequestId | None:
        match self.message.params.get("_meta"):
            case {"progressToken": str() | int() as token} if not isinstance(token, bool):
                return token
        return None


async def respond(exchange: Exchange, *, has_json: bool, has_sse: bool) -> Response:
    """Waits for the answer or the first notification. `has_json` and `has_sse`: what the client
    accepts, at least one of them."""
    heartbeat_s = exchange.call.app.services.settings.heartbeat_s
    with ExitStack() as unless_answered:
        unless_answered.callback(exchange.leave)
        first = await run_until_disconnect(
            exchange.call.request, _read_first(exchange, heartbeat_s, can_stream=has_sse)
        )
        if exchange.refusal is not None:
            raise exchange.refusal
        unless_answered.pop_all()
    if first is END and (reply := exchange.reply) is not None and has_json:
        return json_response(reply.body, reply.status)
    return McpStream(exchange, first, heartbeat_s)


async def _read_first(exchange: Exchange, heartbeat_s: float, *, can_stream: bool) -> bytes:
    while can_stream:
        try:
            return await exchange.read_frame(heartbeat_s)
        except TimeoutError:
            return _heartbeat()
    while await exchange.read_frame(None) is not END:
        continue
    return END


class McpStream(RevocableStream):
    """Ends what the request does when it ends, whatever ends it."""

    def __init__(self, exchange: Exchange, first: bytes, heartbeat_s: float) -> None:
        self._exchange = exchange
        frames = _read_on(exchange, first, heartbeat_s)
        super().__init__(frames, media_type="text/event-stream", headers=HEADERS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._exchange.leave()


async def _read_on(
    exchange: Exchange, frame: bytes, heartbeat_s: float
) -> AsyncGenerator[bytes, None]:
    while frame is not END:
        yield frame
        try:
            frame = await exchange.read_frame(heartbeat_s)
        except TimeoutError:
            frame = _heartbeat()
    yield exchange.encode_reply()


def _heartbeat() -> bytes:
    return encode_heartbeat(int(time.time() * 1000))


def _encode(message: object) -> bytes:
    return encode_frame(msgspec.json.encode(message), "message")
