"""What a person wants remembered: to see, search, change, forget and take along."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated

import msgspec
from msgspec import Meta
from msgspec.structs import asdict
from starlette.responses import Response

from hitsend.errors import Refused
from hitsend.memory.statements import statements
from hitsend.server.calls import NOTHING, Access, Call, answer, endpoint
from hitsend.server.remembering import exported_memories
from hitsend.steps.remember import is_secret
from hitsend.store import Memory
from hitsend.store.memories import MOST_CHARS, MOST_LISTED, Memories

PATH = "/backend-api/memories"
MOST_AT_ONCE = 100
MOST_QUERY_CHARS = 200


class MemoryView(Memory, frozen=True):
    is_shown: bool
    """To a model, where it matters. Not where it says nothing but what a model should do."""


class MemoryPageView(msgspec.Struct, frozen=True):
    items: tuple[MemoryView, ...]
    total: int


class MemoryText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    text: Annotated[str, Meta(min_length=1, max_length=MOST_CHARS)]


@endpoint("GET", PATH, Access.SESSION)
async def list_memories(call: Call) -> Response:
    """One's memories, the newest first: all, those with the words of `q`, or those in `ids`.
    Of those that are named, the ones that are gone are left out."""
    if (named := call.request.query_params.get("ids")) is not None:
        found = await _memories(call).some(call.user_id, _ids(named))
        return _page(found, len(found))
    page = await _memories(call).list(
        call.user_id,
        call.request.query_params.get("q", "")[:MOST_QUERY_CHARS],
        offset=call.number("offset", 0, most=MOST_LISTED),
        limit=call.number("limit", 50, most=MOST_AT_ONCE),
    )
    return _page(page.items, page.total)


@endpoint("POST", PATH, Access.SESSION)
async def add_memory(call: Call) -> Response:
    """Have something remembered. What is known already is not added again."""
    text = await _text(call)
    memory = await _memories(call).add(call.user_id, text, "written")
    return _learned(call, memory, 201)


@endpoint("GET", f"{PATH}/export", Access.SESSION)
async def export_memories(call: Call) -> Response:
    """One's memories and profile, as a file."""
    content = await exported_memories(call.house.services.store, call.user_id)
    headers = {
        "cache-control": "no-store",
        "content-disposition": 'attachment; filename="hitsend-memories.json"',
    }
    return answer(content, headers=headers)


@endpoint("PATCH", f"{PATH}/{{memory_id}}", Access.SESSION)
async def change_memory(call: Call) -> Response:
    """Change what a memory says."""
    text = await _text(call)
    memory = await _memories(call).change(call.path("memory_id"), call.user_id, text)
    return _learned(call, memory)


@endpoint("DELETE", f"{PATH}/{{memory_id}}", Access.SESSION)
async def remove_memory(call: Call) -> Response:
    """Forget something. It can be brought back for ten minutes; nothing uses it meanwhile."""
    await _memories(call).remove(call.path("memory_id"), call.user_id)
    return Response(status_code=NOTHING)


@endpoint("POST", f"{PATH}/{{memory_id}}/bring_back", Access.SESSION)
async def bring_back_memory(call: Call) -> Response:
    """Bring back what was just forgotten."""
    memory = await _memories(call).bring_back(call.path("memory_id"), call.user_id)
    return _learned(call, memory)


@endpoint("POST", f"{PATH}/{{memory_id}}/accept", Access.SESSION)
async def accept_memory(call: Call) -> Response:
    """Have a suggestion remembered. Until then nothing uses it."""
    memory = await _memories(call).accept(call.path("memory_id"), call.user_id)
    return _learned(call, memory)


@endpoint("DELETE", PATH, Access.SESSION)
async def clear_memories(call: Call) -> Response:
    """Forget everything, for good."""
    await _memories(call).clear(call.user_id)
    return Response(status_code=NOTHING)


def _memories(call: Call) -> Memories:
    return call.house.services.store.memories


async def _text(call: Call) -> str:
    text = (await call.body(MemoryText)).text
    if is_secret(text):
        raise Refused("This looks like a password or a key. Those are kept nowhere.", param="text")
    return text


def _view(memory: Memory) -> MemoryView:
    return MemoryView(**asdict(memory), is_shown=statements(memory.text) != "")


def _page(memories: Sequence[Memory], total: int) -> Response:
    return answer(MemoryPageView(tuple(map(_view, memories)), total))


def _learned(call: Call, memory: Memory, status: int = 200) -> Response:
    """From soon on it is found by what it means, too."""
    services = call.house.services
    learning = partial(services.recall.learn_memories, call.user_id)
    services.background.want(f"memories:{call.user_id}", learning)
    return answer(_view(memory), status)


def _ids(named: str) -> list[str]:
    ids = [one for one in named.split(",") if one]
    if len(ids) > MOST_AT_ONCE:
        raise Refused(f"Ask for at most {MOST_AT_ONCE} memories at once.", param="ids")
    return ids
