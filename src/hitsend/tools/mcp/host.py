"""The servers that people use: their tools, resources and prompts.

What a model may call is read from the store, so a slow server delays no answer that does not call
it. `connections.py` connects, when something is called.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from hitsend.egress import Egress
from hitsend.errors import HitsendError, Refused, Unavailable
from hitsend.messages import Tool
from hitsend.settings import Settings
from hitsend.store import Store
from hitsend.store.mcp_rows import CallOutcome, McpServer
from hitsend.store.mcp_tools import UsableTool
from hitsend.tools.hosted_tool import Call, CallResult, HostedTool
from hitsend.tools.mcp.addresses import Addresses
from hitsend.tools.mcp.arguments import check_arguments, decode_arguments
from hitsend.tools.mcp.connections import COMMAND_CONNECT_S, LIST_S, Connections
from hitsend.tools.mcp.definitions import full_name
from hitsend.tools.mcp.http_transport import SessionOver
from hitsend.tools.mcp.oauth import SignIns
from hitsend.tools.mcp.server_secrets import SealedSecrets
from hitsend.tools.mcp.transports import Transports
from hitsend.tools.mcp.vault import Vault, open_vault

if TYPE_CHECKING:
    import mcp_types as types

    from hitsend.tools.mcp.connection import Connection

T = TypeVar("T")


class McpHost:
    def __init__(self, store: Store, settings: Settings, egress: Egress, vault: Vault) -> None:
        self._tools = store.mcp_tools
        self.addresses = Addresses(settings, egress)
        self.secrets = SealedSecrets(vault)
        self.sign_ins = SignIns(store, vault, self.addresses.oauth_http)
        transports = Transports(settings, self.addresses, self.secrets, self.sign_ins)
        self.connections = Connections(store, settings, transports, self.sign_ins)

    # What a model may call

    async def tools(self, user_id: str) -> Sequence[HostedTool]:
        """Reads the store only: connects to nothing."""
        usable = await self._tools.list_usable(user_id)
        return [self._build_tool(one) for one in usable]

    def _build_tool(self, usable: UsableTool) -> HostedTool:
        server, tool = usable
        name = full_name(server.prefix, tool.name)
        return HostedTool(
            spec=Tool(name, tool.description or tool.title or tool.name, tool.schema),
            check=partial(check_arguments, name, tool.schema),
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
            self.connections.spawn(
                self._tools.add_call(server_id, call.user_id, name, took_ms, outcome, num_chars)
            )

    async def _call(
        self, server_id: str, name: str, call: Call, encoded: str, *, is_retry: bool = False
    ) -> CallResult:
        arguments = decode_arguments(encoded)
        server, tool = await self._tools.find_usable(server_id, name, call.user_id)
        connection = await self.connections.connect(server, call.user_id)
        _check_tool(server, name, tool.digest, connection.digests.get(name))
        self.connections.refresh_if_old(server, call.user_id)
        try:
            result = await connection.call_tool(name, arguments, call, server.timeout_s)
        except SessionOver:
            if is_retry:
                raise
            return await self._call(server_id, name, call, encoded, is_retry=True)
        except Unavailable:
            self.connections.note_failure(server, call.user_id, connection)
            raise
        self.connections.note_success(server, call.user_id)
        from hitsend.tools.mcp.results import read_result

        return await asyncio.to_thread(read_result, result, server.title)

    def feature(self, server: McpServer) -> str:
        """What people turn on to have the server's tools."""
        return f"mcp:{server.prefix}"

    # Resources and prompts

    async def list_resources(self, server: McpServer, user_id: str) -> "Sequence[types.Resource]":
        """A server that said it has none is not connected."""
        offers = self.connections.find_offers(server.id)
        if offers is not None and not offers.resources:
            return ()
        return await self._use(server, user_id, lambda one: one.list_resources(server.timeout_s))

    async def list_templates(
        self, server: McpServer, user_id: str
    ) -> "Sequence[types.ResourceTemplate]":
        """Resources with places to fill in. A server that said it has none is not connected."""
        offers = self.connections.find_offers(server.id)
        if offers is not None and not offers.resources:
            return ()
        return await self._use(server, user_id, lambda one: one.list_templates(server.timeout_s))

    async def read_resource(self, server: McpServer, user_id: str, uri: str) -> str:
        """Raises Refused for what is no text."""
        read = await self._use(
            server, user_id, lambda one: one.read_resource(uri, server.timeout_s)
        )
        from hitsend.tools.mcp.results import read_text

        return await asyncio.to_thread(read_text, read.contents)

    async def list_prompts(self, server: McpServer, user_id: str) -> "Sequence[types.Prompt]":
        """A server that said it has none is not connected."""
        offers = self.connections.find_offers(server.id)
        if offers is not None and not offers.prompts:
            return ()
        return await self._use(server, user_id, lambda one: one.list_prompts(server.timeout_s))

    async def get_prompt(
        self, server: McpServer, user_id: str, name: str, arguments: dict[str, str]
    ) -> str:
        got = await self._use(
            server, user_id, lambda one: one.get_prompt(name, arguments, server.timeout_s)
        )
        from hitsend.tools.mcp.results import read_prompt

        return await asyncio.to_thread(read_prompt, got)

    async def _use(
        self,
        server: McpServer,
        user_id: str,
        ask: "Callable[[Connection], Awaitable[T]]",
        *,
        is_retry: bool = False,
    ) -> T:
        """Raises Unavailable. What is asked only reads, so it is asked again in a new session."""
        connection = await self.connections.connect(server, user_id)
        try:
            result = await ask(connection)
        except TimeoutError:
            raise Unavailable(f"{server.title} did not answer in time.") from None
        except SessionOver:
            if is_retry:
                raise
            return await self._use(server, user_id, ask, is_retry=True)
        except Unavailable:
            self.connections.note_failure(server, user_id, connection)
            raise
        self.connections.note_success(server, user_id)
        return result


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
