"""Step 2. What should the model see? Instructions, what was said before, the message."""

from collections.abc import Sequence
from itertools import groupby

from hitsend.errors import Conflict, Refused
from hitsend.events import ContextBuilt, Section
from hitsend.messages import Message, Text
from hitsend.send import Turn
from hitsend.settings import Settings
from hitsend.store import Store, StoredMessage


async def build_context(
    turn: Turn, store: Store, settings: Settings
) -> tuple[tuple[Message, ...], ContextBuilt]:
    context = turn.send.given or await _conversation(turn, store, settings)
    return context, ContextBuilt(_sections(context))


async def _conversation(turn: Turn, store: Store, settings: Settings) -> tuple[Message, ...]:
    instructions = Message("system", (Text(settings.instructions),), "system")
    said = [turn.said] if turn.said else []
    return (instructions, *await _history(turn, store), *said)


def _sections(context: Sequence[Message]) -> tuple[Section, ...]:
    """The context as stretches that came from one place."""
    runs = ((source, list(run)) for source, run in groupby(context, lambda m: m.source))
    return tuple(Section(source, len(run), sum(len(m.text) for m in run)) for source, run in runs)


async def _history(turn: Turn, store: Store) -> list[Message]:
    send = turn.send
    if send.conversation_id is None or send.parent_id is None:
        return []
    path = await store.conversations.path(send.conversation_id, send.user_id, send.parent_id)
    _check_parent(path[-1], send.action == "variant")
    messages = [Message(stored.role, stored.parts) for stored in path]
    if send.action == "variant":
        messages[-1] = Message("user", messages[-1].parts, "user")
    return messages


def _check_parent(parent: StoredMessage, is_variant: bool) -> None:
    if parent.status == "in_progress":
        raise Conflict("The last answer is still being written. Stop it or wait for it.")
    if is_variant and parent.role != "user":
        raise Refused("Only a person's message can be answered again.", param="parent_message_id")
    if not is_variant and parent.role == "user":
        raise Refused("A message follows an answer.", param="parent_message_id")
