"""The client: many streams at once over bare sockets.

A stream only records bytes and their times while it runs, and is parsed afterwards, so that the
client takes little CPU from the server it measures. It parses v1 deltas and OpenAI chunks.
"""

import asyncio
import hashlib
import json
import statistics
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias, cast
from urllib.parse import urlsplit

Shape = Literal["v1", "openai"]
NO_HEADERS: Mapping[str, str] = {}


@dataclass(frozen=True)
class Target:
    """An address to send to, and the shape of its requests and answers."""

    url: str
    path: str
    shape: Shape
    key: str = ""
    model: str = "auto"
    sampling: dict[str, Any] = field(default_factory=dict)
    instructions: str = ""
    """The system message in the OpenAI shape; in the v1 shape the server adds its own."""

    def request(self, prompt: str, after: "Answer | None" = None) -> bytes:
        headers = {"authorization": f"Bearer {self.key}"} if self.key else NO_HEADERS
        return http_request(self.url, "POST", self.path, self.body(prompt, after), headers)

    def body(self, prompt: str, after: "Answer | None" = None) -> dict[str, Any]:
        """A Send in a new conversation, or in the v1 shape the turn after an answer."""
        return self._v1(prompt, after) if self.shape == "v1" else self._openai(prompt)

    def with_sampling(self, sampling: dict[str, Any]) -> "Target":
        return replace(self, sampling=sampling)

    def _v1(self, prompt: str, after: "Answer | None") -> dict[str, Any]:
        message = {
            "id": str(uuid.uuid4()),
            "author": {"role": "user"},
            "content": {"content_type": "text", "parts": [prompt]},
        }
        shape = {
            "action": "next",
            "messages": [message],
            "parent_message_id": after.message_id if after else "client-created-root",
            "model": self.model,
            "supported_encodings": ["v1"],
        }
        if after:
            shape["conversation_id"] = after.conversation_id
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
    """Asks the server to close the connection after the answer, which marks the answer's end."""
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


StopWhen: TypeAlias = Callable[["Exchange"], bool]


class Exchange(asyncio.Protocol):
    """One request and the bytes of its response, with the time each piece arrived."""

    def __init__(self, request: bytes, stop_when: StopWhen | None = None) -> None:
        """Closes the connection when `stop_when` returns True after an arrival."""
        self.request = request
        self.stop_when = stop_when
        self.arrivals: list[tuple[float, bytes]] = []
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.started_at = time.perf_counter()
        self.transport = cast(asyncio.Transport, transport)
        self.transport.write(self.request)

    def data_received(self, data: bytes) -> None:
        self.arrivals.append((time.perf_counter(), data))
        if self.stop_when and self.stop_when(self):
            self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self.ended_at = time.perf_counter()
        if not self.ended.done():  # cancelled by the task that waited
            self.ended.set_result(None)


async def start_exchange(url: str, request: bytes, stop_when: StopWhen | None = None) -> Exchange:
    parts = urlsplit(url)
    loop = asyncio.get_running_loop()
    _, started = await loop.create_connection(
        lambda: Exchange(request, stop_when), parts.hostname or "127.0.0.1", parts.port or 80
    )
    return started


async def run_exchange(url: str, request: bytes, stop_when: StopWhen | None = None) -> Exchange:
    started = await start_exchange(url, request, stop_when)
    await started.ended
    return started


class BadAnswer(Exception):
    """An error, or a wrong or incomplete answer. Its figures would mean nothing."""


@dataclass(frozen=True)
class Arrival:
    """Text of an answer, and when a client could show it."""

    at: float
    text: str


@dataclass(frozen=True)
class Answer:
    """One parsed stream."""

    started_at: float
    ended_at: float
    num_bytes: int
    num_tokens: int
    num_prompt_tokens: int
    arrivals: tuple[Arrival, ...]
    conversation_id: str = ""
    message_id: str = ""
    turn_id: str = ""

    @property
    def text(self) -> str:
        return "".join(arrival.text for arrival in self.arrivals)

    @property
    def seconds(self) -> float:
        return self.ended_at - self.started_at

    @property
    def first_ms(self) -> float:
        return (self.arrivals[0].at - self.started_at) * 1000

    def gaps_ms(self, after: float = 0.0) -> list[float]:
        times = [arrival.at for arrival in self.arrivals if arrival.at >= after]
        return [(later - at) * 1000 for at, later in zip(times, times[1:], strict=False)]


def parse_answer(exchange: Exchange, shape: Shape) -> Answer:
    reader: V1Reader | OpenAIReader = V1Reader() if shape == "v1" else OpenAIReader()
    for at, frame in split_frames(read_body(exchange)):
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
        message_id=reader.message_id,
        turn_id=reader.turn_id,
    )


async def send(target: Target, prompt: str, after: Answer | None = None) -> Answer:
    return parse_answer(await run_exchange(target.url, target.request(prompt, after)), target.shape)


