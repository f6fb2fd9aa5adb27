"""Step 4. The context in the model's own tokens, cut to fit its window exactly."""

from collections import Counter
from collections.abc import Sequence
from itertools import accumulate

from hitsend.engine import Engine, Prompt
from hitsend.errors import PromptTooLong
from hitsend.events import PromptEncoded
from hitsend.messages import Message
from hitsend.send import Turn

MOST_CHARS_PER_TOKEN = 64
"""On average, over a whole prompt. Prose has four."""


async def encode_prompt(
    context: tuple[Message, ...], turn: Turn, engine: Engine
) -> tuple[Prompt, PromptEncoded]:
    """Leaves out the oldest exchanges that do not fit. Never the instructions, the message, or
    the beginning of an answer that is continued."""
    num_dropped = _num_surely_too_many(context, turn)
    while True:
        kept = _without_oldest(context, num_dropped)
        prompt = await engine.encode(turn.model, kept, turn.send.tools)
        excess = prompt.num_tokens + _room_for_answer(turn, prompt) - prompt.num_window_tokens
        if excess <= 0:
            return prompt, _event(prompt, num_dropped)
        droppable = _num_history(kept)
        # An API caller chose its context: it is told, not trimmed.
        if turn.is_api or droppable == 0:
            raise _too_long(prompt, turn)
        num_dropped += _num_to_drop(kept, prompt, excess, droppable)


def _num_surely_too_many(context: Sequence[Message], turn: Turn) -> int:
    """How many of the oldest messages cannot fit whatever their tokens: encoding a very long
    conversation only to leave most of it out would take long."""
    room = turn.num_window_tokens * MOST_CHARS_PER_TOKEN
    lengths = [len(message.text) for message in context if message.source == "history"]
    room -= sum(len(message.text) for message in context) - sum(lengths)
    if room < 0 or (turn.is_api and room < sum(lengths)):
        raise PromptTooLong(
            f"This is far longer than the {turn.num_window_tokens:,} tokens the model reads. "
            "Make it shorter.",
            param="messages",
        )
    kept = accumulate(reversed(lengths))
    num_kept = sum(1 for num_chars in kept if num_chars <= room)
    num_dropped = len(lengths) - num_kept
    return min(num_dropped + num_dropped % 2, len(lengths))


def _event(prompt: Prompt, num_dropped: int) -> PromptEncoded:
    return PromptEncoded(
        num_tokens=prompt.num_tokens,
        num_window_tokens=prompt.num_window_tokens,
        num_dropped_messages=num_dropped,
        is_exact=prompt.is_exact,
        spans=prompt.spans,
    )


def _room_for_answer(turn: Turn, prompt: Prompt) -> int:
    """Room kept free for the answer: what was asked for, but at most a quarter of the window."""
    quarter = prompt.num_window_tokens // 4
    return min(turn.sampling.max_tokens or quarter, quarter)


def _without_oldest(context: tuple[Message, ...], num_dropped: int) -> tuple[Message, ...]:
    first = next((i for i, message in enumerate(context) if message.source == "history"), 0)
    return context[:first] + context[first + num_dropped :]


def _num_history(context: Sequence[Message]) -> int:
    return sum(1 for message in context if message.source == "history")


def _num_to_drop(kept: Sequence[Message], prompt: Prompt, excess: int, droppable: int) -> int:
    """Enough of the oldest messages, and whole exchanges only."""
    cost = _cost_of_messages(prompt)
    first = next(i for i, message in enumerate(kept) if message.source == "history")
    num = 0
    while num < droppable and (excess > 0 or num % 2):
        excess -= cost[first + num]
        num += 1
    return num


def _cost_of_messages(prompt: Prompt) -> Counter[int]:
    """Tokens by message, each with the scaffolding before it."""
    cost: Counter[int] = Counter()
    scaffolding = 0
    for span in prompt.spans:
        if span.source == "template":
            scaffolding += span.num_tokens
        else:
            cost[span.index] += scaffolding + span.num_tokens
            scaffolding = 0
    return cost


def _too_long(prompt: Prompt, turn: Turn) -> PromptTooLong:
    about = "" if prompt.is_exact else "about "
    is_next = turn.send.action == "next"
    remedy = "Make it shorter." if is_next else "Send a new, shorter message instead."
    return PromptTooLong(
        f"This needs {about}{prompt.num_tokens:,} tokens and room for an answer; "
        f"the model reads {prompt.num_window_tokens:,}. {remedy}",
        param="messages",
    )
