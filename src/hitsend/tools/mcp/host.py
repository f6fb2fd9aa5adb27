"""The servers that people use: their tools, connections and troubles.

What a model may call is read from the store, so a slow server delays no answer that does not call
it. A connection is opened at the first call, for each person their own, and closed when it was not
used for a while. A server that fails is tried again only after a pause, which grows.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from functools import partial
from importlib import import_module
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, TypeVar

import httpx2
import msgspec

from hitsend.egress import CONNECT_TIMEOUT_S, Egress, parse_url
from hitsend.errors import HitsendError, Refused, Unavailable
from hitsend.messages import Tool
from hitsend.settings import Settings
from hitsend.store import Store
from hitsend.store.mcp import UsableTool
from hitsend.store.mcp_rows import CallOutcome, McpServer, ToolDraft
from hitsend.tools.hosted_tool import Call, CallResult, HostedTool
from hitsend.tools.mcp.definitions import ToolDefinition, full_name
from hitsend.tools.mcp.http_transport import Authorization, ServerTransport, SessionOver
from hitsend.tools.mcp.oauth import SignIns
from hitsend.tools.mcp.server_log import LogLine, ServerLog
from hitsend.tools.mcp.vault import Vault, open_vault

if TYPE_CHECKING:
    import mcp_types as types
    from mcp.client import Transport
    from mcp.client._transport import TransportStreams

    from hitsend.tools.mcp.connection import Connection
    from hitsend.tools.mcp.oauth_discovery import OAuthHttp

T = TypeVar("T")

log = logging.getLogger(__name__)

CONNECT_S = 20.0
"""To connect, and to list the tools. A program may have to be fetched first: then it is longer."""
COMMAND_CONNECT_S = 60.0
LIST_S = 15.0
LIST_AGAIN_S = 300.0
"""A server may change its tools without a word."""
REFRESH_PAUSE_S = 2.0
"""Between two listings that a server asks for."""
SILENCE_S = 3_600.0
FIRST_PAUSE_S = 2.0
MAX_PAUSE_S = 300.0
IDLE_CHECK_S = 30.0

Condition: TypeAlias = Literal[
    "off", "unused", "connecting", "connected", "no_tools", "sign_in", "failed"
]


class ServerSecrets(msgspec.Struct, frozen=True):
    """What somebody entered for a server, and nobody reads again."""

    environment: dict[str, str] = {}
    headers: dict[str, str] = {}
    client_id: str = ""
    """Of hitsend at the server's sign-in, if it was registered there by hand."""
    client_secret: str = ""


class ServerStatus(msgspec.Struct, frozen=True, kw_only=True):
    """Of one server, for one person."""

    condition: Condition
    problem: str = ""
    retry_in_s: float | None = None
    version: str = ""
    """Of the protocol, while connected."""


class _Key(NamedTuple):
    server_id: str
    user_id: str


class _Slot:
    """A place for one connection, and what happened at it."""

    def __init__(self) -> None:
        self.connection: Connection | None = None
        self.opening: asyncio.Task[Connection] | None = None
        self.refreshing: asyncio.Task[None] | None = None
        self.needs_refresh = False
        self.num_failures = 0
        self.retry_at = 0.0
        self.problem = ""
        self.num_tools: int | None = None
        self.is_command = False

    def succeed(self) -> None:
        """After a call, not after connecting: some servers start well and crash at each call."""
        self.num_failures, self.retry_at, self.problem = 0, 0.0, ""

    def fail(self, problem: str) -> None:
        self.num_failures += 1
        self.problem = problem
        pause = min(FIRST_PAUSE_S * 2 ** (self.num_failures - 1), MAX_PAUSE_S)
        # A first failure may be a restart of the server: the next call tries at once.
        self.retry_at = time.monotonic() + (pause if self.num_failures > 1 else 0)


