"""Step 2. What should the model see? Instructions, what was said before, the message."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from hitsend.errors import Conflict, Refused
from hitsend.events import Action, ContextBuilt, Ending, Section
from hitsend.messages import Message, Part, Text
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
            messages = _to_be_continued(messages)
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


def _to_be_continued(messages: Sequence[Message]) -> list[Message]:
    """What was asked last and what was answered so far are no history yet."""
    *before, answer = messages
    if not answer.text:
        raise Refused(
            "The answer was cut short before its first word. Ask for another one instead.",
            param="parent_message_id",
        )
    asked = [Message(question.role, question.parts, "user") for question in before[-1:]]
    return [*before[:-1], *asked, Message(answer.role, answer.parts, "answer")]


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
