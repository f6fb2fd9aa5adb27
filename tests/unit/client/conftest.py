"""A server that says, request by request, what a test told it to; then it hangs up."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from tests.unit.client.fake import FakeServer, Serve


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    listening: list[asyncio.Server] = []

    async def start(*answers: bytes | None) -> FakeServer:
        fake = FakeServer(list(answers))
        server = await asyncio.start_server(fake.take, "127.0.0.1", 0)
        listening.append(server)
        fake.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        return fake

    yield start
    for server in listening:
        server.close()
        await server.wait_closed()
