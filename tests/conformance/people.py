"""People at hitsend's host of MCP servers, who play the scenarios of the conformance suite: they
add its server, use every tool, sign in wherever they are asked to, and accept every form."""

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlparse
from uuid import uuid4

import httpx2
import msgspec

from hitsend.egress import Egress, Trusted, parse_trusted
from hitsend.errors import HitsendError
from hitsend.settings import Settings
from hitsend.store import SERVER, Actor, Store
from hitsend.store.mcp_rows import McpServer, NewMcpServer
from hitsend.tools.hosted_tool import Call, FormReply
from hitsend.tools.mcp import Callback, McpHost, ServerSecrets, open_host
from hitsend.tools.mcp.definitions import full_name

BASE_URL = "https://hitsend.test"
"""Where hitsend itself is opened: an authorisation server sends the browser back to it."""
MAX_SIGN_INS = 3
"""A call may need more rights than the sign-in before it gave."""
LOOPBACK = [
    Trusted(parse_trusted(one).target, frozenset(range(1, 65_536)))
    for one in ("127.0.0.0/8", "[::1]")
]
EXAMPLES: Mapping[str, object] = {
    "integer": 5, "number": 5, "string": "text", "boolean": True, "array": []
}  # fmt: skip


class Scenario(msgspec.Struct, frozen=True):
    """What the suite tells the client that it starts."""

    url: str
    context: str = msgspec.field(name="MCP_CONFORMANCE_CONTEXT", default="{}")


class WantedCall(msgspec.Struct, frozen=True):
    name: str
    arguments: dict[str, Any]


class Context(msgspec.Struct, frozen=True):
    client_id: str = ""
    client_secret: str = ""
    wanted_calls: Sequence[WantedCall] = msgspec.field(name="toolCalls", default=())


class Person:
    def __init__(self, host: McpHost, user_id: str, server: McpServer, context: Context) -> None:
        self._host = host
        self._user_id = user_id
        self._server = server
        self._context = context

    async def play(self) -> None:
        """Raises HitsendError if it cannot be done. The suite's server ends only when everybody
        has left."""
        try:
            await self._use_everything()
        finally:
            await self._host.connections.disconnect(self._server.id)

    async def _use_everything(self) -> None:
        await self._connect()
        wanted = {
            full_name(self._server.prefix, one.name): one.arguments
            for one in self._context.wanted_calls
        }
        tools = await self._host.tools(self._user_id)
        schemas = [json.loads(tool.spec.parameters) for tool in tools]
        for tool, schema in zip(tools, schemas, strict=True):
            arguments = wanted.get(tool.name) or make_arguments(schema, schemas[0])
            await self._call(tool.name, arguments)

    async def _connect(self) -> None:
        for _ in range(MAX_SIGN_INS):
            status = await self._host.connections.test(self._server, self._user_id)
            if status.condition != "sign_in":
                return
            await self._sign_in()

    async def _call(self, name: str, arguments: Mapping[str, object]) -> None:
        for _ in range(MAX_SIGN_INS):
            tools = {tool.name: tool for tool in await self._host.tools(self._user_id)}
            call = Call(call_id=str(uuid4()), user_id=self._user_id, ask=accept)
            try:
                await tools[name].run(call, json.dumps(arguments))
            except HitsendError:
                if not self._host.sign_ins.needs_sign_in(self._server.id, self._user_id):
                    raise
                await self._sign_in()
                await self._connect()
            else:
                return

    async def _sign_in(self) -> None:
        entered = ServerSecrets(
            client_id=self._context.client_id, client_secret=self._context.client_secret
        )
        sign_ins = self._host.sign_ins
        url = await sign_ins.begin(self._server, self._user_id, BASE_URL, entered)
        async with httpx2.AsyncClient(trust_env=False) as browser:
            answer = await browser.get(url)
        given = parse_qs(urlparse(answer.headers["location"]).query)
        callback = msgspec.convert({name: values[0] for name, values in given.items()}, Callback)
        await sign_ins.finish(callback, self._user_id, Actor("page", self._user_id))


class People:
    """A new person for each scenario, who knows only its server."""

    def __init__(self, store: Store, host: McpHost) -> None:
        self._store = store
        self._host = host

    async def play(self, scenario: Scenario) -> str:
        """Returns why it could not be played to its end, or nothing."""
        try:
            person = await self._create_person(scenario)
            await person.play()
        except HitsendError as error:
            return error.message
        return ""

    async def _create_person(self, scenario: Scenario) -> Person:
        name = f"person-{uuid4()}"
        user_id = (await self._store.accounts.create(name, "", "member")).id
        server = NewMcpServer(
            id=str(uuid4()),
            owner_id=user_id,
            audience="owner",
            title="Suite",
            prefix="suite",
            kind="http",
            url=scenario.url,
        )
        added = await self._store.mcp_servers.add(server, SERVER)
        context = msgspec.json.decode(scenario.context, type=Context)
        return Person(self._host, user_id, added, context)


@asynccontextmanager
async def open_people(database: Path) -> AsyncGenerator[People]:
    settings = Settings(data_dir=database.parent, mcp_allow_http=True)
    store = await Store.open(settings.database)
    try:
        host = open_host(store, settings, Egress(LOOPBACK))
        try:
            yield People(store, host)
        finally:
            await host.connections.close()
    finally:
        await store.close()


def make_arguments(schema: Mapping[str, Any], an_object: object) -> dict[str, object]:
    """Gives a value of its type to each argument. An object is the schema of the first tool: a
    scenario compares it with the one that its server sent."""
    properties: Mapping[str, Any] = schema.get("properties", {})
    examples = {**EXAMPLES, "object": an_object}
    return {name: examples.get(one.get("type"), "text") for name, one in properties.items()}


async def accept(message: str, schema: str) -> FormReply:
    """Accepts a form as it is shown: with its defaults."""
    fields: Mapping[str, Any] = json.loads(schema).get("properties", {})
    filled = {name: one["default"] for name, one in fields.items() if "default" in one}
    return FormReply("accept", json.dumps(filled))
