"""Runs the app under uvicorn: listen, announce, and on a signal end what runs before leaving.

The first signal lets answers come to their end, for a while; the second ends them now, and they
are kept as far as they are; a third ends the process itself.
"""

import asyncio
import gc
import logging
import signal
import socket
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager

import uvicorn

from hitsend.server.app import build_app, open_house
from hitsend.server.calls import House
from hitsend.server.connection import connection_for
from hitsend.server.proxies import Forwarded, Proxies
from hitsend.server.socket.line import MAX_IN_BYTES, Line
from hitsend.settings import BadSetting, Settings, listed

GRACE_S = 2
"""How long connections may take to read their last bytes when the server stops."""

STOPPING = (signal.SIGINT, signal.SIGTERM)

MOST_CONNECTIONS = 4000
"""Open at once, streams included. Further ones are told 503."""

COLLECTING = (20_000, 20, 100)
"""How seldom the collector looks for cycles. By default it took 9 % of the time of 200 streams, in
stops of up to 140 ms."""


async def serve(settings: Settings, *, announce: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM. `announce` hears the address once it can be opened."""
    _log_to_stderr(settings)
    signals = _Signals()
    gc.freeze()  # what was imported: reading logs at the start makes the collector look often
    gc.set_threshold(*COLLECTING)
    async with open_house(settings) as house, listening(house) as address:
        announce(address)
        gc.freeze()  # what is here now stays, too
        await signals.first.wait()
        await _unless(signals.second, house.runner.drain(settings.drain_s))
        await house.runner.close()  # ends the turns, so that their readers hear of it and leave


@asynccontextmanager
async def listening(house: House) -> AsyncGenerator[str]:
    """Serves as long as it is open, at the address it gives."""
    settings = house.services.settings
    with _listener(settings) as listener:
        server = _Server(_config(house))
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        serving.add_done_callback(lambda _: server.has_started.set())
        await server.has_started.wait()
        if serving.done():
            await serving  # raises what it failed with
        try:
            yield _address(settings, listener)
        finally:
            await house.sockets.close()
            server.should_exit = True
            await serving


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.has_started = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.has_started.set()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """uvicorn's own handlers raise the signal again and so skip what is left to close."""
        yield


def _config(house: House) -> uvicorn.Config:
    settings = house.services.settings
    proxies = Proxies(listed(settings.trusted_proxies))
    return uvicorn.Config(
        Forwarded(build_app(house), proxies),
        http=connection_for(max(settings.max_body_bytes, settings.max_import_bytes), proxies),
        ws=Line,
        ws_max_size=MAX_IN_BYTES,
        ws_per_message_deflate=False,  # the length of what is compressed tells what is in it
        ws_ping_interval=None,  # the socket has pings of its own, which a page can see
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # ours are heard by `Forwarded`
        limit_concurrency=MOST_CONNECTIONS,
        timeout_graceful_shutdown=GRACE_S,
        ssl_certfile=settings.tls_cert,
        ssl_keyfile=settings.tls_key,
    )


def _listener(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
    except OSError as error:
        listener.close()
        raise BadSetting(
            f"Cannot listen on {settings.host} port {settings.port}: {error.strerror}. "
            "Is hitsend running already? Choose another port with --port."
        ) from None
    return listener


def _address(settings: Settings, listener: socket.socket) -> str:
    scheme = "https" if settings.tls_cert else "http"
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"{scheme}://{host}:{listener.getsockname()[1]}"


class _Signals:
    """Those that ask to stop, in the order they come."""

    def __init__(self) -> None:
        self.first, self.second = asyncio.Event(), asyncio.Event()
        for number in STOPPING:
            asyncio.get_running_loop().add_signal_handler(number, self._take)

    def _take(self) -> None:
        if not self.first.is_set():
            self.first.set()
            return
        self.second.set()
        for number in STOPPING:
            asyncio.get_running_loop().remove_signal_handler(number)


async def _unless(interrupted: asyncio.Event, waiting: Coroutine[None, None, None]) -> None:
    """Until it is done, or has to be left."""
    tasks = [asyncio.create_task(waiting), asyncio.create_task(interrupted.wait())]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)


def _log_to_stderr(settings: Settings) -> None:
    """Of others only warnings: at finer levels some libraries write down what people said."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(message)s")
    logging.getLogger("hitsend").setLevel(settings.log_level.upper())
