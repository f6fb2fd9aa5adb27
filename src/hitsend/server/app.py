"""Puts the parts together: the one place where things are built."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import Route

from hitsend.engine import Catalogue, Engine, LlamaEngine, RemoteEngine, ScriptedEngine
from hitsend.runner import Runner
from hitsend.server.alone import alone_in
from hitsend.server.calls import House
from hitsend.server.door import entry, lost
from hitsend.server.erasing import erase_forever
from hitsend.server.readiness import Readiness
from hitsend.server.routes import ROUTES
from hitsend.server.streams import OpenStreams
from hitsend.server.throttle import Throttle
from hitsend.settings import Settings
from hitsend.store import Store
from hitsend.turn import Services


def build_app(house: House) -> Starlette:
    app = Starlette(
        routes=[
            Route(one.path, entry(one, house), methods=[one.method], name=one.summary)
            for one in ROUTES
        ],
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
        yield House(
            services=Services(settings, store, engine),
            runner=runner,
            secret=await store.secret("csrf"),
            throttle=Throttle(settings.sign_in_tries),
            founding=asyncio.Lock(),
            importing=asyncio.Lock(),
            streams=streams,
            store_readiness=Readiness(store.check),
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
            return ScriptedEngine()
