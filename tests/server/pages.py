"""Pages with a socket: how one follows a turn by the rules, and one that talks to the server."""

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
from hitsend.server.app import open_house
from hitsend.server.serving import listening
from hitsend.server.socket.rules import Rules
from hitsend.server.socket.sockets import Sockets
from hitsend.settings import Settings
from hitsend.wire.delta import Carry, Delta, DeltaDecoder
from hitsend.wire.socket import PROTOCOL
from hitsend.wire.sse import SseParser

Frame = dict[str, Any]

MAX_EARLY = 64


@dataclass
class Follower:
    """One turn, as a page puts it together from frames that may be lost, doubled or late."""

    topic_id: str
    last: int = 0
    decoder: DeltaDecoder = field(default_factory=DeltaDecoder)
    typed: list[Frame] = field(default_factory=list)
    early: dict[int, Frame] = field(default_factory=dict)
    num_snapshots: int = 0

    def take(self, frame: Frame) -> list[Frame]:
        """The commands it answers with."""
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
        told = [self.command("ack", seq=self.last)] if self.last != before else []
        if self.early:
            told.append(self._gap())
        return told

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
        self.typed = []  # what comes after it is told again, the end among it
        self.num_snapshots += 1
        for channel, tree in frame["channels"].items():
            self.decoder.take(Delta(p="", o="add", v=tree, c=int(channel)))
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
    """Its own end of a socket."""

    line: ClientConnection
    unread: deque[Frame] = field(default_factory=deque)
    num_asked: int = 0
    connection_id: str = ""

    async def tell(self, kind: str, **fields: Any) -> None:
        await self.line.send(msgspec.json.encode({"command": {"type": kind, **fields}}).decode())

    async def ask(self, kind: str, **fields: Any) -> Frame:
        """The reply, or the refusal. What comes meanwhile is read later."""
        await self.tell_unheard(kind, **fields)
        while True:
            frame = await self.hear()
            if frame["type"] in ("reply", "nack") and frame["id"] == self.num_asked:
                return frame
            self.unread.append(frame)

    async def tell_unheard(self, kind: str, **fields: Any) -> None:
        """A question whose answer is left on the line."""
        self.num_asked += 1
        order = {"id": self.num_asked, "command": {"type": kind, **fields}}
        await self.line.send(msgspec.json.encode(order).decode())

    async def tell_all(self, *orders: Frame) -> None:
        """In one breath."""
        await self.line.send(msgspec.json.encode(orders).decode())

    async def asked(self, kind: str, **fields: Any) -> Frame:
        """What the reply says."""
        frame = await self.ask(kind, **fields)
        assert frame["type"] == "reply", frame
        reply: Frame = frame["reply"]
        return reply

    async def hear(self) -> Frame:
        async with asyncio.timeout(PATIENCE_S):
            frame: Frame = msgspec.json.decode(await self.line.recv())
            return frame

    async def next(self, *kinds: str) -> Frame:
        """The next frame of these kinds. Others are passed over."""
        while True:
            frame = self.unread.popleft() if self.unread else await self.hear()
            if frame["type"] in kinds:
                return frame

    async def follow(self, topic_id: str, offset: str = "0", **fields: Any) -> Follower:
        follower = Follower(topic_id, 0 if offset == "$" else int(offset))
        reply = await self.asked("subscribe", topic_id=topic_id, offset=offset, **fields)
        if offset == "$":
            follower.last = reply["last_seq"]
        for frame in reply["catchups"]:
            await self.give(follower, frame)
        return follower

    async def give(self, follower: Follower, frame: Frame) -> None:
        for command in follower.take(frame):
            await self.line.send(msgspec.json.encode({"command": command}).decode())

    async def read(self, follower: Follower, until_chars: int | None = None) -> Follower:
        """To the end of the turn, or until its answer has so many characters."""
        while not follower.is_complete and (
            until_chars is None or len(follower.text) < until_chars
        ):
            frame = await self.next("message", "snapshot")
            if frame["topic_id"] == follower.topic_id:
                await self.give(follower, frame)
        return follower

    async def closed(self) -> int | None:
        """The code it is closed with, whatever is said before."""
        with suppress(ConnectionClosed):
            while True:
                await self.hear()
        return self.line.close_code


async def address(someone: Someone) -> str:
    answer = await someone.http.get("/backend-api/celsius/ws/user")
    assert answer.status_code == 200, answer.text
    return str(answer.json()["websocket_url"])


@asynccontextmanager
async def line_to(url: str, **options: Any) -> AsyncGenerator[Page]:
    ours = {"subprotocols": [PROTOCOL], "max_size": None, "max_queue": None, "proxy": None}
    async with connect(url, **(ours | options)) as line:
        yield Page(line)


@asynccontextmanager
async def page_of(someone: Someone) -> AsyncGenerator[Page]:
    """Connected."""
    async with line_to(await address(someone)) as page:
        page.connection_id = (await page.asked("connect"))["connection_id"]
        yield page


@asynccontextmanager
async def hasty(settings: Settings, rules: Rules | None = None) -> AsyncGenerator[World]:
    """A world whose sockets have rules of their own."""
    async with AsyncExitStack() as stack:
        house = await stack.enter_async_context(open_house(settings, ScriptedEngine()))
        house = replace(house, sockets=Sockets(rules))
        url = await stack.enter_async_context(listening(house))
        clients = await stack.enter_async_context(AsyncExitStack())
        yield World(house, url, clients)
