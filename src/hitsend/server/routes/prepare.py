"""Before Send is pressed: what a message would weigh."""

import asyncio
from collections.abc import Coroutine
from typing import TypeVar

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from hitsend.events import PromptEncoded
from hitsend.send import Send
from hitsend.server.calls import Access, Call, answer, endpoint
from hitsend.turn import weigh
from hitsend.wire.send import SendBody, parse_send

T = TypeVar("T")


class Weight(msgspec.Struct, frozen=True):
    """What a Send would take of the model's window."""

    num_tokens: int
    num_window_tokens: int
    num_dropped_messages: int
    is_exact: bool


@endpoint("POST", "/backend-api/f/conversation/prepare", Access.PERSON)
async def prepare(call: Call) -> Response:
    """How much of the model's window a message would take; nothing is sent or stored."""
    sent = parse_send(await call.body(SendBody), call.user_id)
    encoded = await _while_there(call.request, _weighed(call, sent))
    return answer(msgspec.convert(encoded, Weight, from_attributes=True))


async def _weighed(call: Call, sent: Send) -> PromptEncoded:
    async with call.house.weighing.one_of(call.user_id):
        return await weigh(sent, call.house.services)


async def _while_there(request: Request, work: Coroutine[None, None, T]) -> T:
    """What it comes to. Given up as soon as nobody waits for it any more."""
    working = asyncio.create_task(work)
    leaving = asyncio.create_task(_left(request))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        working.cancel()
        leaving.cancel()


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        continue
