"""Questions of running calls to the person: whether a call may run, and forms that tools show.

A question waits in memory while its turn runs. Whether a call may run can also be decided later:
then the turn has ended, and the decision begins another one.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Generic, NamedTuple, TypeVar

from hitsend.errors import Conflict
from hitsend.send import CallVerdict
from hitsend.tools.hosted_tool import FormReply

Reply = TypeVar("Reply")


class _Place(NamedTuple):
    user_id: str
    question_id: str
    """The id of the call, or of the form."""


class _Waiting(Generic[Reply]):
    def __init__(self, problem: str) -> None:
        self._problem = problem
        self._replies: dict[_Place, asyncio.Future[Reply]] = {}

    @asynccontextmanager
    async def ask(self, user_id: str, question_id: str) -> AsyncGenerator[asyncio.Future[Reply]]:
        """The reply can come as soon as this is entered."""
        place = _Place(user_id, question_id)
        reply = asyncio.get_running_loop().create_future()
        self._replies[place] = reply
        try:
            yield reply
        finally:
            self._replies.pop(place, None)

    def answer(self, user_id: str, question_id: str, reply: Reply) -> None:
        """Raises Conflict if nothing waits for it, or it was answered."""
        waiting = self._replies.get(_Place(user_id, question_id))
        if waiting is None or waiting.done():
            raise Conflict(self._problem, param="call_id")
        waiting.set_result(reply)


class Questions:
    def __init__(self) -> None:
        self.approvals = _Waiting[CallVerdict]("No answer waits for this call any more.")
        self.forms = _Waiting[FormReply]("Nothing waits for this form any more.")
