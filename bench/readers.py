"""Readers of turns: those that follow one as a stream over HTTP, or several over a WebSocket.

Like the load, they only keep what arrives and when; it is understood afterwards.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from bench import launch
from bench.load import (
    BadAnswer,
    Exchange,
    Target,
    Timed,
    V1Reader,
    exchange,
    frames,
    http_request,
    streamed,
)
from bench.upstream import PROSE

SEND = "/backend-api/f/conversation"
TOPIC = "conversation-turn-"
TOKEN = b"resume_conversation_token"
ENDS = b"message_stream_complete"
ACK_ITEMS, ACK_S = 32, 0.25
"""As the server asks for it."""
PACE_MS = 50
SETTINGS = {
    "num_window_tokens": "65536",
    "max_answer_tokens": "50000",
    "engine_silence_s": "86400",
    "model_titles": "false",  # a stream stays open for its title, and answers are measured here
}


def script(num_tokens: int, pace_ms: int = PACE_MS, first_s: float = 0) -> str:
    return f"!script tokens={num_tokens} pace={pace_ms}ms first={first_s}s\n{PROSE}"


def bearer(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


async def begin(url: str, key: str, prompt: str, num_arrivals: int = 1) -> V1Reader:
    """Sends, reads that many pieces of the stream, and hangs up: the turn goes on."""

    def is_enough(done: Exchange) -> bool:
        return len(done.arrivals) >= num_arrivals and any(TOKEN in one for _, one in done.arrivals)

    return heard(await exchange(url, Target(url, SEND, "v1", key).request(prompt), is_enough))


def heard(done: Exchange, before: V1Reader | None = None) -> V1Reader:
    """A stream as far as it came, after what was read `before`."""
    return read_into(before or V1Reader(), streamed(done, is_cut=True))


def read_into(reader: V1Reader, arrivals: Timed) -> V1Reader:
    for at, frame in frames(arrivals):
        reader.read(at, frame)
    return reader


def events_request(url: str, key: str, turn_id: str, after: int = 0) -> bytes:
    path = f"{SEND}/{turn_id}/events"
    return http_request(url, "GET", path, None, bearer(key) | {"last-event-id": str(after)})


def resume_request(
    url: str, key: str, reader: V1Reader, after: int, mode: str | None = None
) -> bytes:
    shape = {
        "conversation_id": reader.conversation_id,
        "turn_exchange_id": reader.turn_id,
        "offset": after,
        "mode": mode,
    }
    return http_request(url, "POST", f"{SEND}/resume", shape, bearer(key))


class Line:
    """A WebSocket as a page uses it."""

    def __init__(self, connection: ClientConnection) -> None:
        self.arrivals: defaultdict[str, Timed] = defaultdict(list)
        """What came, by turn."""
        self.num_ended = 0
        self._connection = connection
        self._ids = count(1)
        self._seqs: dict[str, int] = {}
        self._unacknowledged: dict[str, int] = {}
        self._num_unacknowledged = 0
        self._acknowledging: asyncio.Task[None] | None = None

    async def follow(self, *turns: tuple[str, int]) -> None:
        """Connects, and follows turns, each from after an event on."""
        commands: list[dict[str, Any]] = [{"type": "connect"}]
        for turn_id, after in turns:
            topic_id = TOPIC + turn_id
            commands.append({"type": "subscribe", "topic_id": topic_id, "offset": str(after)})
        await self._tell([{"id": next(self._ids), "command": one} for one in commands])

    async def read_until_ended(self, num_turns: int = 1) -> None:
        while self.num_ended < num_turns:
            await self.read()

    async def read(self) -> None:
        """One frame."""
        frame = msgspec.json.decode(await self._connection.recv())
        at = time.perf_counter()
        match frame["type"]:
            case "message":
                self._take(at, frame)
            case "reply":
                for one in frame["reply"].get("catchups", ()):
                    self._take(at, one)
            case "ping":
                await self._tell({"command": {"type": "pong", "t": frame["t"]}})
            case "nack":
                raise BadAnswer(str(frame["error"]))

    def _take(self, at: float, frame: dict[str, Any]) -> None:
        topic_id, item = frame["topic_id"], frame["payload"]["payload"]["encoded_item"].encode()
        if not frame["redelivery"] and frame["seq"] - frame["n"] < self._seqs.get(topic_id, 0):
            raise BadAnswer("Something was told twice.")
        self.arrivals[topic_id.removeprefix(TOPIC)].append((at, item))
        self.num_ended += ENDS in item
        self._seqs[topic_id] = self._unacknowledged[topic_id] = frame["seq"]
        self._num_unacknowledged += 1
        if self._num_unacknowledged == 1:
            self._acknowledge(ACK_S)
        elif self._num_unacknowledged == ACK_ITEMS:
            self._acknowledge(0)

    def _acknowledge(self, wait_s: float) -> None:
        self.leave()
        self._acknowledging = asyncio.create_task(self._acknowledge_after(wait_s))

    async def _acknowledge_after(self, wait_s: float) -> None:
        await asyncio.sleep(wait_s)
        due, self._unacknowledged, self._num_unacknowledged = self._unacknowledged, {}, 0
        acks = [{"type": "ack", "topic_id": one, "seq": seq} for one, seq in due.items()]
        await self._tell([{"command": ack} for ack in acks])

    def leave(self) -> None:
        if self._acknowledging:
            self._acknowledging.cancel()

    async def _tell(self, orders: object) -> None:
        await self._connection.send(msgspec.json.encode(orders).decode())


@asynccontextmanager
async def open_line(url: str, key: str) -> AsyncGenerator[Line]:
    _, ticket = await launch.call(url, "GET", "/backend-api/celsius/ws/user", None, bearer(key))
    async with connect(
        ticket["websocket_url"],
        subprotocols=[Subprotocol("hitsend.v1")],
        compression=None,
        ping_interval=None,
        proxy=None,
    ) as connection:
        line = Line(connection)
        try:
            yield line
        finally:
            line.leave()


async def stored_text(url: str, key: str, conversation_id: str) -> tuple[str, str]:
    """What the server has of an answer, and how that ended."""
    path = f"/backend-api/conversation/{conversation_id}"
    _, tree = await launch.call(url, "GET", path, None, bearer(key))
    message = tree["mapping"][tree["current_node"]]["message"]
    return "".join(message["content"]["parts"]), message["status"]
