"""What a model is shown besides what was said, as messages that no page shows.

They come first in a stream and say where a part of the prompt came from, and by which ids. What it
says is not in them: who may see it asks for it.
"""

from collections.abc import Iterator

from hitsend.events import ContextBuilt, TurnStarted
from hitsend.messages import Seen, Source
from hitsend.wire.message import Author, Content, Metadata, Origin, WireMessage

HIDDEN: frozenset[Source] = frozenset(
    {"system", "developer", "profile", "memory", "recalled", "summary"}
)


def hidden_messages(turn: TurnStarted, built: ContextBuilt) -> Iterator[WireMessage]:
    """None of an API call, which brought all of its context along."""
    if (seen := built.seen) is None:
        return
    origin = Origin.of(turn)
    for section in built.sections:
        if section.source in HIDDEN:
            yield _hidden(origin, section.source, _ids(seen, section.source))


def _hidden(origin: Origin, source: Source, ids: tuple[str, ...]) -> WireMessage:
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


def _ids(seen: Seen, source: Source) -> tuple[str, ...]:
    match source:
        case "memory":
            return seen.memories
        case "recalled":
            return seen.recalled
        case "summary":
            return seen.summaries
        case _:
            return ()
