"""Step 2, admit: checks that the Send is whole and that a model can answer it. Stores nothing."""

import secrets
import time
from uuid import uuid4

import msgspec
from msgspec import UNSET

from hitsend.engine import ModelFacts, beam_unsupported, fall_back_to_sampling
from hitsend.errors import Refused
from hitsend.messages import MAX_BEAM_TOKENS, MAX_SEED, Sampling
from hitsend.prompts import merge_sampling
from hitsend.prompts.picker import PromptPicker
from hitsend.send import Send, Turn, check_length
from hitsend.services import Services
from hitsend.settings import Settings

MIN_RECORDED_BYTES = 500_000_000
"""Weights at least this large record likely tokens by default. Recording costs a tiny model 7 % of
its speed, and others nothing."""


async def admit(send: Send, services: Services) -> Turn:
    settings = services.settings
    _check(send, settings)
    model = await services.engine.resolve(send.model)
    asked = send if send.given else await _with_defaults(send, model, services.prompts)
    return Turn(
        turn_id=str(uuid4()),
        conversation_id="" if send.given else send.conversation_id or str(uuid4()),
        answer_id=str(uuid4()),
        send=send,
        model=model.name,
        num_window_tokens=model.num_window_tokens,
        has_room_beside=model.has_room_beside,
        can_call_tools=model.can_call_tools,
        features=await _pick_features(send, model, services),
        sampling=_sampling(asked, model, settings),
        weights_sha256=model.weights_sha256 or UNSET,
        cluster_region=settings.cluster_region,
        created_at=time.time(),
        fingerprint=send.fingerprint if send.key else "",
    )


async def _pick_features(send: Send, model: ModelFacts, services: Services) -> tuple[str, ...]:
    """Returns what was turned on for this answer, or what was on in the turn that it repeats or
    continues, as far as that is still possible."""
    if send.features is not UNSET:
        return send.features
    if send.action == "next" or send.conversation_id is None or send.parent_id is None:
        return ()
    before = await services.store.repeated_turns.features(
        send.conversation_id, send.user_id, send.parent_id, send.action
    )
    if not before or not model.can_call_tools:
        return ()
    there = {tool.feature for tool in await services.toolbox.pick(send.user_id, before)}
    return tuple(name for name in before if name in there)


async def _with_defaults(send: Send, model: ModelFacts, prompts: PromptPicker) -> Send:
    """Fills in the administrator's choice of decoding where the person made none."""
    chosen = (await prompts.pick("system", send.user_id)).sampling
    default = fall_back_to_sampling(chosen, has_next_token_probs=model.has_next_token_probs)
    return msgspec.structs.replace(send, sampling=merge_sampling(send.sampling, default))


def _sampling(send: Send, model: ModelFacts, settings: Settings) -> Sampling:
    """Limits the sampling to what is allowed, and records likely tokens of chats."""
    allowed = settings.max_answer_tokens
    if send.sampling.policy == "beam":
        _check_beam(send, model)
        allowed = min(allowed, MAX_BEAM_TOKENS)
    most = min(send.sampling.max_tokens or allowed, allowed)
    if send.given and send.sampling.max_tokens and send.sampling.max_tokens > allowed:
        raise Refused(
            f"max_tokens is too large: {send.sampling.max_tokens}. An answer may have at most "
            f"{allowed} tokens here (HITSEND_MAX_ANSWER_TOKENS).",
            param="max_tokens",
        )
    is_slowed = (model.num_bytes or 0) < MIN_RECORDED_BYTES
    num_top = 0 if send.given or is_slowed else settings.num_alternatives
    return msgspec.structs.replace(
        _fill_in(send.sampling, model),
        policy=send.sampling.policy or "sample",
        max_tokens=most,
        top_logprobs=max(send.sampling.top_logprobs or 0, num_top),
    )


def _fill_in(sampling: Sampling, model: ModelFacts) -> Sampling:
    """Sets what the engine would choose by itself, and a seed, so that the turn's record says how
    its tokens were drawn. Leaves alone what draws nothing: greedy, beam and temperature 0. Some
    servers of the chat level refuse a seed."""
    is_drawn = sampling.policy in (None, "sample") and sampling.temperature != 0
    if not is_drawn or model.level == "chat":
        return sampling
    seed = secrets.randbelow(MAX_SEED + 1) if sampling.seed is None else sampling.seed
    known = Sampling() if model.default_sampling is UNSET else model.default_sampling
    return msgspec.structs.replace(merge_sampling(sampling, known), seed=seed)


def _check_beam(send: Send, model: ModelFacts) -> None:
    if not model.has_next_token_probs:
        raise beam_unsupported(model.title)
    if send.must_call:
        raise Refused(
            "A beam search cannot be made to call a tool. Choose another policy, or leave the "
            "choice to the model.",
            param="tool_choice",
        )
    if any(tool.is_strict for tool in send.tools):
        raise Refused(
            "A beam search cannot keep arguments to a schema. Choose another policy, or leave out "
            "`strict`.",
            param="tools",
        )


def _check(send: Send, settings: Settings) -> None:
    check_length(len(send.text), settings.max_message_chars)
    if send.conversation_id is None and send.parent_id is not None:
        raise Refused("A new conversation has no earlier message.", param="parent_message_id")
    if send.action == "variant" and send.parent_id is None:
        raise Refused("Say which message to answer again.", param="parent_message_id")
    if send.action == "continue" and send.parent_id is None:
        raise Refused("Say which answer to continue.", param="parent_message_id")
