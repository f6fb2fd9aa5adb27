"""A store in a fresh folder, and helpers to ask and answer in it."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from uuid import uuid4

import pytest

from hitsend.events import (
    AnswerFinished,
    AnswerStarted,
    AnyEvent,
    Ending,
    MessageAdded,
    Stamped,
    TextArrived,
    TitleChosen,
    TurnFinished,
)
from hitsend.messages import Message, Text, Usage
from hitsend.store import FinishedTurn, LogEntry, NewTurn, Store, User
from hitsend.transcript import fold


@pytest.fixture
def clock() -> SimpleNamespace:
    """A clock that only tests advance."""
    return SimpleNamespace(now=1_000_000.0)


@pytest.fixture
async def store(
    tmp_path: Path, copy_database: Callable[[Path], Path], clock: SimpleNamespace
) -> AsyncIterator[Store]:
    store = await Store.open(copy_database(tmp_path / "data"), now=lambda: clock.now)
    yield store
    await store.close()


@pytest.fixture
async def ada(store: Store) -> User:
    return await store.accounts.create("Ada", "hash", "member")


@pytest.fixture
async def eve(store: Store) -> User:
    return await store.accounts.create("Eve", "hash", "member")


@pytest.fixture
def ask(store: Store, clock: SimpleNamespace) -> Callable[..., Awaitable[NewTurn]]:
    """Sends a message in a new conversation, or in that of an earlier turn."""

    async def ask(
        user: User,
        text: str,
        *,
        to: NewTurn | None = None,
        after: str | None = None,
        title: str = "",
    ) -> NewTurn:
        clock.now += 1
        new = NewTurn(
            turn_id=str(uuid4()),
            user_id=user.id,
            conversation_id=to.conversation_id if to else str(uuid4()),
            creates_conversation=to is None,
            title=title,
            action="next",
            model="tiny",
            message_id=str(uuid4()),
            parent_id=after,
            parts=(Text(text),),
            answer_id=str(uuid4()),
            created_at=clock.now,
        )
        await store.turns.accept(new)
        return new

    return ask


@pytest.fixture
def answer(store: Store, clock: SimpleNamespace) -> Callable[..., Awaitable[list[Stamped]]]:
    """Finishes a turn as the runner would, and returns its log."""

    async def answer(
        turn: NewTurn, text: str, *, ending: Ending = "stop", title: str | None = None
    ) -> list[Stamped]:
        events = enumerate(_events(turn, text, ending, title), 1)
        log = [Stamped(seq, seq * 10.0, event) for seq, event in events]
        clock.now += 1
        closing = FinishedTurn(turn.turn_id, fold(line.event for line in log), clock.now)
        await store.turns.append([LogEntry(turn.turn_id, line) for line in log], [closing])
        return log

    return answer


def _events(turn: NewTurn, text: str, ending: Ending, title: str | None) -> list[AnyEvent]:
    assert turn.message_id is not None
    usage = Usage(num_input_tokens=7, num_cached_tokens=3, num_output_tokens=5)
    return [
        MessageAdded(turn.message_id, turn.parent_id, Message("user", turn.parts, "user")),
        AnswerStarted(turn.answer_id, turn.message_id, turn.model),
        *(TextArrived(word) for word in text.split(" ")),
        AnswerFinished(turn.answer_id, ending, usage),
        *([TitleChosen(title, 1)] if title else []),
        TurnFinished(ending),
    ]
