"""The world of server tests: users with browsers, and the app they talk to."""

import asyncio
import ssl
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, cast
from uuid import uuid4

import httpx2
import msgspec

from hitsend.credentials import (
    csrf_token,
    hash_password,
    hash_token,
    key_prefix,
    new_key,
    new_token,
)
from hitsend.engine import Engine
from hitsend.server.app import App, open_app
from hitsend.server.auth.session_cookie import COOKIE
from hitsend.server.serve import listen
from hitsend.settings import Settings
from hitsend.sse import SseEvent, SseParser
from hitsend.store import AccountRole, KeyScope
from hitsend.store.keys import DEFAULT_SCOPES
from hitsend.tools import HostedTool
from hitsend.wire.delta import Carry, Delta, DeltaDecoder

PASSWORD = "correct horse battery"
PATIENCE_S = 60
"""A generous timeout: the machine may be busy."""
UNUSED_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For clients without TLS: building the default context is slow."""


@dataclass
class AnswerStream:
    """An answer's stream, decoded as a client does."""

    headers: httpx2.Headers
    last_id: int = 0
    typed: list[dict[str, Any]] = field(default_factory=list)
    decoder: DeltaDecoder = field(default_factory=DeltaDecoder)
    is_done: bool = False
    raw: bytes = b""
    _parser: SseParser = field(default_factory=SseParser)
    _chunks: AsyncIterator[bytes] = field(init=False)

    async def take(
        self, response: httpx2.Response, until_chars: int | None = None
    ) -> "AnswerStream":
        """Reads to the end, or until the answer has this many characters."""
        self.open(response)
        if until_chars is None:
            await self.read_to_end()
        else:
            await self.read_until(lambda: len(self.text) >= until_chars)
        return self

    def open(self, response: httpx2.Response) -> None:
        self._parser, self._chunks = SseParser(), response.aiter_raw()

    async def read_to_end(self) -> None:
        await self.read_until(lambda: False)

    async def read_until(self, is_enough: Callable[[], bool]) -> None:
        """Reads until this is so, or to the end."""
        async with asyncio.timeout(PATIENCE_S):
            while not is_enough():
                chunk = await anext(self._chunks, None)
                if chunk is None:
                    return
                self.raw += chunk
                for event in self._parser.feed(chunk):
                    self._take(event)

    def _take(self, event: SseEvent) -> None:
        if event.last_id:
            self.last_id = int(event.last_id)
        if event.data == "[DONE]":
            self.is_done = True
        elif event.event == "delta":
            self.decoder.decode(event.data)
        elif event.event != "delta_encoding":
            self._apply_side_event(msgspec.json.decode(event.data))

    def _apply_side_event(self, typed: dict[str, Any]) -> None:
        self.typed.append(typed)
        if typed.get("type") == "stream_snapshot":
            self.decoder, self.last_id = DeltaDecoder(), typed["seq"]
            for channel, tree in typed["channels"].items():
                self.decoder.apply(Delta("", "add", tree, int(channel)))
        if typed.get("type") in ("stream_snapshot", "stream_resumed"):
            self.decoder.resume(msgspec.convert(typed["carry"], Carry))

    @property
    def messages(self) -> list[dict[str, Any]]:
        trees = [cast(dict[str, Any], self.decoder.tree(c)) for c in self.decoder.channels]
        messages = [tree["message"] for tree in trees]
        return [one for one in messages if "seen_source" not in one["metadata"]]

    @property
    def hidden(self) -> list[dict[str, Any]]:
        trees = [cast(dict[str, Any], self.decoder.tree(c)) for c in self.decoder.channels]
        messages = [tree["message"] for tree in trees]
        return [one for one in messages if "seen_source" in one["metadata"]]

    @property
    def answer(self) -> dict[str, Any] | None:
        answers = [m for m in self.messages if m["author"]["role"] == "assistant"]
        return answers[-1] if answers else None

    @property
    def text(self) -> str:
        return str(self.answer["content"]["parts"][0]) if self.answer else ""

    def of_type(self, kind: str) -> dict[str, Any]:
        return next(event for event in self.typed if event.get("type") == kind)

    @property
    def turn_id(self) -> str:
        return self.headers["x-turn-exchange-id"]

    @property
    def conversation_id(self) -> str:
        return str(self.of_type("input_message")["conversation_id"])


