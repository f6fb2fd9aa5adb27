"""Step 1. Is what was sent whole, and can it be answered here? Nothing is stored yet."""

import time
from uuid import uuid4

import msgspec

from hitsend.engine import Engine, ModelFacts
from hitsend.errors import Refused, TooLarge
from hitsend.messages import Sampling
from hitsend.send import Send, Turn
from hitsend.settings import Settings


async def admit(send: Send, engine: Engine, settings: Settings) -> Turn:
    _check(send, settings)
    model = await engine.resolve(send.model)
    return Turn(
        turn_id=str(uuid4()),
        conversation_id="" if send.given else send.conversation_id or str(uuid4()),
        answer_id=str(uuid4()),
        send=send,
        model=model.name,
        num_window_tokens=model.num_window_tokens,
        sampling=_sampling(send, model, settings),
        created_at=time.time(),
    )


def _sampling(send: Send, model: ModelFacts, settings: Settings) -> Sampling:
    """As asked, within what is allowed. A chat can be looked into: its likely tokens are kept."""
    most = min(send.sampling.max_tokens or settings.max_answer_tokens, settings.max_answer_tokens)
    can_look_inside = model.level == "tokens" and not send.given
    num_top = settings.num_alternatives if can_look_inside else 0
    return msgspec.structs.replace(
        send.sampling, max_tokens=most, top_logprobs=max(send.sampling.top_logprobs, num_top)
    )


def _check(send: Send, settings: Settings) -> None:
    if len(send.text) > settings.max_message_chars:
        raise TooLarge(
            f"The message has {len(send.text):,} characters; "
            f"at most {settings.max_message_chars:,} can be sent at once.",
            param="messages",
        )
    if send.conversation_id is None and send.parent_id is not None:
        raise Refused("A new conversation has no earlier message.", param="parent_message_id")
    if send.action == "variant" and send.parent_id is None:
        raise Refused("Say which message to answer again.", param="parent_message_id")
    if send.action == "continue" and send.parent_id is None:
        raise Refused("Say which answer to continue.", param="parent_message_id")
