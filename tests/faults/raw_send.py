"""Sends over bare sockets: hundreds at once cost this process so little that the server's times are
seen, and not its own."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import msgspec
from tests.faults.history import SEND
from tests.faults.process import message

COMPLETIONS = "/v1/chat/completions"


@dataclass
class RawSend:
    """A message under way, and when its response came."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    began: float
    status: int = 0
    head_s: float = 0.0
    """From the request to the headers of the response."""
    headers: dict[str, str] = field(default_factory=dict)
    arrivals: list[float] = field(default_factory=list)
    """When each piece of the body came."""
    body: bytes = b""

    async def read_head(self) -> int:
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode()
        self.head_s = time.monotonic() - self.began
        first, *lines = head.strip().split("\r\n")
        pairs = (line.partition(": ") for line in lines)
        self.headers = {name.lower(): value for name, _, value in pairs}
        self.status = int(first.split()[1])
        return self.status

    async def read_body(self) -> None:
        while more := await self.reader.read(65_536):
            self.arrivals.append(time.monotonic())
            self.body += more
        self.hang_up()

    async def read_whole(self) -> None:
        await self.read_head()
        await self.read_body()

    @property
    def is_whole(self) -> bool:
        return self.status == 200 and b"[DONE]" in self.body

    def hang_up(self) -> None:
        self.writer.transport.abort()


async def send_raw(
    url: str, key: str, text: str, address: str = "127.0.0.1", path: str = SEND
) -> RawSend:
    """Sends a message from an address of this machine."""
    target = urlsplit(url)
    reader, writer = await asyncio.open_connection(
        target.hostname, target.port, local_addr=(address, 0)
    )
    asked = {"model": "auto", "messages": [{"role": "user", "content": text}], "stream": True}
    body = msgspec.json.encode(message(text) if path == SEND else asked)
    head = (
        f"POST {path} HTTP/1.1\r\nhost: {target.netloc}\r\nauthorization: Bearer {key}\r\n"
        f"content-type: application/json\r\ncontent-length: {len(body)}\r\n"
        "connection: close\r\n\r\n"
    )
    began = time.monotonic()
    writer.write(head.encode() + body)
    return RawSend(reader, writer, began)


def percentile(values: Sequence[float], percent: float) -> float:
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * percent / 100), len(ordered) - 1)]


def gaps(sends: Sequence[RawSend], since: float, until: float) -> list[float]:
    """The times between two pieces that lie in a span of time, wholly or in part."""
    return [
        after - before
        for one in sends
        for before, after in zip(one.arrivals, one.arrivals[1:], strict=False)
        if after >= since and before <= until
    ]
