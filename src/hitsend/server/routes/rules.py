"""What holds for everyone here, as the settings say."""

from starlette.responses import Response

from hitsend.server.calls import Access, Call, answer, endpoint


@endpoint("GET", "/backend-api/rules", Access.PERSON)
async def rules(call: Call) -> Response:
    """The instructions every conversation starts with, and the limits."""
    settings = call.house.services.settings
    return answer(
        {
            "instructions": settings.instructions,
            "max_message_chars": settings.max_message_chars,
            "max_answer_tokens": settings.max_answer_tokens,
            "num_window_tokens": settings.num_window_tokens,
            "max_import_bytes": settings.max_import_bytes,
            "session_days": settings.session_days,
            "allow_sharing": settings.allow_sharing,
        }
    )
