"""Checks of what a running hitsend needs: directories, database, weights, engine, port."""

import asyncio
import shutil
import tempfile
import time
from contextlib import aclosing
from importlib.resources import files

import msgspec

from hitsend.cli.chat.connect import is_hitsend
from hitsend.cli.doctor.installation import Check, Finding
from hitsend.engine.contract import Engine, Finished
from hitsend.engine.models.catalogue import Catalogue
from hitsend.engine.models.partial_file import sha256_of
from hitsend.engine.models.weights import Weights
from hitsend.engine.parity import DIFFER
from hitsend.errors import EngineLost, HitsendError
from hitsend.messages import Message, Sampling, Text
from hitsend.prompts.picker import check_instructions
from hitsend.server.app import build_engine
from hitsend.server.local_risks import find_local_risks
from hitsend.settings import Settings, check_binding, local_url
from hitsend.store import Store
from hitsend.store.damage import check_quickly
from hitsend.store.first_account import had_accounts
from hitsend.store.schema import HEAD
from hitsend.tools.code import Owner, build_code_runner, find_sandboxes

MIN_FREE_BYTES = 2_000_000_000
LOST = "There were accounts here: restore a backup of it. See docs/people.md."
OLD_BACKUP_S = 7 * 86_400
BACKUP_FIX = "Run `hitsend backup FOLDER` every day: see docs/hosting.md."
ENGINE_S = 90.0
NUM_POLLS, POLL_S = 100, 0.1
PARITY_FIX = "Another model may do better. Its chat template is one hitsend cannot take apart."
ENGINE_FIX = "See what it said above, and `hitsend settings` for what it was given."


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


async def check_instructions_render(settings: Settings) -> Finding:
    try:
        check_instructions(settings)
    except HitsendError as error:
        return Finding("fail", error.message)
    return Finding("ok", "The instructions are valid")


async def check_data_dir(settings: Settings) -> Finding:
    folder = settings.data_dir
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return Finding("ok", f"{folder} can be written")
    except OSError as error:
        fix = "Give yourself the right to write there, or name another with --data-dir."
        return Finding("fail", f"{folder} cannot be written: {error.strerror}.", fix)


async def check_protection(settings: Settings) -> Finding:
    risks = find_local_risks(settings)
    if risks:
        return Finding("warn", " ".join(risks))
    return Finding("ok", "Only you may read the data")


async def check_database(settings: Settings) -> Finding:
    if not settings.database.exists():
        if had_accounts(settings.database):
            return Finding("fail", f"{settings.database} is missing.", LOST)
        return Finding("ok", "There is no database yet: the first start creates it")
    try:
        await asyncio.to_thread(check_quickly, settings.database)
        store = await Store.open(settings.database, settings.sync)
        try:
            await store.check()
            num_accounts = await store.accounts.count_enabled()
            is_lost = (await store.first_account.state()).is_database_lost
            backed_up_at = await store.backups.newest_at()
        finally:
            await store.close()
    except HitsendError as error:
        return Finding("fail", error.message, "Restore a backup, or move the file away.")
    if is_lost:
        return Finding("fail", f"The accounts in {settings.database} are gone.", LOST)
    message = f"The database is whole: schema {HEAD}, {num_accounts} account(s)"
    if num_accounts and (backed_up_at is None or time.time() - backed_up_at > OLD_BACKUP_S):
        when = "no backup" if backed_up_at is None else "no backup of the last week"
        return Finding("warn", f"{message}, but {when}.", BACKUP_FIX)
    return Finding("ok", message)


async def check_disk_space(settings: Settings) -> Finding:
    for folder in (settings.data_dir, settings.models_dir):
        there = next(path for path in (folder, *folder.parents) if path.exists())
        free = shutil.disk_usage(there).free
        if free < MIN_FREE_BYTES:
            message = f"Only {free / 1e9:.1f} GB are free for {folder}."
            return Finding("warn", message, "Free some: the default model alone takes 1.1 GB.")
    return Finding("ok", "There is room on the disk")


