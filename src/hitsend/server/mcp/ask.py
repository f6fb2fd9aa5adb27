"""The tool `ask`: a turn like any other, with its limits, quota, ledger and log. It ends when the
client cancels or leaves, because nobody else can read it."""

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Annotated
from uuid import UUID as Uuid
from uuid import uuid4, uuid5

from msgspec import Meta

from hitsend.canonical import canonicalize
from hitsend.errors import Conflict, Refused
from hitsend.events import AnswerDelayed, AnyEvent, PromptRead, Stamped, TextArrived
from hitsend.messages import Message, Sampling, Text
from hitsend.send import Send, check_length
from hitsend.server.call import Call, check_scopes
from hitsend.server.mcp.tool import Arguments, Result, ToolCall, mcp_tool
from hitsend.server.turns.start import start_once
from hitsend.wire.openai import build_completion
from hitsend.wire.send import UUID

KEYS = Uuid("5a6f0c1e-8f3b-4f0e-9a52-6d3c1b7e2f90")
"""The id of a message follows from its idempotency key, so a repeated one is the same message."""
REPORT_S = 0.5
"""Between two reports of progress, at least."""


class Ask(Arguments, frozen=True, kw_only=True):
    question: Annotated[
        str, Meta(min_length=1, description="All that the model needs to know to answer.")
    ]
    model: Annotated[
        str, Meta(max_length=200, description="From list_models. auto: the server's choice.")
    ] = "auto"
    conversation_id: (
        Annotated[
            str,
            Meta(
                max_length=100, description="Ask in this conversation, which the model then sees."
            ),
        ]
        | None
    ) = None
    is_kept: Annotated[
        bool,
        Meta(description="Keep question and answer as a new conversation in the person's list."),
    ] = False
    max_tokens: Annotated[int, Meta(ge=1, description="Longest answer.")] | None = None


class Answered(Result, frozen=True, kw_only=True):
    answer: str
    model: str
    is_cut: bool
    """The answer ended at its length limit."""
    conversation_id: str | None
    """Where it is kept, if it is."""
    num_prompt_tokens: int
    num_answer_tokens: int

    def describe(self) -> str:
        cut = "\n\n(The answer ended here at its length limit.)" if self.is_cut else ""
        return self.answer + cut


@mcp_tool("chat", title="Ask a model", is_read_only=False, is_idempotent=False, is_send=True)
async def ask(asked: ToolCall, given: Ask) -> Answered:
    """Ask one of hitsend's models a question, and return its answer. Without conversation_id and
    is_kept nothing of it is kept, and the model sees only the question."""
    call, is_repeatable = asked.call, asked.idempotency_key is not None
    send = await _build_send(call, given, asked.idempotency_key)
    turn, _, _ = await start_once(call, send, ends_with_caller=not is_repeatable)
    try:
        _, batches = await call.app.runner.follow(turn.turn_id, call.user_id)
        log = await _collect(batches, Progress(asked))
    finally:
        running = call.app.runner.find(turn.turn_id, call.user_id)
        if running and not is_repeatable:  # else the client may ask for it again
            call.app.runner.abandon(running)
    completion = build_completion(log)
    choice = completion.choices[0]
    return Answered(
        answer=choice.message.content or "",
        model=completion.model,
        is_cut=choice.finish_reason == "length",
        conversation_id=turn.conversation_id or None,
        num_prompt_tokens=completion.usage.prompt_tokens,
        num_answer_tokens=completion.usage.completion_tokens,
    )


class Progress:
    """Reports what the answer does, now and then."""

    def __init__(self, asked: ToolCall) -> None:
        self._report = asked.report
        self._due_at = 0.0
        self._num_words = 0

    def note(self, event: AnyEvent) -> None:
        if isinstance(event, TextArrived):
            self._num_words += len(event.text.split())
        if (now := time.monotonic()) >= self._due_at and (text := self._describe(event)):
            self._due_at = now + REPORT_S
            self._report(text)

    def _describe(self, event: AnyEvent) -> str:
        match event:
            case AnswerDelayed(num_ahead=num_ahead) if num_ahead:
                return (
                    f"Waiting: {num_ahead} {'answer is' if num_ahead == 1 else 'answers are'} ahead"
                )
            case AnswerDelayed():
                return "Waiting for the model"
            case PromptRead():
                return "The model has read the question"
            case TextArrived():
                return f"Writing the answer: {self._num_words} words so far"
        return ""


async def _collect(
    batches: AsyncGenerator[Sequence[Stamped], None], progress: Progress
) -> list[Stamped]:
    log: list[Stamped] = []
    async with aclosing(batches):
        async for batch in batches:
            log += batch
            for stamped in batch:
                progress.note(stamped.event)
    return log


async def _build_send(call: Call, given: Ask, key: str | None) -> Send:
    check_length(len(given.question), call.app.services.settings.max_message_chars)
    text = await asyncio.to_thread(canonicalize, given.question)
    if not text.strip():
        raise Refused("There is no question.", param="question")
    sampling = Sampling(max_tokens=given.max_tokens)
    if given.conversation_id is None and not given.is_kept:
        question = Message("user", (Text(text),), "user")
        return Send(
            user_id=call.user_id,
            model=given.model,
            sampling=sampling,
            given=(question,),
            key=_prefixed(key),
        )
    message_id = str(uuid4()) if key is None else str(uuid5(KEYS, f"{call.user_id} {key}"))
    return Send(
        user_id=call.user_id,
        model=given.model,
        sampling=sampling,
        conversation_id=given.conversation_id,
        parent_id=await _find_parent(call, given.conversation_id, message_id),
        message_id=message_id,
        text=text,
        key=_prefixed(key),
    )


def _prefixed(key: str | None) -> str | None:
    """Keys of other routes are apart from these."""
    return None if key is None else f"mcp:{key}"


async def _find_parent(call: Call, conversation_id: str | None, message_id: str) -> str | None:
    """The end of the conversation as its owner sees it, or what the question followed if it was
    asked before. What the answer tells of it needs a key that may read."""
    if conversation_id is None:
        return None
    check_scopes(frozenset({"read"}), call.identity)
    if not UUID.fullmatch(conversation_id):
        raise Refused("This is no id of a conversation. Copy an id as it was returned.")
    conversation = await call.app.services.store.conversations.get(conversation_id, call.user_id)
    for asked in conversation.messages:
        if asked.message_id == message_id:
            return asked.parent_id
    if conversation.running is not None:
        raise Conflict(
            "An answer is being written in this conversation. Ask again when it is done."
        )
    return conversation.current_node
