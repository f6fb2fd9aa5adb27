"""One call of a tool: asks the person where it has to, runs the tool, and keeps what it made.

A tool that writes waits until the person allows the call. A call that fails, hangs or breaks ends
with a sentence that the model reads, and the answer goes on. A call never runs twice by itself.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from uuid import uuid4

import msgspec
from msgspec import UNSET, UnsetType

from hitsend.canonical import canonicalize
from hitsend.context.attachments import read_attached_files
from hitsend.context.tool_results import shorten_output
from hitsend.crash import crash_here
from hitsend.errors import HitsendError, StoreDown
from hitsend.events import (
    AnyEvent,
    ApprovalDecided,
    ApprovalRequested,
    FormAnswered,
    FormShown,
    MemoriesChanged,
    ToolProgressed,
    ToolReturned,
    ToolStarted,
)
from hitsend.messages import (
    Approval,
    ApprovalReason,
    FileRef,
    Form,
    ToolCall,
    ToolResult,
    Verdict,
)
from hitsend.safety.policy import Screening
from hitsend.send import CallVerdict, Turn
from hitsend.services import Services
from hitsend.store import NewFile
from hitsend.tools import Call, CallResult, FormReply, HostedTool, ToolFile

log = logging.getLogger(__name__)

MAX_INLINE_CHARS = 1_000
"""A text of this length is made canonical faster than a thread is woken."""
MAX_REPORT_CHARS = 20_000
"""Of what one call reports while it runs."""
MAX_FILES, MAX_FILES_BYTES = 8, 8 * 2**20
"""Of one call."""


class EventQueue:
    """The events of calls that run side by side, in the order in which they happen."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[AnyEvent | None] = asyncio.Queue()
        self._waits: dict[int, asyncio.Future[None]] = {}

    def add(self, event: AnyEvent) -> None:
        self._queue.put_nowait(event)

    async def add_and_wait(self, event: AnyEvent) -> None:
        """Returns once whoever reads the events asks for the next one."""
        taken = asyncio.get_running_loop().create_future()
        self._waits[id(event)] = taken
        self.add(event)
        await taken

    def close(self) -> None:
        self._queue.put_nowait(None)

    async def __aiter__(self) -> AsyncGenerator[AnyEvent, None]:
        while (event := await self._queue.get()) is not None:
            yield event
            taken = self._waits.pop(id(event), None)
            if taken and not taken.done():
                taken.set_result(None)


class Outcome(msgspec.Struct, frozen=True):
    result: ToolResult | None
    """None if the call still waits for the person."""
    took_ms: float = 0.0
    """Without the time that the person took."""


