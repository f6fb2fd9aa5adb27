"""Step 3. The context in the model's own tokens, and whether they fit its window with an answer."""

from hitsend.context.window import Context, Cut, narrowed, sections
from hitsend.engine import Engine, Prompt
from hitsend.errors import PromptTooLong
from hitsend.events import ContextBuilt, PromptEncoded
from hitsend.send import Turn

MOST_CHARS_PER_TOKEN = 64
"""On average, over a whole prompt. Prose has four."""

ANSWER_SHARE = 0.25
"""Of the window, kept free for the answer; less where less was asked for."""


async def encode_prompt(context: Context, turn: Turn, engine: Engine) -> Prompt:
    """All of it, whether or not it fits."""
    _check_length(context, turn)
    return await engine.encode(turn.model, context.messages, turn.send.tools)


def cut_to_fit(context: Context, prompt: Prompt, turn: Turn) -> Cut | None:
    """What to leave out for the rest to fit; None where all of it does. Raises PromptTooLong where
    nothing more can be left out. An API caller chose its context: it is told, not trimmed."""
    room = _room(prompt, turn)
    if prompt.num_tokens <= room:
        return None
    cut = None if turn.is_api else narrowed(context, prompt.spans, room)
    if cut is None:
        raise _too_long(prompt, turn)
    return cut


def told(context: Context, prompt: Prompt) -> tuple[ContextBuilt, PromptEncoded]:
    """What the model is shown, and how many tokens that takes."""
    num_dropped = context.seen.num_dropped_messages if context.seen else 0
    return (
        ContextBuilt(sections(context.messages, prompt.spans), context.seen),
        PromptEncoded(
            num_tokens=prompt.num_tokens,
            num_window_tokens=prompt.num_window_tokens,
            num_dropped_messages=num_dropped,
            is_exact=prompt.is_exact,
            spans=prompt.spans,
        ),
    )


def _room(prompt: Prompt, turn: Turn) -> int:
    quarter = int(prompt.num_window_tokens * ANSWER_SHARE)
    return prompt.num_window_tokens - min(turn.sampling.max_tokens or quarter, quarter)


def _check_length(context: Context, turn: Turn) -> None:
    """What cannot fit whatever its tokens: only to count them would take long."""
    needed = context.messages if turn.is_api else (*context.system, *context.asked)
    if sum(len(message.text) for message in needed) > turn.num_window_tokens * MOST_CHARS_PER_TOKEN:
        raise PromptTooLong(
            f"This is far longer than the {turn.num_window_tokens:,} tokens the model reads. "
            "Make it shorter.",
            param="messages",
        )


def _too_long(prompt: Prompt, turn: Turn) -> PromptTooLong:
    about = "" if prompt.is_exact else "about "
    is_next = turn.send.action == "next"
    remedy = "Make it shorter." if is_next else "Send a new, shorter message instead."
    if turn.is_api or not is_next:
        needs = f"This needs {about}{prompt.num_tokens:,} tokens and room for an answer"
    else:
        num_tokens = sum(span.num_tokens for span in prompt.spans if span.source == "user")
        most = _room(prompt, turn) - (prompt.num_tokens - num_tokens)
        needs = f"The message has {about}{num_tokens:,} tokens; there is room for {max(most, 0):,}"
    return PromptTooLong(
        f"{needs}; the model reads {prompt.num_window_tokens:,}. {remedy}", param="messages"
    )
