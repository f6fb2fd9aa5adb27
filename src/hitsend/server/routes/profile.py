"""What a person tells every conversation of theirs, by the name ChatGPT gives it."""

from typing import Annotated

import msgspec
from msgspec import Meta
from starlette.responses import Response

from hitsend.canonical import canonical
from hitsend.server.calls import Access, Call, answer, endpoint
from hitsend.store import Profile

PATH = "/backend-api/user_system_messages"


class ProfileBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    call_me: Annotated[str, Meta(max_length=100)] = ""
    about_me: Annotated[str, Meta(max_length=1_500)] = ""
    style: Annotated[str, Meta(max_length=1_500)] = ""
    is_on: bool = True
    uses_memory: bool = True
    suggests_memories: bool = False
    wipes_memories: bool = False
    """Turn memory off, and forget everything."""


@endpoint("GET", PATH, Access.SESSION)
async def get_profile(call: Call) -> Response:
    """What one tells every conversation, and whether things are remembered."""
    return answer(await call.house.services.store.profiles.get(call.user_id))


@endpoint("PUT", PATH, Access.SESSION)
async def set_profile(call: Call) -> Response:
    """Say what every conversation should know, and whether things are remembered.
    `wipes_memories` turns memory off and forgets everything, for good."""
    body = await call.body(ProfileBody)
    store = call.house.services.store
    profile = Profile(
        call_me=" ".join(canonical(body.call_me).split()),
        about_me=canonical(body.about_me).strip(),
        style=canonical(body.style).strip(),
        is_on=body.is_on,
        uses_memory=body.uses_memory and not body.wipes_memories,
        suggests_memories=body.suggests_memories and not body.wipes_memories,
    )
    await store.profiles.set(call.user_id, profile)
    if body.wipes_memories:
        await store.memories.clear(call.user_id)
    return answer(profile)
