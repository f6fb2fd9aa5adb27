"""Puts the parts together: the one place where things are built."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import Route, WebSocketRoute

from hitsend.engine import Catalogue, Engine, LlamaEngine, RemoteEngine, ScriptedEngine
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
        await stack.enter_async_context(_running(streams.watch()))
        await stack.enter_async_context(_running(erase_forever(store)))
        await engine.start()
        services = Services(settings, store, engine)
        warming, suggesting = Warming(engine), Suggesting(engine, settings.instructions)
        stack.push_async_callback(warming.close)
        stack.push_async_callback(suggesting.close)
        if settings.prewarm:
            await stack.enter_async_context(_running(keep_instructions_warm(services)))
        secret = await store.secret("csrf")
        yield House(
            services=services,
            runner=runner,
            secret=secret,
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
async def _running(forever: Coroutine[None, None, None]) -> AsyncGenerator[None]:
    task = asyncio.create_task(forever)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})


def build_engine(settings: Settings) -> Engine:
    match settings.engine:
        case "llama":
            return LlamaEngine(settings, Catalogue(settings.models_dir, settings.hub_url))
        case "remote":
            return RemoteEngine(settings)
        case "scripted":
            return ScriptedEngine(num_window_tokens=settings.num_window_tokens)
