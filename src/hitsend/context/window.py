"""What a model is to see, in pieces, and which of them give way when its window is too small.

Pure: what the pieces say comes from elsewhere, and only an engine knows how many tokens they take.

The order is made for the engine's memory of what it has read. Nothing before the end changes from
one turn to the next until the window is full; then the conversation begins at a later message, with
most of its room free again, and stays there for many turns. A window that slid along with every
turn would be read anew every time.
"""

from collections import Counter
from collections.abc import Sequence

import msgspec

from hitsend.events import Section, Span
from hitsend.messages import Message, Seen, Source, Text, source_of


class Cut(msgspec.Struct, frozen=True):
    """What is left out so that the rest fits."""

    starts_at: str | None = None
    """The first message that is shown whole. None: the one it was when the model answered last."""
    without: frozenset[Source] = frozenset()


WHOLE = Cut()

GIVES_WAY: tuple[Source, ...] = ("recalled", "summary", "memory")
"""Before the newest exchanges do, and in this order: what was said is worth more than what may
have to do with it. Instructions, profile and question never give way."""

MEMORY_SHARE, RECALLED_SHARE, SUMMARY_SHARE = 1 / 16, 1 / 4, 1 / 8
"""Of the window, at most. With a quarter for the answer, and two fifths of the rest for what was
said last, all of them fit; and what was said last is worth more than any of them. What is recalled
is that of all questions together, and each takes at most half of what is left: a talk that goes
round in circles must not fill its window with itself."""

FEWEST_CHARS_PER_TOKEN = 3
"""What a note is counted by before it is a prompt: rather too many tokens than too few."""

KEPT_SHARE = 0.4
"""Of the room for the conversation, what is kept of it when it is full. More, and it is full again
soon, and read anew; less, and much is forgotten at once."""


class Kept(msgspec.Struct, frozen=True):
    """A question and what was answered, shown whole, with the notes it was asked with."""

    message_ids: tuple[str, ...]
    messages: tuple[Message, ...]


class Context(msgspec.Struct, frozen=True):
    asked: tuple[Message, ...]
    """The question with its notes, and the beginning of an answer that is continued. Of an API
    call, all that it brought."""
    asked_id: str = ""
    """Where the conversation begins if nothing else of it is kept."""
    system: tuple[Message, ...] = ()
    kept: tuple[Kept, ...] = ()
    """The conversation up to the question, the oldest exchange first."""
    seen: Seen | None = None
    cut: Cut = WHOLE

    @property
    def messages(self) -> tuple[Message, ...]:
        history = (message for kept in self.kept for message in kept.messages)
        return (*self.system, *history, *self.asked)


def narrowed(context: Context, spans: Sequence[Span], room: int) -> Cut | None:
    """What to leave out of a context that takes more than `room` tokens. None: nothing more can
    be. One such step may not be enough."""
    cut = context.cut
    if len(context.kept) > 1 and cut.starts_at is None:
        return msgspec.structs.replace(cut, starts_at=_later_start(context, spans, room))
    shown = {source_of(part, one) for one in context.messages for part in one.parts}
    for source in GIVES_WAY:
        if source in shown and source not in cut.without:
            return msgspec.structs.replace(cut, without=cut.without | {source})
    if context.kept:
        # What gave way for the exchange that goes may fit without it.
        return Cut(_later_start(context, spans, room))
    return None


def _later_start(context: Context, spans: Sequence[Span], room: int) -> str:
    """At least one exchange later, and so that more than half of the room for them is free."""
    costs = _costs(context, cost_of_messages(spans))
    num_other_tokens = sum(span.num_tokens for span in spans) - sum(costs)
    # What was recalled for them does not move along.
    costs = _costs(context, cost_of_messages(spans, without="recalled"))
    left = max(room - num_other_tokens, 0) * KEPT_SHARE
    starts = [kept.message_ids[0] for kept in context.kept] + [context.asked_id]
    at = len(costs)
    while at > 1 and costs[at - 1] <= left:
        at -= 1
        left -= costs[at]
    # The newest exchange stays while there is anything else to leave out.
    return starts[max(min(at, len(costs) - 1), 1)]


def _costs(context: Context, by_message: Counter[int]) -> list[int]:
    """Tokens of each exchange that is kept."""
    costs, at = [], len(context.system)
    for kept in context.kept:
        costs.append(sum(by_message[index] for index in range(at, at + len(kept.messages))))
        at += len(kept.messages)
    return costs


def cost_of_messages(spans: Sequence[Span], without: Source | None = None) -> Counter[int]:
    """Tokens by message, each with the scaffolding before it."""
    cost: Counter[int] = Counter()
    scaffolding = 0
    for span in spans:
        if span.source == "template":
            scaffolding += span.num_tokens
        elif span.source != without:
            cost[span.index] += scaffolding + span.num_tokens
            scaffolding = 0
    return cost


def num_chars_within(share: float, num_window_tokens: int) -> int:
    """That surely fit into so much of the window."""
    return int(num_window_tokens * share * FEWEST_CHARS_PER_TOKEN)


def sections(messages: Sequence[Message], spans: Sequence[Span]) -> tuple[Section, ...]:
    """What came from each place, in the order in which the model first sees something of it."""
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
    """Of each source in it, the text. One that says nothing is there all the same."""
    texts: dict[Source, str] = {}
    for part in message.parts:
        text = part.text if isinstance(part, Text) else ""
        source = source_of(part, message)
        texts[source] = texts.get(source, "") + text
    return texts or {message.source: ""}
