"""Step 8, tools: runs the calls of our tools that the model made in a round of its answer, side by
side. Each call has a message, which shows what it does and then holds its result.

A tool that writes waits until the person allows the call. A call that fails, hangs or breaks ends
with a sentence that the model reads, and the answer goes on. A call never runs twice by itself.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Protocol
from uuid import uuid4

import msgspec
from msgspec import UNSET

from hitsend.canonical import canonicalize
from hitsend.context.tool_results import ResultRoom, shorten_output
from hitsend.context.window import Context
from hitsend.crash import crash_here
from hitsend.errors import HitsendError, Refused, StoreDown
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
    Message,
    ToolCall,
    ToolResult,
    Verdict,
)
from hitsend.send import CallVerdict, Turn
from hitsend.services import Services
from hitsend.store import NewFile
from hitsend.tools import Call, CallResult, FormReply, HostedTool, ToolFile

log = logging.getLogger(__name__)

MAX_CALLS = 8
"""Calls in one round. Further ones are refused: a small model repeats itself."""
LAST_ROUND = "You cannot call tools any more in this answer. Answer with what you have."
REPEATED = "You made this very call before, and its result is above. Do not repeat it."
"""Small models repeat a call instead of reading its result."""
MAX_INLINE_CHARS = 1_000
"""A text of this length is made canonical faster than a thread is woken."""
MAX_REPORT_CHARS = 20_000
"""Of what one call reports while it runs."""
MAX_FILES, MAX_FILES_BYTES = 8, 8 * 2**20
"""Of one call."""


class CallingAnswer(Protocol):
    """The answer whose calls are run."""

    last_id: str | None
    """The last message of the turn so far."""

    @property
    def calls(self) -> Sequence[ToolCall]: ...

    @property
    def tools(self) -> Mapping[str, HostedTool]: ...

    @property
    def said(self) -> list[Message]:
        """What the model has said and read before the next round."""


async def pick_tools(turn: Turn, services: Services) -> Sequence[HostedTool]:
    """Returns the tools of the features that the person turned on. Raises Refused."""
    wanted = turn.send.features or ()
    if not wanted:
        return ()
    tools = await services.toolbox.pick(turn.send.user_id, wanted)
    if unknown := set(wanted) - {tool.feature for tool in tools}:
        raise Refused(
            f"There is no feature {sorted(unknown)[0]!r} here. Turn it off, or leave it out of "
            "`system_hints`.",
            param="system_hints",
        )
    if not turn.can_call_tools:
        raise Refused(
            f"The model {turn.model} cannot use tools. Turn them off, or choose another model.",
            param="system_hints",
        )
    if taken := {tool.name for tool in turn.send.tools} & {tool.name for tool in tools}:
        raise Refused(
            f"There is a tool {min(taken)!r} among those of `system_hints`, too. Rename yours.",
            param="tools",
        )
    return tools


class ToolLoop:
    """The rounds of calls of one turn, within its budget."""

    def __init__(self, turn: Turn, context: Context, services: Services) -> None:
        self._turn = turn
        self._services = services
        self._max_rounds = services.settings.tool_rounds
        self._num_rounds = 0
        self._ms_left = services.settings.tool_time_s * 1000
        self._seen_calls: set[tuple[str, str]] = set()
        self._room = ResultRoom(turn.num_window_tokens)
        self._has_read_strangers = has_untrusted(context.messages)
        self.is_waiting = False
        """A call waits for the person, who did not answer in time: the turn ends."""

    @property
    def is_over(self) -> bool:
        """Whether a call waits for the person, or the model goes on calling after it was told that
        it cannot."""
        return self.is_waiting or self._num_rounds > self._max_rounds + 1

    async def run(self, answer: CallingAnswer) -> AsyncGenerator[AnyEvent, None]:
        """Runs the calls of the last round, and adds their results to what the model has read."""
        self._num_rounds += 1
        events = _EventQueue()
        runs = [self._begin(call, answer, events) for call in answer.calls]
        for run in runs:
            yield run.started_event
        running = asyncio.gather(*(run.run() for run in runs))
        running.add_done_callback(lambda _: events.close())
        try:
            async for event in events:
                yield event
            results = await running
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
        crash_here("tools-ended")
        self._add_results(answer, results)

    def _begin(self, call: ToolCall, answer: CallingAnswer, events: "_EventQueue") -> "_CallRun":
        run = _CallRun(
            call,
            answer.tools[call.tool],
            self._turn,
            self._services,
            events,
            parent_id=answer.last_id,
            refusal=self._find_refusal(call, answer),
            has_read_strangers=self._has_read_strangers,
            time_left_s=self._ms_left / 1000,
        )
        self._seen_calls.add((call.tool, call.arguments))
        answer.last_id = run.message_id
        return run

    def _find_refusal(self, call: ToolCall, answer: CallingAnswer) -> str:
        if (call.tool, call.arguments) in self._seen_calls:
            return REPEATED
        if self._num_rounds > self._max_rounds or self._ms_left <= 0:
            return LAST_ROUND
        if answer.calls.index(call) >= MAX_CALLS:
            return f"Only {MAX_CALLS} calls are possible at once."
        return ""

    def _add_results(self, answer: CallingAnswer, results: "Sequence[_Outcome]") -> None:
        self._ms_left -= max((one.took_ms for one in results), default=0)
        self.is_waiting = any(one.result is None for one in results)
        is_last = self._num_rounds >= self._max_rounds or self._ms_left <= 0
        for one in results:
            if one.result is None:
                continue
            shown = self._room.cut(one.result)
            if is_last:
                shown = msgspec.structs.replace(shown, output=f"{shown.output}\n{LAST_ROUND}")
            answer.said.append(Message("tool", (shown,), "tool"))
        self._has_read_strangers |= has_untrusted(answer.said)


class _EventQueue:
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


class _Outcome(msgspec.Struct, frozen=True):
    result: ToolResult | None
    """None if the call still waits for the person."""
    took_ms: float = 0.0
    """Without the time that the person took."""


class _CallRun:
    def __init__(
        self,
        call: ToolCall,
        tool: HostedTool,
        turn: Turn,
        services: Services,
        events: _EventQueue,
        *,
        parent_id: str | None,
        refusal: str,
        has_read_strangers: bool,
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
        self._refusal = refusal
        self._has_read_strangers = has_read_strangers
        self._timeout_s = min(tool.timeout_s, max(time_left_s, 0))
        self._num_reported = 0
        self._approval: Approval | None = None
        self._begun = ToolResult(
            call.call_id, "", tool=tool.name, server=tool.server or UNSET, progress=""
        )

    @property
    def started_event(self) -> ToolStarted:
        return ToolStarted(self.message_id, self._parent_id, self._begun)

    async def run(self) -> _Outcome:
        if refusal := self._refusal or self._check_arguments():
            return self._finish(CallResult(refusal, failed=True))
        if reason := await self._find_reason_to_ask():
            verdict = await self._ask_permission(reason)
            if verdict is None:
                return _Outcome(None)
            if verdict.decision == "refused":
                return self._finish(
                    CallResult(_refusal_text(verdict, is_api=self._turn.is_api), failed=True)
                )
        began = time.perf_counter()
        result = await self._run_tool()
        took_ms = (time.perf_counter() - began) * 1000
        files, result = await self._keep_files(result)
        return self._finish(await self._clean(result), took_ms, files)

    def _check_arguments(self) -> str:
        try:
            self._tool.check(self._call.arguments)
        except Refused as error:
            return error.message
        return ""

    async def _clean(self, result: CallResult) -> CallResult:
        """Bounds what is stored, and makes its text canonical like all text."""
        output = shorten_output(result.output, self._services.settings.tool_output_bytes)
        if len(output) > MAX_INLINE_CHARS:
            output = await asyncio.to_thread(canonicalize, output)
        else:
            output = canonicalize(output)
        return msgspec.structs.replace(result, output=output)

    async def _find_reason_to_ask(self) -> ApprovalReason | None:
        """What strangers wrote may have made the model call: then earlier permissions do not
        count."""
        if self._tool.effect != "writes":
            return None
        if self._has_read_strangers:
            return "untrusted"
        is_allowed = await self._services.store.permissions.is_allowed(
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
            await self._services.store.permissions.allow(
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
            message=self._turn.send.text,
            time_zone=self._turn.send.time_zone or "UTC",
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
        self, result: CallResult, took_ms: float = 0.0, files: Sequence[FileRef] = ()
    ) -> _Outcome:
        returned = msgspec.structs.replace(
            self._begun,
            output=result.output,
            failed=result.failed,
            progress=UNSET,
            approval=self._approval or UNSET,
            is_untrusted=self._tool.is_untrusted or UNSET,
            sources=result.sources or UNSET,
            files=tuple(files) or UNSET,
        )
        if result.changed_memories:
            self._emit(MemoriesChanged(result.changed_memories))
        self._emit(ToolReturned(returned))
        return _Outcome(returned, took_ms)


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


def has_untrusted(messages: Sequence[Message]) -> bool:
    """Whether strangers wrote some of it."""
    parts = (part for message in messages for part in message.parts)
    return any(isinstance(part, ToolResult) and part.is_untrusted is True for part in parts)
