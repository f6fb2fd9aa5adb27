"""Answers for the server that a test directs, and what it was asked."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec
from tests.unit.client.recorded import began


class Held(bytes):
    """Is said, and then nothing more, until whoever asked hangs up."""


@dataclass
class FakeServer:
    """Answers are taken in order. One may end in the middle, or be None: no answer at all."""

    answers: list[bytes | None]
    url: str = ""
    requests: list[bytes] = field(default_factory=list)
    was_left: asyncio.Event = field(default_factory=asyncio.Event)

    async def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = [
            line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")
        ]
        body = await reader.readexactly(int(length[0].split(b":")[1])) if length else b""
        self.requests.append(head + body)
        answer = self.answers.pop(0)
        if answer is None:
            writer.transport.abort()
            return
        writer.write(answer)
        if isinstance(answer, Held):
            await reader.read()
            self.was_left.set()
        writer.close()

    @property
    def lines(self) -> list[str]:
        """The first line of each request."""
        return [request.split(b" HTTP/")[0].decode() for request in self.requests]

    def header(self, number: int, name: str) -> str | None:
        head = self.requests[number].partition(b"\r\n\r\n")[0].decode()
        fields = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:])
        return fields.get(name)

    def body(self, number: int) -> Any:
        return msgspec.json.decode(self.requests[number].partition(b"\r\n\r\n")[2])


Serve = Callable[..., Awaitable[FakeServer]]


def stream(body: bytes, *, is_cut: bool = False, name: str = "hello") -> bytes:
    turn_id = began(name).turn_id.encode()
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
    head += b"x-turn-exchange-id: %b\r\ntransfer-encoding: chunked\r\n\r\n" % turn_id
    chunk = b"%x\r\n%b\r\n" % (len(body), body) if body else b""
    return head + chunk + (b"" if is_cut else b"0\r\n\r\n")


def answer(status: int, body: object, *headers: bytes) -> bytes:
    data = msgspec.json.encode(body)
    lines = [b"HTTP/1.1 %d X" % status, b"content-length: %d" % len(data), *headers]
    return b"\r\n".join(lines) + b"\r\n\r\n" + data


def refusal(status: int, code: str, *headers: bytes) -> bytes:
    return answer(status, {"error": {"message": f"It is {code}.", "code": code}}, *headers)
