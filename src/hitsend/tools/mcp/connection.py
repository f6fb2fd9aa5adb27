"""A connection of one person to one server, through the official SDK.

It lives in a task of its own, which ends when the server goes away, when it is closed or when it
was not used for a while. Calls never wait longer than their limit, and fail with a sentence that
says what happened. Everything that comes from a server is taken as written by a stranger.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, TypeVar, assert_never

import mcp_types as types
from mcp import Client, MCPError
from mcp.client import ClientRequestContext, InputRequiredRoundsExceededError, Transport
from pydantic import ValidationError

from hitsend.errors import HitsendError, Unavailable
from hitsend.tools.hosted_tool import Call
from hitsend.tools.mcp.definitions import (
    ToolDefinition,
    clean_line,
    read_definition,
)
from hitsend.tools.mcp.elicitation import ActiveCall, build_answer, read_question
from hitsend.tools.mcp.http_transport import SessionOver
from hitsend.tools.mcp.listings import KeptListing, ListChanges, Listed, Offers, list_all
from hitsend.tools.mcp.resource_templates import list_templates
from hitsend.tools.mcp.server_log import ServerLog
from hitsend.tools.mcp.watched_transport import WatchedTransport

T = TypeVar("T")


log = logging.getLogger(__name__)
logging.getLogger("mcp").setLevel(logging.CRITICAL)
"""It logs what servers send, with tracebacks. Servers have logs of their own here."""

MAX_TOOLS = 200
MAX_ITEMS = 500
MAX_PROGRESS_CHARS = 300
PROTOCOL = types.Implementation(name="hitsend", version="1")
ANSWER = "its answer does not follow the protocol"
SESSION_OVER = "Session terminated"
STAND_INS = ("Server returned an error response", "Not Found")
"""What the SDK says where the server said nothing that it understands."""


class Connection:
    """Open it before use, and close it."""

    def __init__(
        self,
        server: str,
        transport: Transport,
        server_log: ServerLog,
        on_tools_changed: Callable[[], None],
    ) -> None:
        self._server = server
        self._transport = transport
        self._log = server_log
        self._on_tools_changed = on_tools_changed
        self._client: Client | None = None
        self._opened = asyncio.Event()
        self._lost = asyncio.Event()
        self._asked_to_close = asyncio.Event()
        self._reason = ""
        self._task: asyncio.Task[None] | None = None
        self._active: list[ActiveCall] = []
        self._num_requests = 0
        self._changes = ListChanges(self._take_change)
        self._resources = KeptListing[types.Resource]()
        self._templates = KeptListing[types.ResourceTemplate]()
        self._prompts = KeptListing[types.Prompt]()
        self.used_at = time.monotonic()
        self.digests: dict[str, str] = {}
        """Of the tools that this connection has seen, by name."""
        self.listed_at = 0.0

    @property
    def is_open(self) -> bool:
        return self._client is not None and not self._lost.is_set()

    @property
    def is_in_use(self) -> bool:
        return self._num_requests > 0

    @property
    def offers(self) -> Offers:
        """What the server says it has."""
        has = self._require_client().server_capabilities
        return Offers(has.resources is not None, has.prompts is not None)

    @property
    def reason(self) -> str:
        """Why it ended, if it did and that is known."""
        return self._reason

    @property
    def version(self) -> str:
        return self._client.protocol_version if self._client else ""

    def report(self, reason: str) -> None:
        """Takes the newest reason why something went wrong."""
        self._reason = reason.rstrip(".")
        if reason:
            self._log.note(reason)

    async def open(self, timeout_s: float) -> None:
        """Raises Unavailable."""
        self._task = asyncio.create_task(self._run())
        waits = [asyncio.create_task(one.wait()) for one in (self._opened, self._lost)]
        try:
            await asyncio.wait(waits, timeout=timeout_s, return_when="FIRST_COMPLETED")
        finally:
            for one in waits:
                one.cancel()
            if not self._opened.is_set() or self._lost.is_set():
                await self.close()
        if not self._opened.is_set():
            reason = self._reason or f"it did not answer within {timeout_s:.0f} seconds"
            raise Unavailable(f"{self._server} cannot be reached: {reason}.")
        if self._lost.is_set():
            raise self._lost_error()

    async def close(self) -> None:
        """Returns when the process, if it is one, has ended."""
        self._asked_to_close.set()
        if self._task is not None:
            _, still_running = await asyncio.wait([self._task], timeout=10)
            for one in still_running:
                one.cancel()
                await asyncio.wait([one])

    async def list_tools(self, timeout_s: float) -> Sequence[ToolDefinition]:
        """Raises Unavailable."""
        client = self._require_client()
        if client.server_capabilities.tools is None:
            return ()
        listing = list_all(client.list_tools, lambda page: page.tools, MAX_TOOLS)
        found = await self._ask(listing, timeout_s)
        definitions: dict[str, ToolDefinition] = {}
        for tool in found:
            definition = await asyncio.to_thread(_read_tool, tool)
            definitions.setdefault(definition.name, definition)
        self.digests = {one.name: one.digest for one in definitions.values()}
        self.listed_at = time.monotonic()
        return tuple(definitions.values())

    async def call_tool(
        self, name: str, arguments: dict[str, Any], call: Call, timeout_s: float
    ) -> types.CallToolResult:
        """Raises Unavailable and TimeoutError. The time that a person takes to answer a question
        of the server does not count."""
        client = self._require_client()

        async def show(progress: float, total: float | None, message: str | None) -> None:
            if text := _describe_progress(progress, total, message):
                call.report(f"{text}\n")

        request = client.call_tool(name, arguments, progress_callback=show)
        active = ActiveCall(call)
        self._active.append(active)
        try:
            return await self._ask(request, timeout_s, active)
        finally:
            self._active.remove(active)
            active.ended.set()

    async def list_resources(self, timeout_s: float) -> Sequence[types.Resource]:
        client = self._require_client()

        def fetch() -> Awaitable[Sequence[types.Resource]]:
            listing = list_all(client.list_resources, lambda page: page.resources, MAX_ITEMS)
            return self._ask(listing, timeout_s)

        is_followed = "resources" in self._changes.followed
        return await self._resources.read(fetch, is_followed=is_followed)

    async def list_templates(self, timeout_s: float) -> Sequence[types.ResourceTemplate]:
        client = self._require_client()

        def fetch() -> Awaitable[Sequence[types.ResourceTemplate]]:
            return self._ask(list_templates(client, MAX_ITEMS), timeout_s)

        is_followed = "resources" in self._changes.followed
        return await self._templates.read(fetch, is_followed=is_followed)

    async def read_resource(self, uri: str, timeout_s: float) -> types.ReadResourceResult:
        client = self._require_client()
        return await self._ask(client.read_resource(uri, cache_mode="bypass"), timeout_s)

    async def list_prompts(self, timeout_s: float) -> Sequence[types.Prompt]:
        client = self._require_client()

        def fetch() -> Awaitable[Sequence[types.Prompt]]:
            listing = list_all(client.list_prompts, lambda page: page.prompts, MAX_ITEMS)
            return self._ask(listing, timeout_s)

        is_followed = "prompts" in self._changes.followed
        return await self._prompts.read(fetch, is_followed=is_followed)

    async def get_prompt(
        self, name: str, arguments: dict[str, str], timeout_s: float
    ) -> types.GetPromptResult:
        client = self._require_client()
        return await self._ask(client.get_prompt(name, arguments), timeout_s)

    async def _run(self) -> None:
        watched = WatchedTransport(self._transport, self._lost)
        try:
            async with Client(
                watched,
                client_info=PROTOCOL,
                message_handler=self._take_notification,
                elicitation_callback=self._answer_question,
                cache=None,
            ) as client:
                self._client = client
                self._opened.set()
                async with self._changes.follow(client):
                    closing = asyncio.create_task(self._asked_to_close.wait())
                    lost = asyncio.create_task(self._lost.wait())
                    try:
                        await asyncio.wait([closing, lost], return_when="FIRST_COMPLETED")
                    finally:
                        closing.cancel()
                        lost.cancel()
        except Exception as error:
            # Whatever a server makes the SDK raise ends this connection only, with its reason.
            log.debug("the connection to %s failed", self._server, exc_info=True)
            self._reason = self._reason or _describe(error)
            self._log.note(f"connection failed: {self._reason}")
        finally:
            self._client = None
            self._lost.set()

    async def _ask(
        self,
        request: Coroutine[Any, Any, T],
        timeout_s: float,
        active: "ActiveCall | None" = None,
    ) -> T:
        """Runs a request beside the connection, which may end meanwhile."""
        self.used_at = time.monotonic()
        self._reason = ""
        self._num_requests += 1
        running = asyncio.ensure_future(request)
        lost = asyncio.ensure_future(self._lost.wait())
        try:
            async with asyncio.timeout(timeout_s) as limit:
                if active is not None:
                    active.limit = limit
                await asyncio.wait([running, lost], return_when="FIRST_COMPLETED")
            if not running.done():
                # The SDK may still tell why.
                await asyncio.wait([running], timeout=0.2)
            if not running.done():
                raise self._lost_error()
            return running.result()
        except MCPError as error:
            if error.message == SESSION_OVER:
                self._lost.set()
                raise SessionOver(f"{self._server} has ended the session.") from None
            is_told = error.message not in STAND_INS
            if error.code == types.CONNECTION_CLOSED or (self._reason and not is_told):
                raise self._lost_error() from None
            said = clean_line(error.message, 500) or "an error without a message"
            raise Unavailable(f"{self._server} answered: {said}") from None
        except (ValidationError, InputRequiredRoundsExceededError, RuntimeError) as error:
            self._log.note(f"{ANSWER}: {_describe(error)}")
            raise Unavailable(f"{self._server} cannot be used: {ANSWER}.") from None
        finally:
            lost.cancel()
            running.cancel()
            await asyncio.wait([running], timeout=5)
            self._num_requests -= 1
            self.used_at = time.monotonic()

    async def _take_notification(self, message: object) -> None:
        self._changes.take(message)

    def _take_change(self, changed: Listed) -> None:
        match changed:
            case "tools":
                self._on_tools_changed()
            case "resources":
                self._resources.drop()
                self._templates.drop()
            case "prompts":
                self._prompts.drop()
            case _:
                assert_never(changed)

    async def _answer_question(
        self, context: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult:
        """Asks the person whose call runs. Nobody else is asked, and nobody when none runs."""
        question = read_question(self._server, params)
        if not self._active or question is None:
            return types.ElicitResult(action="decline")
        return build_answer(params, await self._active[-1].ask(*question))

    def _require_client(self) -> Client:
        if self._client is None:
            raise self._lost_error()
        return self._client

    def _lost_error(self) -> Unavailable:
        reason = f": {self._reason[:1].lower()}{self._reason[1:]}" if self._reason else ""
        if self.is_open:
            return Unavailable(f"{self._server} did not answer properly{reason}.")
        return Unavailable(f"The connection to {self._server} ended{reason}.")


def _read_tool(tool: types.Tool) -> ToolDefinition:
    hints = tool.annotations
    return read_definition(
        tool.name,
        tool.title or "",
        tool.description or "",
        tool.input_schema,
        is_read_only_hint=bool(hints and hints.read_only_hint),
        needs_task=bool(tool.execution and tool.execution.task_support == "required"),
    )


def _describe_progress(progress: float, total: float | None, message: str | None) -> str:
    if message:
        return clean_line(message, MAX_PROGRESS_CHARS)
    if total:
        return f"{min(progress / total, 1):.0%}"
    return f"{progress:g}"


def _describe(error: BaseException) -> str:
    """Looks into groups for the error that tells most."""
    if isinstance(error, BaseExceptionGroup):
        return _describe(error.exceptions[0])
    if isinstance(error, HitsendError):
        return error.message
    if isinstance(error, MCPError):
        return f"it answered: {clean_line(error.message, 500)}"
    if isinstance(error, OSError):
        return clean_line(str(error), 500)
    if isinstance(error, ValidationError):
        return ANSWER
    return clean_line(f"{type(error).__name__}: {error}", 500)
