"""Step 6, encode: the context in the model's own tokens, and whether they fit its window with an
answer."""

from collections.abc import Iterator, Sequence

import msgspec
from msgspec import UNSET

from hitsend.context.recall import Recall
from hitsend.context.tool_choice import select_tools, weigh_tools
from hitsend.context.window import Context, Cut, count_sections, narrow_cut
from hitsend.engine import Engine, Prompt
from hitsend.errors import PromptTooLong
from hitsend.events import ContextBuilt, PromptEncoded, Section
from hitsend.messages import Tool
from hitsend.send import Turn
from hitsend.tools import HostedTool

MAX_CHARS_PER_TOKEN = 64
"""An upper bound on the average of a whole prompt. Prose has four."""

ANSWER_SHARE = 0.25
"""The share of the window that is kept free for the answer, or less where less was asked for."""


async def encode_prompt(
    context: Context,
    turn: Turn,
    engine: Engine,
    tools: Sequence[HostedTool] = (),
    recall: Recall | None = None,
) -> Prompt:
    """Encodes the whole context, whether or not it fits. `tools` are ours; those of an API call are
    its caller's. Those without a description are told in a note, and then the model is not guided:
    it would have to choose among the others. Of very many, the prompt lists those that the
    conversation is about."""
    _check_length(context, turn)
    send, rules = turn.send, turn.send.rules
    own: Sequence[Tool] = [tool.spec for tool in tools if tool.spec.description]
    if own and context.messages[-1].role == "tool":  # it has called, and may now answer
        rules = msgspec.structs.replace(rules, must_call=False)
    if recall:
        own = await select_tools(own, context.messages, turn.num_window_tokens, recall)
    prompt = await engine.encode(turn.model, context.messages, (*send.tools, *own), rules)
    if prompt.guide is None:
        return prompt
    if any(not tool.spec.description for tool in tools):
        return msgspec.structs.replace(prompt, guide=None)
    said = "\n".join(prompt.guide.said)
    found = await weigh_tools(prompt.tools, context.messages, said, recall) if recall else ()
    if not found:
        return prompt
    weights, *after = found
    guide = msgspec.structs.replace(prompt.guide, weights=weights, weights_after=tuple(after))
    return msgspec.structs.replace(prompt, guide=guide)


def cut_to_fit(context: Context, prompt: Prompt, turn: Turn) -> Cut | None:
    """Returns what to leave out, or None when everything fits. Raises PromptTooLong when nothing
    more can be left out. The context of an API call is the caller's: it is refused, not cut."""
    room = _room(prompt, turn)
    if prompt.num_tokens <= room:
        return None
    cut = None if turn.is_api else narrow_cut(context, prompt.spans, room)
    if cut is None:
        raise _too_long(prompt, turn)
    return cut


def context_built_event(
    context: Context, prompt: Prompt, tools: Sequence[HostedTool] = ()
) -> ContextBuilt:
    sections = (*_tool_sections(prompt), *count_sections(context.messages, prompt.spans))
    return ContextBuilt(sections, context.seen, tuple(tool.name for tool in tools) or UNSET)


def _tool_sections(prompt: Prompt) -> Iterator[Section]:
    """What the list of the tools takes, where the engine writes it."""
    num_tokens = sum(span.num_tokens for span in prompt.spans if span.source == "tools")
    if num_tokens:
        num_chars = sum(len(tool.description) for tool in prompt.tools)
        yield Section("tools", len(prompt.tools), num_chars, num_tokens)


def prompt_encoded_event(context: Context, prompt: Prompt) -> PromptEncoded:
    return PromptEncoded(
        num_tokens=prompt.num_tokens,
        num_window_tokens=prompt.num_window_tokens,
        num_dropped_messages=context.seen.num_dropped_messages if context.seen else 0,
        is_exact=prompt.is_exact,
        spans=prompt.spans,
    )


def _room(prompt: Prompt, turn: Turn) -> int:
    quarter = int(prompt.num_window_tokens * ANSWER_SHARE)
    return prompt.num_window_tokens - min(turn.sampling.max_tokens or quarter, quarter)


def _check_length(context: Context, turn: Turn) -> None:
    """Refuses a context that cannot fit before its tokens are counted, which would take long."""
    needed = context.messages if turn.is_api else (*context.system, *context.question)
    if sum(len(message.text) for message in needed) > turn.num_window_tokens * MAX_CHARS_PER_TOKEN:
        if turn.is_api:
            raise _api_context_too_long(turn.num_window_tokens, "far more")
        raise PromptTooLong(
            f"This is far longer than the {turn.num_window_tokens:,} tokens the model reads. "
            "Make it shorter.",
            param="messages",
        )


def _too_long(prompt: Prompt, turn: Turn) -> PromptTooLong:
    about = "" if prompt.is_exact else "about "
    if turn.is_api:
        return _api_context_too_long(prompt.num_window_tokens, f"{about}{prompt.num_tokens}")
    is_next = turn.send.action == "next"
    remedy = "Make it shorter." if is_next else "Send a new, shorter message instead."
    if not is_next:
        needs = f"This needs {about}{prompt.num_tokens:,} tokens and room for an answer"
    else:
        own = "user", "file"
        num_tokens = sum(span.num_tokens for span in prompt.spans if span.source in own)
        most = _room(prompt, turn) - (prompt.num_tokens - num_tokens)
        needs = f"The message has {about}{num_tokens:,} tokens; there is room for {max(most, 0):,}"
    return PromptTooLong(
        f"{needs}; the model reads {prompt.num_window_tokens:,}. {remedy}", param="messages"
    )


def _api_context_too_long(num_window_tokens: int, num_tokens: str) -> PromptTooLong:
    """In OpenAI's words: programs look for them."""
    return PromptTooLong(
        f"This model's maximum context length is {num_window_tokens} tokens. However, your "
        f"messages resulted in {num_tokens} tokens, and there has to be room for an answer. "
        "Please reduce the length of the messages.",
        param="messages",
    )
