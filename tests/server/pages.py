"""Pages with a socket: `Follower` applies the frames of one turn, `Page` talks to the server."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any, cast

import msgspec
from tests.server.world import PATIENCE_S, Someone, World
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from hitsend.engine import ScriptedEngine
from hitsend.server.app import open_app
from hitsend.server.serve import listen
from hitsend.server.turns.socket.limits import SocketLimits
from hitsend.server.turns.socket.open_sockets import OpenSockets
from hitsend.settings import Settings
from hitsend.sse import SseParser
from hitsend.wire.delta import Carry, Delta, DeltaDecoder
from hitsend.wire.socket import PROTOCOL

Frame = dict[str, Any]

MAX_EARLY = 64


@dataclass
class Follower:
    """One turn as a page assembles it from frames that may be lost, repeated or late."""

    topic_id: str
    last: int = 0
    decoder: DeltaDecoder = field(default_factory=DeltaDecoder)
    typed: list[Frame] = field(default_factory=list)
    early: dict[int, Frame] = field(default_factory=dict)
    num_snapshots: int = 0

    def take(self, frame: Frame) -> list[Frame]:
        """Returns the commands that the page sends in response."""
        if frame["type"] == "snapshot":
            self._show(frame)
        elif frame["seq"] > self.last:
            self.early[frame["seq"]] = frame
        return self._advance()

    def _advance(self) -> list[Frame]:
        before = self.last
        while frame := next((one for one in self.early.values() if self._is_next(one)), None):
            self._apply(self.early.pop(frame["seq"]))
        self.early = {seq: one for seq, one in self.early.items() if seq > self.last}
        commands = [self.command("ack", seq=self.last)] if self.last != before else []
        if self.early:
            commands.append(self._gap())
        return commands

    def _is_next(self, frame: Frame) -> bool:
        return bool(frame["seq"] - frame["n"] == self.last)

    def _gap(self) -> Frame:
        first = min(self.early.values(), key=lambda one: int(one["seq"]))
        if len(self.early) > MAX_EARLY:
            self.early.clear()
        missing = {"from": self.last + 1, "to": max(first["seq"] - first["n"], self.last + 1)}
        return self.command("nack", reason="gap", **missing)

    def _apply(self, frame: Frame) -> None:
        self.last = frame["seq"]
        item = frame["payload"]["payload"]["encoded_item"]
        for event in SseParser().feed(item.encode()):
            if event.event == "delta":
                self.decoder.decode(event.data)
            elif event.event != "delta_encoding":
                self.typed.append(msgspec.json.decode(event.data))

    def _show(self, frame: Frame) -> None:
        self.last, self.early, self.decoder = frame["seq"], {}, DeltaDecoder()
        self.typed = []  # events after the snapshot come again, the end among them
        self.num_snapshots += 1
        for channel, tree in frame["channels"].items():
            self.decoder.apply(Delta(p="", o="add", v=tree, c=int(channel)))
        self.decoder.resume(Carry(**frame["carry"]))

    def command(self, kind: str, **fields: Any) -> Frame:
        return {"type": kind, "topic_id": self.topic_id, **fields}

    @property
    def messages(self) -> list[Any]:
        trees = [cast(Frame, self.decoder.tree(c)) for c in self.decoder.channels]
        said = [tree["message"] for tree in trees]
        return [one for one in said if "seen_source" not in one["metadata"]]

    @property
    def text(self) -> str:
        answers = [one for one in self.messages if one["author"]["role"] == "assistant"]
        return str(answers[-1]["content"]["parts"][0]) if answers else ""

    def of_type(self, kind: str) -> Frame:
        return next(event for event in self.typed if event.get("type") == kind)

    @property
    def is_complete(self) -> bool:
        return any(event.get("type") == "message_stream_complete" for event in self.typed)


@dataclass
class Page:
    """The client's end of a socket."""

    socket: ClientConnection
    unread: deque[Frame] = field(default_factory=deque)
    num_requests: int = 0
    connection_id: str = ""

    async def send_command(self, kind: str, **fields: Any) -> None:
        await self.socket.send(msgspec.json.encode({"command": {"type": kind, **fields}}).decode())

    async def request(self, kind: str, **fields: Any) -> Frame:
        """Returns the reply or the nack. Frames that come before it are read later."""
        await self.send_request(kind, **fields)
        while True:
            frame = await self.receive()
            if frame["type"] in ("reply", "nack") and frame["id"] == self.num_requests:
                return frame
            self.unread.append(frame)

    async def send_request(self, kind: str, **fields: Any) -> None:
        """Sends a request without waiting for its reply."""
        self.num_requests += 1
        order = {"id": self.num_requests, "command": {"type": kind, **fields}}
        await self.socket.send(msgspec.json.encode(order).decode())

    async def send_batch(self, *orders: Frame) -> None:
        """Sends several commands in one frame."""
        await self.socket.send(msgspec.json.encode(orders).decode())

    async def request_reply(self, kind: str, **fields: Any) -> Frame:
        """Returns the body of the reply."""
        frame = await self.request(kind, **fields)
        assert frame["type"] == "reply", frame
        reply: Frame = frame["reply"]
        return reply

    async def receive(self) -> Frame:
        async with asyncio.timeout(PATIENCE_S):
            frame: Frame = msgspec.json.decode(await self.socket.recv())
            return frame

    async def next(self, *kinds: str) -> Frame:
        """Returns the next frame of these kinds and skips others."""
        while True:
            frame = self.unread.popleft() if self.unread else await self.receive()
            if frame["type"] in kinds:
                return frame

    async def follow(self, topic_id: str, offset: str = "0", **fields: Any) -> Follower:
        follower = Follower(topic_id, 0 if offset == "$" else int(offset))
        reply = await self.request_reply("subscribe", topic_id=topic_id, offset=offset, **fields)
        if offset == "$":
            follower.last = reply["last_seq"]
        for frame in reply["catchups"]:
            await self.deliver(follower, frame)
        return follower

    async def deliver(self, follower: Follower, frame: Frame) -> None:
        for command in follower.take(frame):
            await self.socket.send(msgspec.json.encode({"command": command}).decode())

    async def read(self, follower: Follower, until_chars: int | None = None) -> Follower:
        """Reads to the end of the turn, or until its answer has this many characters."""
        while not follower.is_complete and (
            until_chars is None or len(follower.text) < until_chars
        ):
            frame = await self.next("message", "snapshot")
            if frame["topic_id"] == follower.topic_id:
                await self.deliver(follower, frame)
        return follower

    async def wait_closed(self) -> int | None:
        """Returns the close code and skips earlier frames."""
        with suppress(ConnectionClosed):
            while True:
                await self.receive()
        return self.socket.close_code


