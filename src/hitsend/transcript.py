"""Folds the events of a turn into its messages.

Streaming, storing, resuming and replaying all use this fold, so they cannot differ. The
browser has its own (web/src/turn/apply.ts); tests/turns/ holds both to the same result.
"""

from collections.abc import Iterable
from functools import reduce
from typing import Literal, TypeAlias, assert_never

import msgspec
from msgspec import UNSET, UnsetType

from hitsend.events import (
    AnswerDelayed,
    AnswerFinished,
    AnswerGuarded,
    AnswerStarted,
    AnyEvent,
    ApprovalDecided,
    ApprovalRequested,
    ContextBuilt,
    Ending,
    FormAnswered,
    FormShown,
    MemoriesChanged,
    MessageAdded,
    MessageScreened,
    PromptEncoded,
    PromptRead,
    PromptWarmed,
    TextArrived,
    TitleChosen,
    ToolArgumentsArrived,
    ToolCallArrived,
    ToolCallDropped,
    ToolCallStarted,
    ToolProgressed,
    ToolReturned,
    ToolStarted,
    TurnAccepted,
    TurnFailed,
    TurnFinished,
    TurnStarted,
    merge_texts,
)
from hitsend.messages import (
    Approval,
    Form,
    Part,
    Role,
    Seen,
    Text,
    Thought,
    ToolCall,
    ToolResult,
    Usage,
    add_usage,
)
from hitsend.safety.policy import Screening

Status: TypeAlias = Literal["in_progress", "finished", "partial", "failed"]

PARTIAL: frozenset[Ending] = frozenset({"stopped", "interrupted", "blocked"})


class FoldedMessage(msgspec.Struct, frozen=True):
    """One message of the turn, with its place in the conversation's tree."""

    message_id: str
    parent_id: str | None
    role: Role
    parts: tuple[Part, ...]
    status: Status
    ending: Ending | None = None
    usage: Usage | None = None
    """Also set for an answer cut short: the tokens counted so far."""
    problem: str | None = None
    """Why it failed, in the words shown to the user."""
    seen: Seen | None = None
    """For an answer: the ids of memories, summaries and other context the model saw."""
    safety: Screening | None = None
    """What the safety checks made of it, if there is something to say."""

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def is_withheld(self) -> bool:
        """Whether no model may read it: it was blocked, or explains that its question was."""
        is_blocked = self.safety is not None and self.safety.outcome == "block"
        is_explanation = self.ending == "blocked" and self.safety is None
        return is_blocked or is_explanation


class Transcript(msgspec.Struct, frozen=True):
    messages: tuple[FoldedMessage, ...] = ()
    title: str | None = None
    ending: Ending | None = None
    """None while the turn runs."""
    failure: TurnFailed | None = None
    seen: Seen | None = None
    screening: Screening | None = None
    """Of the person's message."""


EMPTY = Transcript()


class OutputCounts:
    """Tokens and times of texts, without the texts."""

    def __init__(self) -> None:
        self.num_tokens = 0
        self.num_searched_tokens: int | UnsetType = UNSET
        self.first_word_ms: float | UnsetType = UNSET

    def add(self, arrived: TextArrived) -> "OutputCounts":
        self.num_tokens += len(arrived.tokens)
        if arrived.num_searched_tokens is not UNSET:
            self.num_searched_tokens = (self.num_searched_tokens or 0) + arrived.num_searched_tokens
        if arrived.first_word_ms is not UNSET:
            self.first_word_ms = arrived.first_word_ms
        return self


def fold(events: Iterable[AnyEvent]) -> Transcript:
    # Merge first: appending token by token would copy a long answer once per token.
    return reduce(apply, merge_texts(events), EMPTY)


