"""Hidden messages: one for each part of the prompt that is not a message of the conversation.

They come first in a stream, and name the source of the part and its ids, not its text: a reader
with permission requests that.
"""

from collections.abc import Iterator

from hitsend.events import ContextBuilt, TurnStarted
from hitsend.messages import Seen, Source
from hitsend.wire.message import Author, Content, Metadata, Origin, WireMessage

HIDDEN_SOURCES: frozenset[Source] = frozenset(
    {"system", "developer", "profile", "memory", "recalled", "summary"}
)


def hidden_messages(turn: TurnStarted, built: ContextBuilt) -> Iterator[WireMessage]:
    """Yields nothing for an API call: it sent all of its context itself."""
    if (seen := built.seen) is None:
        return
    origin = Origin.from_turn(turn)
    for section in built.sections:
        if section.source in HIDDEN_SOURCES:
            yield _hidden_message(origin, section.source, _source_ids(seen, section.source))


def _hidden_message(origin: Origin, source: Source, ids: tuple[str, ...]) -> WireMessage:
    return WireMessage(
        id=f"{origin.turn_id}:{source}",
        author=Author("system"),
        create_time=origin.created_at,
        content=Content(("",)),
        status="finished_successfully",
        end_turn=None,
        metadata=Metadata(
            parent_id=None,
            turn_exchange_id=origin.turn_id or "",
            is_visually_hidden_from_conversation=True,
            seen_source=source,
            seen_ids=ids,
        ),
        channel=None,
    )


def _source_ids(seen: Seen, source: Source) -> tuple[str, ...]:
    match source:
        case "memory":
            return seen.memories
        case "recalled":
            return seen.recalled
        case "summary":
            return seen.summaries
        case _:
            return ()
