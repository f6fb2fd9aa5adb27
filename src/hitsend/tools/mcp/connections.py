"""The connections to servers: opened at the first call, for each person their own, kept while they
are used, and closed when they were not used for a while.

A server that fails is tried again only after a pause, which grows.
"""

import asyncio
import logging
import time
from collections.abc import Coroutine
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, TypeVar

import msgspec

from hitsend.errors import HitsendError, Unavailable
from hitsend.settings import Settings
from hitsend.store import Store
from hitsend.store.mcp_rows import McpServer, ToolDraft
from hitsend.tools.mcp.definitions import ToolDefinition
from hitsend.tools.mcp.oauth import SignIns
from hitsend.tools.mcp.server_log import ServerLog
from hitsend.tools.mcp.transports import Transports

if TYPE_CHECKING:
    from hitsend.tools.mcp.connection import Connection
    from hitsend.tools.mcp.listings import Offers

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
FIRST_PAUSE_S = 2.0
MAX_PAUSE_S = 300.0
IDLE_CHECK_S = 30.0

Condition: TypeAlias = Literal[
    "off", "unused", "connecting", "connected", "no_tools", "sign_in", "failed"
]


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
        self.num_failures, self.retry_at, self.problem = 0, 0.0, ""

    def fail(self, problem: str) -> None:
        self.num_failures += 1
        self.problem = problem
        pause = min(FIRST_PAUSE_S * 2 ** (self.num_failures - 1), MAX_PAUSE_S)
        # A first failure may be a restart of the server: the next call tries at once.
        self.retry_at = time.monotonic() + (pause if self.num_failures > 1 else 0)


class Connections:
    def __init__(
        self, store: Store, settings: Settings, transports: Transports, sign_ins: SignIns
    ) -> None:
        self._store = store
        self._settings = settings
        self._transports = transports
        self._sign_ins = sign_ins
        self._slots: dict[_Key, _Slot] = {}
        self._logs: dict[str, ServerLog] = {}
        self._offers: dict[str, Offers] = {}
        """Of servers that were connected, by id."""
        self._tasks: set[asyncio.Task[Any]] = set()

    async def test(self, server: McpServer, user_id: str) -> ServerStatus:
        """Connects anew and lists the tools, whatever happened before."""
        await self.disconnect(server.id, user_id)
        self._slots.pop(_Key(server.id, user_id), None)
        self._sign_ins.forget_challenge(server.id, user_id)
        with suppress(HitsendError):  # the status tells
            await self.connect(server, user_id)
        return self.status(server, user_id)

    def status(self, server: McpServer, user_id: str) -> ServerStatus:
        if not server.is_on:
            return ServerStatus(condition="off")
        slot = self._slots.get(_Key(server.id, user_id))
        if self._sign_ins.needs_sign_in(server.id, user_id):
            return ServerStatus(condition="sign_in")
        if slot is None:
            return ServerStatus(condition="unused")
        if slot.problem:
            wait_s = slot.retry_at - time.monotonic()
            retry_in_s = wait_s if wait_s > 0 else None
            return ServerStatus(condition="failed", problem=slot.problem, retry_in_s=retry_in_s)
        if slot.connection is not None and slot.connection.is_open:
            has_any = slot.num_tools or any(slot.connection.offers)
            condition: Condition = "connected" if has_any else "no_tools"
            return ServerStatus(condition=condition, version=slot.connection.version)
        return ServerStatus(condition="connecting" if slot.opening else "unused")

    def find_offers(self, server_id: str) -> "Offers | None":
        """Returns what a server said it has besides tools, or None before it was connected."""
        return self._offers.get(server_id)

    def log(self, server_id: str) -> ServerLog:
        return self._logs.setdefault(server_id, ServerLog())

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

    async def connect(self, server: McpServer, user_id: str) -> "Connection":
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
            slot.opening = self.spawn(self._open(server, user_id, slot))
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
            server_log = self.log(server.id)
            holder: list[Connection] = []
            transport = self._transports.build(
                server, user_id, server_log, lambda reason: holder[0].report(reason)
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
            if self._sign_ins.needs_sign_in(server.id, user_id):
                message = (
                    f"You are not signed in at {server.title}. Sign in under Settings, Tool "
                    "servers."
                )
            raise Unavailable(message) from None
        else:
            slot.connection = connection
            slot.problem = ""
            self._offers[server.id] = connection.offers
            server_log.note(f"connected, protocol {connection.version}")
            return connection
        finally:
            slot.opening = None

    async def _list_tools(
        self, server: McpServer, user_id: str, slot: _Slot, connection: "Connection"
    ) -> None:
        definitions = await connection.list_tools(LIST_S)
        slot.num_tools = len(definitions)
        sees_all = server.audience == "owner"
        is_whole = sees_all or await self._store.mcp_sign_ins.token(server.id, user_id) is None
        listing = {one.name: _draft(one) for one in definitions}
        await self._store.mcp_tools.record_listing(server.id, listing, is_whole=is_whole)

    def _refresh_soon(self, server: McpServer, user_id: str, slot: _Slot) -> None:
        """A server that tells of a change every moment is asked now and then."""
        slot.needs_refresh = True
        if slot.refreshing is None:
            slot.refreshing = self.spawn(self._refresh(server, user_id, slot))

    async def _refresh(self, server: McpServer, user_id: str, slot: _Slot) -> None:
        try:
            while slot.needs_refresh and slot.connection is not None:
                slot.needs_refresh = False
                await self._list_tools(server, user_id, slot, slot.connection)
                await asyncio.sleep(REFRESH_PAUSE_S)
        except (HitsendError, TimeoutError) as error:
            self.log(server.id).note(f"its tools could not be listed: {error}")
        finally:
            slot.refreshing = None

    def refresh_if_old(self, server: McpServer, user_id: str) -> None:
        slot = self._slot(server.id, user_id)
        if slot.connection and time.monotonic() - slot.connection.listed_at > LIST_AGAIN_S:
            self._refresh_soon(server, user_id, slot)

    def note_success(self, server: McpServer, user_id: str) -> None:
        """After a call, not after connecting: some servers start well and crash at each call."""
        self._slot(server.id, user_id).succeed()

    def note_failure(self, server: McpServer, user_id: str, connection: "Connection") -> None:
        """Counts the call that ended a connection. A server that answers badly has not failed."""
        slot = self._slot(server.id, user_id)
        if slot.connection is connection and not connection.is_open:
            slot.fail(connection.reason or "The connection ended during a call.")

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

    async def _empty(self, slot: _Slot) -> None:
        for task in (slot.opening, slot.refreshing):
            if task is not None:
                task.cancel()
                await asyncio.wait([task])
        if slot.connection is not None:
            await slot.connection.close()
            slot.connection = None

    def spawn(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._forget)
        return task

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            log.debug("a task of a server ended: %s", error)


def _draft(definition: ToolDefinition) -> ToolDraft:
    return ToolDraft(
        title=definition.title,
        description=definition.description,
        schema=definition.schema,
        digest=definition.digest,
        problem=definition.problem,
        is_read_only_hint=definition.is_read_only_hint,
    )
