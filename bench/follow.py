"""Clients that follow running answers: one over HTTP, or several over a WebSocket.

Like the streams of `load`, they only record bytes and times, which are parsed afterwards.
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
from bench.launch import SEND
from bench.load import (
    BadAnswer,
    Exchange,
    Target,
    TimedBytes,
    V1Reader,
    http_request,
    read_body,
    run_exchange,
    split_frames,
)
from bench.upstream import PROSE

TOPIC = "conversation-turn-"
RESUME_TOKEN = b"resume_conversation_token"
END = b"message_stream_complete"
ACK_ITEMS, ACK_S = 32, 0.25
"""How often the server asks for acknowledgements."""
PACE_MS = 50
SETTINGS = {
    "num_window_tokens": "65536",
    "max_answer_tokens": "50000",
    "engine_silence_s": "86400",
    "model_titles": "false",  # a stream stays open for its title
}


def script(num_tokens: int, pace_ms: int = PACE_MS, first_s: float = 0) -> str:
    return f"!script tokens={num_tokens} pace={pace_ms}ms first={first_s}s\n{PROSE}"


def bearer(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


async def start_turn(url: str, key: str, prompt: str, num_arrivals: int = 1) -> V1Reader:
    """Sends, reads `num_arrivals` pieces of the stream, and disconnects. The turn goes on."""

    def has_enough(exchange: Exchange) -> bool:
        pieces = [piece for _, piece in exchange.arrivals]
        return len(pieces) >= num_arrivals and any(RESUME_TOKEN in piece for piece in pieces)

    request = Target(url, SEND, "v1", key).request(prompt)
    return read_stream(await run_exchange(url, request, has_enough))


def read_stream(exchange: Exchange) -> V1Reader:
    """Parses a stream that may have been cut."""
    return read_into(V1Reader(), read_body(exchange, is_partial=True))


def read_into(reader: V1Reader, arrivals: TimedBytes) -> V1Reader:
    for at, frame in split_frames(arrivals):
        reader.read(at, frame)
    return reader


def check_followed(reader: V1Reader) -> None:
    """Checks the text alone: only the stream of a Send ends with [DONE]."""
    reader.is_done = True
    reader.check()


def events_request(url: str, key: str, turn_id: str, after: int = 0) -> bytes:
    path = f"{SEND}/{turn_id}/events"
    return http_request(url, "GET", path, None, bearer(key) | {"last-event-id": str(after)})


def resume_request(url: str, key: str, reader: V1Reader) -> bytes:
    shape = {
        "conversation_id": reader.conversation_id,
        "turn_exchange_id": reader.turn_id,
        "offset": reader.last_id,
    }
    return http_request(url, "POST", f"{SEND}/resume", shape, bearer(key))


class Socket:
    """A WebSocket that is used as the page uses it."""

    def __init__(self, connection: ClientConnection) -> None:
        self.arrivals: defaultdict[str, TimedBytes] = defaultdict(list)
        """Frames by turn."""
        self.num_ended = 0
        self._connection = connection
        self._ids = count(1)
        self._seqs: dict[str, int] = {}
        self._unacknowledged: dict[str, int] = {}
        self._num_unacknowledged = 0
        self._acknowledging: asyncio.Task[None] | None = None

    async def follow(self, *turns: tuple[str, int]) -> None:
        """Subscribes to turns, each from the event after the given one."""
        commands: list[dict[str, Any]] = [{"type": "connect"}]
        for turn_id, after in turns:
            topic_id = TOPIC + turn_id
            commands.append({"type": "subscribe", "topic_id": topic_id, "offset": str(after)})
        await self._send([{"id": next(self._ids), "command": one} for one in commands])

    async def read_until_ended(self, num_turns: int = 1) -> None:
        while self.num_ended < num_turns:
            await self.read()

    async def read(self) -> None:
        frame = msgspec.json.decode(await self._connection.recv())
        at = time.perf_counter()
        match frame["type"]:
            case "message":
                self._record(at, frame)
            case "reply":
                for one in frame["reply"].get("catchups", ()):
                    self._record(at, one)
            case "ping":
                await self._send({"command": {"type": "pong", "t": frame["t"]}})
            case "nack":
                raise BadAnswer(str(frame["error"]))

    def _record(self, at: float, frame: dict[str, Any]) -> None:
        topic_id, item = frame["topic_id"], frame["payload"]["payload"]["encoded_item"].encode()
        if not frame["redelivery"] and frame["seq"] - frame["n"] < self._seqs.get(topic_id, 0):
            raise BadAnswer("An event came twice.")
        self.arrivals[topic_id.removeprefix(TOPIC)].append((at, item))
        self.num_ended += END in item
        self._seqs[topic_id] = self._unacknowledged[topic_id] = frame["seq"]
        self._num_unacknowledged += 1
        if self._num_unacknowledged == 1:
            self._acknowledge(ACK_S)
        elif self._num_unacknowledged == ACK_ITEMS:
            self._acknowledge(0)

    def _acknowledge(self, wait_s: float) -> None:
        self.cancel_acknowledgement()
        self._acknowledging = asyncio.create_task(self._acknowledge_after(wait_s))

    async def _acknowledge_after(self, wait_s: float) -> None:
        await asyncio.sleep(wait_s)
        due, self._unacknowledged, self._num_unacknowledged = self._unacknowledged, {}, 0
        acks = [{"type": "ack", "topic_id": one, "seq": seq} for one, seq in due.items()]
        await self._send([{"command": ack} for ack in acks])

    def cancel_acknowledgement(self) -> None:
        if self._acknowledging:
            self._acknowledging.cancel()

    async def _send(self, commands: object) -> None:
        await self._connection.send(msgspec.json.encode(commands).decode())


@asynccontextmanager
async def open_socket(url: str, key: str) -> AsyncGenerator[Socket]:
    _, ticket = await launch.call(url, "GET", "/backend-api/celsius/ws/user", None, bearer(key))
    async with connect(
        ticket["websocket_url"],
        subprotocols=[Subprotocol("hitsend.v1")],
        compression=None,
        ping_interval=None,
        proxy=None,
    ) as connection:
        socket = Socket(connection)
        try:
            yield socket
        finally:
            socket.cancel_acknowledgement()


async def stored_text(url: str, key: str, conversation_id: str) -> tuple[str, str]:
    """Returns the stored text of the newest answer, and its status."""
    path = f"/backend-api/conversation/{conversation_id}"
    _, tree = await launch.call(url, "GET", path, None, bearer(key))
    message = tree["mapping"][tree["current_node"]]["message"]
    return "".join(message["content"]["parts"]), message["status"]
