"""Whether hitsend can run here: where it writes, what it loads, where it listens."""

import asyncio
import hashlib
import shutil
import tempfile
from contextlib import aclosing
from importlib.resources import files
from pathlib import Path

import msgspec

from hitsend.cli.chat.access import is_hitsend, local_url
from hitsend.cli.doctor.finding import Check, Finding
from hitsend.engine.catalogue import Catalogue
from hitsend.engine.contract import Engine, Finished
from hitsend.engine.parity import DIFFER
from hitsend.engine.weights import Weights
from hitsend.errors import EngineLost, HitsendError
from hitsend.messages import Message, Sampling, Text
from hitsend.prompt_book import check_instructions
from hitsend.server.app import build_engine
from hitsend.settings import Settings, check_binding
from hitsend.store import Store
from hitsend.store.schema import HEAD

ROOM_BYTES = 2_000_000_000
ENGINE_S = 90.0
NUM_LOOKS, LOOK_S = 100, 0.1
PARITY_MEND = "Another model may do better. Its chat template is one hitsend cannot take apart."
ENGINE_MEND = "See what it said above, and `hitsend settings` for what it was given."


async def check_page(_: Settings) -> Finding:
    if files("hitsend.server").joinpath("static/index.html").is_file():
        return Finding("ok", "The page is built in")
    return Finding("fail", "The page has not been built.", "Run `make run`, or install a wheel.")


async def check_binding_is_safe(settings: Settings) -> Finding:
    try:
        check_binding(settings)
    except HitsendError as error:
        return Finding("fail", error.message)
    for path in (settings.tls_cert, settings.tls_key):
        if path is not None and not path.is_file():
            return Finding("fail", f"There is no file {path}.", "Mend tls_cert and tls_key.")
    return Finding("ok", f"May listen on {settings.host}")


async def check_instructions_can_be_told(settings: Settings) -> Finding:
    try:
        check_instructions(settings)
    except HitsendError as error:
        return Finding("fail", error.message)
    return Finding("ok", "The instructions can be told to a model")


async def check_data_dir(settings: Settings) -> Finding:
    folder = settings.data_dir
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return Finding("ok", f"{folder} can be written")
    except OSError as error:
        mend = "Give yourself the right to write there, or name another with --data-dir."
        return Finding("fail", f"{folder} cannot be written: {error.strerror}.", mend)


async def check_database(settings: Settings) -> Finding:
    if not settings.database.exists():
        return Finding("ok", "There is no database yet: the first start makes it")
    try:
        store = await Store.open(settings.database, settings.sync)
        try:
            await store.check()
            num_accounts = await store.accounts.count()
        finally:
            await store.close()
    except HitsendError as error:
        return Finding("fail", error.message, "Restore a backup, or move the file away.")
    return Finding("ok", f"The database opens: schema {HEAD}, {num_accounts} account(s)")


async def check_room(settings: Settings) -> Finding:
    for folder in (settings.data_dir, settings.models_dir):
        there = next(path for path in (folder, *folder.parents) if path.exists())
        free = shutil.disk_usage(there).free
        if free < ROOM_BYTES:
            what = f"Only {free / 1e9:.1f} GB are free for {folder}."
            return Finding("warn", what, "Free some: the default model alone takes 1.1 GB.")
    return Finding("ok", "There is room on the disk")


async def check_weights(settings: Settings) -> Finding:
    if settings.engine != "llama":
        return Finding("ok", f"The {settings.engine} engine needs no weights here")
    found = _weights(settings)
    if not found:
        mend = "The first start fetches some, or now: `hitsend models pull smollm2-135m`."
        return Finding("warn", "There are no weights on this machine.", mend)
    for weights in found:
        if await asyncio.to_thread(_sha256, weights.path) != weights.sha256:
            mend = f"`hitsend models remove {weights.name}`, then `pull` it again."
            return Finding("fail", f"{weights.path} is damaged: its hash is wrong.", mend)
    return Finding("ok", f"Weights are here and whole: {', '.join(one.name for one in found)}")


def _weights(settings: Settings) -> list[Weights]:
    """Those a start would use, best first."""
    catalogue = Catalogue(settings.models_dir, settings.hub_url)
    names = (catalogue.default, catalogue.small) if settings.model == "auto" else (settings.model,)
    return [weights for name in names if (weights := catalogue.find(name))]


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


async def check_engine(settings: Settings) -> Finding:
    """A real answer, of a few tokens, without fetching anything."""
    if settings.engine == "llama":
        found = _weights(settings)
        if not found:
            return Finding("warn", "The engine was not tried: it has no weights.")
        settings = msgspec.structs.replace(settings, model=found[-1].name)
    try:
        async with asyncio.timeout(ENGINE_S):
            return await _answer(settings)
    except HitsendError as error:
        return Finding("fail", f"The engine does not answer: {error.message}", ENGINE_MEND)
    except TimeoutError:
        return Finding("fail", f"The engine gave no answer in {ENGINE_S:.0f} s.", ENGINE_MEND)


async def _answer(settings: Settings) -> Finding:
    engine = build_engine(settings)
    try:
        await engine.start()
        model = await engine.resolve("auto")
        prompt = await engine.encode(model.name, [Message("user", (Text("Hello"),), "user")])
        async with aclosing(engine.generate(prompt, Sampling(max_tokens=4))) as generation:
            async for said in generation:
                if isinstance(said, Finished):
                    return await _compared(engine, model.name)
    finally:
        await engine.close()
    raise EngineLost("it said nothing.")


async def _compared(engine: Engine, name: str) -> Finding:
    """It answers; whether its prompts are right is found out meanwhile."""
    for _ in range(NUM_LOOKS):
        model = await engine.resolve(name)
        if model.is_exact is not None or model.level == "chat":
            break
        await asyncio.sleep(LOOK_S)
    what = f"The engine answers, with {model.title}"
    if model.is_exact is False:
        return Finding("warn", f"{what}, but its prompts {DIFFER}.", PARITY_MEND)
    return Finding("ok", f"{what}, and its prompts are exact" if model.is_exact else what)


async def check_port(settings: Settings) -> Finding:
    url = local_url(settings)
    try:
        is_there = await is_hitsend(url)
    except HitsendError as error:
        return Finding("fail", error.message)
    return Finding("ok", f"hitsend runs at {url}" if is_there else f"Nobody else uses {url}")


CHECKS: tuple[Check, ...] = (
    check_page,
    check_binding_is_safe,
    check_instructions_can_be_told,
    check_data_dir,
    check_database,
    check_room,
    check_weights,
    check_engine,
    check_port,
)
