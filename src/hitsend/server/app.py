"""Puts the parts together: the one place where things are built."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import Route

from hitsend.engine import Catalogue, Engine, LlamaEngine, RemoteEngine, ScriptedEngine
from hitsend.runner import Runner
from hitsend.server.calls import House
from hitsend.server.door import entry, lost
from hitsend.server.routes import ROUTES
from hitsend.server.throttle import Throttle
from hitsend.settings import Settings
from hitsend.store import Store
from hitsend.turn import Services

DATABASE = "hitsend.db"


def build_app(house: House) -> Starlette:
    return Starlette(
        routes=[
            Route(one.path, entry(one, house), methods=[one.method], name=one.summary)
            for one in ROUTES
        ],
        exception_handlers={HTTPException: lost},
    )


@asynccontextmanager
async def open_house(settings: Settings, engine: Engine | None = None) -> AsyncGenerator[House]:
    """Everything, started; and ended in the opposite order."""
    store = await Store.open(settings.data_dir / DATABASE, settings.sync)
    engine = engine or build_engine(settings)
    runner = Runner(store)
    try:
        await runner.open()
        await engine.start()
        yield House(
            services=Services(settings, store, engine),
            runner=runner,
            secret=await store.secret("csrf"),
            throttle=Throttle(settings.sign_in_tries),
            founding=asyncio.Lock(),
        )
    finally:
        await runner.close()
        await engine.close()
        await store.close()


def build_engine(settings: Settings) -> Engine:
    match settings.engine:
        case "llama":
            return LlamaEngine(settings, Catalogue(settings.models_dir, settings.hub_url))
        case "remote":
            return RemoteEngine(settings)
        case "scripted":
            return ScriptedEngine()
