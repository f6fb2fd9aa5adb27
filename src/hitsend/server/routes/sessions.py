"""The browsers a person is signed in with."""

from starlette.responses import Response

from hitsend.server.calls import NOTHING, Access, Call, answer, endpoint


@endpoint("GET", "/backend-api/sessions", Access.SESSION)
async def list_sessions(call: Call) -> Response:
    """Where one is signed in."""
    current = call.person.session
    assert current is not None
    sessions = await call.house.services.store.accounts.sessions(call.user_id)
    shown = [
        {
            "id": session.id,
            "created_at": session.created_at,
            "last_seen_at": session.last_seen_at,
            "user_agent": session.user_agent,
            "is_current": session.id == current.id,
        }
        for session in sessions
    ]
    return answer({"items": shown})


@endpoint("DELETE", "/backend-api/sessions/{session_id}", Access.SESSION)
async def revoke_session(call: Call) -> Response:
    """Sign a browser out."""
    await call.house.services.store.accounts.revoke_session(call.path("session_id"), call.user_id)
    return Response(status_code=NOTHING)