class CallRun:
    def __init__(
        self,
        call: ToolCall,
        tool: HostedTool,
        turn: Turn,
        services: Services,
        events: EventQueue,
        *,
        parent_id: str | None,
        has_read_strangers: bool,
        written: str,
        time_left_s: float,
    ) -> None:
        self.message_id = str(uuid4())
        self._call = call
        self._tool = tool
        self._turn = turn
        self._user_id = turn.send.user_id
        self._services = services
        self._events = events
        self._emit = events.add
        self._parent_id = parent_id
        self._has_read_strangers = has_read_strangers
        self._written = written
        self._timeout_s = min(tool.timeout_s, max(time_left_s, 0))
        self._num_reported = 0
        self._approval: Approval | None = None
        self._form: Form | UnsetType = UNSET
        self._begun = ToolResult(
            call.call_id, "", tool=tool.name, server=tool.server or UNSET, progress=""
        )

    @property
    def started_event(self) -> ToolStarted:
        return ToolStarted(self.message_id, self._parent_id, self._begun)

    async def run(self) -> Outcome:
        if reason := await self._find_reason_to_ask():
            verdict = await self._ask_permission(reason)
            if verdict is None:
                return Outcome(None)
            if verdict.decision == "refused":
                return self._finish(
                    CallResult(_refusal_text(verdict, is_api=self._turn.is_api), failed=True)
                )
        began = time.perf_counter()
        result = await self._run_tool()
        took_ms = (time.perf_counter() - began) * 1000
        files, result = await self._keep_files(result)
        result = await self._clean(result)
        return self._finish(result, took_ms, files, await self._screen(result))

    async def _clean(self, result: CallResult) -> CallResult:
        """Bounds what is stored, and makes its text canonical like all text."""
        output = shorten_output(result.output, self._services.settings.tool_output_bytes)
        if len(output) > MAX_INLINE_CHARS:
            output = await asyncio.to_thread(canonicalize, output)
        else:
            output = canonicalize(output)
        return msgspec.structs.replace(result, output=output)

    async def _screen(self, result: CallResult) -> Screening | UnsetType:
        """Looks for orders to the model in what strangers wrote."""
        safety = self._services.safety
        if safety is None or not self._tool.is_untrusted or not result.output:
            return UNSET
        found = await self._services.store.safety_policies.find(self._user_id)
        screening = await safety.screen_document(result.output, found.policy)
        return screening if screening.reasons else UNSET

    async def _find_reason_to_ask(self) -> ApprovalReason | None:
        """What strangers wrote may have made the model call: then earlier permissions do not
        count."""
        if self._tool.effect != "writes":
            return None
        if self._has_read_strangers:
            return "untrusted"
        is_allowed = await self._services.store.tool_permissions.is_allowed(
            self._user_id, self._turn.conversation_id, self._tool.fingerprint
        )
        return None if is_allowed else "writes"

    async def _ask_permission(self, reason: ApprovalReason) -> CallVerdict | None:
        """Returns None if the person does not answer in time."""
        given = self._find_given_verdict()
        approvals = self._services.questions.approvals
        if given is None:
            if self._turn.is_api:
                return CallVerdict(self._call.call_id, "refused")
            async with approvals.ask(self._user_id, self._call.call_id) as reply:
                self._emit(ApprovalRequested(self._call.call_id, reason))
                try:
                    async with asyncio.timeout(self._services.settings.approval_wait_s):
                        given = await reply
                except TimeoutError:
                    self._emit(ApprovalDecided(self._call.call_id, "expired"))
                    return None
        else:
            self._emit(ApprovalRequested(self._call.call_id, reason))
        self._approval = Approval(reason, given.decision, given.word)
        # The call may have effects, so it runs only once its permission is stored: after a crash
        # it would be asked for, and run, again.
        await self._events.add_and_wait(
            ApprovalDecided(self._call.call_id, given.decision, given.word)
        )
        if reason == "writes":
            await self._remember(given.decision)
        return given

    def _find_given_verdict(self) -> CallVerdict | None:
        given = self._turn.send.verdicts or ()
        return next((one for one in given if one.call_id == self._call.call_id), None)

    async def _remember(self, decision: Verdict) -> None:
        if decision in ("conversation", "always"):
            conversation_id = self._turn.conversation_id if decision == "conversation" else None
            await self._services.store.tool_permissions.allow(
                self._user_id,
                self._tool.name,
                self._tool.server,
                self._tool.fingerprint,
                conversation_id,
            )

    async def _run_tool(self) -> CallResult:
        call = Call(
            call_id=self._call.call_id,
            user_id=self._user_id,
            conversation_id=self._turn.conversation_id,
            turn_id=self._turn.turn_id,
            key_id=self._turn.send.key_id,
            has_read_strangers=self._has_read_strangers,
            written=self._written,
            time_zone=self._turn.send.time_zone or "UTC",
            read_attached_files=self._read_attached_files,
            report=self._report,
            ask=self._ask,
        )
        try:
            crash_here("in-tool")
            async with asyncio.timeout(self._timeout_s) as self._time_limit:
                return await self._tool.run(call, self._call.arguments)
        except HitsendError as error:
            return CallResult(error.message, failed=True)
        except TimeoutError:
            return CallResult(f"{self._tool.name} took too long and was stopped.", failed=True)
        except Exception:
            # A tool that breaks, or a server's, ends its call and not the answer.
            log.exception("the tool %s failed", self._tool.name)
            return CallResult(f"{self._tool.name} broke. It has been logged.", failed=True)

    async def _read_attached_files(self) -> Mapping[str, str]:
        if self._turn.is_api:
            return {}
        send, store = self._turn.send, self._services.store
        place = self._user_id, self._turn.conversation_id
        return await read_attached_files(store, *place, send.parent_id, send.text)

    def _report(self, text: str) -> None:
        text = text[: MAX_REPORT_CHARS - self._num_reported]
        self._num_reported += len(text)
        if text:
            self._emit(ToolProgressed(self._call.call_id, text))

    async def _ask(self, message: str, schema: str) -> FormReply:
        """The time that the person takes is not the tool's."""
        form = Form(str(uuid4()), message, schema)
        loop = asyncio.get_running_loop()
        asked_at, wait_s = loop.time(), self._services.settings.approval_wait_s
        if (deadline := self._time_limit.when()) is not None:
            self._time_limit.reschedule(deadline + wait_s)
        async with self._services.questions.forms.ask(self._user_id, form.form_id) as reply:
            self._emit(FormShown(self._call.call_id, form))
            try:
                async with asyncio.timeout(wait_s):
                    given = await reply
            except TimeoutError:
                given = FormReply("cancel")
        self._emit(FormAnswered(self._call.call_id, form.form_id, given.action))
        self._form = msgspec.structs.replace(form, action=given.action)
        if deadline is not None:
            self._time_limit.reschedule(deadline + loop.time() - asked_at)
        return given

    async def _keep_files(self, result: CallResult) -> tuple[Sequence[FileRef], CallResult]:
        """An API call belongs to no conversation, and keeps none."""
        if not result.files:
            return (), result
        kept = [] if self._turn.is_api else _pick_files(result.files)
        refs: Sequence[FileRef] = ()
        if kept:
            new = [NewFile(file.name, file.media_type, file.content) for file in kept]
            try:
                refs = await self._services.store.tool_files.add(
                    self._user_id, self._turn.conversation_id, new
                )
            except StoreDown as error:
                log.warning("the files of %s were not kept: %s", self._tool.name, error.message)
        if num_lost := len(result.files) - len(refs):
            output = f"{result.output}\n[Files that were not kept: {num_lost}]"
            result = msgspec.structs.replace(result, output=output)
        return refs, result

    def _finish(
        self,
        result: CallResult,
        took_ms: float = 0.0,
        files: Sequence[FileRef] = (),
        safety: Screening | UnsetType = UNSET,
    ) -> Outcome:
        returned = msgspec.structs.replace(
            self._begun,
            output=result.output,
            failed=result.failed,
            progress=UNSET,
            approval=self._approval or UNSET,
            form=self._form,
            is_untrusted=self._tool.is_untrusted or UNSET,
            sources=result.sources or UNSET,
            files=tuple(files) or UNSET,
            safety=safety,
        )
        if result.changed_memories:
            self._emit(MemoriesChanged(result.changed_memories))
        self._emit(ToolReturned(returned))
        return Outcome(returned, took_ms)


def _pick_files(files: Sequence[ToolFile]) -> Sequence[ToolFile]:
    """Returns those that fit, in their order."""
    kept: list[ToolFile] = []
    num_bytes_left = MAX_FILES_BYTES
    for file in files:
        if len(kept) < MAX_FILES and len(file.content) <= num_bytes_left:
            kept.append(file)
            num_bytes_left -= len(file.content)
    return kept


def _refusal_text(verdict: CallVerdict, *, is_api: bool) -> str:
    if is_api:
        return "This tool needs a person's permission, and nobody can be asked in an API call."
    said = f" They said: {verdict.word}" if verdict.word else ""
    return f"The person does not allow this call.{said} Do not try it again in another way."