def apply(transcript: Transcript, event: AnyEvent) -> Transcript:
    match event:
        case MessageAdded(message_id=message_id, parent_id=parent_id, message=message):
            added = FoldedMessage(
                message_id,
                parent_id,
                message.role,
                message.parts,
                "finished",
                safety=worth_showing(transcript.screening),
            )
            return _replace(transcript, messages=(*transcript.messages, added))
        case AnswerStarted(message_id=message_id, parent_id=parent_id):
            seen = _seen_of_next_answer(transcript)
            said = FoldedMessage(message_id, parent_id, "assistant", (), "in_progress", seen=seen)
            return _replace(transcript, messages=(*transcript.messages, said))
        case MessageScreened(screening=screening):
            return _replace(transcript, screening=screening)
        case AnswerGuarded():
            return _guard_last(transcript, event)
        case ContextBuilt(seen=seen):
            return _replace(transcript, seen=seen)
        case MemoriesChanged():
            return _add_memory_changes(transcript, event)
        case PromptRead():
            return _replace_last(transcript, usage=_prompt_usage(event))
        case TextArrived(text=text):
            last = transcript.messages[-1]
            usage = _add_output(last.usage or Usage(), OutputCounts().add(event))
            parts = _append_text(_add_thought(last.parts, event), text)
            return _replace_last(transcript, parts=parts, usage=usage)
        case ToolCallStarted(call_id=call_id, tool=tool, is_hosted=is_hosted):
            call = ToolCall(call_id, tool, "", is_partial=True, is_hosted=is_hosted)
            return _replace_last(transcript, parts=(*transcript.messages[-1].parts, call))
        case ToolArgumentsArrived(text=text):
            parts = _append_arguments(transcript.messages[-1].parts, text)
            return _replace_last(transcript, parts=parts)
        case ToolCallArrived(call=call):
            parts = _put_call(transcript.messages[-1].parts, call)
            return _replace_last(transcript, parts=parts)
        case ToolStarted(message_id=message_id, parent_id=parent_id, result=result):
            begun = FoldedMessage(message_id, parent_id, "tool", (result,), "in_progress")
            return _replace(transcript, messages=(*transcript.messages, begun))
        case ToolProgressed(call_id=call_id, text=text):
            progress = (_find_result(transcript, call_id).progress or "") + text
            return _replace_result(transcript, call_id, progress=progress)
        case ApprovalRequested(call_id=call_id, reason=reason):
            return _replace_result(transcript, call_id, approval=Approval(reason))
        case ApprovalDecided(call_id=call_id, decision=decision, word=word):
            asked = _find_result(transcript, call_id).approval or Approval("writes")
            approval = Approval(asked.reason, decision, word)
            return _replace_result(transcript, call_id, approval=approval)
        case FormShown(call_id=call_id, form=form):
            return _replace_result(transcript, call_id, form=form)
        case FormAnswered(call_id=call_id, action=action):
            form = _find_result(transcript, call_id).form or Form("", "", "{}")
            answered = msgspec.structs.replace(form, action=action)
            return _replace_result(transcript, call_id, form=answered)
        case ToolReturned(result=result):
            return _add_result(transcript, result)
        case AnswerFinished(ending=ending, usage=usage):
            return _end_last(transcript, ending, usage)
        case TitleChosen(title=title):
            return _replace(transcript, title=title)
        case TurnFinished(ending=ending):
            return _replace(_end_open(transcript, ending), ending=ending)
        case TurnFailed():
            failed = _end_open(transcript, "failed", problem=event.message)
            return _replace(failed, ending="failed", failure=event)
        case TurnStarted() | PromptEncoded() | TurnAccepted() | PromptWarmed() | AnswerDelayed():
            return transcript
        case ToolCallDropped():
            return transcript  # a call that was started stays partial
        case _:
            assert_never(event)


def _replace(transcript: Transcript, **changes: object) -> Transcript:
    return msgspec.structs.replace(transcript, **changes)


def _replace_last(transcript: Transcript, **changes: object) -> Transcript:
    return _replace_at(transcript, len(transcript.messages) - 1, **changes)


def _replace_at(transcript: Transcript, at: int, **changes: object) -> Transcript:
    before, after = transcript.messages[:at], transcript.messages[at + 1 :]
    changed = msgspec.structs.replace(transcript.messages[at], **changes)
    return _replace(transcript, messages=(*before, changed, *after))


def worth_showing(screening: Screening | None) -> Screening | None:
    return screening if screening and screening.is_worth_showing else None


def _guard_last(transcript: Transcript, event: AnswerGuarded) -> Transcript:
    last = transcript.messages[-1]
    end = event.text_end
    parts = last.parts if end is UNSET else _cut_text(last.parts, end.num_chars)
    return _replace_last(transcript, parts=parts, safety=event.screening)


def _cut_text(parts: tuple[Part, ...], num_chars: int) -> tuple[Part, ...]:
    """Keeps so many characters of the texts, and drops what follows them."""
    kept: list[Part] = []
    for part in parts:
        if isinstance(part, Text):
            if len(part.text) >= num_chars:
                return (*kept, Text(part.text[:num_chars])) if num_chars else tuple(kept)
            num_chars -= len(part.text)
        kept.append(part)
    return tuple(kept)


def _add_memory_changes(transcript: Transcript, event: MemoriesChanged) -> Transcript:
    """Changes belong to the newest answer, whether it has ended or is yet to start."""
    changed = _replace(transcript, seen=_with_changes(transcript.seen, event))
    if (at := last_answer_index(transcript)) is None:
        return changed
    return _replace_at(changed, at, seen=_with_changes(transcript.messages[at].seen, event))


def _with_changes(seen: Seen | None, event: MemoriesChanged) -> Seen:
    seen = seen or Seen()
    return msgspec.structs.replace(seen, changed=seen.changed + event.changed)


def last_answer_index(transcript: Transcript) -> int | None:
    """Returns the place of the newest answer among the messages."""
    for at in range(len(transcript.messages) - 1, -1, -1):
        if transcript.messages[at].role == "assistant":
            return at
    return None


def _seen_of_next_answer(transcript: Transcript) -> Seen | None:
    """An answer after tools has seen the same, but changed no memories yet."""
    if transcript.seen is None or last_answer_index(transcript) is None:
        return transcript.seen
    return msgspec.structs.replace(transcript.seen, changed=())


def find_result_index(transcript: Transcript, call_id: str) -> int | None:
    """Returns the place of the message with the result of a call."""
    for at in range(len(transcript.messages) - 1, -1, -1):
        match transcript.messages[at].parts:
            case (ToolResult(call_id=of_call),) if of_call == call_id:
                return at
    return None


