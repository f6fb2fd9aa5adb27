"""How likely each tool is before the model is asked which one it wants.

A small model is drawn to some names and away from others, whatever the message says. So what the
person wrote is compared with each tool's description, and with examples of what people say when
they want it, or when they want words and no tool. The weights were fitted to messages over tools
that have examples and tools that have none (`bench/tools_fitting.toml`).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import takewhile
from typing import TypeAlias

import msgspec

from hitsend.engine.tool_listing import (
    Parameter,
    describe_for_search,
    read_examples,
    read_parameters,
)
from hitsend.messages import Tool

Need: TypeAlias = str

REPLIES = (
    "Hello!",
    "Thank you very much!",
    "Who are you and what can you do?",
    "Yes, please.",
    "I feel sad today.",
    "Why do cats purr?",
    "What is the capital of Peru?",
    "When did the Roman Empire fall?",
    "How many bones does a human have?",
    "What is the highest mountain of the world?",
    "How do vaccines work?",
    "Explain gravity to a child",
    "What does CPU stand for?",
    "Write a haiku about rain",
    "Write a letter to my neighbour",
    "Draft an email that declines an invitation",
    "Give me ideas for a present",
    "Translate 'good night' into Italian",
    "Correct this sentence: she go home",
    "How do I sort a list in Python?",
    "Write a function that reverses a string",
    "What does this command do?",
    "How do I calculate an average?",
    "How can I learn to cook?",
    "What is the difference between tea and coffee?",
    "How do clocks and time zones work?",
    "What is a calendar for?",
    "How does the weather form?",
    "What is a currency?",
    "How should I store my files?",
    "Tips for a good night's sleep",
    "What is a logarithm?",
    "How do I solve a quadratic equation?",
    "Why does a year have twelve months?",
    "Why do we change the clocks in spring?",
    "What is the difference between weather and climate?",
    "How does the internet work?",
    "How do I end a formal email?",
    "What is a zip file?",
    "How long does rice take to cook?",
    "Why do people forget things?",
    "Why is gold so expensive?",
    "Write a Python class for a bank account",
    "What is a decorator in Python?",
    "How do I keep a conversation going?",
    "Who invented the telephone?",
    "Suggest a name for my dog",
    "No, that is not what I meant.",
    "Was ist der Unterschied zwischen Tee und Kaffee?",
)
"""Messages that are answered in words."""
BREAKS = re.compile(r"(?<=[.?!;])\s+|,? (?:and|then|und|dann) ")
"""Between the parts of a message that asks for several things."""
MAX_PARTS = 4
MAX_CACHED_TOOLS = 1_000
"""A message is weighed once for each tool that may be called next: a schema is read only once."""
REFERS = re.compile(
    r"\b(it|them|this|those|these|that(?! I\b)"
    r"|the (?:result|answer|first|amount|names?|list|number)|es|ihn|sie|das|dies\w*)\b",
    re.IGNORECASE,
)
"""In a part of a message that speaks of what another part asks for."""
FOUND: Mapping[Need, re.Pattern[str]] = {
    "address of a page": re.compile(r"https?://|www\.", re.IGNORECASE),
    "address of a person": re.compile(r"\S@\S+\.\w"),
    "number": re.compile(
        r"\d|\b(one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|half"
        r"|quarter|dozen|hundred|thousand|ein|zwei|drei|vier|fünf|halb|viertel)",
        re.IGNORECASE,
    ),
}
"""What a message contains if it has what a tool needs."""


class Weights(msgspec.Struct, frozen=True):
    """Of what is known of a tool, or of a reply, in logits of the model."""

    whole: float
    """Of the similarity of the message to the closest of the tool's texts."""
    first: float
    """Of the similarity of the message's first part."""
    has_address: float
    lacks: float
    """Of a message without an address or number that the tool needs."""
    reply: float
    reply_whole: float
    """Of the similarity of the message to the closest of the `REPLIES`."""
    done: float
    """Of a reply if the answer has called a tool for each part of the message."""
    undone: float
    """Of a reply if it has not."""


