"""A person with a host of servers, for tests."""

import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec

from hitsend.egress import open_egress
from hitsend.settings import Settings
from hitsend.store import SERVER, Store
from hitsend.store.mcp_rows import McpServer, NewMcpServer
from hitsend.tools.hosted_tool import Call, CallResult, FormReply, HostedTool
from hitsend.tools.mcp import McpHost, ServerSecrets, open_host
from hitsend.tools.mcp.definitions import make_prefix

ROOT = Path(__file__).parents[4]
PATIENCE_S = 60


@dataclass
class Desk:
    store: Store
    host: McpHost
    user_id: str
    reported: list[str] = field(default_factory=list)
    asked: list[tuple[str, str]] = field(default_factory=list)
    reply: FormReply = FormReply("decline")
    may_reply: asyncio.Event = field(default_factory=asyncio.Event)
    was_asked: asyncio.Event = field(default_factory=asyncio.Event)

    async def add(self, title: str = "Odd", **changes: Any) -> McpServer:
        secrets = changes.pop("secrets", ServerSecrets())
        server_id = str(uuid4())
        values: dict[str, Any] = {
            "id": server_id,
            "owner_id": self.user_id,
            "audience": "owner",
            "title": title,
            "prefix": make_prefix(title),
            "kind": "command" if "command" in changes else "http",
            "sealed": self.host.secrets.seal(server_id, secrets),
        }
        return await self.store.mcp_servers.add(NewMcpServer(**values | changes), SERVER)

    async def add_odd(self, *arguments: str, **changes: Any) -> McpServer:
        program = ROOT / "tests" / "mcp_servers" / "odd.py"
        return await self.add(command=(sys.executable, str(program), *arguments), **changes)

    async def tools(self, user_id: str | None = None) -> dict[str, HostedTool]:
        return {one.name: one for one in await self.host.tools(user_id or self.user_id)}

    async def call(self, name: str, user_id: str | None = None, **arguments: Any) -> CallResult:
        tool = (await self.tools(user_id))[name]
        return await self.run(tool, user_id, **arguments)

    async def run(
        self, tool: HostedTool, user_id: str | None = None, **arguments: Any
    ) -> CallResult:
        call = Call(
            call_id=str(uuid4()),
            user_id=user_id or self.user_id,
            report=self.reported.append,
            ask=self._ask,
        )
        async with asyncio.timeout(PATIENCE_S):
            return await tool.run(call, msgspec.json.encode(arguments).decode())

    async def _ask(self, message: str, schema: str) -> FormReply:
        self.asked.append((message, schema))
        self.was_asked.set()
        await self.may_reply.wait()
        return self.reply

    def log(self, server: McpServer) -> str:
        return "\n".join(one.text for one in self.host.connections.log(server.id).lines)


@asynccontextmanager
async def open_desk(database: Path, **changes: Any) -> AsyncGenerator[Desk]:
    changes = {"mcp_allow_http": True} | changes
    settings = Settings(data_dir=database.parent, **changes)
    store = await Store.open(settings.database)
    try:
        users = {one.name: one.id for one in await store.accounts.list_accounts()}
        user_id = users.get("ada") or (await store.accounts.create("ada", "", "admin")).id
        host = open_host(store, settings, open_egress(settings))
        try:
            desk = Desk(store, host, user_id)
            desk.may_reply.set()
            yield desk
        finally:
            await host.connections.close()
    finally:
        await store.close()
