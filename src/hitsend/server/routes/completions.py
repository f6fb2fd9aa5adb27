"""OpenAI's chat completions API, as another view of turns.

An API call brings its own context and belongs to no conversation. Its stream cannot be resumed, so
here a client that disconnects stops the turn, unless the call has an idempotency key: with that it
can be repeated.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from starlette.responses import Response

from hitsend.errors import UnknownModel
from hitsend.events import (
    AnyEvent,
    Stamped,
    TextArrived,
    ToolCallArrived,
    ToolCallStarted,
    TurnFailed,
    is_end,
)
from hitsend.server.call import Access, Call, endpoint, json_response
from hitsend.server.edge.until_disconnect import run_until_disconnect
from hitsend.server.turns.start import read_idempotency_key, start_once
from hitsend.server.turns.stream import Heartbeat, stream_turn
from hitsend.wire.openai import ChunkView, build_completion, build_model_list
from hitsend.wire.openai_request import CompletionRequest, name_given_field, parse_completion
from hitsend.wire.problem import error_from_failure


@endpoint("POST", "/v1/chat/completions", Access.KEY, is_counted=False)
async def create_completion(call: Call) -> Response:
    """Answer a chat, streamed or whole, as OpenAI's API does."""
    key = read_idempotency_key(call)
    body = await call.read_body(CompletionRequest)
    parsed = await asyncio.to_thread(parse_completion, body, call.user_id, key)
    starting = start_once(call, parsed.send, ends_with_caller=key is None)
    with name_given_field(body):
        turn, _, headers = await run_until_disconnect(call.request, starting)
    heartbeat_s = call.app.services.settings.heartbeat_s
    _, batches = await call.app.runner.follow(
        turn.turn_id, call.user_id, 0, heartbeat_s if parsed.is_streamed else None
    )
    if key is None:
        batches = _stop_on_disconnect(call, turn.turn_id, batches)
    if parsed.is_streamed:
        view = ChunkView(include_usage=parsed.include_usage, num_logprobs=parsed.num_logprobs)
        beginning = await run_until_disconnect(call.request, _read_beginning(batches))
        has_ended = any(is_end(stamped.event) for stamped in beginning)
        opening = view.encode(beginning)
        heartbeat = Heartbeat.of(call.app.services.settings, call.app.runner)
        return stream_turn(view, batches, dict(headers), heartbeat, opening, has_ended=has_ended)
    log = await run_until_disconnect(call.request, _collect(batches))
    return json_response(build_completion(log, parsed.num_logprobs), headers=dict(headers))


@endpoint("GET", "/v1/models", Access.KEY)
async def list_models(call: Call) -> Response:
    """List the available models in OpenAI's format."""
    models = await call.app.services.engine.models()
    return json_response(build_model_list((model.name for model in models), created=0))


@endpoint("GET", "/v1/models/{model:path}", Access.KEY)
async def get_model(call: Call) -> Response:
    """Get one model in OpenAI's format."""
    name = call.path_param("model")
    models = await call.app.services.engine.models()
    if name not in (model.name for model in models):
        raise UnknownModel(f"There is no model {name!r} here.", param="model")
    return json_response(build_model_list([name], created=0).data[0])


async def _read_beginning(batches: AsyncGenerator[Sequence[Stamped], None]) -> list[Stamped]:
    """Reads up to the first words, or to the first heartbeat. Raises the error of a turn that fails
    before: programs retry by the status of the response."""
    beginning: list[Stamped] = []
    async for batch in batches:
        beginning += batch
        if not batch or any(_is_shown(stamped.event) for stamped in batch):
            break
    failures = [one.event for one in beginning if isinstance(one.event, TurnFailed)]
    if failures and not any(_is_output(one.event) for one in beginning):
        await batches.aclose()
        raise error_from_failure(failures[0])
    return beginning


def _is_shown(event: AnyEvent) -> bool:
    return _is_output(event) or is_end(event)


def _is_output(event: AnyEvent) -> bool:
    return isinstance(event, TextArrived | ToolCallStarted | ToolCallArrived)


async def _collect(batches: AsyncGenerator[Sequence[Stamped], None]) -> list[Stamped]:
    async with aclosing(batches):
        return [stamped async for batch in batches for stamped in batch]


async def _stop_on_disconnect(
    call: Call, turn_id: str, batches: AsyncGenerator[Sequence[Stamped], None]
) -> AsyncGenerator[Sequence[Stamped], None]:
    try:
        async with aclosing(batches):
            async for batch in batches:
                yield batch
    finally:
        # Not awaited: a disconnect cancels this very task.
        if turn := call.app.runner.find(turn_id, call.user_id):
            call.app.runner.abandon(turn)
