"""The app: every part that routes share, built and started here. Read `dispatch.py` next."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from weakref import WeakValueDictionary

from hitsend.background import Background
from hitsend.context.recall import ConversationRecall, ExactSearch, Recall
from hitsend.egress import open_egress
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
from hitsend.judge import Judge
from hitsend.prompts.picker import PromptPicker, check_instructions
from hitsend.runner import Runner
from hitsend.safety.classifier import ENCODER_SHA256, WEIGHTS_FOLDER, Classifier, load_trained
from hitsend.safety.encoder import ChildEncoder
from hitsend.safety.screener import Screener
from hitsend.server.auth.pending_sign_ins import PendingSignIns
from hitsend.server.data.erase import erase_expired_forever
from hitsend.server.data.pack_logs import pack_logs_forever
from hitsend.server.data_dir_lock import lock_data_dir
from hitsend.server.latency_stats import LatencyStats
from hitsend.server.limits.gate import Gate
from hitsend.server.limits.open_calls import OpenCalls
from hitsend.server.limits.request_limits import RequestCounter, ResumeLimit
from hitsend.server.limits.sign_in_failures import SignInFailures
from hitsend.server.limits.sign_in_throttle import SignInThrottle
from hitsend.server.mcp.sessions import RunningRequests
from hitsend.server.metrics.metrics import Metrics
from hitsend.server.readiness import Readiness
from hitsend.server.store_check import DamageCheck, StoreCheck
from hitsend.server.turns.autocomplete import Autocomplete
from hitsend.server.turns.prewarm import Prewarm, keep_instructions_warm
from hitsend.server.turns.socket.open_sockets import OpenSockets
from hitsend.server.turns.stream import OpenStreams
from hitsend.services import Services
from hitsend.settings import Settings
from hitsend.store import Store
from hitsend.tools import HostedTool, MissingFeature, Toolbox
from hitsend.tools.built_in import build_tools, list_missing
from hitsend.tools.code import CodeRunner, build_code_runner
from hitsend.tools.mcp import McpHost, open_host

log = logging.getLogger(__name__)

RESTART_DELAY_S = 5.0
"""Before a background loop that failed is started again."""


class UserLocks:
    """One lock per user, or per another key. A lock that nobody holds or awaits is freed."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def lock(self, key: str) -> asyncio.Lock:
        return self._locks.setdefault(key, asyncio.Lock())


@dataclass(frozen=True, slots=True)
class App:
    """The parts of the server, for routes to use."""

    services: Services
    runner: Runner
    secret: bytes
    """Signs tokens."""
    csrf_secret: bytes
    sign_in_throttle: SignInThrottle
    sign_in_failures: SignInFailures
    streams: OpenStreams
    store_readiness: Readiness
    metrics: Metrics
    gate: Gate
    prewarm: Prewarm
    autocomplete: Autocomplete
    open_calls: OpenCalls
    past: ConversationRecall
    code: CodeRunner | None
    """None where Python is turned off."""
    mcp: McpHost | None
    """None where tools are turned off."""
    missing_features: Sequence[MissingFeature] = ()
    pending_sign_ins: PendingSignIns = field(default_factory=PendingSignIns)
    sockets: OpenSockets = field(default_factory=OpenSockets)
    latency_stats: LatencyStats = field(default_factory=LatencyStats)
    request_counter: RequestCounter = field(default_factory=RequestCounter)
    resume_limit: ResumeLimit = field(default_factory=ResumeLimit)
    mcp_requests: RunningRequests = field(default_factory=RunningRequests)
    send_locks: UserLocks = field(default_factory=UserLocks)
    """Per user and idempotency key: concurrent duplicates of a Send start one turn."""
    prepare_locks: UserLocks = field(default_factory=UserLocks)
    """Per user: a page asks while its user types, faster than it is answered."""
    import_locks: UserLocks = field(default_factory=UserLocks)
    export_locks: UserLocks = field(default_factory=UserLocks)
    """Per user: imports and exports use the disk and a whole core."""
    import_parser_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while an imported file is parsed and stored: that takes memory."""
    first_account_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while the first account is made: concurrent requests hash one password in all."""