class McpHost:
    def __init__(self, store: Store, settings: Settings, egress: Egress, vault: Vault) -> None:
        self._store = store.mcp
        self._settings = settings
        self._egress = egress
        self._vault = vault
        self._slots: dict[_Key, _Slot] = {}
        self._logs: dict[str, ServerLog] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self.sign_ins = SignIns(store.mcp, vault, self._oauth_http)

    # What a model may call

    async def tools(self, user_id: str) -> Sequence[HostedTool]:
        """Reads the store only: connects to nothing."""
        usable = await self._store.usable_tools(user_id)
        return [self._build_tool(one) for one in usable]

    def _build_tool(self, usable: UsableTool) -> HostedTool:
        server, tool = usable
        return HostedTool(
            spec=Tool(
                full_name(server.prefix, tool.name),
                tool.description or tool.title or tool.name,
                tool.schema,
            ),
            feature=self.feature(server),
            run=partial(self._run, server.id, tool.name),
            effect="reads" if tool.is_read_only else "writes",
            is_untrusted=True,
            # Ours is the limit that ends a call with a sentence: this one is behind it.
            timeout_s=server.timeout_s + COMMAND_CONNECT_S + LIST_S,
            server=server.title,
        )

    async def _run(self, server_id: str, name: str, call: Call, arguments: str) -> CallResult:
        began, num_chars = time.perf_counter(), 0
        outcome: CallOutcome = "stopped"
        try:
            result = await self._call(server_id, name, call, arguments)
            outcome, num_chars = "failed" if result.failed else "ok", len(result.output)
            return result
        except TimeoutError:
            outcome = "timeout"
            raise Unavailable(f"{name} did not answer in time and was stopped.") from None
        except HitsendError:
            outcome = "unreachable"
            raise
        finally:
            took_ms = (time.perf_counter() - began) * 1000
            self._spawn(
                self._store.add_call(server_id, call.user_id, name, took_ms, outcome, num_chars)
            )

    async def _call(
        self, server_id: str, name: str, call: Call, encoded: str, *, is_retry: bool = False
    ) -> CallResult:
        arguments = _decode_arguments(encoded)
        server, tool = await self._store.find_usable_tool(server_id, name, call.user_id)
        slot = self._slot(server.id, call.user_id)
        connection = await self._connect(server, call.user_id)
        _check_tool(server, name, tool.digest, connection.digests.get(name))
        if time.monotonic() - connection.listed_at > LIST_AGAIN_S:
            self._refresh_soon(server, call.user_id, slot)
        try:
            result = await connection.call_tool(name, arguments, call, server.timeout_s)
        except SessionOver:
            if is_retry:
                raise
            return await self._call(server_id, name, call, encoded, is_retry=True)
        except Unavailable:
            if not connection.is_open:
                slot.fail(connection.reason or "The connection ended during a call.")
            raise
        slot.succeed()
        from hitsend.tools.mcp.results import read_result

        return await asyncio.to_thread(read_result, result, server.title)

    # Settings

    async def test(self, server: McpServer, user_id: str) -> ServerStatus:
        """Connects anew and lists the tools, whatever happened before."""
        await self.disconnect(server.id, user_id)
        self._slots.pop(_Key(server.id, user_id), None)
        self.sign_ins.forget_challenge(server.id, user_id)
        with suppress(HitsendError):  # the status tells
            await self._connect(server, user_id)
        return self.status(server, user_id)

    def status(self, server: McpServer, user_id: str) -> ServerStatus:
        if not server.is_on:
            return ServerStatus(condition="off")
        slot = self._slots.get(_Key(server.id, user_id))
        if self.sign_ins.needs_sign_in(server.id, user_id):
            return ServerStatus(condition="sign_in")
        if slot is None:
            return ServerStatus(condition="unused")
        if slot.problem:
            wait_s = slot.retry_at - time.monotonic()
            retry_in_s = wait_s if wait_s > 0 else None
            return ServerStatus(condition="failed", problem=slot.problem, retry_in_s=retry_in_s)
        if slot.connection is not None and slot.connection.is_open:
            condition: Condition = "connected" if slot.num_tools else "no_tools"
            return ServerStatus(condition=condition, version=slot.connection.version)
        return ServerStatus(condition="connecting" if slot.opening else "unused")

    def feature(self, server: McpServer) -> str:
        """What people turn on to have the server's tools."""
        return f"mcp:{server.prefix}"

    def log(self, server_id: str) -> Sequence[LogLine]:
        return self._log(server_id).lines

    def seal_secrets(self, server_id: str, entered: ServerSecrets) -> bytes | None:
        if entered == ServerSecrets():
            return None
        return self._vault.seal(entered, f"server:{server_id}")

    def read_secrets(self, server: McpServer) -> ServerSecrets:
        """Raises Unavailable."""
        if server.sealed is None:
            return ServerSecrets()
        return self._vault.open(server.sealed, ServerSecrets, f"server:{server.id}")

    def read_known_secrets(self, server: McpServer) -> ServerSecrets:
        """Returns none where they cannot be decrypted any more: they have to be entered again."""
        try:
            return self.read_secrets(server)
        except Unavailable:
            return ServerSecrets()

    # Resources and prompts

    async def list_resources(self, server: McpServer, user_id: str) -> "Sequence[types.Resource]":
        return await self._use(server, user_id, lambda one: one.list_resources(server.timeout_s))

    async def read_resource(self, server: McpServer, user_id: str, uri: str) -> CallResult:
        read = await self._use(
            server, user_id, lambda one: one.read_resource(uri, server.timeout_s)
        )
        from hitsend.tools.mcp.results import read_contents

        return await asyncio.to_thread(read_contents, read.contents)

    async def list_prompts(self, server: McpServer, user_id: str) -> "Sequence[types.Prompt]":
        return await self._use(server, user_id, lambda one: one.list_prompts(server.timeout_s))

    async def get_prompt(
        self, server: McpServer, user_id: str, name: str, arguments: dict[str, str]
    ) -> str:
        got = await self._use(
            server, user_id, lambda one: one.get_prompt(name, arguments, server.timeout_s)
        )
        from hitsend.tools.mcp.results import read_prompt

        return read_prompt(got)

    async def _use(
        self,
        server: McpServer,
        user_id: str,
        ask: "Callable[[Connection], Awaitable[T]]",
    ) -> T:
        """Raises Unavailable."""
        connection = await self._connect(server, user_id)
        try:
            return await ask(connection)
        except TimeoutError:
            raise Unavailable(f"{server.title} did not answer in time.") from None

    # Connections

    async def disconnect(self, server_id: str, user_id: str | None = None) -> None:
        """Closes the connections of a server, of one person or of all."""
        keys = [
            one
            for one in self._slots
            if one.server_id == server_id and user_id in (None, one.user_id)
        ]
        await asyncio.gather(*(self._empty(self._slots.pop(one)) for one in keys))

    async def close_idle_forever(self) -> None:
        while True:
            await asyncio.sleep(IDLE_CHECK_S)
            await self.close_idle()

    async def close_idle(self) -> None:
        is_too_old = time.monotonic() - self._settings.mcp_idle_s
        for slot in list(self._slots.values()):
            connection = slot.connection
            if connection is None or connection.is_in_use:
                continue
            if connection.used_at < is_too_old or not connection.is_open:
                slot.connection = None
                await connection.close()

    async def close(self) -> None:
        slots, self._slots = list(self._slots.values()), {}
        await asyncio.gather(*(self._empty(slot) for slot in slots))
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _connect(self, server: McpServer, user_id: str) -> "Connection":
        """Returns an open connection. Whoever comes while one is opened waits for it, too."""
        slot = self._slot(server.id, user_id)
        if slot.connection is not None and slot.connection.is_open:
            return slot.connection
        if slot.opening is None:
            if (wait_s := slot.retry_at - time.monotonic()) > 0:
                raise Unavailable(
                    f"{server.title} failed {slot.num_failures} times: {slot.problem} It is tried "
                    f"again in {wait_s:.0f} seconds.",
                    retry_after_s=wait_s,
                )
            slot.opening = self._spawn(self._open(server, user_id, slot))
        opening = slot.opening
        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if opening.cancelled() and not (task and task.cancelling()):
                # Not this call was stopped: somebody changed the server.
                raise Unavailable(f"{server.title} was changed meanwhile. Try again.") from None
            raise

    async def _open(self, server: McpServer, user_id: str, slot: _Slot) -> "Connection":
        module = await asyncio.to_thread(import_module, "hitsend.tools.mcp.connection")
        connection: Connection | None = None
        try:
            if slot.connection is not None:
                await slot.connection.close()
                slot.connection = None
            await self._make_room(server)
            server_log = self._log(server.id)
            holder: list[Connection] = []
            transport = self._build_transport(
                server, user_id, lambda reason: holder[0].report(reason)
            )
            changed = partial(self._refresh_soon, server, user_id, slot)
            connection = module.Connection(server.title, transport, server_log, changed)
            assert connection is not None
            holder.append(connection)
            is_command = slot.is_command = server.kind == "command"
            await connection.open(COMMAND_CONNECT_S if is_command else CONNECT_S)
            await self._list_tools(server, user_id, slot, connection)
        except (HitsendError, TimeoutError) as error:
            message = (
                error.message
                if isinstance(error, HitsendError)
                else f"{server.title} did not tell its tools within {LIST_S:.0f} seconds."
            )
            slot.fail(message)
            if connection is not None:
                await connection.close()
            if self.sign_ins.needs_sign_in(server.id, user_id):
                message = (
                    f"You are not signed in at {server.title}. Sign in under Settings, Tool "
                    "servers."
                )
            raise Unavailable(message) from None
        else:
            slot.connection = connection
            slot.problem = ""
            server_log.note(f"connected, protocol {connection.version}")
            return connection
        finally:
            slot.opening = None

    async def _list_tools(
        self, server: McpServer, user_id: str, slot: _Slot, connection: "Connection"
    ) -> None:
        definitions = await connection.list_tools(LIST_S)
        slot.num_tools = len(definitions)
        is_whole = server.audience == "owner" or await self._store.token(server.id, user_id) is None
        listing = {one.name: _draft(one) for one in definitions}
        await self._store.record_listing(server.id, listing, is_whole=is_whole)

    def _refresh_soon(self, server: McpServer, user_id: str, slot: _Slot) -> None:
        """A server that tells of a change every moment is asked now and then."""
        slot.needs_refresh = True
        if slot.refreshing is None:
            slot.refreshing = self._spawn(self._refresh(server, user_id, slot))

    async def _refresh(self, server: McpServer, user_id: str, slot: _Slot) -> None:
        try:
            while slot.needs_refresh and slot.connection is not None:
                slot.needs_refresh = False
                await self._list_tools(server, user_id, slot, slot.connection)
                await asyncio.sleep(REFRESH_PAUSE_S)
        except (HitsendError, TimeoutError) as error:
            self._log(server.id).note(f"its tools could not be listed: {error}")
        finally:
            slot.refreshing = None

    def _build_transport(
        self, server: McpServer, user_id: str, report: "Callable[[str], None]"
    ) -> "Transport":
        secrets, max_bytes = self.read_secrets(server), self._settings.mcp_message_bytes
        if server.kind == "command":
            from hitsend.tools.mcp.command_transport import CommandTransport

            return CommandTransport(
                server.command, secrets.environment, max_bytes, self._log(server.id), report
            )
        from mcp.client.streamable_http import streamable_http_client

        url = self.check_url(server.url)
        has_own_key = "authorization" in {name.lower() for name in secrets.headers}
        authorization = (
            Authorization() if has_own_key else self.sign_ins.authorization(server, user_id)
        )
        inner = self._egress_for(server).transport(max_bytes)
        client = httpx2.AsyncClient(
            transport=ServerTransport(inner, url, authorization, report),
            headers=secrets.headers,
            timeout=httpx2.Timeout(SILENCE_S, connect=CONNECT_TIMEOUT_S),
            trust_env=False,
        )
        return _ClosingTransport(
            streamable_http_client(server.url, http_client=client, max_sse_event_size=max_bytes),
            client,
        )

    def check_url(self, url: str) -> httpx2.URL:
        """Raises Refused."""
        parsed = parse_url(url)
        if parsed.scheme != "https" and not self._settings.mcp_allow_http:
            raise Refused(
                "The address has to begin with https://. An administrator can allow others "
                "(HITSEND_MCP_ALLOW_HTTP).",
                param="url",
            )
        return parsed

    def _egress_for(self, server: McpServer) -> Egress:
        """An administrator may name a server of the network around this machine."""
        if server.owner_id is not None:
            return self._egress
        return self._egress.trusting(parse_url(server.url))

    def _oauth_http(self, server: McpServer) -> "OAuthHttp":
        from hitsend.tools.mcp.oauth_discovery import OAuthHttp

        allows_http = self._settings.mcp_allow_http
        return OAuthHttp(self._egress_for(server), allows_http=allows_http)

    async def _make_room(self, server: McpServer) -> None:
        """Ends the process that was not used for the longest time, if there are too many."""
        if server.kind != "command":
            return
        running = [
            (slot, slot.connection)
            for slot in self._slots.values()
            if slot.is_command and slot.connection is not None
        ]
        if len(running) < self._settings.mcp_processes:
            return
        idle = [one for one in running if not one[1].is_in_use]
        if not idle:
            raise Unavailable("Too many programs of tools run at once. Try again later.")
        slot, connection = min(idle, key=lambda one: one[1].used_at)
        slot.connection = None
        await connection.close()

    def _slot(self, server_id: str, user_id: str) -> _Slot:
        return self._slots.setdefault(_Key(server_id, user_id), _Slot())

    def _log(self, server_id: str) -> ServerLog:
        return self._logs.setdefault(server_id, ServerLog())

    async def _empty(self, slot: _Slot) -> None:
        for task in (slot.opening, slot.refreshing):
            if task is not None:
                task.cancel()
                await asyncio.wait([task])
        if slot.connection is not None:
            await slot.connection.close()
            slot.connection = None

    def _spawn(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._forget)
        return task

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            log.debug("a task of a server ended: %s", error)


