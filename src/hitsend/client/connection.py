"""HTTP to one server: what may be asked again is asked again. Knows nothing of what is asked."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import TypeVar

import httpx2
import msgspec

from hitsend.client.backoff import Backoff
from hitsend.client.failures import Lost, rebuilt
from hitsend.errors import HitsendError, TooFast, Unavailable

T = TypeVar("T")

CONNECT_S = 10.0


class Connection:
    def __init__(
        self, url: str, headers: Mapping[str, str], backoff: Backoff, silence_s: float
    ) -> None:
        self.url = url
        self.backoff = backoff
        self._http = httpx2.AsyncClient(
            base_url=url,
            headers=dict(headers),
            timeout=httpx2.Timeout(CONNECT_S, read=silence_s),
            # As many answers at once as a program wants: each has a connection of its own.
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=20),
            # A proxy meant for the outside world cannot reach this machine's own addresses.
            mounts={f"all://{host}": None for host in ("127.0.0.1", "localhost", "[::1]")},
        )

    async def close(self) -> None:
        await self._http.aclose()

    async def get(self, kind: type[T], path: str, query: Mapping[str, str] | None = None) -> T:
        return self._decoded(kind, await self._whole(self.getting(path, query)))

    async def post(
        self, kind: type[T], path: str, body: object, headers: Mapping[str, str] | None = None
    ) -> T:
        """Only for what may be done twice."""
        return self._decoded(kind, await self._whole(self.posting(path, body, headers)))

    def getting(self, path: str, query: Mapping[str, str] | None = None) -> httpx2.Request:
        return self._http.build_request("GET", path, params=query)

    def posting(
        self, path: str, body: object, headers: Mapping[str, str] | None = None
    ) -> httpx2.Request:
        own = {"content-type": "application/json", **(headers or {})}
        content = msgspec.json.encode(body)
        return self._http.build_request("POST", path, content=content, headers=own)

    @asynccontextmanager
    async def response(self, request: httpx2.Request) -> AsyncIterator[httpx2.Response]:
        """One try. Raises Lost, or the error that the server answered with."""
        if self._http.is_closed:
            raise HitsendError("This client is closed.")
        try:
            async with aclosing(await self._http.send(request, stream=True)) as response:
                if response.is_error:
                    raise rebuilt(response.status_code, await response.aread(), response.headers)
                yield response
        except httpx2.ReadTimeout:
            raise Lost(f"{self.url} has said nothing for too long.") from None
        except httpx2.TransportError as error:
            why = str(error) or type(error).__name__
            raise Lost(f"There is no connection to {self.url}: {why}.") from None

    async def _whole(self, request: httpx2.Request) -> bytes:
        num_tries = 0
        while True:
            try:
                async with self.response(request) as response:
                    return await response.aread()
            except (TooFast, Unavailable) as error:
                num_tries += 1
                delay_s = self.backoff.delay_s(num_tries, error)
                if delay_s is None:
                    raise
            await asyncio.sleep(delay_s)

    def _decoded(self, kind: type[T], body: bytes) -> T:
        try:
            return msgspec.json.decode(body, type=kind)
        except msgspec.DecodeError as error:
            raise HitsendError(f"{self.url} does not answer as hitsend does: {error}.") from None
