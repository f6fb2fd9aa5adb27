"""What is a person's own, taken out and brought in as a file."""

from starlette.responses import Response

from hitsend.errors import Refused
from hitsend.server.calls import Access, Call, answer, endpoint
from hitsend.server.exporting import ExportStream
from hitsend.server.importing import imported

KINDS = ("application/json", "application/zip", "application/x-zip-compressed")
"""What browsers call the files people choose."""


@endpoint("GET", "/backend-api/export", Access.SESSION)
async def export(call: Call) -> Response:
    """One's conversations and what belongs to them, as a zip."""
    return ExportStream(call.house, call.person.user)


@endpoint("POST", "/backend-api/import", Access.SESSION)
async def take_in(call: Call) -> Response:
    """Bring in the export of ChatGPT, Open WebUI or hitsend: all of it or nothing.
    `leave_out_broken=true` brings in what can be read."""
    kind = call.request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in KINDS:
        raise Refused("The body has to be the exported file: application/zip or application/json.")
    report, done = await imported(
        call.house,
        call.user_id,
        call.request,
        leaves_out_broken=call.request.query_params.get("leave_out_broken") == "true",
    )
    return answer(
        {
            "source": report.source,
            "num_conversations": done.num_conversations,
            "num_messages": done.num_messages,
            "num_already_here": done.num_already_here,
            "left_out": report.left_out,
            "num_parts_left_out": report.num_parts_left_out,
        }
    )
