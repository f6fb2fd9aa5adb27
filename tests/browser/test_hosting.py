"""Behind a TLS proxy the whole page is loaded over HTTPS."""

import asyncio
import ssl
from collections.abc import AsyncGenerator, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager, closing, suppress
from threading import Thread

import httpx2
import pytest
import trustme
from playwright.sync_api import Browser, expect
from tests.browser.test_delivery import Sockets, check_answer_complete
from tests.browser.world import PASSWORD, Person, Server

BEHIND = {"HITSEND_ALLOWED_HOSTS": "localhost", "HITSEND_TRUSTED_PROXIES": "127.0.0.1"}


class TlsProxy:
    """Terminates TLS and sets the forwarded headers, one request per connection as nginx does."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._carrying = set[asyncio.Task[None]]()
        self._started: Future[str] = Future()
        self._thread = Thread(target=asyncio.run, args=(self._serve(),), daemon=True)
        self._thread.start()
        self.url = self._started.result()

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._left.set)
        self._thread.join()

    async def _serve(self) -> None:
        self._loop, self._left = asyncio.get_running_loop(), asyncio.Event()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        trustme.CA().issue_cert("localhost").configure_cert(context)
        async with await asyncio.start_server(self._take, "127.0.0.1", 0, ssl=context) as server:
            port = server.sockets[0].getsockname()[1]
            self._started.set_result(f"https://localhost:{port}")
            await self._left.wait()
            server.close()
            for task in self._carrying:
                task.cancel()
            await asyncio.gather(*self._carrying, return_exceptions=True)

    def _take(self, near: asyncio.StreamReader, browser: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._carry(near, browser))
        self._carrying.add(task)
        task.add_done_callback(self._carrying.discard)

    async def _carry(self, near: asyncio.StreamReader, browser: asyncio.StreamWriter) -> None:
        async with _close_after(browser):
            head = await near.readuntil(b"\r\n\r\n")
            far, server = await asyncio.open_connection("127.0.0.1", self._port)
            async with _close_after(server):
                server.write(_forward_head(head))
                await asyncio.gather(_pump(near, server), _pump(far, browser))


@asynccontextmanager
async def _close_after(writer: asyncio.StreamWriter) -> AsyncGenerator[None]:
    """Closes both sides."""
    try:
        with suppress(OSError, asyncio.IncompleteReadError):
            yield
            writer.close()
            await writer.wait_closed()
    finally:
        writer.transport.abort()
        with suppress(OSError):
            await writer.wait_closed()


def _forward_head(head: bytes) -> bytes:
    first, *lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    if not any(line.lower().startswith(b"upgrade:") for line in lines):
        lines = [line for line in lines if not line.lower().startswith(b"connection:")]
        lines.append(b"connection: close")
    lines += [b"x-forwarded-proto: https", b"x-forwarded-for: 203.0.113.1"]
    return b"\r\n".join([first, *lines, b"", b""])


async def _pump(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with closing(target), suppress(OSError):
        while data := await source.read(65_536):
            target.write(data)
            await target.drain()


@pytest.fixture
def proxy(server: Server) -> Iterator[TlsProxy]:
    """In front of a server with the account `ada`, which was made on its own machine."""
    account = {"name": "ada", "password": PASSWORD}
    made = httpx2.post(f"{server.url}/backend-api/accounts/first", json=account)
    assert made.is_success
    server.stop()
    server.settings = BEHIND
    server.start()
    with closing(TlsProxy(server.port)) as running:
        yield running


def test_answers_and_live_updates_work_behind_a_tls_proxy(
    browser: Browser, server: Server, proxy: TlsProxy
) -> None:
    server.url = proxy.url
    with closing(browser.new_context(ignore_https_errors=True)) as context:
        ada, tab = (Person(context.new_page(), server) for _ in range(2))
        ada.visit()
        ada.sign_in("ada")
        assert [cookie["secure"] for cookie in context.cookies()] == [True]

        sockets = Sockets(tab)
        tab.visit()
        sockets.wait_for(tab, "connection_id")
        assert sockets.opened[0].url.startswith(proxy.url.replace("https://", "wss://"))

        ada.say("!script tokens=4000 pace=20ms\nword by word ")
        expect(ada.answers.last).to_contain_text("word by word")
        expect(tab.conversations.first).to_contain_text("being answered")
        ada.page.reload()
        ada.page.get_by_role("button", name="Stop", exact=True).click()
        check_answer_complete(ada)
        assert ada.violations + tab.violations == []
