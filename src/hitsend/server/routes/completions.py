"""OpenAI's chat completions, as another view of the same turns.

An API call brings its own context and belongs to no conversation. Nobody can come back to its
answer, so here, and only here, a reader that leaves ends the turn; unless the call has an
idempotency key, for whoever has that can ask again.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from functools import partial

from starlette.requests import ClientDisconnect
from starlette.responses import Response

from hitsend.errors import UnknownModel
from hitsend.events import Stamped
from hitsend.server.admission import admit_call
from hitsend.server.calls import Access, Call, answer, endpoint
from hitsend.server.sending import Sent, brought, given_key, send_once
from hitsend.server.streams import stream
from hitsend.wire.openai import ChunkView, completion, models_list
from hitsend.wire.openai_request import CompletionRequest, parse_completion

STILL_THERE_S = 1.0
"""How often to look whether someone waiting for a whole answer is still there."""


@endpoint("POST", "/v1/chat/completions", Access.KEY)
async def create_completion(call: Call) -> Response:
    """Answer a chat, in chunks or whole, as OpenAI's API does."""
    key = given_key(call)
    body = await call.body(CompletionRequest)
    asked = await asyncio.to_thread(parse_completion, body, call.user_id, key)
    sent = await send_once(call.house, brought(call, asked.send), partial(admit_call, call))
    headers = dict(sent.headers)
    if asked.is_streamed:
        view = ChunkView(include_usage=asked.include_usage, num_logprobs=asked.num_logprobs)
        heartbeat_s = call.house.services.settings.heartbeat_s
        return stream(view, await _batches(call, sent, key, heartbeat_s), headers)
    whole = await _whole(call, await _batches(call, sent, key, STILL_THERE_S))
    return answer(completion(whole, asked.num_logprobs), headers=headers)


@endpoint("GET", "/v1/models", Access.KEY)
async def list_models(call: Call) -> Response:
    """The models that can be asked, as OpenAI lists them."""
    models = await call.house.services.engine.models()
    return answer(models_list((model.name for model in models), created=0))


@endpoint("GET", "/v1/models/{model}", Access.KEY)
async def get_model(call: Call) -> Response:
    """One model, as OpenAI shows it."""
    name = call.path("model")
    models = await call.house.services.engine.models()
    if name not in (model.name for model in models):
        raise UnknownModel(f"There is no model {name!r} here.", param="model")
    return answer(models_list([name], created=0).data[0])


async def _batches(
    call: Call, sent: Sent, key: str | None, heartbeat_s: float
) -> AsyncGenerator[Sequence[Stamped], None]:
    _, coming = await call.house.runner.follow(sent.turn_id, call.user_id, 0, heartbeat_s)
    return coming if key is not None else _until_left(call, sent, coming)


async def _whole(call: Call, coming: AsyncGenerator[Sequence[Stamped], None]) -> list[Stamped]:
    log: list[Stamped] = []
    async with aclosing(coming) as batches:
        async for batch in batches:
            log += batch
            if await call.request.is_disconnected():
                raise ClientDisconnect
    return log


async def _until_left(
    call: Call, sent: Sent, coming: AsyncGenerator[Sequence[Stamped], None]
) -> AsyncGenerator[Sequence[Stamped], None]:
    try:
        async with aclosing(coming) as batches:
            async for batch in batches:
                yield batch
    finally:
        # Not awaited: a reader that leaves cancels this very task.
        if turn := call.house.runner.find(sent.turn_id, call.user_id):
            call.house.runner.abandon(turn)
