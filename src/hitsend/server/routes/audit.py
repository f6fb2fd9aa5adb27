"""The audit log, for administrators: the page's activity log."""

from starlette.responses import Response

from hitsend.server.call import Access, Call, endpoint, json_response
from hitsend.store import AuditFilter
from hitsend.wire.responses import Items

PATH = "/backend-api/admin/audit"
MAX_ENTRIES = 100


@endpoint("GET", PATH, Access.ADMIN)
async def list_entries(call: Call) -> Response:
    """List who did what, newest first."""
    limit = call.query_int("limit", 50, maximum=MAX_ENTRIES)
    before = call.query_int("before", 0, maximum=2**53)
    entries = await call.app.services.store.audit.list(limit, AuditFilter(before=before or None))
    return json_response(Items(entries))
