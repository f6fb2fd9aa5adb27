"""Export and import of the caller's data as a file."""

from starlette.responses import Response

from hitsend.errors import Refused
from hitsend.server.call import Access, Call, endpoint, json_response
from hitsend.server.data.export import ExportStream
from hitsend.server.data.import_file import import_file
from hitsend.server.limits.send_limits import find_storage_left, load_limits
from hitsend.store.audit_events import DataExported, DataImported
from hitsend.wire.responses import ImportReport

MEDIA_TYPES = ("application/json", "application/zip", "application/x-zip-compressed")
"""The types that browsers send for these files."""


@endpoint("GET", "/backend-api/export", Access.SESSION)
async def export_data(call: Call) -> Response:
    """Download the caller's conversations and other data as a zip."""
    await call.app.services.store.audit.record(DataExported("account"), call.actor)
    return ExportStream(call.app, call.identity.user)


@endpoint("POST", "/backend-api/import", Access.SESSION)
async def import_data(call: Call) -> Response:
    """Import an export of ChatGPT, Open WebUI or hitsend: all of it or nothing.
    `leave_out_broken=true` imports what can be read."""
    media_type = call.request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type not in MEDIA_TYPES:
        raise Refused("The body has to be the exported file: application/zip or application/json.")
    most_mb = (await load_limits(call)).storage_mb
    report, imported = await import_file(
        call.app,
        call.user_id,
        call.request,
        most_bytes=None if most_mb is None else await find_storage_left(call, most_mb),
        leaves_out_broken=call.request.query_params.get("leave_out_broken") == "true",
    )
    event = DataImported(imported.num_conversations)
    await call.app.services.store.audit.record(event, call.actor)
    return json_response(
        ImportReport(
            source=report.source,
            num_conversations=imported.num_conversations,
            num_messages=imported.num_messages,
            num_already_here=imported.num_already_here,
            left_out=report.left_out,
            num_parts_left_out=report.num_parts_left_out,
        )
    )