TimedBytes = list[tuple[float, bytes]]


def read_body(exchange: Exchange, *, is_partial: bool = False) -> TimedBytes:
    """Returns the body without HTTP's chunk framing. Raises BadAnswer unless the status is 200."""
    head, body = split_head(exchange)
    if not head.startswith(b"HTTP/1.1 200"):
        raise BadAnswer(f"{head.splitlines()[:1]} {b''.join(data for _, data in body)[:500]!r}")
    return decode_chunks(body, is_partial=is_partial) if b"chunked" in head.lower() else body


def split_head(exchange: Exchange) -> tuple[bytes, TimedBytes]:
    pending = b""
    for index, (at, data) in enumerate(exchange.arrivals):
        pending += data
        head, blank, rest = pending.partition(b"\r\n\r\n")
        if blank:
            return head, [(at, rest), *exchange.arrivals[index + 1 :]]
    raise BadAnswer(f"The server closed after {pending!r}.")


def decode_chunks(body: TimedBytes, *, is_partial: bool = False) -> TimedBytes:
    """Returns the payload of each HTTP chunk with the time its last byte arrived."""
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
    if not is_partial and (buffer or not payloads or payloads[-1][1]):
        raise BadAnswer("The stream ended in the middle of a chunk.")
    return payloads


def split_frames(body: TimedBytes) -> TimedBytes:
    """Returns the SSE frames without the blank lines between them."""
    frames, pending = [], b""
    for at, data in body:
        *complete, pending = (pending + data).split(b"\n\n")
        frames += [(at, frame) for frame in complete]
    return frames


def parse_fields(frame: bytes) -> dict[bytes, bytes]:
    pairs = (line.partition(b":") for line in frame.split(b"\n"))
    return {name: value.removeprefix(b" ") for name, _, value in pairs}


class V1Reader:
    """Parses the part of delta_encoding v1 that carries an answer's text and its checksum."""

    def __init__(self) -> None:
        self.arrivals: list[Arrival] = []
        self.path, self.operation = "", ""
        self.num_tokens = self.num_prompt_tokens = 0
        self.complete: dict[str, Any] = {}
        self.is_done = False
        self.conversation_id = self.turn_id = ""
        self.last_id = 0
        """The id of the last complete event."""

    def read(self, at: float, frame: bytes) -> None:
        fields = parse_fields(frame)
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
                self.conversation_id = event["conversation_id"]
                self.complete = event

    @property
    def text(self) -> str:
        return "".join(arrival.text for arrival in self.arrivals)

    @property
    def message_id(self) -> str:
        return str(self.complete["messages"][-1]["id"])

    def check(self) -> None:
        if not (self.is_done and self.complete):
            raise BadAnswer("The stream has no end.")
        text = self.text
        checksum = self.complete["messages"][-1]
        if (checksum["chars"], checksum["sha256"]) != (len(text), sha256(text)):
            raise BadAnswer("The text does not match its checksum.")


class OpenAIReader:
    conversation_id = message_id = turn_id = ""

    def __init__(self) -> None:
        self.arrivals: list[Arrival] = []
        self.num_tokens = self.num_prompt_tokens = 0
        self.finish_reason = ""
        self.is_done = False

    def read(self, at: float, frame: bytes) -> None:
        data = parse_fields(frame).get(b"data")
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
    """`num_streams` concurrent streams, each with `num_answers` answers one after the other."""

    num_streams: int
    num_answers: int = 1
    start_over_s: float = 0.0
    """The first requests are spread evenly over this time. 0 is a burst."""


async def run_streams(
    target: Target, load: Load, prompt: Callable[[int, int], str]
) -> list[Answer]:
    async def stream(index: int) -> list[Exchange]:
        await asyncio.sleep(index * load.start_over_s / load.num_streams)
        requests = [target.request(prompt(index, turn)) for turn in range(load.num_answers)]
        return [await run_exchange(target.url, request) for request in requests]

    streams = await asyncio.gather(*(stream(index) for index in range(load.num_streams)))
    return [parse_answer(done, target.shape) for exchanges in streams for done in exchanges]


@dataclass(frozen=True)
class StreamStats:
    """Speed and size of the answers of one run."""

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


def stream_stats(answers: Sequence[Answer], gaps_after_s: float = 0.0) -> StreamStats:
    """Leaves out the gaps between arrivals in the first `gaps_after_s`."""
    began = min(answer.started_at for answer in answers)
    # A stream may stay open after its last token, for a title.
    last_at = max(answer.arrivals[-1].at for answer in answers)
    seconds = last_at - began
    num_tokens = sum(answer.num_tokens for answer in answers)
    firsts = [answer.first_ms for answer in answers]
    gaps = [gap for answer in answers for gap in answer.gaps_ms(began + gaps_after_s)]
    return StreamStats(
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