def _find_result(transcript: Transcript, call_id: str) -> ToolResult:
    at = find_result_index(transcript, call_id)
    assert at is not None
    (result,) = transcript.messages[at].parts
    assert isinstance(result, ToolResult)
    return result


def _replace_result(transcript: Transcript, call_id: str, **changes: object) -> Transcript:
    at = find_result_index(transcript, call_id)
    assert at is not None
    result = msgspec.structs.replace(_find_result(transcript, call_id), **changes)
    return _replace_at(transcript, at, parts=(result,))


def _add_result(transcript: Transcript, result: ToolResult) -> Transcript:
    """Fills the message of the call. In older logs a result is a part of the answer."""
    at = find_result_index(transcript, result.call_id)
    if at is None:
        return _replace_last(transcript, parts=(*transcript.messages[-1].parts, result))
    return _replace_at(transcript, at, parts=(result,), status="finished")


def _prompt_usage(read: PromptRead) -> Usage:
    return Usage(
        num_input_tokens=read.num_cached_tokens + read.num_evaluated_tokens,
        num_cached_tokens=read.num_cached_tokens,
        queued_ms=read.queued_ms,
        prefill_ms=read.prefill_ms,
    )


def add_counts(transcript: Transcript, counts: OutputCounts) -> Transcript:
    """Folds texts that were only counted."""
    usage = transcript.messages[-1].usage or Usage()
    return _replace_last(transcript, usage=_add_output(usage, counts))


def _add_output(usage: Usage, counts: OutputCounts) -> Usage:
    total = usage.num_output_tokens + counts.num_tokens
    counted = msgspec.structs.replace(usage, num_output_tokens=total)
    if counts.num_searched_tokens is not UNSET:
        searched = (counted.num_searched_tokens or 0) + counts.num_searched_tokens
        counted = msgspec.structs.replace(counted, num_searched_tokens=searched)
    return _set_first_word(counted, counts.first_word_ms)


def _set_first_word(usage: Usage, first_word_ms: float | UnsetType) -> Usage:
    if first_word_ms is UNSET:
        return usage
    return msgspec.structs.replace(usage, first_word_ms=first_word_ms)


def _add_thought(parts: tuple[Part, ...], arrived: TextArrived) -> tuple[Part, ...]:
    """A message has one thought, which comes first."""
    if not arrived.reasoning and arrived.thought_ms is UNSET:
        return parts
    before, rest = Thought(""), parts
    if parts and isinstance(parts[0], Thought):
        before, rest = parts[0], parts[1:]
    took_ms = before.took_ms if arrived.thought_ms is UNSET else arrived.thought_ms
    return (Thought(before.text + (arrived.reasoning or ""), took_ms), *rest)


def _append_text(parts: tuple[Part, ...], text: str) -> tuple[Part, ...]:
    """Extends the last part if it is text."""
    if parts and isinstance(parts[-1], Text):
        return (*parts[:-1], Text(parts[-1].text + text))
    return (*parts, Text(text)) if text else parts


def _append_arguments(parts: tuple[Part, ...], text: str) -> tuple[Part, ...]:
    """Extends the call at the end, which is partial."""
    *before, call = parts
    assert isinstance(call, ToolCall)
    return (*before, msgspec.structs.replace(call, arguments=call.arguments + text))


def _put_call(parts: tuple[Part, ...], call: ToolCall) -> tuple[Part, ...]:
    """Replaces the call that was started. Older logs have only whole calls."""
    last = parts[-1] if parts else None
    is_started = isinstance(last, ToolCall) and last.call_id == call.call_id
    return (*(parts[:-1] if is_started else parts), call)


def _end_last(
    transcript: Transcript,
    ending: Ending,
    usage: Usage | None = None,
    problem: str | None = None,
) -> Transcript:
    """Ends the last message, unless it has ended already."""
    if not transcript.messages or transcript.messages[-1].status != "in_progress":
        return transcript
    so_far = transcript.messages[-1].usage
    if usage and so_far:
        usage = _set_first_word(usage, so_far.first_word_ms)  # no engine measures it
    usage = usage or so_far
    status = status_after(ending)
    return _replace_last(transcript, status=status, ending=ending, usage=usage, problem=problem)


def _end_open(transcript: Transcript, ending: Ending, problem: str | None = None) -> Transcript:
    """Ends all messages in progress: several calls of tools may run at once."""
    for at, message in enumerate(transcript.messages):
        if message.status == "in_progress" and message.role == "tool":
            status = status_after(ending)
            transcript = _replace_at(transcript, at, status=status, ending=ending)
    return _end_last(transcript, ending, problem=problem)


def sum_usage(transcript: Transcript) -> Usage | None:
    """Returns the usage of all answers of the turn."""
    usages = [one.usage for one in transcript.messages if one.usage is not None]
    return reduce(add_usage, usages) if usages else None


def status_after(ending: Ending) -> Status:
    """Returns the status of an answer with this ending."""
    return "partial" if ending in PARTIAL else "failed" if ending == "failed" else "finished"
