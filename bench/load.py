"""The load: many streams at once over bare sockets, read whole first and understood afterwards.

While the clock runs a stream only keeps what arrives and when, so that the client costs next
to nothing beside what it measures. It knows two shapes: v1 deltas and OpenAI chunks.
"""

import asyncio
import hashlib
import json
import statistics
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, cast
from urllib.parse import urlsplit

Shape = Literal["v1", "openai"]
NO_HEADERS: Mapping[str, str] = {}


@dataclass(frozen=True)
class Target:
    """Where the load goes, and in which shape it speaks there."""

    url: str
    path: str
    shape: Shape
    key: str = ""
    model: str = "auto"
    sampling: dict[str, Any] = field(default_factory=dict)
    instructions: str = ""
    """Said first in the OpenAI shape; with v1 the server has its own."""

    def request(self, prompt: str) -> bytes:
        shape = self._v1(prompt) if self.shape == "v1" else self._openai(prompt)
        headers = {"authorization": f"Bearer {self.key}"} if self.key else NO_HEADERS
        return http_request(self.url, "POST", self.path, shape, headers)

    def _v1(self, prompt: str) -> dict[str, Any]:
        message = {
            "id": str(uuid.uuid4()),
            "author": {"role": "user"},
            "content": {"content_type": "text", "parts": [prompt]},
        }
        shape = {
            "action": "next",
            "messages": [message],
            "parent_message_id": "client-created-root",
            "model": self.model,
            "supported_encodings": ["v1"],
        }
        return shape | ({"sampling": self.sampling} if self.sampling else {})

    def _openai(self, prompt: str) -> dict[str, Any]:
        system = [{"role": "system", "content": self.instructions}] if self.instructions else []
        return {
            "model": self.model,
            "messages": [*system, {"role": "user", "content": prompt}],
            "stream": True,
            "stream_options": {"include_usage": True},
            **self.sampling,
        }


