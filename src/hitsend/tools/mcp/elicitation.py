"""Questions of a server, for the person whose call runs."""

import asyncio

import mcp_types as types
import msgspec

from hitsend.tools.hosted_tool import Call, FormReply
from hitsend.tools.mcp.definitions import NO_ARGUMENTS, clean_line, clean_text

MAX_FORM_BYTES = 20_000

FormContent = dict[str, str | int | float | bool | list[str] | None]


class ActiveCall:
    """A call under way, and its time limit."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self.limit: asyncio.Timeout | None = None
        self.ended = asyncio.Event()

    async def ask(self, message: str, schema: str) -> FormReply | None:
        """Returns None if the call ends before the person answers."""
        loop = asyncio.get_running_loop()
        deadline = self.limit.when() if self.limit else None
        asked_at = loop.time()
        if self.limit is not None:
            self.limit.reschedule(None)
        asking = asyncio.ensure_future(self._call.ask(message, schema))
        ended = asyncio.ensure_future(self.ended.wait())
        try:
            await asyncio.wait([asking, ended], return_when="FIRST_COMPLETED")
            return asking.result() if asking.done() else None
        finally:
            for one in (asking, ended):
                one.cancel()
            await asyncio.wait([asking, ended])
            if self.limit is not None and deadline is not None and not self.ended.is_set():
                self.limit.reschedule(deadline + loop.time() - asked_at)


def read_question(server: str, params: types.ElicitRequestParams) -> tuple[str, str] | None:
    """Returns the message and the schema of its form, or None for what cannot be shown."""
    message = f"{server} asks: {clean_text(params.message, 2_000)}"
    if isinstance(params, types.ElicitRequestURLParams):
        url = clean_line(params.url, 2_000)
        if url != params.url or not url.startswith("https://"):
            return None
        return f"{message}\n\nOpen this address, and accept when you are done: {url}", NO_ARGUMENTS
    try:
        schema = msgspec.json.encode(params.requested_schema)
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError, TypeError):
        return None
    return (message, schema.decode()) if len(schema) <= MAX_FORM_BYTES else None


def build_answer(params: types.ElicitRequestParams, reply: FormReply | None) -> types.ElicitResult:
    if reply is None:
        return types.ElicitResult(action="cancel")
    is_form = isinstance(params, types.ElicitRequestFormParams)
    has_content = reply.action == "accept" and is_form
    content = msgspec.json.decode(reply.content, type=FormContent) if has_content else None
    return types.ElicitResult(action=reply.action, content=content)
