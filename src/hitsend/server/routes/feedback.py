"""What a person thinks of an answer."""

from starlette.responses import Response

from hitsend.messages import Feedback
from hitsend.server.calls import NOTHING, Access, Call, endpoint

PATH = "/backend-api/conversation/{conversation_id}/messages/{message_id}/feedback"


@endpoint("PUT", PATH, Access.PERSON)
async def give_feedback(call: Call) -> Response:
    """Rate an answer. A new rating replaces the one before."""
    given = await call.body(Feedback)
    await call.house.services.store.feedback.give(*_answer(call), given)
    return Response(status_code=NOTHING)


@endpoint("DELETE", PATH, Access.PERSON)
async def take_back_feedback(call: Call) -> Response:
    """Take a rating back."""
    await call.house.services.store.feedback.take_back(*_answer(call))
    return Response(status_code=NOTHING)


def _answer(call: Call) -> tuple[str, str, str]:
    return call.path("conversation_id"), call.path("message_id"), call.user_id
