"""Sends requests to a server through the egress guard, with the token of the person.

Remembers why a request failed: the SDK only says that the connection was closed.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

import httpx2

from hitsend.egress import describe_failure
from hitsend.errors import HitsendError, Unavailable


class SessionOver(Unavailable):
    """The server forgot the session. The request did not run: it can be made again."""


class Authorization:
    """What a request carries besides its body. The default has fixed headers."""

    def __init__(self, headers: Mapping[str, str] | None = None) -> None:
        self._headers = dict(headers or {})

    async def headers(self) -> Mapping[str, str]:
        """Raises Unavailable."""
        return self._headers

    async def renew(self, used: Mapping[str, str], challenge: str) -> bool:
        """After a 401 for these headers. Returns whether there are others to try."""
        return False

    def note_challenge(self, challenge: str) -> None:
        """Takes the header of a refusal that asks for more rights."""


class ServerTransport(httpx2.AsyncBaseTransport):
    def __init__(
        self,
        inner: httpx2.AsyncBaseTransport,
        url: httpx2.URL,
        authorization: Authorization,
        report: Callable[[str], None],
    ) -> None:
        """`report` takes the newest reason why requests fail, and an empty one when one works."""
        self._inner = inner
        self._origin = (url.scheme, url.host, url.port)
        self._authorization = authorization
        self._report = report

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        url = request.url
        if (url.scheme, url.host, url.port) != self._origin:
            return await self._send(request)
        used = await self._authorize(request)
        response = await self._send(request)
        if response.status_code == 401:
            challenge = response.headers.get("www-authenticate", "")
            if await self._authorization.renew(used, challenge):
                await response.aclose()
                await self._authorize(request)
                response = await self._send(request)
        if response.status_code == 403:
            challenge = response.headers.get("www-authenticate", "")
            if "insufficient_scope" in challenge:
                self._authorization.note_challenge(challenge)
        if response.status_code >= 400 and response.status_code not in (404, 405):
            self._report(describe_status(response.status_code))
        return response

    async def _authorize(self, request: httpx2.Request) -> Mapping[str, str]:
        headers = await self._authorization.headers()
        request.headers.update(headers)
        return headers

    async def _send(self, request: httpx2.Request) -> httpx2.Response:
        response = await self._watch(self._inner.handle_async_request(request), request.url.host)
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _WatchedStream(response.stream, self._report)
        return response

    async def _watch(self, work: Awaitable[httpx2.Response], host: str) -> httpx2.Response:
        try:
            return await work
        except HitsendError as error:
            self._report(error.message)
            raise
        except httpx2.HTTPError as error:
            self._report(describe_failure(host, error))
            raise

    async def aclose(self) -> None:
        await self._inner.aclose()


class _WatchedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, report: Callable[[str], None]) -> None:
        self._inner = inner
        self._report = report

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._inner:
                yield chunk
        except HitsendError as error:
            self._report(error.message)
            raise
        except httpx2.HTTPError:
            self._report("The connection broke off.")
            raise

    async def aclose(self) -> None:
        await self._inner.aclose()


def describe_status(status: int) -> str:
    match status:
        case 401:
            return "It wants a sign-in."
        case 403:
            return "It does not allow this (403)."
        case 429:
            return "It is asked too often (429). Try again later."
        case _ if status >= 500:
            return f"It has an error of its own ({status}). Try again later."
        case _:
            return f"It refused the request ({status})."
