"""Step 2. What should the model see? Instructions, what was said before, the message."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, takewhile

from hitsend.errors import Conflict, Refused
from hitsend.events import Action, AnyEvent, ContextBuilt, Ending, Section, TextArrived
from hitsend.messages import UNTOLD, Begun, Message, Part, Text
from hitsend.send import Turn
from hitsend.settings import Settings
from hitsend.store import Store, StoredMessage

CUT_SHORT: frozenset[Ending] = frozenset({"length", "stopped", "interrupted", "failed"})


async def build_context(
    turn: Turn, store: Store, settings: Settings
) -> tuple[tuple[Message, ...], ContextBuilt]:
    """To continue an answer, the context ends with what it has said so far."""
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
    _check_parent(path[-1], send.action)
    messages = list(_messages(path))
    match send.action:
        case "variant":
            messages[-1] = Message("user", messages[-1].parts, "user")
        case "continue":
            messages = _to_be_continued(messages, await _token_ids(turn, path, store))
    return messages


def _messages(path: Sequence[StoredMessage]) -> Iterator[Message]:
    """Answers that follow one another are one answer, written in several turns."""
    for role, run in groupby(path, lambda stored: stored.role):
        if role == "assistant":
            yield Message(role, tuple(_joined(part for stored in run for part in stored.parts)))
        else:
            yield from (Message(role, stored.parts) for stored in run)


def _joined(parts: Iterable[Part]) -> Iterator[Part]:
    """The same parts, with text that follows text as one: a word cut in two is whole again."""
    for is_text, run in groupby(parts, lambda part: isinstance(part, Text)):
        if is_text:
            yield Text("".join(part.text for part in run if isinstance(part, Text)))
        else:
            yield from run


async def _token_ids(turn: Turn, path: Sequence[StoredMessage], store: Store) -> tuple[int, ...]:
    """The tokens of the answer so far, if they are those of the model that goes on."""
    written = [*takewhile(lambda stored: stored.role == "assistant", reversed(path))]
    if any(stored.model != turn.model or stored.is_imported for stored in written):
        return ()
    ids: list[int] = []
    for stored in reversed(written):
        events = await store.turns.events(stored.turn_id, turn.send.user_id)
        ids += _ids_of_characters(stamped.event for stamped in events)
    return () if UNTOLD in ids else tuple(ids)


def _ids_of_characters(events: Iterable[AnyEvent]) -> list[int]:
    """Without those at the end that began a character and did not come to complete it."""
    tokens = [token for event in events if isinstance(event, TextArrived) for token in event.tokens]
    while tokens and not tokens[-1].text:
        tokens.pop()
    return [token.token_id for token in tokens]


def _to_be_continued(messages: Sequence[Message], token_ids: tuple[int, ...]) -> list[Message]:
    """What was asked last and what was answered so far are no history yet."""
    *before, answer = messages
    if not answer.text:
        raise Refused(
            "The answer was cut short before its first word. Ask for another one instead.",
            param="parent_message_id",
        )
    asked = [Message(question.role, question.parts, "user") for question in before[-1:]]
    return [*before[:-1], *asked, Begun(answer.role, answer.parts, "answer", token_ids)]


def _check_parent(parent: StoredMessage, action: Action) -> None:
    if parent.status == "in_progress":
        raise Conflict("The last answer is still being written. Stop it or wait for it.")
    match action:
        case "variant" if parent.role != "user":
            problem = "Only a person's message can be answered again."
        case "next" if parent.role == "user":
            problem = "A message follows an answer."
        case "continue" if parent.role == "user" or parent.ending not in CUT_SHORT:
            problem = "Only an answer that was cut short can be continued."
        case _:
            return
    raise Refused(problem, param="parent_message_id")
