"""Autocomplete (ghost text) for the message that is being typed."""

from typing import Annotated

import msgspec
from starlette.responses import Response

from hitsend.server.call import Access, Call, endpoint, json_response
from hitsend.server.edge.until_disconnect import run_until_disconnect

MIN_CHARS = 3
MAX_BYTES = 65_536


class AutocompleteBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The names are ChatGPT's. Suggestions do not depend on the conversation."""

    input_text: Annotated[str, msgspec.Meta(max_length=16_000)]
    num_completions: Annotated[int, msgspec.Meta(ge=0, le=8)] = 1
    in_search_mode: bool = False
    conversation_id: str | None = None
    parent_message_id: str | None = None
    model: str = "auto"


class Completions(msgspec.Struct, frozen=True):
    completions: tuple[str, ...]
    is_enabled: bool
    """False while this machine is too slow for it: the page stops asking for a while."""


@endpoint("POST", "/backend-api/conversation/experimental/generate_autocompletions", Access.CHAT)
async def autocomplete(call: Call) -> Response:
    """Suggest how a draft continues: at most one suggestion, within 150 ms."""
    draft = await call.read_body(AutocompleteBody, MAX_BYTES)
    autocomplete, is_on = call.app.autocomplete, call.app.services.settings.autocomplete
    text = ""
    if is_on and draft.num_completions and len(draft.input_text.strip()) >= MIN_CHARS:
        suggesting = autocomplete.suggest(call.user_id, draft.model, draft.input_text)
        text = await run_until_disconnect(call.request, suggesting)
    is_enabled = is_on and not autocomplete.budget.is_off
    return json_response(Completions((text,) if text else (), is_enabled))