FITTED = Weights(
    whole=4.0,
    first=22.0,
    has_address=6.4,
    lacks=-5.1,
    reply=2.5,
    reply_whole=19.0,
    done=1.0,
    undone=-2.0,
)


class Request(msgspec.Struct, frozen=True):
    """A message, or a part of it that asks for one thing."""

    text: str
    similarities: Sequence[float]
    """To each of the `compared_texts`."""


def split_requests(message: str) -> list[str]:
    """Returns the parts of a message, or the whole of one that has no parts of two words."""
    parts = [part for part in BREAKS.split(message) if len(part.split()) > 1]
    return parts[:MAX_PARTS] or [message]


def count_requests(message: str) -> int:
    """Returns how many things a message asks for before one that needs the result of another."""
    _, *others = split_requests(message)
    return 1 + len(list(takewhile(lambda part: not REFERS.search(part), others)))


def compared_texts(tools: Sequence[Tool]) -> list[str]:
    """Returns the texts with which messages are compared."""
    return [text for tool in tools for text in _texts_of(tool)] + list(REPLIES)


def compare_with_tools(tools: Sequence[Tool], similarities: Sequence[float]) -> list[float]:
    """Returns how close each tool is: the best of the `similarities` to its texts."""
    return [max(similarities[span]) for span in _find_spans(tools)]


def weigh(
    tools: Sequence[Tool],
    whole: Request,
    parts: Sequence[Request],
    said: str,
    called: Sequence[str] = (),
    weights: Weights = FITTED,
) -> tuple[float, ...]:
    """Returns a weight for each tool, and one for a reply. `said` is all that was said. Each tool
    that the answer has `called` has done the part of the message that is closest to it: if no part
    is left, a reply is due."""
    spans = dict(zip((tool.name for tool in tools), _find_spans(tools), strict=True))
    left = list(parts)
    for name in called:
        if left and (span := spans.get(name)):
            left.remove(max(left, key=lambda one: max(one.similarities[span])))
    if not left:
        return (*(0.0 for _ in tools), weights.done)
    reply, shown = weights.reply, whole.text
    if called:
        whole, shown = max(left, key=lambda one: len(one.text)), said
        reply += weights.undone
    found = [
        weights.whole * max(whole.similarities[spans[tool.name]])
        + weights.first * max(left[0].similarities[spans[tool.name]])
        + _weigh_needs(tool, whole.text if tool.name in called else shown, said, weights)
        for tool in tools
    ]
    replies = whole.similarities[-len(REPLIES) :]
    return (*found, reply + weights.reply_whole * max(replies))


def _find_spans(tools: Sequence[Tool]) -> Iterator[slice]:
    """Yields where the texts of each tool are among those that are compared."""
    at = 0
    for tool in tools:
        num = len(_texts_of(tool))
        yield slice(at, at + num)
        at += num


@lru_cache(MAX_CACHED_TOOLS)
def _texts_of(tool: Tool) -> tuple[str, ...]:
    return describe_for_search(tool), *read_examples(tool)


def _weigh_needs(tool: Tool, message: str, said: str, weights: Weights) -> float:
    needs = _find_needs(tool)
    if any(not FOUND[need].search(said) for need in needs):
        return weights.lacks
    has_address = any(FOUND[need].search(message) for need in needs - {"number"})
    return weights.has_address if has_address else 0.0


@lru_cache(MAX_CACHED_TOOLS)
def _find_needs(tool: Tool) -> frozenset[Need]:
    """Returns what the required arguments of a tool cannot do without."""
    is_mail = "email" in f"{tool.name} {tool.description}".casefold()
    required = (one for one in read_parameters(tool) if one.is_required)
    return frozenset(need for one in required if (need := _need_of(one, is_mail=is_mail)))


def _need_of(one: Parameter, *, is_mail: bool) -> Need | None:
    kind, written = one.schema.get("type"), one.schema.get("format")
    about = f"{one.name} {one.schema.get('description', '')}".casefold()
    if written in ("uri", "url") or one.name in ("url", "uri", "link") or "https://" in about:
        return "address of a page"
    if "email" in about or (is_mail and (one.name == "to" or "recipient" in about)):
        return "address of a person"
    return "number" if kind in ("integer", "number") else None
