"""Before Send is pressed: what a message would weigh, and reading ahead what comes before it."""

import asyncio
from typing import Literal
from uuid import uuid4

import msgspec
from starlette.responses import Response

from hitsend.engine import Prompt
from hitsend.errors import EngineDown, EngineLost
from hitsend.events import PromptEncoded
from hitsend.server.calls import Access, Call, answer, endpoint
from hitsend.server.presence import while_there
from hitsend.server.warming import SOME_TEXT, WarmupState, conduit_token, stable_prefix
from hitsend.turn import weigh
from hitsend.wire.send import Author, Content, SendBody, SentMessage, parse_send

NOT_AHEAD = "none"
"""What a client says that only wants to know the weight."""


class Prepared(msgspec.Struct, frozen=True, kw_only=True):
    """What a Send would take of the model's window, and how much of it is read by now."""

    status: Literal["ok", "skipped"]
    """`skipped` where nothing is read ahead."""
    conduit_token: str | None = None
    """To be brought along by the Send."""
    warmup_state: WarmupState = "cold"
    num_tokens: int | None = None
    num_window_tokens: int | None = None
    num_dropped_messages: int | None = None
    is_exact: bool | None = None


@endpoint("POST", "/backend-api/f/conversation/prepare", Access.PERSON)
async def prepare(call: Call) -> Response:
    """Weigh a draft, and have what comes before it read ahead; nothing is sent or stored."""
    body = await call.body(SendBody)
    try:
        prompt, encoded = await while_there(call.request, _weighed(call, _with_a_message(body)))
    except (EngineDown, EngineLost):
        return answer(Prepared(status="skipped"))
    is_wanted = body.client_prepare_state != NOT_AHEAD
    return answer(_prepared(call, prompt if is_wanted else None, encoded))


def _with_a_message(body: SendBody) -> SendBody:
    """Before the first word is written any message will do: what comes before it is the same."""
    if body.messages or body.action != "next":
        return body
    some = SentMessage(str(uuid4()), Author("user"), Content("text", (SOME_TEXT,)))
    return msgspec.structs.replace(body, messages=(some,))


async def _weighed(call: Call, body: SendBody) -> tuple[Prompt, PromptEncoded]:
    most = call.house.services.settings.max_message_chars
    async with call.house.weighing.one_of(call.user_id):
        sent = await asyncio.to_thread(parse_send, body, call.user_id, most)
        sent = msgspec.structs.replace(sent, key_id=call.person.key_id)
        return await weigh(sent, call.house.services)


def _prepared(call: Call, prompt: Prompt | None, weight: PromptEncoded) -> Prepared:
    """Without a prompt, nothing is read ahead."""
    house = call.house
    weighed = Prepared(
        status="skipped",
        num_tokens=weight.num_tokens,
        num_window_tokens=weight.num_window_tokens,
        num_dropped_messages=weight.num_dropped_messages,
        is_exact=weight.is_exact,
    )
    prefix = stable_prefix(prompt) if prompt and house.services.settings.prewarm else None
    if prefix is None:
        return weighed
    warm_id = house.warming.begin(call.user_id, prefix)
    return msgspec.structs.replace(
        weighed,
        status="ok",
        conduit_token=conduit_token(house.secret, call.user_id, warm_id),
        warmup_state=house.warming.state(warm_id),
    )
