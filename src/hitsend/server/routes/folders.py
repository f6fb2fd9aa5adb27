"""Folders for conversations. What is in one is asked of the list of conversations."""

from typing import Annotated

import msgspec
from starlette.responses import Response

from hitsend.errors import Refused
from hitsend.server.calls import NOTHING, Access, Call, answer, endpoint


class FolderName(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: Annotated[str, msgspec.Meta(min_length=1, max_length=80)]


@endpoint("GET", "/backend-api/folders", Access.PERSON)
async def list_folders(call: Call) -> Response:
    """One's folders, by name."""
    return answer({"items": await call.house.services.store.folders.list(call.user_id)})


@endpoint("POST", "/backend-api/folders", Access.PERSON)
async def create_folder(call: Call) -> Response:
    """Make a folder."""
    name = await _name(call)
    return answer(await call.house.services.store.folders.create(call.user_id, name), 201)


@endpoint("PATCH", "/backend-api/folders/{folder_id}", Access.PERSON)
async def rename_folder(call: Call) -> Response:
    """Rename a folder."""
    name = await _name(call)
    folders = call.house.services.store.folders
    return answer(await folders.rename(call.path("folder_id"), call.user_id, name))


@endpoint("DELETE", "/backend-api/folders/{folder_id}", Access.PERSON)
async def delete_folder(call: Call) -> Response:
    """Delete a folder. Its conversations stay, in no folder."""
    await call.house.services.store.folders.delete(call.path("folder_id"), call.user_id)
    return Response(status_code=NOTHING)


async def _name(call: Call) -> str:
    name = (await call.body(FolderName)).name
    if name.isspace():
        raise Refused("Give the folder a name that can be seen.", param="name")
    return name
