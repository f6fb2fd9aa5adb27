"""HTTP requests to one server, with retries."""

import asyncio
import random
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import Annotated, TypeVar

import httpx2
import msgspec
from msgspec import Meta

from hitsend.client.errors import Disconnected, error_from_response
from hitsend.errors import HitsendError, TooFast, Unavailable

T = TypeVar("T")

CONNECT_TIMEOUT_S = 10.0


class Backoff(msgspec.Struct, frozen=True):
    """Exponential backoff with jitter."""

    max_tries: Annotated[int, Meta(ge=1)] = 12
    first_s: float = 0.25
    longest_s: float = 8.0
    max_retry_after_s: float = 60.0
    """Longest Retry-After that is waited for."""

    def delay_s(self, num_tries: int, error: HitsendError | None = None) -> float | None:
        """Returns the delay after `num_tries` failures in a row. None: give up."""
        if num_tries >= self.max_tries:
            return None
        if error is not None and error.retry_after_s is not None:
            wait_s = error.retry_after_s
            return wait_s * random.uniform(1.0, 1.1) if wait_s <= self.max_retry_after_s else None
        return random.uniform(0.5, 1.0) * min(self.longest_s, self.first_s * 2.0 ** (num_tries - 1))


class Connection:
    def __init__(
        self, url: str, headers: Mapping[str, str], backoff: Backoff, silence_s: float
    ) -> None:
        self.url = url
        self.backoff = backoff
        self._http = httpx2.AsyncClient(
            base_url=url,
            headers=dict(headers),
            timeout=httpx2.Timeout(CONNECT_TIMEOUT_S, read=silence_s),
            # Unlimited, because each answer in progress has its own connection.
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=20),
            # A configured proxy cannot reach this machine's loopback addresses.
            mounts={f"all://{host}": None for host in ("127.0.0.1", "localhost", "[::1]")},
        )

    async def close(self) -> None:
        await self._http.aclose()

    async def get(self, kind: type[T], path: str, query: Mapping[str, str] | None = None) -> T:
        return self._decode(kind, await self._fetch(self.get_request(path, query)))

    async def post(
        self, kind: type[T], path: str, body: object, headers: Mapping[str, str] | None = None
    ) -> T:
        """Retries, so only for idempotent requests."""
        return self._decode(kind, await self._fetch(self.post_request(path, body, headers)))

    async def send(self, path: str, body: object) -> None:
        """Posts once: an answer that gets lost must not be repeated as another one."""
        async with self.response(self.post_request(path, body)) as response:
            await response.aread()

    def get_request(self, path: str, query: Mapping[str, str] | None = None) -> httpx2.Request:
        return self._http.build_request("GET", path, params=query)

    def post_request(
        self, path: str, body: object, headers: Mapping[str, str] | None = None
    ) -> httpx2.Request:
        own = {"content-type": "application/json", **(headers or {})}
        content = msgspec.json.encode(body)
        return self._http.build_request("POST", path, content=content, headers=own)

    @asynccontextmanager
    async def response(self, request: httpx2.Request) -> AsyncIterator[httpx2.Response]:
        """Tries once. Raises Disconnected, or the server's error."""
        if self._http.is_closed:
            raise HitsendError("This client is closed.")
        try:
            async with aclosing(await self._http.send(request, stream=True)) as response:
                if response.is_error:
                    raise error_from_response(
                        response.status_code, await response.aread(), response.headers
                    )
                yield response
        except httpx2.ReadTimeout:
            raise Disconnected(f"{self.url} sent nothing for too long.") from None
        except httpx2.TransportError as error:
            why = str(error) or type(error).__name__
            raise Disconnected(f"There is no connection to {self.url}: {why}.") from None

    async def _fetch(self, request: httpx2.Request) -> bytes:
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

    def _decode(self, kind: type[T], body: bytes) -> T:
        try:
            return msgspec.json.decode(body, type=kind)
        except msgspec.DecodeError as error:
            raise HitsendError(f"{self.url} does not answer as hitsend does: {error}.") from None
