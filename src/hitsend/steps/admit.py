"""Step 1. Is what was sent whole, and can it be answered here? Nothing is stored yet."""

import time
from uuid import uuid4

import msgspec

from hitsend.engine import Engine, ModelFacts, cannot_foresee, for_model
from hitsend.errors import Refused
from hitsend.messages import MAX_BEAM_TOKENS, Sampling
from hitsend.prompt_book import PromptBook
from hitsend.prompts import laid_over
from hitsend.send import Send, Turn, check_length
from hitsend.settings import Settings

LEAST_RECORDED_BYTES = 500_000_000
"""Of a model's weights. To tell likely tokens costs a tiny model 7 % of its speed, others none."""


async def admit(send: Send, engine: Engine, settings: Settings, book: PromptBook) -> Turn:
    _check(send, settings)
    model = await engine.resolve(send.model)
    asked = send if send.given else await _with_defaults(send, model, book)
    return Turn(
        turn_id=str(uuid4()),
        conversation_id="" if send.given else send.conversation_id or str(uuid4()),
        answer_id=str(uuid4()),
        send=send,
        model=model.name,
        num_window_tokens=model.num_window_tokens,
        sampling=_sampling(asked, model, settings),
        created_at=time.time(),
    )


async def _with_defaults(send: Send, model: ModelFacts, book: PromptBook) -> Send:
    """An administrator may have chosen how chats are decoded, where the person does not say."""
    chosen = (await book.pick("system", send.user_id)).sampling
    default = for_model(chosen, can_foresee=model.can_foresee)
    return msgspec.structs.replace(send, sampling=laid_over(send.sampling, default))


def _sampling(send: Send, model: ModelFacts, settings: Settings) -> Sampling:
    """As asked, within what is allowed. A chat can be looked into: its likely tokens are kept."""
    allowed = settings.max_answer_tokens
    if send.sampling.policy == "beam":
        _check_beam(send, model)
        allowed = min(allowed, MAX_BEAM_TOKENS)
    most = min(send.sampling.max_tokens or allowed, allowed)
    is_slowed = (model.num_bytes or 0) < LEAST_RECORDED_BYTES
    num_top = 0 if send.given or is_slowed else settings.num_alternatives
    return msgspec.structs.replace(
        send.sampling,
        policy=send.sampling.policy or "sample",
        max_tokens=most,
        top_logprobs=max(send.sampling.top_logprobs or 0, num_top),
    )


def _check_beam(send: Send, model: ModelFacts) -> None:
    if not model.can_foresee:
        raise cannot_foresee(model.title)
    if send.must_call:
        raise Refused(
            "A beam search cannot be made to call a tool. Choose another policy, or leave the "
            "choice to the model.",
            param="tool_choice",
        )


def _check(send: Send, settings: Settings) -> None:
    check_length(send.text, settings.max_message_chars)
    if send.conversation_id is None and send.parent_id is not None:
        raise Refused("A new conversation has no earlier message.", param="parent_message_id")
    if send.action == "variant" and send.parent_id is None:
        raise Refused("Say which message to answer again.", param="parent_message_id")
    if send.action == "continue" and send.parent_id is None:
        raise Refused("Say which answer to continue.", param="parent_message_id")
