"""The caller's memories: list, search, add, change, remove, restore, export."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated

import msgspec
from msgspec import Meta
from msgspec.structs import asdict
from starlette.responses import Response

from hitsend.errors import Refused
from hitsend.memory.imperatives import remove_imperatives
from hitsend.server.call import NO_CONTENT, Access, Call, endpoint, json_response
from hitsend.server.data.export import export_memories
from hitsend.steps.remember import is_secret
from hitsend.store import Memory
from hitsend.store.audit_events import DataExported, MemoriesDeleted
from hitsend.store.memories import MAX_CHARS, MAX_LISTED, Memories

PATH = "/backend-api/memories"
MAX_PAGE_SIZE = 100
MAX_QUERY_CHARS = 200


class MemoryView(Memory, frozen=True):
    is_shown: bool
    """False if the memory holds nothing but orders to a model: models do not see such ones."""


class MemoryPageView(msgspec.Struct, frozen=True):
    items: tuple[MemoryView, ...]
    total: int


class MemoryText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    text: Annotated[str, Meta(min_length=1, max_length=MAX_CHARS)]


@endpoint("GET", PATH, Access.SESSION)
async def list_memories(call: Call) -> Response:
    """List memories, newest first: all, those that match `q`, or those in `ids`.
    Ids that no longer exist are left out."""
    if (ids := call.request.query_params.get("ids")) is not None:
        found = await _memories(call).get_many(call.user_id, _parse_ids(ids))
        return _page(found, len(found))
    page = await _memories(call).list(
        call.user_id,
        call.request.query_params.get("q", "")[:MAX_QUERY_CHARS],
        offset=call.query_int("offset", 0, maximum=MAX_LISTED),
        limit=call.query_int("limit", 50, maximum=MAX_PAGE_SIZE),
    )
    return _page(page.items, page.total)


@endpoint("POST", PATH, Access.SESSION)
async def add_memory(call: Call) -> Response:
    """Add a memory. A duplicate is not added again."""
    text = await _text(call)
    memory = await _memories(call).add(call.user_id, text, "written")
    return _index_and_show(call, memory, 201)


@endpoint("GET", f"{PATH}/export", Access.SESSION)
async def download_memories(call: Call) -> Response:
    """Download the caller's memories and profile as a file."""
    await call.app.services.store.audit.record(DataExported("memories"), call.actor)
    content = await export_memories(call.app.services.store, call.user_id)
    headers = {"content-disposition": 'attachment; filename="hitsend-memories.json"'}
    return json_response(content, headers=headers)


@endpoint("PATCH", f"{PATH}/{{memory_id}}", Access.SESSION)
async def change_memory(call: Call) -> Response:
    """Change the text of a memory."""
    text = await _text(call)
    memory = await _memories(call).change(call.path_param("memory_id"), call.user_id, text)
    return _index_and_show(call, memory)


@endpoint("DELETE", f"{PATH}/{{memory_id}}", Access.SESSION)
async def remove_memory(call: Call) -> Response:
    """Remove a memory. It is unused at once, and can be restored for ten minutes."""
    await _memories(call).remove(call.path_param("memory_id"), call.user_id)
    return Response(status_code=NO_CONTENT)


@endpoint("POST", f"{PATH}/{{memory_id}}/restore", Access.SESSION)
async def restore_memory(call: Call) -> Response:
    """Restore a memory that was just removed."""
    memory = await _memories(call).restore(call.path_param("memory_id"), call.user_id)
    return _index_and_show(call, memory)


@endpoint("POST", f"{PATH}/{{memory_id}}/accept", Access.SESSION)
async def accept_memory(call: Call) -> Response:
    """Accept a suggested memory. Until then it is unused."""
    memory = await _memories(call).accept(call.path_param("memory_id"), call.user_id)
    return _index_and_show(call, memory)


@endpoint("DELETE", PATH, Access.SESSION)
async def clear_memories(call: Call) -> Response:
    """Delete all memories, permanently."""
    await _memories(call).clear(call.user_id)
    await call.app.services.store.audit.record(MemoriesDeleted(), call.actor)
    return Response(status_code=NO_CONTENT)


def _memories(call: Call) -> Memories:
    return call.app.services.store.memories


async def _text(call: Call) -> str:
    text = (await call.read_body(MemoryText)).text
    if is_secret(text):
        raise Refused(
            "This looks like a password or a key. hitsend does not store those.", param="text"
        )
    return text


def _view(memory: Memory) -> MemoryView:
    return MemoryView(**asdict(memory), is_shown=remove_imperatives(memory.text) != "")


def _page(memories: Sequence[Memory], total: int) -> Response:
    return json_response(MemoryPageView(tuple(map(_view, memories)), total))


def _index_and_show(call: Call, memory: Memory, status: int = 200) -> Response:
    """Indexes the memory for semantic search in the background."""
    services = call.app.services
    index = partial(services.recall.embed_memories, call.user_id)
    services.background.schedule(f"memories:{call.user_id}", index)
    return json_response(_view(memory), status)


def _parse_ids(param: str) -> list[str]:
    ids = [memory_id for memory_id in param.split(",") if memory_id]
    if len(ids) > MAX_PAGE_SIZE:
        raise Refused(f"Ask for at most {MAX_PAGE_SIZE} memories at once.", param="ids")
    return ids
