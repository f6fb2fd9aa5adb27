"""One WebSocket: reads commands, writes frames, and follows any number of turns.

A page that disconnects or is disconnected ends its socket and nothing else: the turns belong to the
runner.
"""

import asyncio
import time
from contextlib import aclosing, suppress
from typing import assert_never
from uuid import uuid4

from starlette.types import Message
from starlette.websockets import WebSocket, WebSocketDisconnect

from hitsend.errors import HitsendError, TooFast
from hitsend.mailbox import Mailbox
from hitsend.runner import News, TitleChanged, TurnBegan
from hitsend.server.app import App
from hitsend.server.auth.identify import Identity
from hitsend.server.turns.resume import TOPIC
from hitsend.server.turns.socket.limits import ConnectionLost, SocketClose, TokenBucket
from hitsend.server.turns.socket.send_command import run_send
from hitsend.server.turns.socket.subscriptions import Subscriptions, topic_turn_id
from hitsend.wire import socket as wire

CLOSE_S = 1.0
"""For the close frame to leave. Then the connection is dropped."""
MAX_REASON_BYTES = 123
"""The most that a close frame can hold."""
ACK_COST = 1.0
COMMAND_COST = 10.0


class Socket:
    def __init__(self, websocket: WebSocket, app: App, identity: Identity) -> None:
        self.connection_id = str(uuid4())
        self._websocket = websocket
        self._app = app
        self._identity = identity
        self._limits = app.sockets.limits
        self._subscriptions = Subscriptions(app, identity, self)
        self._num_commands = 0
        self._outbox: Mailbox[wire.Frame | SocketClose] = Mailbox(self._limits.max_frames)
        self._close_request: asyncio.Future[SocketClose] = (
            asyncio.get_running_loop().create_future()
        )
        self._is_connected = False
        self._received_at = self._pinged_at = time.monotonic()
        self._bucket = TokenBucket(
            self._limits.tokens_per_s, self._limits.max_tokens, self._received_at
        )

    async def run(self) -> None:
        """Returns when either side has closed the socket."""
        with self._app.sockets.register(self._identity.user.id, self):
            try:
                async with asyncio.TaskGroup() as self._tasks:
                    self._tasks.create_task(self._write())
                    self._tasks.create_task(self._read())
                    self._check_later()
                    raise await self._close_request
            except* (SocketClose, ConnectionLost) as errors:
                error = errors.exceptions[0]
                if isinstance(error, SocketClose):
                    await close_socket(self._websocket, error)
            finally:
                self._checking.cancel()

    def request_close(self, close: SocketClose) -> None:
        if not self._close_request.done():
            self._close_request.set_result(close)

    async def drain(self) -> None:
        """Sends the end of the turns first, if the server has ended them."""
        if not self._app.runner.is_open:
            await self._subscriptions.wait_until_sent()
        await self._outbox.put(SocketClose(SocketClose.RESTARTING, "hitsend is restarting."))

    async def send(self, frame: wire.Frame) -> None:
        await self._outbox.put(frame)

    def _check_later(self) -> None:
        """With a timer, because a task that waits takes 2 kB of each idle socket."""
        loop = asyncio.get_running_loop()
        self._checking = loop.call_later(self._limits.check_s, self._check)

    def _check(self) -> None:
        """Checks the timeouts and sends pings."""
        now = time.monotonic()
        try:
            if now - self._received_at > self._limits.silence_s:
                raise SocketClose(SocketClose.TIMED_OUT, "Nothing was heard for too long.")
            self._subscriptions.check_acks(now)
        except SocketClose as close:
            self.request_close(close)
            return
        if now - self._pinged_at >= self._limits.ping_s and not self._outbox.full():
            self._pinged_at = now
            self._outbox.put_nowait(wire.PingFrame(int(time.time() * 1000)))
        self._check_later()

    # NOTE: neither loop keeps a reference to the last frame, which would hold its memory until the
    # next one: most sockets are idle.

    async def _write(self) -> None:
        while True:
            await self._write_frame(await self._outbox.get())

    async def _write_frame(self, frame: wire.Frame | SocketClose) -> None:
        if isinstance(frame, SocketClose):
            raise frame
        text = await _encode(frame)
        try:
            async with asyncio.timeout(self._limits.stuck_s):
                await self._websocket.send_text(text)
        except (TimeoutError, WebSocketDisconnect):
            raise ConnectionLost from None

    async def _read(self) -> None:
        while True:
            await self._handle_frame(await self._websocket.receive())

    async def _handle_frame(self, received: Message) -> None:
        if received["type"] == "websocket.disconnect":
            raise ConnectionLost
        self._received_at = time.monotonic()
        try:
            command_frames = wire.parse_commands(received.get("text") or "")
        except wire.BadFrame as error:
            raise SocketClose(SocketClose.BAD_FRAME, str(error)) from None
        for command_frame in command_frames:
            await self._run(command_frame)

    async def _run(self, command_frame: wire.CommandFrame) -> None:
        command = command_frame.command
        is_ack = isinstance(command, wire.Ack | wire.Pong)
        if not self._bucket.try_spend(ACK_COST if is_ack else COMMAND_COST, self._received_at):
            raise SocketClose(SocketClose.TOO_FAST, "Too many commands.")
        if isinstance(command, wire.Connect) is self._is_connected:
            raise SocketClose(
                SocketClose.BAD_FRAME, "`connect` is the first command, and comes once."
            )
        match command:
            case wire.Ack():
                self._subscriptions.ack(command)
            case wire.Nack():
                await self._subscriptions.resend(self._tasks, command)
            case wire.Unsubscribe():
                await self._subscriptions.unsubscribe(command.topic_id)
                if command_frame.id is not None:
                    await self.send(
                        wire.ReplyFrame(command_frame.id, {"topic_id": command.topic_id})
                    )
            case wire.Pong():
                return
            case _:
                await self._answer(command, command_frame.id)

    async def _answer(self, command: wire.RepliedCommand, command_id: int | None) -> None:
        if command_id is None:
            raise SocketClose(SocketClose.BAD_FRAME, "A command that is answered needs an `id`.")
        try:
            match command:
                case wire.Connect():
                    await self._connect(command, command_id)
                case wire.Subscribe():
                    await self._subscriptions.subscribe(self._tasks, command_id, command)
                case wire.SendCommand() | wire.Stop():
                    self._start_task(command, command_id)
                case _:
                    assert_never(command)
        except HitsendError as error:
            await self.send(wire.build_nack_frame(command_id, error))

    async def _connect(self, command: wire.Connect, command_id: int) -> None:
        self._is_connected = True
        if command.last_connection is not None and command.last_connection != self.connection_id:
            self._app.sockets.supersede(self._identity.user.id, command.last_connection)
        limits = self._limits
        heartbeat_ms = round(limits.ping_s * 1000)
        connected = wire.ConnectReply(self.connection_id, heartbeat_ms, limits.ack, limits.window)
        # Watches before it replies: the page must not miss a turn that begins in between.
        self._tasks.create_task(self._send_news())
        await self.send(wire.ReplyFrame(command_id, connected))

    def _start_task(self, command: wire.SendCommand | wire.Stop, command_id: int) -> None:
        """Runs the command in a task of its own: reading continues meanwhile."""
        if self._num_commands >= self._limits.max_commands:
            raise TooFast("Too many commands are running on this socket.", retry_after_s=1)
        self._num_commands += 1
        self._tasks.create_task(self._run_task(command, command_id))

    async def _run_task(self, command: wire.SendCommand | wire.Stop, command_id: int) -> None:
        try:
            reply = await self._run_send_or_stop(command)
        except HitsendError as error:
            await self.send(wire.build_nack_frame(command_id, error))
        else:
            await self.send(wire.ReplyFrame(command_id, reply))
        finally:
            self._num_commands -= 1

    async def _run_send_or_stop(self, command: wire.SendCommand | wire.Stop) -> object:
        if isinstance(command, wire.SendCommand):
            return await run_send(self._websocket, self._app, self._identity, command)
        turn_id = topic_turn_id(command.topic_id)
        await self._app.runner.stop(self._identity.user.id, turn_id=turn_id)
        return {"topic_id": command.topic_id}

    async def _send_news(self) -> None:
        async with aclosing(self._app.runner.watch(self._identity.user.id)) as watching:
            async for news in watching:
                if news.conversation_id:  # an API call has none
                    await self.send(wire.NewsFrame(_wire_news(news)))


async def close_socket(websocket: WebSocket, close: SocketClose) -> None:
    """Sends a close frame, if the client still takes one."""
    with suppress(TimeoutError, WebSocketDisconnect):
        async with asyncio.timeout(CLOSE_S):
            reason = close.reason.encode()[:MAX_REASON_BYTES].decode(errors="ignore")
            await websocket.close(close.code, reason)


async def _encode(frame: wire.Frame) -> str:
    if isinstance(frame, wire.SnapshotFrame):  # may be megabytes: in a thread
        return await asyncio.to_thread(lambda: wire.encode_frame(frame).decode())
    return wire.encode_frame(frame).decode()


def _wire_news(news: News) -> wire.TurnBegan | wire.TurnEnded | wire.TitleChanged:
    if isinstance(news, TitleChanged):
        return wire.TitleChanged(news.conversation_id, news.title)
    kind = wire.TurnBegan if isinstance(news, TurnBegan) else wire.TurnEnded
    return kind(news.conversation_id, news.turn_id, TOPIC + news.turn_id)
