"""Ghost text: how the message that is being typed might go on."""

from typing import Annotated

import msgspec
from starlette.responses import Response

from hitsend.server.calls import Access, Call, answer, endpoint
from hitsend.server.presence import while_there

FEWEST_CHARS = 3
MOST_BYTES = 65_536


class Typed(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The names are ChatGPT's. Where it is typed does not change what is suggested."""

    input_text: Annotated[str, msgspec.Meta(max_length=16_000)]
    num_completions: Annotated[int, msgspec.Meta(ge=0, le=8)] = 1
    in_search_mode: bool = False
    conversation_id: str | None = None
    parent_message_id: str | None = None
    model: str = "auto"


class Completions(msgspec.Struct, frozen=True):
    completions: tuple[str, ...]
    is_enabled: bool
    """False where asking again is no use for a while."""


@endpoint("POST", "/backend-api/conversation/experimental/generate_autocompletions", Access.PERSON)
async def suggest(call: Call) -> Response:
    """How a draft might go on: at most one suggestion, within 150 ms, or none."""
    typed = await call.body(Typed, MOST_BYTES)
    suggesting, is_wanted = call.house.suggesting, call.house.services.settings.autocomplete
    text = ""
    if is_wanted and typed.num_completions and len(typed.input_text.strip()) >= FEWEST_CHARS:
        trying = suggesting.suggest(call.user_id, typed.model, typed.input_text)
        text = await while_there(call.request, trying)
    is_enabled = is_wanted and not suggesting.pace.is_off
    return answer(Completions((text,) if text else (), is_enabled))
