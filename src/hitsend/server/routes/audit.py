"""The audit log, for administrators: the page's activity log, and its export."""

from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from typing import get_args

import msgspec
from starlette.responses import Response

from hitsend.errors import Refused
from hitsend.server.call import Access, Call, endpoint, json_response
from hitsend.server.turns.stream import RevocableStream
from hitsend.store import AuditFilter, Store
from hitsend.store.audit_events import AnyAuditEvent, DataExported
from hitsend.wire.responses import Items

PATH = "/backend-api/admin/audit"
MAX_ENTRIES = 100
EXPORTED_AT_ONCE = 500
KINDS = frozenset(kind.__name__ for kind in get_args(AnyAuditEvent))


@endpoint("GET", PATH, Access.ADMIN)
async def list_entries(call: Call) -> Response:
    """List who did what, newest first: by `kinds`, `user_id`, `since`, `until`, `before`."""
    limit = call.query_int("limit", 50, maximum=MAX_ENTRIES)
    return json_response(Items(await call.app.services.store.audit.list(limit, _filter(call))))


@endpoint("GET", f"{PATH}/export", Access.ADMIN)
async def export_entries(call: Call) -> Response:
    """Download entries as JSON lines, oldest first, by the same parameters."""
    store, where = call.app.services.store, _filter(call)
    await store.audit.record(DataExported("activity log"), call.actor)
    name = f"hitsend-activity-{datetime.now(UTC):%Y-%m-%d}.jsonl"
    headers = {
        "cache-control": "no-store",
        "content-disposition": f'attachment; filename="{name}"',
    }
    return RevocableStream(_lines(store, where), headers=headers, media_type="application/jsonl")


async def _lines(store: Store, where: AuditFilter) -> AsyncGenerator[bytes]:
    while entries := await store.audit.list(EXPORTED_AT_ONCE, where, is_oldest_first=True):
        yield b"".join(msgspec.json.encode(entry) + b"\n" for entry in entries)
        where = msgspec.structs.replace(where, after=entries[-1].position)


def _filter(call: Call) -> AuditFilter:
    query = call.request.query_params
    kinds = tuple(kind for kind in query.get("kinds", "").split(",") if kind)
    if unknown := set(kinds) - KINDS:
        raise Refused(f"There is no kind of entry called {unknown.pop()[:40]}.", param="kinds")
    return AuditFilter(
        kinds=kinds,
        user_id=query.get("user_id") or None,
        since=call.query_int("since", 0, maximum=2**53) or None,
        until=call.query_int("until", 0, maximum=2**53) or None,
        before=call.query_int("before", 0, maximum=2**53) or None,
    )
