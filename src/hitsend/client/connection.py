"""HTTP to one server: what can be tried again is tried again, what breaks is taken up again.

A turn lives on the server. A stream that breaks is followed from the last event that arrived,
so a dropped connection costs time and not a word.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager

import httpx2
import msgspec

from hitsend.client.backoff import Backoff
from hitsend.client.failures import rebuilt
from hitsend.client.reader import Reader
from hitsend.client.updates import Update
from hitsend.errors import HitsendError, TooFast, Unavailable

SILENCE_S = 45.0
"""A stream says something at least every ten seconds; one that does not is dead."""

MAX_SENDS = 3
"""Tries to get a message accepted. After it was, following it is tried more patiently."""

NEVER_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)


class Lost(Unavailable):
    """The connection broke, or there was none."""

    code = "connection_lost"

    def __init__(self, message: str, *, was_sent: bool) -> None:
        super().__init__(message)
        self.was_sent = was_sent
        """The server may have seen the request."""


class Connection:
    def __init__(self, url: str, key: str, backoff: Backoff) -> None:
        self._url = url
        self._backoff = backoff
        self._http = httpx2.AsyncClient(
            base_url=url,
            headers={"authorization": f"Bearer {key}"},
            timeout=httpx2.Timeout(10.0, read=SILENCE_S),
            # A proxy meant for the outside world cannot reach this machine's own addresses.
            mounts={f"all://{host}": None for host in ("127.0.0.1", "localhost", "[::1]")},
        )

    async def close(self) -> None:
        await self._http.aclose()

    def request(
        self, method: str, path: str, body: object = None, query: Mapping[str, str] | None = None
    ) -> httpx2.Request:
        if body is None:
            return self._http.build_request(method, path, params=query)
        headers = {"content-type": "application/json"}
        content = msgspec.json.encode(body)
        return self._http.build_request(method, path, content=content, headers=headers)

    async def whole(self, request: httpx2.Request) -> bytes:
        """The body of the answer. Only for requests that may be repeated."""
        num_tries = 0
        while True:
            try:
                async with self._response(request) as response:
                    return await response.aread()
            except (TooFast, Unavailable) as error:
                num_tries += 1
                await _pause(self._backoff.delay_s(num_tries, error), error)

    async def turn(
        self, request: httpx2.Request, turn_id: str = ""
    ) -> AsyncGenerator[Update, None]:
        """What the turn says, to its end, over as many connections as it takes."""
        reader, num_tries = Reader(), 0
        while True:
            reached = reader.last_seq
            try:
                async with self._response(request) as response:
                    turn_id = turn_id or response.headers.get("x-turn-exchange-id", "")
                    async for chunk in response.aiter_bytes():
                        for update in reader.feed(chunk):
                            yield update
                if reader.is_done:
                    return
                raise Lost(f"The answer from {self._url} ended too early.", was_sent=True)
            except (TooFast, Unavailable) as error:
                num_tries = 1 if reader.last_seq > reached else num_tries + 1
                await _pause(self._delay_s(error, num_tries, is_accepted=bool(turn_id)), error)
            if turn_id:
                reader.reconnect()
                request = self.following(turn_id, reader.last_seq)

    def following(self, turn_id: str, after: int = 0) -> httpx2.Request:
        path = f"/backend-api/f/conversation/{turn_id}/events"
        return self.request("GET", path, query={"after": str(after)})

    def _delay_s(self, error: HitsendError, num_tries: int, *, is_accepted: bool) -> float | None:
        # Sent but not confirmed: to send it again could say it twice.
        is_doubtful = isinstance(error, Lost) and error.was_sent
        if not is_accepted and (is_doubtful or num_tries >= MAX_SENDS):
            return None
        return self._backoff.delay_s(num_tries, error)

    @asynccontextmanager
    async def _response(self, request: httpx2.Request) -> AsyncIterator[httpx2.Response]:
        try:
            async with aclosing(await self._http.send(request, stream=True)) as response:
                if response.is_error:
                    raise rebuilt(response.status_code, await response.aread(), response.headers)
                yield response
        except httpx2.TransportError as error:
            problem = f"There is no connection to {self._url}: {error or type(error).__name__}."
            raise Lost(problem, was_sent=not isinstance(error, NEVER_SENT)) from None


async def _pause(delay_s: float | None, error: HitsendError) -> None:
    """Wait before the next try; without a delay there is none."""
    if delay_s is None:
        raise error
    await asyncio.sleep(delay_s)