@asynccontextmanager
async def open_app(
    settings: Settings, engine: Engine | None = None, more_tools: Sequence[HostedTool] = ()
) -> AsyncGenerator[App]:
    """Starts every part, and closes them in the opposite order."""
    check_instructions(settings)
    async with AsyncExitStack() as stack:
        stack.enter_context(lock_data_dir(settings.data_dir))
        damage = DamageCheck(settings.database)
        damage.start()
        await damage.wait()
        store = await Store.open(settings.database, settings.sync)
        stack.push_async_callback(store.close)
        await store.first_account.note_accounts()
        engine = engine or build_engine(settings)
        stack.push_async_callback(engine.close)
        code = await asyncio.to_thread(build_code_runner, settings)
        if code is not None:
            stack.push_async_callback(code.close)
        metrics = Metrics()
        runner = Runner(store, settings.max_turns, metrics)
        stack.push_async_callback(runner.close)
        await runner.open()
        streams = OpenStreams(store)
        await stack.enter_async_context(_run_in_background(streams.end_revoked_forever))
        sign_in_failures = SignInFailures(store.audit.record)
        stack.push_async_callback(sign_in_failures.write_counts, is_final=True)
        await stack.enter_async_context(_run_in_background(sign_in_failures.write_counts_forever))
        for loop in (
            partial(erase_expired_forever, store, settings.audit_days, settings.deleted_days),
            partial(pack_logs_forever, store, settings),
        ):
            await stack.enter_async_context(_run_in_background(loop))
        await engine.start()
        embedder = build_embedder(settings)
        if embedder is not None:
            await embedder.start()
            stack.push_async_callback(embedder.close)
        index = ExactSearch()
        recall = Recall(store, embedder, index)
        background, idle_work = Background(), Background()
        for queue in (background, idle_work):
            await stack.enter_async_context(_run_in_background(queue.run))
        past = ConversationRecall(store, embedder, index, background)
        prompts = PromptPicker(store)
        toolbox, mcp = Toolbox(), None
        tools: list[HostedTool] = []
        if settings.tool_rounds:
            egress = open_egress(settings)
            mcp = await asyncio.to_thread(open_host, store, settings, egress)
            stack.push_async_callback(mcp.connections.close)
            await stack.enter_async_context(_run_in_background(mcp.connections.close_idle_forever))
            tools = [*build_tools(settings, code, egress, past), *more_tools]
            toolbox = Toolbox(tools, [mcp], store.groups)
        encoder = build_encoder(settings)
        if encoder is not None:
            await encoder.start()
            stack.push_async_callback(encoder.close)
        safety = await build_screener(settings, store, encoder)
        judge = None
        if settings.safety_judge != "off" and settings.engine != "scripted":
            judge = Judge(engine, prompts, settings.safety_judge)
        services = Services(
            settings, store, engine, prompts, recall, background, idle_work, safety, judge, toolbox
        )
        prewarm, autocomplete = Prewarm(engine), Autocomplete(engine, prompts, settings)
        stack.push_async_callback(prewarm.close)
        stack.push_async_callback(autocomplete.close)
        if settings.prewarm:
            keep_warm = partial(keep_instructions_warm, services)
            await stack.enter_async_context(_run_in_background(keep_warm))
        secret = await store.secret("passes")
        yield App(
            services=services,
            runner=runner,
            secret=secret,
            csrf_secret=await store.secret("csrf"),
            sign_in_throttle=SignInThrottle(settings.sign_in_tries),
            sign_in_failures=sign_in_failures,
            streams=streams,
            store_readiness=Readiness(StoreCheck(store, settings.data_dir, damage).check),
            metrics=metrics,
            gate=Gate(settings, secret, runner.load, runner.load_of),
            prewarm=prewarm,
            autocomplete=autocomplete,
            open_calls=OpenCalls(settings.max_calls),
            past=past,
            code=code,
            mcp=mcp,
            missing_features=list_missing(tools) if settings.tool_rounds else (),
        )


@asynccontextmanager
async def _run_in_background(loop: Callable[[], Awaitable[None]]) -> AsyncGenerator[None]:
    task = asyncio.create_task(restart_forever(loop))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})


async def restart_forever(
    loop: Callable[[], Awaitable[None]], restart_delay_s: float = RESTART_DELAY_S
) -> None:
    """Runs a background loop, and starts it again after a bug."""
    while True:
        try:
            await loop()
        except Exception:
            # Nobody waits for a background loop, so nobody else would notice that it ended.
            log.exception("a background loop failed and is started again")
        await asyncio.sleep(restart_delay_s)


def build_engine(settings: Settings) -> Engine:
    match settings.engine:
        case "llama":
            return LlamaEngine(settings, Catalogue(settings.models_dir, settings.hub_url))
        case "remote":
            return RemoteEngine(settings)
        case "scripted":
            return ScriptedEngine(num_window_tokens=settings.num_window_tokens)


def build_encoder(settings: Settings) -> ChildEncoder | None:
    """The classifier's encoder. The scripted engine is for machines and tests that run no model."""
    if settings.safety != "full" or settings.engine == "scripted" or not WEIGHTS_FOLDER.is_dir():
        return None
    return ChildEncoder(WEIGHTS_FOLDER, ENCODER_SHA256)


async def build_screener(
    settings: Settings, store: Store, encoder: ChildEncoder | None
) -> Screener | None:
    if settings.safety == "off":
        return None
    reads_texts = settings.safety != "rules"
    trained = await asyncio.to_thread(load_trained) if reads_texts else None
    needs_encoder = settings.safety == "full" and settings.engine != "scripted"
    classifier = Classifier(trained, encoder, needs_encoder=needs_encoder) if trained else None
    key = await store.secret("redaction")
    return Screener(classifier, key, needs_classifier=reads_texts)


def build_embedder(settings: Settings) -> Embedder | None:
    if settings.embeddings == "off":
        return None
    if settings.embeddings == "words" or settings.engine == "scripted":
        return WordHashes()
    return MiniLm(settings)
