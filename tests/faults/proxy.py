"""A bad network: a TCP proxy that splits, delays and cuts connections at random.

What happens to a connection is drawn from the seed when it opens, and happens after a number of
bytes. The content of the bytes plays no role.
"""

import asyncio
import logging
import random
import socket
import struct
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

log = logging.getLogger(__name__)

Cut: TypeAlias = Literal["reset", "half-close", "blackhole"]
Way: TypeAlias = Literal["up", "down"]
"""The direction of bytes: to the server, or from it."""

Carrying: TypeAlias = asyncio.Task[None]

CHUNK_BYTES = 65_536
AT_ONCE = struct.pack("ii", 1, 0)
"""SO_LINGER of zero: closing the socket sends a reset."""


@dataclass(frozen=True)
class Fault:
    """A fault of a connection, after a number of bytes in one direction."""

    cut: Cut
    way: Way
    num_bytes: int

    def most(self, way: Way) -> int | None:
        return self.num_bytes if way == self.way else None


def by_chance(chance: random.Random) -> Fault:
    """Cuts requests rarely, heads of responses more often, and bodies most often."""
    cut: Cut = chance.choices(("reset", "half-close", "blackhole"), (7, 3, 1))[0]
    if chance.random() < 0.1:
        return Fault(cut, "up", chance.randint(0, 600))
    return Fault(cut, "down", chance.choice((chance.randint(0, 900), chance.randint(900, 4000))))


@dataclass
class Proxy:
    seed: int
    host: str
    port: int
    """The address of the server, which may change."""
    num_cuts_left: int
    """After this many cuts the network is slow, but whole."""
    choose: Callable[[random.Random], Fault] = by_chance
    url: str = ""
    cuts: Counter[str] = field(default_factory=Counter)
    chance: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)

    async def carry(self, client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        fate = self.choose(self.chance) if self.num_cuts_left else None
        try:
            server, to_server = await asyncio.open_connection(self.host, self.port)
        except OSError:
            reset(to_client)
            return
        try:
            up = self._pump(client, to_server, fate.most("up") if fate else None)
            down = self._pump(server, to_client, fate.most("down") if fate else None)
            if await _first_to_cut(up, down) and fate and self.num_cuts_left:
                self.num_cuts_left -= 1
                self.cuts[f"{fate.cut} {fate.way}"] += 1
                await _do(fate.cut, client, to_client)
        finally:
            for writer in (to_server, to_client):
                reset(writer)

    async def _pump(
        self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, most: int | None
    ) -> bool:
        """Returns whether it ended because of the number of bytes."""
        num_bytes = 0
        try:
            while most is None or num_bytes < most:
                chunk = await source.read(CHUNK_BYTES if most is None else most - num_bytes)
                if not chunk:
                    sink.write_eof()
                    return False
                num_bytes += len(chunk)
                await self._forward(chunk, sink)
        except OSError:
            return False
        return True

    async def _forward(self, chunk: bytes, sink: asyncio.StreamWriter) -> None:
        for piece in self._pieces(chunk):
            sink.write(piece)
            await sink.drain()
            # Bytes that arrive during the delay are joined.
            await asyncio.sleep(self.chance.choice((0.0, 0.0, 0.0, 0.001, 0.02)))

    def _pieces(self, chunk: bytes) -> Iterator[bytes]:
        if self.chance.random() < 0.5:
            yield chunk
            return
        ends = sorted(self.chance.sample(range(len(chunk)), min(3, len(chunk) - 1)))
        for start, end in zip([0, *ends], [*ends, len(chunk)], strict=True):
            yield chunk[start:end]


async def _first_to_cut(*pumps: Coroutine[None, None, bool]) -> bool:
    """Runs both directions until one of them cuts, or both have ended."""
    tasks = {asyncio.create_task(pump) for pump in pumps}
    try:
        for ended in asyncio.as_completed(tasks):
            if await ended:
                return True
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return False


async def _do(cut: Cut, client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
    """Without a reset, the client has to notice by itself."""
    try:
        if cut == "half-close":
            to_client.write_eof()
        if cut != "reset":
            while await client.read(CHUNK_BYTES):
                continue
    except OSError:
        return


def reset(writer: asyncio.StreamWriter) -> None:
    if writer.transport.is_closing():
        writer.transport.abort()
        return
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
    writer.transport.abort()


def port_of(url: str) -> int:
    port = urlsplit(url).port
    assert port
    return port


@asynccontextmanager
async def bad_network(
    url: str, seed: int, num_cuts: int, choose: Callable[[random.Random], Fault] = by_chance
) -> AsyncGenerator[Proxy]:
    """Runs a proxy in front of `url`. Prints its seed, with which a failure can be repeated."""
    log.warning("the network's seed is %d", seed)
    proxy, carrying = Proxy(seed, "127.0.0.1", port_of(url), num_cuts, choose), set[Carrying]()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(proxy.carry(reader, writer))
        carrying.add(task)
        task.add_done_callback(carrying.discard)

    listener = await asyncio.start_server(accept, "127.0.0.1", 0)
    proxy.url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
    try:
        yield proxy
    finally:
        listener.close()
        for task in list(carrying):
            task.cancel()
        await asyncio.gather(*carrying, return_exceptions=True)
