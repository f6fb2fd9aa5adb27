"""A fake server with a plain chat API, and a remote engine that uses it."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, asynccontextmanager

import msgspec
from tests.unit.engine.fake_server import (
    STREAM_HEAD,
    FakeServer,
    Handler,
    Request,
    serving,
    whole,
)

from hitsend.engine.contract import Generated, GenerationStep
from hitsend.engine.remote.engine import RemoteEngine
from hitsend.messages import Message, Sampling, Text, Tool
from hitsend.settings import Settings

HELLO = [Message("user", (Text("hello"),), "user")]
PLAIN = Sampling()
CHAT = "/v1/chat/completions"


def delta(content: str | None = None, finish: str | None = None, **more: object) -> object:
    change = {"content": content} if content is not None else {}
    return {"choices": [{"index": 0, "delta": change | more, "finish_reason": finish}]}


USAGE = {
    "choices": [],
    "usage": {
        "prompt_tokens": 9,
        "completion_tokens": 2,
        "prompt_tokens_details": {"cached_tokens": 4},
    },
}


class ChatServer:
    """An OpenAI-compatible server with two models, which returns a given response."""

    def __init__(self, answer: bytes) -> None:
        self.answer = answer
        self.models = ["first", "second"]

    async def __call__(self, request: Request, writer: asyncio.StreamWriter) -> None:
        if request.path == "/v1/models":
            models = {"object": "list", "data": [{"id": name} for name in self.models]}
            writer.write(whole(msgspec.json.encode(models)))
        elif request.path == CHAT:
            writer.write(self.answer)
            if self.answer.startswith(STREAM_HEAD) and not self.answer.endswith(b"0\r\n\r\n"):
                await writer.drain()
        else:
            writer.write(whole(b"", "404 Not Found"))


@asynccontextmanager
async def engine_on(
    handler: Handler, suffix: str = "", model: str = "auto", concurrency: int = 64
) -> AsyncGenerator[tuple[RemoteEngine, FakeServer], None]:
    async with serving(handler) as server, asyncio.timeout(20):
        engine = RemoteEngine(
            Settings(
                engine_url=server.url + suffix,
                engine_key="secret",
                engine_wait_s=10,
                engine_concurrency=concurrency,
                model=model,
            )
        )
        await engine.start()
        try:
            yield engine, server
        finally:
            await engine.close()


async def answer_of(
    engine: RemoteEngine, sampling: Sampling = PLAIN, tools: Sequence[Tool] = ()
) -> list[GenerationStep]:
    prompt = await engine.encode("auto", HELLO, tools)
    async with aclosing(engine.generate(prompt, sampling)) as generation:
        return [step async for step in generation]


def text_of(steps: Sequence[GenerationStep]) -> str:
    return "".join(step.text for step in steps if isinstance(step, Generated))