def http_request(
    url: str, method: str, path: str, shape: object = None, headers: Mapping[str, str] = NO_HEADERS
) -> bytes:
    """Asks the server to close after the answer: the end of the stream is then the end of file."""
    body = json.dumps(shape).encode() if shape is not None else b""
    lines = [
        f"{method} {path} HTTP/1.1",
        f"host: {urlsplit(url).netloc}",
        "content-type: application/json",
        f"content-length: {len(body)}",
        "connection: close",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


Enough: TypeAlias = Callable[["Exchange"], bool]


class Exchange(asyncio.Protocol):
    """One request and everything that came back, with the time of each arrival."""

    def __init__(self, request: bytes, is_enough: Enough | None = None) -> None:
        """Hangs up by itself when an arrival makes it enough."""
        self.request = request
        self.is_enough = is_enough
        self.arrivals: list[tuple[float, bytes]] = []
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.started_at = time.perf_counter()
        self.transport = cast(asyncio.Transport, transport)
        self.transport.write(self.request)

    def data_received(self, data: bytes) -> None:
        self.arrivals.append((time.perf_counter(), data))
        if self.is_enough and self.is_enough(self):
            self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self.ended_at = time.perf_counter()
        if not self.ended.done():  # whoever waited may have been cancelled
            self.ended.set_result(None)


async def begin_exchange(url: str, request: bytes, is_enough: Enough | None = None) -> Exchange:
    parts = urlsplit(url)
    loop = asyncio.get_running_loop()
    _, protocol = await loop.create_connection(
        lambda: Exchange(request, is_enough), parts.hostname or "127.0.0.1", parts.port or 80
    )
    return protocol


async def exchange(url: str, request: bytes, is_enough: Enough | None = None) -> Exchange:
    protocol = await begin_exchange(url, request, is_enough)
    await protocol.ended
    return protocol


class BadAnswer(Exception):
    """What came back is not what was said. A figure measured on it would mean nothing."""


@dataclass(frozen=True)
class Arrival:
    """Text a client could show at that moment."""

    at: float
    text: str


@dataclass(frozen=True)
class Answer:
    """One stream, understood."""

    started_at: float
    ended_at: float
    num_bytes: int
    num_tokens: int
    num_prompt_tokens: int
    arrivals: tuple[Arrival, ...]
    conversation_id: str = ""

    @property
    def text(self) -> str:
        return "".join(arrival.text for arrival in self.arrivals)

    @property
    def first_ms(self) -> float:
        return (self.arrivals[0].at - self.started_at) * 1000

    @property
    def gaps_ms(self) -> list[float]:
        times = [arrival.at for arrival in self.arrivals]
        return [(later - at) * 1000 for at, later in zip(times, times[1:], strict=False)]


def understand(exchange: Exchange, shape: Shape) -> Answer:
    reader: V1Reader | OpenAIReader = V1Reader() if shape == "v1" else OpenAIReader()
    for at, frame in frames(streamed(exchange)):
        reader.read(at, frame)
    reader.check()
    return Answer(
        started_at=exchange.started_at,
        ended_at=exchange.ended_at,
        num_bytes=sum(len(data) for _, data in exchange.arrivals),
        num_tokens=reader.num_tokens,
        num_prompt_tokens=reader.num_prompt_tokens,
        arrivals=tuple(reader.arrivals),
        conversation_id=reader.conversation_id,
    )


Timed = list[tuple[float, bytes]]


def streamed(exchange: Exchange, *, is_cut: bool = False) -> Timed:
    """What was streamed, without what HTTP puts around it."""
    head, body = split_head(exchange)
    if not head.startswith(b"HTTP/1.1 200"):
        raise BadAnswer(f"{head.splitlines()[:1]} {b''.join(data for _, data in body)[:500]!r}")
    return dechunked(body, is_cut=is_cut) if b"chunked" in head.lower() else body


def split_head(exchange: Exchange) -> tuple[bytes, Timed]:
    pending = b""
    for index, (at, data) in enumerate(exchange.arrivals):
        pending += data
        head, blank, rest = pending.partition(b"\r\n\r\n")
        if blank:
            return head, [(at, rest), *exchange.arrivals[index + 1 :]]
    raise BadAnswer(f"The server closed after {pending!r}.")


def dechunked(body: Timed, *, is_cut: bool = False) -> Timed:
    """The payload of each HTTP chunk, at the moment its last byte was there."""
    payloads, buffer = [], bytearray()
    for at, data in body:
        buffer += data
        start = 0
        while (end_of_size := buffer.find(b"\r\n", start)) >= 0:
            end = end_of_size + 2 + int(buffer[start:end_of_size], 16)
            if end + 2 > len(buffer):
                break
            payloads.append((at, bytes(buffer[end_of_size + 2 : end])))
            start = end + 2
        del buffer[:start]
    if not is_cut and (buffer or not payloads or payloads[-1][1]):
        raise BadAnswer("The stream ended in the middle of a chunk.")
    return payloads


def frames(body: Timed) -> Timed:
    """SSE frames without their blank line."""
    found, pending = [], b""
    for at, data in body:
        *whole, pending = (pending + data).split(b"\n\n")
        found += [(at, frame) for frame in whole]
    return found


def fields_of(frame: bytes) -> dict[bytes, bytes]:
    pairs = (line.partition(b": ") for line in frame.split(b"\n"))
    return {name: value for name, _, value in pairs}


class V1Reader:
    """Enough of delta_encoding v1 to follow the text of an answer and prove that it is whole."""

    def __init__(self) -> None:
        self.arrivals: list[Arrival] = []
        self.path, self.operation = "", ""
        self.num_tokens = self.num_prompt_tokens = 0
        self.complete: dict[str, Any] = {}
        self.is_done = False
        self.conversation_id = self.turn_id = ""
        self.last_id = 0
        """The last event that arrived whole."""

    def read(self, at: float, frame: bytes) -> None:
        fields = fields_of(frame)
        data = fields.get(b"data")
        self.last_id = int(fields.get(b"id", self.last_id))
        if data is None or fields.get(b"event") == b"delta_encoding":
            return
        if data == b"[DONE]":
            self.is_done = True
        elif fields.get(b"event") == b"delta":
            self._delta(at, json.loads(data))
        else:
            self._typed(json.loads(data))

    def _delta(self, at: float, delta: dict[str, Any]) -> None:
        self.path = delta.get("p", self.path)
        self.operation = delta.get("o", self.operation)
        if self.operation == "patch":
            for item in delta["v"]:
                self._append(at, item["p"], item["o"], item["v"])
        else:
            self._append(at, self.path, self.operation, delta["v"])

    def _append(self, at: float, path: str, operation: str, value: Any) -> None:
        if (path, operation) == ("/message/content/parts/0", "append"):
            self.arrivals.append(Arrival(at, value))

    def _typed(self, event: dict[str, Any]) -> None:
        match event.get("type"):
            case "error":
                raise BadAnswer(event["error"]["message"])
            case "server_ste_metadata":
                usage = event["metadata"]["usage"]
                self.num_tokens = usage["num_output_tokens"]
                self.num_prompt_tokens = usage["num_input_tokens"]
            case "resume_conversation_token":
                self.conversation_id = event["conversation_id"]
                self.turn_id = event["turn_exchange_id"]
            case "stream_resumed":
                self.path = event["carry"]["p"] or ""
                self.operation = event["carry"]["o"] or ""
            case "message_stream_complete":
                self.complete = event

    @property
    def text(self) -> str:
        return "".join(arrival.text for arrival in self.arrivals)

    def check(self) -> None:
        if not (self.is_done and self.complete):
            raise BadAnswer("The stream has no end.")
        text = self.text
        stated = self.complete["messages"][-1]
        if (stated["chars"], stated["sha256"]) != (len(text), sha256(text)):
            raise BadAnswer(f"{len(text)} characters arrived, {stated['chars']} were said.")


class OpenAIReader:
    conversation_id = ""

    def __init__(self) -> None:
        self.arrivals: list[Arrival] = []
        self.num_tokens = self.num_prompt_tokens = 0
        self.finish_reason = ""
        self.is_done = False

    def read(self, at: float, frame: bytes) -> None:
        data = fields_of(frame).get(b"data")
        if data is None:
            return
        if data == b"[DONE]":
            self.is_done = True
            return
        self._chunk(at, json.loads(data))

    def _chunk(self, at: float, chunk: dict[str, Any]) -> None:
        if "error" in chunk:
            raise BadAnswer(str(chunk["error"]))
        for choice in chunk["choices"]:
            self.finish_reason = choice.get("finish_reason") or self.finish_reason
            if text := choice["delta"].get("content"):
                self.arrivals.append(Arrival(at, text))
        if usage := chunk.get("usage"):
            self.num_tokens = usage["completion_tokens"]
            self.num_prompt_tokens = usage["prompt_tokens"]

    def check(self) -> None:
        if not (self.is_done and self.finish_reason):
            raise BadAnswer("The stream has no end.")


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Load:
    """`num_streams` at once, each asking for `num_answers` answers, one after the other."""

    num_streams: int
    num_answers: int = 1
    start_over_s: float = 0.0
    """People do not press Send in the same millisecond: the first requests are spread over it."""


async def run_streams(
    target: Target, load: Load, prompt: Callable[[int, int], str]
) -> list[Answer]:
    async def stream(index: int) -> list[Exchange]:
        await asyncio.sleep(index * load.start_over_s / load.num_streams)
        requests = [target.request(prompt(index, turn)) for turn in range(load.num_answers)]
        return [await exchange(target.url, request) for request in requests]

    streams = await asyncio.gather(*(stream(index) for index in range(load.num_streams)))
    return [understand(done, target.shape) for exchanges in streams for done in exchanges]


@dataclass(frozen=True)
class Figures:
    """What a run of streams came to."""

    num_answers: int
    num_tokens: int
    seconds: float
    tokens_per_s: float
    bytes_per_token: float
    tokens_per_arrival: float
    first_ms_p50: float
    first_ms_p99: float
    gap_ms_p50: float
    gap_ms_p99: float


def figures(answers: Sequence[Answer]) -> Figures:
    seconds = max(a.ended_at for a in answers) - min(a.started_at for a in answers)
    num_tokens = sum(answer.num_tokens for answer in answers)
    firsts = [answer.first_ms for answer in answers]
    gaps = [gap for answer in answers for gap in answer.gaps_ms]
    return Figures(
        num_answers=len(answers),
        num_tokens=num_tokens,
        seconds=seconds,
        tokens_per_s=num_tokens / seconds,
        bytes_per_token=sum(answer.num_bytes for answer in answers) / num_tokens,
        tokens_per_arrival=num_tokens / sum(len(answer.arrivals) for answer in answers),
        first_ms_p50=percentile(firsts, 50),
        first_ms_p99=percentile(firsts, 99),
        gap_ms_p50=percentile(gaps, 50),
        gap_ms_p99=percentile(gaps, 99),
    )


def percentile(values: Sequence[float], percent: int) -> float:
    if len(values) < 2:
        return values[0] if values else 0.0
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]
