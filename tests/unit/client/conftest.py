"""A server that says, request by request, what a test told it to; then it hangs up."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field

import pytest


@dataclass
class FakeServer:
    """Answers are taken in order. One may end in the middle, or be None: no answer at all."""

    answers: list[bytes | None]
    url: str = ""
    requests: list[bytes] = field(default_factory=list)

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
        else:
            writer.write(answer)
            writer.close()

    @property
    def lines(self) -> list[str]:
        """The first line of each request."""
        return [request.split(b" HTTP/")[0].decode() for request in self.requests]


Serve = Callable[..., Awaitable[FakeServer]]


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    listening: list[asyncio.Server] = []

    async def start(*answers: bytes | None) -> FakeServer:
        fake = FakeServer(list(answers))
        server = await asyncio.start_server(fake.take, "127.0.0.1", 0)
        listening.append(server)
        fake.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        return fake

    yield start
    for server in listening:
        server.close()
        await server.wait_closed()
