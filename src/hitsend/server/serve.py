"""Runs the app under uvicorn, and shuts down on a signal.

The first signal lets running answers finish, for `drain_s`; the second stops them, and what they
have so far is kept; the third ends the process.
"""

import asyncio
import gc
import logging
import signal
import socket
import ssl
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial

import uvicorn

from hitsend.logs import configure_logs
from hitsend.server.app import App, open_app
from hitsend.server.auth.first_account import describe_setup
from hitsend.server.call import Endpoint
from hitsend.server.dispatch import build_asgi_app
from hitsend.server.edge.connection import connection_class
from hitsend.server.edge.connection_limits import ConnectionLimits
from hitsend.server.edge.forwarded_headers import ForwardedHeaders, TrustedProxies
from hitsend.server.local_risks import find_local_risks
from hitsend.server.open_file_limit import fit_open_files
from hitsend.server.routes import ROUTES
from hitsend.server.turns.socket.transport import MAX_IN_BYTES, SocketProtocol
from hitsend.settings import BadSetting, Settings, split_list

log = logging.getLogger(__name__)

GRACE_S = 2
"""For connections to read their last bytes when the server stops."""

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)

TLS_VERSIONS = {"1.2": ssl.TLSVersion.TLSv1_2, "1.3": ssl.TLSVersion.TLSv1_3}

GC_THRESHOLDS = (20_000, 20, 100)
"""With the defaults, garbage collection took 9 % of the time of 200 streams, in pauses of up to
140 ms."""


async def serve(settings: Settings, *, announce: Callable[[str, str | None], None]) -> None:
    """Serves until SIGINT or SIGTERM. Calls `announce` with the address once it can be opened, and
    with what to say where there is no account yet."""
    configure_logs(settings.log_level, settings.log_format)
    signals = _Signals()
    gc.freeze()  # imported modules live as long as the process: the collector need not scan them
    gc.set_threshold(*GC_THRESHOLDS)
    async with open_app(settings) as app, listen(app) as address:
        announce(address, await describe_first_account(app, address))
        for risk in find_local_risks(settings):
            log.warning("%s", risk)
        gc.freeze()  # and so do the app's parts
        await signals.first.wait()
        await _run_unless(signals.second, app.runner.drain(settings.drain_s))
        await app.runner.close()  # ends the turns, and so the streams that follow them


async def describe_first_account(app: App, address: str) -> str | None:
    """Returns what to tell whoever starts a server without accounts: the link to make the first."""
    store, settings = app.services.store, app.services.settings
    setup = await store.first_account.state()
    if not setup.needs_first_account:
        return None
    link = f"{address}/#setup={await store.first_account.token()}"
    return describe_setup(setup, str(settings.database), link)


@asynccontextmanager
async def listen(app: App, routes: Sequence[Endpoint] = ROUTES) -> AsyncGenerator[str]:
    """Serves while the context is open, and yields the address."""
    settings = app.services.settings
    with _listener(settings) as listener:
        server = _Server(_config(app, routes))
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        serving.add_done_callback(lambda _: server.has_started.set())
        await server.has_started.wait()
        if serving.done():
            await serving  # raises what it failed with
        try:
            yield _address(settings, listener)
        finally:
            await app.sockets.close()
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
        """uvicorn's handlers raise the signal again, which would skip our own shutdown."""
        yield


def _config(app: App, routes: Sequence[Endpoint]) -> uvicorn.Config:
    settings = app.services.settings
    proxies = TrustedProxies(split_list(settings.trusted_proxies))
    limits = ConnectionLimits(fit_open_files(settings.max_connections))
    max_body_bytes = max(settings.max_body_bytes, settings.max_import_bytes)
    return uvicorn.Config(
        ForwardedHeaders(build_asgi_app(app, routes), proxies),
        http=connection_class(max_body_bytes, proxies, limits),
        ws=SocketProtocol,
        ws_max_size=MAX_IN_BYTES,
        ws_per_message_deflate=False,  # the compressed length would leak the text
        ws_ping_interval=None,  # our own pings are frames that a page can see
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # `ForwardedHeaders` applies them
        timeout_graceful_shutdown=GRACE_S,
        ssl_certfile=settings.tls_cert,
        ssl_keyfile=settings.tls_key,
        ssl_context_factory=partial(_build_tls_context, settings) if settings.tls_cert else None,
    )


def _build_tls_context(
    settings: Settings, _: uvicorn.Config, build_default: Callable[[], ssl.SSLContext]
) -> ssl.SSLContext:
    context = build_default()
    context.minimum_version = TLS_VERSIONS[settings.tls_min]
    return context


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
    """The first and the second stop signal. After the second, the default handlers are back."""

    def __init__(self) -> None:
        self.first, self.second = asyncio.Event(), asyncio.Event()
        for number in STOP_SIGNALS:
            asyncio.get_running_loop().add_signal_handler(number, self._receive)

    def _receive(self) -> None:
        if not self.first.is_set():
            self.first.set()
            return
        self.second.set()
        for number in STOP_SIGNALS:
            asyncio.get_running_loop().remove_signal_handler(number)


async def _run_unless(interrupted: asyncio.Event, work: Coroutine[None, None, None]) -> None:
    """Runs `work`, and cancels it once `interrupted` is set."""
    tasks = [asyncio.create_task(work), asyncio.create_task(interrupted.wait())]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
