"""What a person tells every conversation of theirs, by the name ChatGPT gives it."""

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import asdict
from starlette.responses import Response

from hitsend.canonical import canonical
from hitsend.server.calls import Access, Call, answer, endpoint

PATH = "/backend-api/user_system_messages"


class ProfileBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is left out stays as it is."""

    call_me: Annotated[str, Meta(max_length=100)] | UnsetType = UNSET
    about_me: Annotated[str, Meta(max_length=1_500)] | UnsetType = UNSET
    style: Annotated[str, Meta(max_length=1_500)] | UnsetType = UNSET
    is_on: bool | UnsetType = UNSET
    uses_memory: bool | UnsetType = UNSET
    suggests_memories: bool | UnsetType = UNSET
    wipes_memories: bool = False
    """Turn memory off, and forget everything."""


@endpoint("GET", PATH, Access.SESSION)
async def get_profile(call: Call) -> Response:
    """What one tells every conversation, and whether things are remembered."""
    return answer(await call.house.services.store.profiles.get(call.user_id))


@endpoint("PUT", PATH, Access.SESSION)
async def set_profile(call: Call) -> Response:
    """Say what every conversation should know, and whether things are remembered.
    What is left out stays as it is. `wipes_memories` turns memory off and forgets everything, for
    good."""
    body = await call.body(ProfileBody)
    store = call.house.services.store
    profile = await store.profiles.change(call.user_id, **_said(body))
    if body.wipes_memories:
        await store.memories.clear(call.user_id)
    return answer(profile)


def _said(body: ProfileBody) -> dict[str, object]:
    said = {name: value for name, value in asdict(body).items() if value is not UNSET}
    if said.pop("wipes_memories"):
        said |= {"uses_memory": False, "suggests_memories": False}
    return {name: _clean(name, value) for name, value in said.items()}


def _clean(name: str, value: object) -> object:
    """A name is one line."""
    if not isinstance(value, str):
        return value
    text = canonical(value).strip()
    return " ".join(text.split()) if name == "call_me" else text
