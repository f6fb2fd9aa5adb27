"""Builds what carries the messages of a connection: a program, or an address with its sign-in."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import TYPE_CHECKING

import httpx2

from hitsend.egress import CONNECT_TIMEOUT_S
from hitsend.settings import Settings
from hitsend.store.mcp_rows import McpServer
from hitsend.tools.mcp.addresses import Addresses
from hitsend.tools.mcp.http_transport import Authorization, ServerTransport
from hitsend.tools.mcp.oauth import SignIns
from hitsend.tools.mcp.server_log import ServerLog
from hitsend.tools.mcp.server_secrets import SealedSecrets, ServerSecrets

if TYPE_CHECKING:
    from mcp.client import Transport
    from mcp.client._transport import TransportStreams

SILENCE_S = 3_600.0


class Transports:
    def __init__(
        self, settings: Settings, addresses: Addresses, secrets: SealedSecrets, sign_ins: SignIns
    ) -> None:
        self._max_bytes = settings.mcp_message_bytes
        self._addresses = addresses
        self._secrets = secrets
        self._sign_ins = sign_ins

    def build(
        self, server: McpServer, user_id: str, log: ServerLog, report: Callable[[str], None]
    ) -> "Transport":
        """Raises Refused for an address that is not allowed any more."""
        secrets = self._secrets.read(server)
        if server.kind == "command":
            from hitsend.tools.mcp.command_transport import CommandTransport

            return CommandTransport(
                server.command, secrets.environment, self._max_bytes, log, report
            )
        return self._build_http(server, user_id, secrets, report)

    def _build_http(
        self,
        server: McpServer,
        user_id: str,
        secrets: ServerSecrets,
        report: Callable[[str], None],
    ) -> "Transport":
        from mcp.client.streamable_http import streamable_http_client

        url = self._addresses.check(server.url)
        has_own_key = "authorization" in {name.lower() for name in secrets.headers}
        authorization = (
            Authorization() if has_own_key else self._sign_ins.authorization(server, user_id)
        )
        inner = self._addresses.egress_for(server).transport(self._max_bytes)
        client = httpx2.AsyncClient(
            transport=ServerTransport(inner, url, authorization, report),
            headers=secrets.headers,
            timeout=httpx2.Timeout(SILENCE_S, connect=CONNECT_TIMEOUT_S),
            trust_env=False,
        )
        streams = streamable_http_client(
            server.url, http_client=client, max_sse_event_size=self._max_bytes
        )
        return _ClosingTransport(streams, client)


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