async def socket_url(someone: Someone) -> str:
    answer = await someone.http.get("/backend-api/celsius/ws/user")
    assert answer.status_code == 200, answer.text
    return str(answer.json()["websocket_url"])


@asynccontextmanager
async def open_socket(url: str, **options: Any) -> AsyncGenerator[Page]:
    ours = {"subprotocols": [PROTOCOL], "max_size": None, "max_queue": None, "proxy": None}
    async with connect(url, **(ours | options)) as socket:
        yield Page(socket)


@asynccontextmanager
async def open_page(someone: Someone) -> AsyncGenerator[Page]:
    """Opens a socket that has sent `connect`."""
    async with open_socket(await socket_url(someone)) as page:
        page.connection_id = (await page.request_reply("connect"))["connection_id"]
        yield page


@asynccontextmanager
async def open_world_with_limits(
    settings: Settings, limits: SocketLimits | None = None
) -> AsyncGenerator[World]:
    """A world whose sockets have these limits."""
    async with AsyncExitStack() as stack:
        app = await stack.enter_async_context(open_app(settings, ScriptedEngine()))
        app = replace(app, sockets=OpenSockets(limits))
        url = await stack.enter_async_context(listen(app))
        clients = await stack.enter_async_context(AsyncExitStack())
        yield World(app, url, clients)
