"""The parts of a context, and what to drop when it exceeds the model's window.

Pure functions: the parts are built elsewhere, and only an engine counts their tokens.

The order suits the engine's prefix cache. Nothing but the end changes from turn to turn until the
window is full. Then the conversation starts at a later message, with most of its room free again,
and keeps that start for many turns. A window that moved with every turn would be prefilled again
every time.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeVar

import msgspec

from hitsend.events import Section, Span
from hitsend.messages import Message, Seen, Source, Text, ToolCall, part_source


class Cut(msgspec.Struct, frozen=True):
    """The parts that are dropped so that the rest fits."""

    starts_at: str | None = None
    """The first message shown in full. None for the start of the last answer's context."""
    without: frozenset[Source] = frozenset()


NO_CUT = Cut()

DROP_ORDER: tuple[Source, ...] = ("recalled", "summary", "memory")
"""Dropped in this order, before the newest exchanges: messages are worth more than what may relate
to them. Instructions, profile and question are never dropped."""

MEMORY_SHARE, RECALLED_SHARE, SUMMARY_SHARE = 1 / 16, 1 / 4, 1 / 8
"""Maximum shares of the window. With a quarter for the answer and two fifths of the rest for the
newest exchanges, all of them fit. The recalled share is for all questions together, and each takes
at most half of what is left: a repetitive conversation must not fill its window with itself."""

MIN_CHARS_PER_TOKEN = 3
"""A low estimate, so that the estimated tokens of a note are rather too many."""

HISTORY_SHARE = 0.4
"""The share of the room for the conversation that stays filled after a cut. With more, the next
cut and prefill come sooner; with less, more is dropped at once."""

T = TypeVar("T")


class ShownExchange(msgspec.Struct, frozen=True):
    """A question and its answer in full, with the notes before the question."""

    message_ids: tuple[str, ...]
    messages: tuple[Message, ...]


class Context(msgspec.Struct, frozen=True):
    question: tuple[Message, ...]
    """The question with its notes, and the partial answer of a continuation. All messages of an
    API call."""
    question_id: str = ""
    system: tuple[Message, ...] = ()
    instructions: str = ""
    """The operator's part of it, which the model is not to give away."""
    exchanges: tuple[ShownExchange, ...] = ()
    """The conversation before the question, oldest first."""
    seen: Seen | None = None
    cut: Cut = NO_CUT
    undecided: tuple[ToolCall, ...] = ()
    """Calls of an earlier turn that the person has just decided. They run before the answer."""

    @property
    def messages(self) -> tuple[Message, ...]:
        history = (message for one in self.exchanges for message in one.messages)
        return (*self.system, *history, *self.question)


def narrow_cut(context: Context, spans: Sequence[Span], room: int) -> Cut | None:
    """Returns the next larger cut of a context that has more than `room` tokens, or None if
    nothing more can be dropped. One step may not be enough."""
    cut = context.cut
    if len(context.exchanges) > 1 and cut.starts_at is None:
        return msgspec.structs.replace(cut, starts_at=_later_start(context, spans, room))
    shown = {part_source(part, one) for one in context.messages for part in one.parts}
    for source in DROP_ORDER:
        if source in shown and source not in cut.without:
            return msgspec.structs.replace(cut, without=cut.without | {source})
    if context.exchanges:
        # The parts dropped before may fit once an exchange is dropped.
        return Cut(_later_start(context, spans, room))
    return None


def _later_start(context: Context, spans: Sequence[Span], room: int) -> str:
    """Returns a start at least one exchange later that leaves more than half of the room free."""
    costs = _costs(context, count_message_tokens(spans))
    num_other_tokens = sum(span.num_tokens for span in spans) - sum(costs)
    # Exchanges recalled for it are dropped when the start moves.
    costs = _costs(context, count_message_tokens(spans, without="recalled"))
    left = max(room - num_other_tokens, 0) * HISTORY_SHARE
    starts = [one.message_ids[0] for one in context.exchanges] + [context.question_id]
    at = len(costs)
    while at > 1 and costs[at - 1] <= left:
        at -= 1
        left -= costs[at]
    # The newest exchange stays while anything else can be dropped.
    return starts[max(min(at, len(costs) - 1), 1)]


def _costs(context: Context, by_message: Counter[int]) -> list[int]:
    """Returns the tokens of each exchange."""
    costs, at = [], len(context.system)
    for one in context.exchanges:
        costs.append(sum(by_message[index] for index in range(at, at + len(one.messages))))
        at += len(one.messages)
    return costs


def count_message_tokens(spans: Sequence[Span], without: Source | None = None) -> Counter[int]:
    """Counts tokens by message index, each with the template's tokens before it."""
    cost: Counter[int] = Counter()
    num_template_tokens = 0
    for span in spans:
        if span.source == "template":
            num_template_tokens += span.num_tokens
        elif span.source != without:
            cost[span.index] += num_template_tokens + span.num_tokens
            num_template_tokens = 0
    return cost


def chars_in_share(share: float, num_window_tokens: int) -> int:
    """Returns how many characters surely fit into a share of the window."""
    return int(num_window_tokens * share * MIN_CHARS_PER_TOKEN)


def take_fitting(num_chars: float, items: Sequence[T], length: Callable[[T], int]) -> list[T]:
    """Returns the first items that fit together. An item that is too long is skipped."""
    taken = []
    for item in items:
        if length(item) <= num_chars:
            num_chars -= length(item)
            taken.append(item)
    return taken


def count_sections(messages: Sequence[Message], spans: Sequence[Span]) -> tuple[Section, ...]:
    """Counts texts, characters and tokens by source, in the order the model sees them."""
    tokens: Counter[Source] = Counter()
    for span in spans:
        tokens[span.source] += span.num_tokens
    found: dict[Source, list[str]] = {}
    for message in messages:
        for source, text in _texts(message).items():
            found.setdefault(source, []).append(text)
    return tuple(
        Section(source, len(texts), sum(map(len, texts)), tokens[source])
        for source, texts in found.items()
    )


def _texts(message: Message) -> dict[Source, str]:
    """Returns the text of each source, also if it is empty."""
    texts: dict[Source, str] = {}
    for part in message.parts:
        text = part.text if isinstance(part, Text) else ""
        source = part_source(part, message)
        texts[source] = texts.get(source, "") + text
    return texts or {message.source: ""}
