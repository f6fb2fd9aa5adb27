"""The messages of a turn, as a fold over its events.

What was streamed, stored, resumed and replayed is this same fold, so it cannot differ. The
browser runs it too (web/src/turn/apply.ts); tests/turns/ holds both to the same result.
"""

from collections.abc import Iterable
from functools import reduce
from typing import Literal, TypeAlias, assert_never

import msgspec
from msgspec import UNSET, UnsetType

from hitsend.events import (
    AnswerDelayed,
    AnswerFinished,
    AnswerStarted,
    AnyEvent,
    ContextBuilt,
    Ending,
    MemoriesChanged,
    MessageAdded,
    PromptEncoded,
    PromptRead,
    PromptWarmed,
    TextArrived,
    TitleChosen,
    ToolCallArrived,
    ToolReturned,
    TurnAccepted,
    TurnFailed,
    TurnFinished,
    TurnStarted,
    merged,
)
from hitsend.messages import Part, Role, Seen, Text, Usage

Status: TypeAlias = Literal["in_progress", "finished", "partial", "failed"]

PARTIAL: frozenset[Ending] = frozenset({"stopped", "interrupted"})


class Said(msgspec.Struct, frozen=True):
    """One message of the turn, with its place in the conversation's tree."""

    message_id: str
    parent_id: str | None
    role: Role
    parts: tuple[Part, ...]
    status: Status
    ending: Ending | None = None
    usage: Usage | None = None
    """As far as it is known: an answer cut short has cost what it has cost."""
    problem: str | None = None
    """Why it failed, as the person was told."""
    seen: Seen | None = None
    """Of an answer: what else the model saw, where that was anything."""

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, Text))


class Transcript(msgspec.Struct, frozen=True):
    messages: tuple[Said, ...] = ()
    title: str | None = None
    ending: Ending | None = None
    """None while the turn runs."""
    failure: TurnFailed | None = None
    seen: Seen | None = None


EMPTY = Transcript()


def fold(events: Iterable[AnyEvent]) -> Transcript:
    # Merged first: text added piece by piece would copy a long answer once for every piece.
    return reduce(apply, merged(events), EMPTY)


def apply(transcript: Transcript, event: AnyEvent) -> Transcript:
    match event:
        case MessageAdded(message_id=message_id, parent_id=parent_id, message=message):
            said = Said(message_id, parent_id, message.role, message.parts, "finished")
            return _with(transcript, messages=(*transcript.messages, said))
        case AnswerStarted(message_id=message_id, parent_id=parent_id):
            said = Said(message_id, parent_id, "assistant", (), "in_progress", seen=transcript.seen)
            return _with(transcript, messages=(*transcript.messages, said))
        case ContextBuilt(seen=seen):
            return _with(transcript, seen=seen)
        case MemoriesChanged():
            return _with_changed(transcript, event)
        case PromptRead():
            return _with_last(transcript, usage=_usage_of_prompt(event))
        case TextArrived(text=text):
            last = transcript.messages[-1]
            usage = _with_output(last.usage or Usage(), event)
            return _with_last(transcript, parts=_appended(last.parts, text), usage=usage)
        case ToolCallArrived(call=call):
            return _with_last(transcript, parts=(*transcript.messages[-1].parts, call))
        case ToolReturned(result=result):
            return _with_last(transcript, parts=(*transcript.messages[-1].parts, result))
        case AnswerFinished(ending=ending, usage=usage):
            return _closed(transcript, ending, usage)
        case TitleChosen(title=title):
            return _with(transcript, title=title)
        case TurnFinished(ending=ending):
            return _with(_closed(transcript, ending), ending=ending)
        case TurnFailed():
            failed = _closed(transcript, "failed", problem=event.message)
            return _with(failed, ending="failed", failure=event)
        case TurnStarted() | PromptEncoded() | TurnAccepted() | PromptWarmed() | AnswerDelayed():
            return transcript
        case _:
            assert_never(event)


def _with(transcript: Transcript, **changes: object) -> Transcript:
    return msgspec.structs.replace(transcript, **changes)


def _with_last(transcript: Transcript, **changes: object) -> Transcript:
    *before, last = transcript.messages
    return _with(transcript, messages=(*before, msgspec.structs.replace(last, **changes)))


def _with_changed(transcript: Transcript, event: MemoriesChanged) -> Transcript:
    """Told with the answer, whether it has begun, has ended, or is yet to come."""
    before = transcript.seen or Seen()
    seen = msgspec.structs.replace(before, changed=before.changed + event.changed)
    changed = _with(transcript, seen=seen)
    is_answering = bool(transcript.messages) and transcript.messages[-1].role == "assistant"
    return _with_last(changed, seen=seen) if is_answering else changed


def _usage_of_prompt(read: PromptRead) -> Usage:
    return Usage(
        num_input_tokens=read.num_cached_tokens + read.num_evaluated_tokens,
        num_cached_tokens=read.num_cached_tokens,
        queued_ms=read.queued_ms,
        prefill_ms=read.prefill_ms,
    )


def _with_output(usage: Usage, arrived: TextArrived) -> Usage:
    total = usage.num_output_tokens + len(arrived.tokens)
    counted = msgspec.structs.replace(usage, num_output_tokens=total)
    if arrived.num_searched_tokens is not UNSET:
        searched = (counted.num_searched_tokens or 0) + arrived.num_searched_tokens
        counted = msgspec.structs.replace(counted, num_searched_tokens=searched)
    return _with_first_word(counted, arrived.first_word_ms)


def _with_first_word(usage: Usage, first_word_ms: float | UnsetType) -> Usage:
    if first_word_ms is UNSET:
        return usage
    return msgspec.structs.replace(usage, first_word_ms=first_word_ms)


def _appended(parts: tuple[Part, ...], text: str) -> tuple[Part, ...]:
    """Text that follows text is one text."""
    if parts and isinstance(parts[-1], Text):
        return (*parts[:-1], Text(parts[-1].text + text))
    return (*parts, Text(text)) if text else parts


def _closed(
    transcript: Transcript,
    ending: Ending,
    usage: Usage | None = None,
    problem: str | None = None,
) -> Transcript:
    """The last message ends here, unless it already has."""
    if not transcript.messages or transcript.messages[-1].status != "in_progress":
        return transcript
    so_far = transcript.messages[-1].usage
    if usage and so_far:
        usage = _with_first_word(usage, so_far.first_word_ms)  # which no engine can know
    usage = usage or so_far
    status = status_at(ending)
    return _with_last(transcript, status=status, ending=ending, usage=usage, problem=problem)


def status_at(ending: Ending) -> Status:
    """What an answer is once it has ended so."""
    return "partial" if ending in PARTIAL else "failed" if ending == "failed" else "finished"