async def check_weights(settings: Settings) -> Finding:
    if settings.engine != "llama":
        return Finding("ok", f"The {settings.engine} engine needs no weights here")
    found = _weights(settings)
    if not found:
        fix = "The first start fetches some, or now: `hitsend models pull smollm2-135m`."
        return Finding("warn", "There are no weights on this machine.", fix)
    for weights in found:
        if await asyncio.to_thread(sha256_of, weights.path) != weights.sha256:
            fix = f"`hitsend models remove {weights.name}`, then `pull` it again."
            return Finding("fail", f"{weights.path} is damaged: its hash is wrong.", fix)
    return Finding("ok", f"The weights are complete: {', '.join(one.name for one in found)}")


def _weights(settings: Settings) -> list[Weights]:
    """Returns the weights that a start would use, best first."""
    catalogue = Catalogue(settings.models_dir, settings.hub_url)
    names = (catalogue.default, catalogue.small) if settings.model == "auto" else (settings.model,)
    return [weights for name in names if (weights := catalogue.find(name))]


async def check_engine(settings: Settings) -> Finding:
    """Generates a few tokens, without downloading anything."""
    if settings.engine == "llama":
        found = _weights(settings)
        if not found:
            return Finding("warn", "The engine was not tried: it has no weights.")
        settings = msgspec.structs.replace(settings, model=found[-1].name)
    try:
        async with asyncio.timeout(ENGINE_S):
            return await _try_engine(settings)
    except HitsendError as error:
        return Finding("fail", f"The engine does not answer: {error.message}", ENGINE_FIX)
    except TimeoutError:
        return Finding("fail", f"The engine gave no answer in {ENGINE_S:.0f} s.", ENGINE_FIX)


async def _try_engine(settings: Settings) -> Finding:
    engine = build_engine(settings)
    try:
        await engine.start()
        model = await engine.resolve("auto")
        prompt = await engine.encode(model.name, [Message("user", (Text("Hello"),), "user")])
        async with aclosing(engine.generate(prompt, Sampling(max_tokens=4))) as generation:
            async for said in generation:
                if isinstance(said, Finished):
                    return await _check_parity(engine, model.name)
    finally:
        await engine.close()
    raise EngineLost("there was no text.")


async def _check_parity(engine: Engine, name: str) -> Finding:
    """Waits for the engine's comparison of its prompts, which runs in the background."""
    for _ in range(NUM_POLLS):
        model = await engine.resolve(name)
        if model.is_exact is not None or model.level == "chat":
            break
        await asyncio.sleep(POLL_S)
    message = f"The engine answers, with {model.title}"
    if model.is_exact is False:
        return Finding("warn", f"{message}, but its prompts {DIFFER}.", PARITY_FIX)
    return Finding("ok", f"{message}, and its prompts are exact" if model.is_exact else message)


async def check_programs(settings: Settings) -> Finding:
    """Runs a program in the sandbox that the settings ask for, and says which others there are."""
    code = await asyncio.to_thread(build_code_runner, settings)
    if code is None:
        return Finding("ok", "Programs of models are not run")
    others = f"Available: {', '.join(find_sandboxes(settings))}"
    try:
        result = await code.run(Owner("doctor", ""), "print(6 * 7)", lambda _: None)
    except HitsendError as error:
        return Finding("fail", error.message, f"{others}. Choose with HITSEND_PYTHON.")
    finally:
        await code.close()
    if result.output != "42":
        return Finding("fail", f"Programs of models fail in {settings.python}: {result.output}")
    return Finding("ok", f"Programs of models run in {settings.python}. {others}")


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
    check_instructions_render,
    check_data_dir,
    check_protection,
    check_database,
    check_disk_space,
    check_weights,
    check_engine,
    check_programs,
    check_port,
)