@dataclass
class Someone:
    """A user with a browser, signed in, with a cookie and a CSRF token."""

    http: httpx2.AsyncClient
    name: str
    user_id: str
    key: str

    async def send(
        self, text: str, *, until_chars: int | None = None, **changes: Any
    ) -> AnswerStream:
        return await self.send_body(message(text, **changes), until_chars=until_chars)

    async def send_body(self, body: dict[str, Any], until_chars: int | None = None) -> AnswerStream:
        async with self._open_send(body) as response:
            return await AnswerStream(response.headers).take(response, until_chars)

    @asynccontextmanager
    async def stream(self, text: str, **changes: Any) -> AsyncGenerator[AnswerStream]:
        """A Send whose answer is read step by step."""
        async with self._open_send(message(text, **changes)) as response:
            stream = AnswerStream(response.headers)
            stream.open(response)
            yield stream

    @asynccontextmanager
    async def _open_send(self, body: dict[str, Any]) -> AsyncGenerator[httpx2.Response]:
        path = "/backend-api/f/conversation"
        async with self.http.stream("POST", path, json=body) as response:
            assert response.status_code == 200, await response.aread()
            yield response

    async def send_to_afterword(self, text: str, **changes: Any) -> AnswerStream:
        """Also reads what follows the end of the turn, such as a suggested memory."""
        stream = await self.send(text, **changes)
        async with self.http.stream(
            "GET",
            f"/backend-api/f/conversation/{stream.turn_id}/events",
            params={"after": stream.last_id, "afterword": "true"},
        ) as response:
            assert response.status_code == 200, await response.aread()
            return await stream.take(response)

    async def follow(self, turn_id: str, after: int = 0) -> AnswerStream:
        async with self.http.stream(
            "GET",
            f"/backend-api/f/conversation/{turn_id}/events",
            headers={"last-event-id": str(after)},
        ) as response:
            assert response.status_code == 200, await response.aread()
            return await AnswerStream(response.headers).take(response)

    async def conversation(self, conversation_id: str) -> dict[str, Any]:
        response = await self.http.get(f"/backend-api/conversation/{conversation_id}")
        assert response.status_code == 200, response.text
        tree: dict[str, Any] = response.json()
        return tree


def message(text: str, **changes: Any) -> dict[str, Any]:
    body = {
        "action": "next",
        "messages": [
            {
                "id": str(uuid4()),
                "author": {"role": "user"},
                "content": {"content_type": "text", "parts": [text]},
            }
        ],
        "parent_message_id": "client-created-root",
        "model": "auto",
        "supported_encodings": ["v1"],
    }
    return body | changes


@dataclass
class World:
    app: App
    url: str
    stack: AsyncExitStack

    async def browser(self) -> httpx2.AsyncClient:
        client = httpx2.AsyncClient(base_url=self.url, verify=UNUSED_TLS, timeout=PATIENCE_S)
        return await self.stack.enter_async_context(client)

    async def someone(self, name: str, role: AccountRole = "member") -> Someone:
        """Signs in without a password: hashing one takes a tenth of a second."""
        accounts = self.app.services.store.accounts
        user = await accounts.create(name, "", role)
        key, token = await self.create_key(user.id), new_token()
        session = await accounts.open_session(
            user.id, hash_token(token), user_agent="", expires_at=time.time() + 3600
        )
        http = await self.browser()
        http.cookies.set(COOKIE, token)
        http.headers["x-csrf-token"] = csrf_token(self.app.csrf_secret, session.id)
        return Someone(http, name, user.id, key)

    async def reconnect(self, person: Someone) -> Someone:
        """The browser of someone who was signed in before a restart."""
        http = await self.browser()
        http.cookies.set(COOKIE, person.http.cookies[COOKIE])
        http.headers["x-csrf-token"] = person.http.headers["x-csrf-token"]
        return replace(person, http=http)

    async def create_key(
        self,
        user_id: str,
        scopes: Collection[KeyScope] = DEFAULT_SCOPES,
        expires_at: float | None = None,
    ) -> str:
        key = new_key()
        await self.app.services.store.accounts.create_key(
            user_id, hash_token(key), key_prefix(key), "test", scopes, expires_at
        )
        return key

    async def create_user_with_password(self, name: str) -> None:
        """Creates an account that can sign in with PASSWORD."""
        accounts = self.app.services.store.accounts
        await accounts.create(name, await hash_password(PASSWORD, name=name), "member")


@asynccontextmanager
async def open_world(
    settings: Settings, engine: Engine, tools: Sequence[HostedTool] = ()
) -> AsyncGenerator[World]:
    """A world with the test's own engine and, beside those of hitsend, tools."""
    async with (
        asyncio.timeout(PATIENCE_S),
        open_app(settings, engine, tools) as app,
        listen(app) as url,
        AsyncExitStack() as stack,
    ):
        yield World(app, url, stack)
