"""Puts the parts together: the one place where things are built."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import Route, WebSocketRoute

from hitsend.background import Background
from hitsend.engine import (
    Catalogue,
    Embedder,
    Engine,
    LlamaEngine,
    MiniLm,
    RemoteEngine,
    ScriptedEngine,
    WordHashes,
)
from hitsend.prompt_book import PromptBook, check_instructions
from hitsend.recall import ExactSearch, Recall
from hitsend.runner import Runner
from hitsend.server.alone import alone_in
from hitsend.server.calls import House
from hitsend.server.door import entry, lost, socket_entry
from hitsend.server.erasing import erase_forever
from hitsend.server.gate import Gate
from hitsend.server.readiness import Readiness
from hitsend.server.routes import ROUTES, SOCKETS
from hitsend.server.streams import OpenStreams
from hitsend.server.suggesting import Suggesting
from hitsend.server.throttle import Throttle
from hitsend.server.warming import Warming, keep_instructions_warm
from hitsend.settings import Settings
from hitsend.store import Store
from hitsend.turn import Services

log = logging.getLogger(__name__)

AGAIN_S = 5.0
"""Before what should run for ever, and stopped, is begun again."""


def build_app(house: House) -> Starlette:
    routes = [
        Route(one.path, entry(one, house), methods=[one.method], name=one.summary) for one in ROUTES
    ]
    sockets = [
        WebSocketRoute(one.path, socket_entry(one, house), name=one.summary) for one in SOCKETS
    ]
    app = Starlette(
        routes=[*routes, *sockets],
        exception_handlers={HTTPException: lost},
    )
    app.router.redirect_slashes = False  # such a redirect would not come through the door
    return app


@asynccontextmanager
async def open_house(settings: Settings, engine: Engine | None = None) -> AsyncGenerator[House]:
    """Everything, started; and ended in the opposite order."""
    check_instructions(settings)
    async with AsyncExitStack() as stack:
        stack.enter_context(alone_in(settings.data_dir))
        store = await Store.open(settings.database, settings.sync)
        stack.push_async_callback(store.close)
        engine = engine or build_engine(settings)
        stack.push_async_callback(engine.close)
        runner = Runner(store, settings.max_turns)
        stack.push_async_callback(runner.close)
        await runner.open()
        streams = OpenStreams(store)
        await stack.enter_async_context(_running(streams.watch))
        await stack.enter_async_context(_running(partial(erase_forever, store)))
        await engine.start()
        embedder = build_embedder(settings)
        if embedder is not None:
            await embedder.start()
            stack.push_async_callback(embedder.close)
        recall = Recall(store, embedder, ExactSearch())
        background, spare_time = Background(), Background()
        for one in (background, spare_time):
            await stack.enter_async_context(_running(one.run))
        book = PromptBook(store)
        services = Services(settings, store, engine, book, recall, background, spare_time)
        warming, suggesting = Warming(engine), Suggesting(engine, book, settings.instructions)
        stack.push_async_callback(warming.close)
        stack.push_async_callback(suggesting.close)
        if settings.prewarm:
            await stack.enter_async_context(_running(partial(keep_instructions_warm, services)))
        secret = await store.secret("passes")
        yield House(
            services=services,
            runner=runner,
            secret=secret,
            csrf_secret=await store.secret("csrf"),
            throttle=Throttle(settings.sign_in_tries),
            founding=asyncio.Lock(),
            importing=asyncio.Lock(),
            streams=streams,
            store_readiness=Readiness(store.check),
            gate=Gate(settings, secret, runner.load),
            warming=warming,
            suggesting=suggesting,
        )


@asynccontextmanager
async def _running(forever: Callable[[], Awaitable[None]]) -> AsyncGenerator[None]:
    task = asyncio.create_task(kept_running(forever))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})


async def kept_running(forever: Callable[[], Awaitable[None]], again_s: float = AGAIN_S) -> None:
    """A bug must not end it: nobody would notice what is no longer done."""
    while True:
        try:
            await forever()
        except Exception:
            log.exception("what runs in the background has stopped, and is begun again")
        await asyncio.sleep(again_s)


def build_engine(settings: Settings) -> Engine:
    match settings.engine:
        case "llama":
            return LlamaEngine(settings, Catalogue(settings.models_dir, settings.hub_url))
        case "remote":
            return RemoteEngine(settings)
        case "scripted":
            return ScriptedEngine(num_window_tokens=settings.num_window_tokens)


def build_embedder(settings: Settings) -> Embedder | None:
    if settings.embeddings == "off":
        return None
    if settings.embeddings == "words" or settings.engine == "scripted":
        return WordHashes()
    return MiniLm(settings)
