"""Folders of conversations. The list of conversations filters by folder."""

from typing import Annotated

import msgspec
from starlette.responses import Response

from hitsend.errors import Refused
from hitsend.server.call import NO_CONTENT, Access, Call, endpoint, json_response
from hitsend.wire.responses import Items


class FolderName(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: Annotated[str, msgspec.Meta(min_length=1, max_length=80)]


@endpoint("GET", "/backend-api/folders", Access.READ)
async def list_folders(call: Call) -> Response:
    """List the caller's folders by name."""
    return json_response(Items(await call.app.services.store.folders.list(call.user_id)))


@endpoint("POST", "/backend-api/folders", Access.CHAT_AND_READ)
async def create_folder(call: Call) -> Response:
    """Create a folder."""
    name = await _name(call)
    return json_response(await call.app.services.store.folders.create(call.user_id, name), 201)


@endpoint("PATCH", "/backend-api/folders/{folder_id}", Access.CHAT_AND_READ)
async def rename_folder(call: Call) -> Response:
    """Rename a folder."""
    name = await _name(call)
    folders = call.app.services.store.folders
    return json_response(await folders.rename(call.path_param("folder_id"), call.user_id, name))


@endpoint("DELETE", "/backend-api/folders/{folder_id}", Access.CHAT_AND_READ)
async def delete_folder(call: Call) -> Response:
    """Delete a folder. Its conversations are kept, without a folder."""
    await call.app.services.store.folders.delete(call.path_param("folder_id"), call.user_id)
    return Response(status_code=NO_CONTENT)


async def _name(call: Call) -> str:
    name = (await call.read_body(FolderName)).name
    if name.isspace():
        raise Refused("Give the folder a visible name.", param="name")
    return name
