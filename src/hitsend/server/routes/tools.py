"""Tools: which there are, the questions that running calls ask, and what a person allowed."""

from collections.abc import Sequence
from typing import Annotated
from urllib.parse import quote

import msgspec
from msgspec import Meta
from starlette.responses import Response

from hitsend.messages import FormAction, Verdict
from hitsend.send import CallVerdict
from hitsend.server.call import NO_CONTENT, Access, Call, endpoint, json_response
from hitsend.tools import Feature, FormReply, MissingFeature
from hitsend.wire.responses import Items

PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""Types that a browser only draws."""
DRAWINGS = frozenset({"image/svg+xml"})
"""They can hold scripts, which browsers do not run in an image: so a page can show one, and opening
it alone downloads it."""

Id = Annotated[str, Meta(min_length=1, max_length=100)]


class Features(msgspec.Struct, frozen=True):
    features: Sequence[Feature]
    missing: Sequence[MissingFeature] = ()
    """Features that could be set up, for administrators."""


class Approve(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    call_id: Id
    decision: Verdict
    word: Annotated[str, Meta(max_length=500)] = ""
    """What the model is told about a refusal."""


class FormBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    form_id: Id
    action: FormAction
    content: dict[str, str | float | bool | list[str]] = {}


@endpoint("GET", "/backend-api/tools", Access.READ)
async def list_features(call: Call) -> Response:
    """List the features that can be turned on for a message, with their tools."""
    features = await call.app.services.toolbox.features(call.user_id)
    is_admin = call.identity.user.role == "admin"
    return json_response(Features(features, call.app.missing_features if is_admin else ()))


@endpoint("POST", "/backend-api/f/conversation/approve", Access.CHAT)
async def approve_call(call: Call) -> Response:
    """Allow or refuse a call that a running answer waits for.

    409 when none does: then the action `continue` takes the decision."""
    body = await call.read_body(Approve)
    verdict = CallVerdict(body.call_id, body.decision, body.word)
    call.app.services.questions.approvals.answer(call.user_id, body.call_id, verdict)
    return Response(status_code=NO_CONTENT)


@endpoint("POST", "/backend-api/f/conversation/form", Access.CHAT)
async def answer_form(call: Call) -> Response:
    """Answer the form of a tool that runs. What is written goes to the tool and is not kept."""
    body = await call.read_body(FormBody)
    reply = FormReply(body.action, msgspec.json.encode(body.content).decode())
    call.app.services.questions.forms.answer(call.user_id, body.form_id, reply)
    return Response(status_code=NO_CONTENT)


@endpoint("GET", "/backend-api/files/{file_id}/content", Access.READ)
async def read_file(call: Call) -> Response:
    """Read a file that a tool made. Pictures can be shown; everything else is a download.

    An SVG is drawn in a page, and downloaded when it is opened."""
    file = await call.app.services.store.tool_files.get(call.path_param("file_id"), call.user_id)
    is_picture = file.media_type in PICTURES
    is_drawn = is_picture or file.media_type in DRAWINGS
    shown = "inline" if is_picture else "attachment"
    return Response(
        file.content,
        media_type=file.media_type if is_drawn else "application/octet-stream",
        headers={
            "content-disposition": f"{shown}; filename*=UTF-8''{quote(file.name, safe='')}",
            "content-security-policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'",
            "cache-control": "no-store",
        },
    )


@endpoint("GET", "/backend-api/tools/permissions", Access.SESSION)
async def list_permissions(call: Call) -> Response:
    """List the tools that the caller lets run without asking, newest first."""
    return json_response(Items(await call.app.services.store.tool_permissions.list(call.user_id)))


@endpoint("DELETE", "/backend-api/tools/permissions/{permission_id}", Access.SESSION)
async def revoke_permission(call: Call) -> Response:
    """Revoke a permission: the tool asks again."""
    permissions = call.app.services.store.tool_permissions
    await permissions.revoke(call.path_param("permission_id"), call.user_id)
    return Response(status_code=NO_CONTENT)