class _ClosingTransport:
    """Closes the HTTP client after the transport that uses it."""

    def __init__(
        self, inner: "AbstractAsyncContextManager[TransportStreams]", client: httpx2.AsyncClient
    ) -> None:
        self._inner = inner
        self._client = client

    async def __aenter__(self) -> "TransportStreams":
        return await self._inner.__aenter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        try:
            return await self._inner.__aexit__(kind, error, traceback)
        finally:
            await self._client.aclose()


def open_host(store: Store, settings: Settings, egress: Egress) -> McpHost:
    return McpHost(store, settings, egress, open_vault(settings.data_dir / "mcp.key"))


def _check_tool(server: McpServer, name: str, confirmed: str, found: str | None) -> None:
    """Raises Refused."""
    if found is None:
        raise Refused(f"{server.title} has no tool {name} any more.")
    if found != confirmed:
        raise Refused(
            f"The tool {name} of {server.title} has changed. It can be used again when somebody "
            "has looked at it and confirmed it in the settings."
        )


def _draft(definition: ToolDefinition) -> ToolDraft:
    return ToolDraft(
        title=definition.title,
        description=definition.description,
        schema=definition.schema,
        digest=definition.digest,
        problem=definition.problem,
        is_read_only_hint=definition.is_read_only_hint,
    )


def _decode_arguments(encoded: str) -> dict[str, Any]:
    try:
        return msgspec.json.decode(encoded or "{}", type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        raise Refused("The arguments have to be a JSON object.", param="arguments") from None
