"""The caller's profile, which every conversation of theirs includes. The path is ChatGPT's."""

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import asdict
from starlette.responses import Response

from hitsend.canonical import canonicalize
from hitsend.server.call import Access, Call, endpoint, json_response

PATH = "/backend-api/user_system_messages"


class ProfileBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Fields that are left out stay unchanged."""

    call_me: Annotated[str, Meta(max_length=100)] | UnsetType = UNSET
    about_me: Annotated[str, Meta(max_length=1_500)] | UnsetType = UNSET
    style: Annotated[str, Meta(max_length=1_500)] | UnsetType = UNSET
    is_on: bool | UnsetType = UNSET
    uses_memory: bool | UnsetType = UNSET
    suggests_memories: bool | UnsetType = UNSET
    wipes_memories: bool = False
    """Turns memory off and deletes all memories."""


@endpoint("GET", PATH, Access.SESSION)
async def get_profile(call: Call) -> Response:
    """Get the profile and the memory settings."""
    return json_response(await call.app.services.store.profiles.get(call.user_id))


@endpoint("PUT", PATH, Access.SESSION)
async def set_profile(call: Call) -> Response:
    """Change the profile and the memory settings. Fields that are left out stay unchanged.
    `wipes_memories` turns memory off and deletes all memories, permanently."""
    body = await call.read_body(ProfileBody)
    store = call.app.services.store
    profile = await store.profiles.change(call.user_id, **_changes(body))
    if body.wipes_memories:
        await store.memories.clear(call.user_id)
    return json_response(profile)


def _changes(body: ProfileBody) -> dict[str, object]:
    changes = {name: value for name, value in asdict(body).items() if value is not UNSET}
    if changes.pop("wipes_memories"):
        changes |= {"uses_memory": False, "suggests_memories": False}
    return {name: _normalize(name, value) for name, value in changes.items()}


def _normalize(name: str, value: object) -> object:
    """The user's name becomes a single line."""
    if not isinstance(value, str):
        return value
    text = canonicalize(value).strip()
    return " ".join(text.split()) if name == "call_me" else text
