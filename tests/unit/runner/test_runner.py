"""A turn outlives the connection that asked for it, and nothing is shown before it is stored."""

import asyncio
import gc
import sqlite3
from collections.abc import AsyncGenerator
from contextlib import aclosing, closing
from pathlib import Path

import pytest

from hitsend.errors import Refused, StoreDown, Unavailable
from hitsend.events import (
    AnswerStarted,
    AnyEvent,
    ContextBuilt,
    Stamped,
    TextArrived,
    TitleChosen,
    TurnAccepted,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from hitsend.mailbox import Mailbox
from hitsend.messages import Sampling
from hitsend.runner import News, Runner
from hitsend.runner.log import TurnLog
from hitsend.runner.task import TurnTask
from hitsend.store import NewTurn, Store
from hitsend.wire.v1 import V1View

TURN = "00000000-0000-4000-8000-000000000001"
TALK = "00000000-0000-4000-8000-000000000002"
END = TurnFinished("stop")


class World:
    def __init__(self, store: Store, user_id: str) -> None:
        self.store = store
        self.user_id = user_id
        self.runner = Runner(store)

    async def turn_events(
        self, *texts: str, gate: asyncio.Event, name: str = ""
    ) -> AsyncGenerator[AnyEvent, None]:
        """Yields the events of a turn with these texts, which ends when the gate opens."""
        yield TurnStarted(TURN + name, TALK + name, "next", "tiny", True, 1.0, Sampling())
        await self.store.turns.accept(
            NewTurn(
                turn_id=TURN + name,
                user_id=self.user_id,
                conversation_id=TALK + name,
                creates_conversation=True,
                action="next",
                model="tiny",
                message_id="q" + name,
                answer_id="a" + name,
                created_at=1.0,
            )
        )
        yield TurnAccepted()
        yield AnswerStarted("a" + name, "q" + name, "tiny")
        for text in texts:
            yield TextArrived(text)
        await gate.wait()
        yield TurnFinished("stop")


@pytest.fixture
async def world(tmp_path: Path) -> AsyncGenerator[World]:
    store = await Store.open(tmp_path / "hitsend.db")
    user = await store.accounts.create("ada", "hash", "member")
    world = World(store, user.id)
    await world.runner.open()
    async with asyncio.timeout(60):
        yield world
    await world.runner.close()
    await store.close()


def open_gate() -> asyncio.Event:
    gate = asyncio.Event()
    gate.set()
    return gate


async def read(turn: TurnLog, after: int = 0) -> list[Stamped]:
    return [stamped async for batch in turn.follow(after) for stamped in batch]


def text(log: list[Stamped]) -> str:
    return "".join(s.event.text for s in log if isinstance(s.event, TextArrived))


async def first_text(turn: TurnLog) -> list[Stamped]:
    """Follows until the first text, then disconnects."""
    seen: list[Stamped] = []
    async for batch in turn.follow():
        seen += batch
        if text(seen):
            break
    return seen


async def test_two_followers_see_the_same_turn_numbered_without_gaps(world: World) -> None:
    turn = await world.runner.start(world.user_id, world.turn_events("a", "b", gate=open_gate()))
    first, second = await asyncio.gather(read(turn), read(turn))
    assert first == second
    assert [s.seq for s in first] == list(range(1, len(first) + 1))
    assert text(first) == "ab"


async def test_whatever_is_shown_is_stored_already(world: World) -> None:
    gate = asyncio.Event()
    turn = await world.runner.start(world.user_id, world.turn_events("a", gate=gate))
    async for batch in turn.follow():
        stored = await world.store.turns.events(TURN, world.user_id)
        assert stored[: batch[-1].seq][-len(batch) :] == list(batch)
        gate.set()


async def test_resuming_continues_after_the_last_event_seen(world: World) -> None:
    gate = asyncio.Event()
    turn = await world.runner.start(world.user_id, world.turn_events("a", "b", gate=gate))
    seen = await first_text(turn)
    gate.set()
    past, coming = await world.runner.follow(TURN, world.user_id, seen[-1].seq)
    rest = [stamped async for batch in coming for stamped in batch]
    assert list(past) == seen
    assert [s.seq for s in seen + rest] == list(range(1, len(seen + rest) + 1))
    assert text(seen + rest) == "ab"
    assert await world.store.turns.events(TURN, world.user_id) == seen + rest


async def test_only_stop_ends_a_turn_early_and_its_text_is_kept(world: World) -> None:
    turn = await world.runner.start(world.user_id, world.turn_events("a", gate=asyncio.Event()))
    await first_text(turn)
    await world.runner.stop(world.user_id, TALK)
    log = await read(turn)
    assert log[-1].event == TurnFinished("stopped")
    conversation = await world.store.conversations.get(TALK, world.user_id)
    assert [(m.text, m.status) for m in conversation.messages][-1] == ("a", "partial")
    assert conversation.running is None


async def test_stopping_at_once_still_ends_the_turn(world: World) -> None:
    turn = await world.runner.start(world.user_id, world.turn_events("a", gate=asyncio.Event()))
    await world.runner.stop(world.user_id, TALK, TURN)
    assert (await read(turn))[-1].event == TurnFinished("stopped")


async def test_all_turns_end_when_they_are_stopped_while_the_disk_refuses(
    world: World, tmp_path: Path
) -> None:
    async def endless(name: str, ended: asyncio.Event) -> AsyncGenerator[AnyEvent, None]:
        try:
            async with aclosing(world.turn_events("a", gate=asyncio.Event(), name=name)) as events:
                async for event in events:
                    yield event
        finally:
            ended.set()

    ends = {name: asyncio.Event() for name in ("one", "two")}
    for name, ended in ends.items():
        turn = await world.runner.start(world.user_id, endless(name, ended))
        await first_text(turn)
    with closing(sqlite3.connect(tmp_path / "hitsend.db")) as greedy:
        greedy.execute("BEGIN IMMEDIATE")
        stopping = asyncio.create_task(world.runner.stop(world.user_id))
        async with asyncio.timeout(3):
            for ended in ends.values():
                await ended.wait()
        assert not stopping.done()
    await stopping
    assert await world.store.turns.list_running() == []


async def test_another_person_cannot_stop_or_follow(world: World) -> None:
    gate = asyncio.Event()
    turn = await world.runner.start(world.user_id, world.turn_events("a", gate=gate))
    await world.runner.stop("somebody else", TALK)
    with pytest.raises(Refused, match="no such turn"):
        await world.runner.follow(TURN, "somebody else")
    gate.set()
    assert (await read(turn))[-1].event == TurnFinished("stop")


async def test_a_refusal_before_acceptance_belongs_to_the_request(world: World) -> None:
    async def refuse() -> AsyncGenerator[AnyEvent, None]:
        yield TurnStarted(TURN, TALK, "next", "tiny", True, 1.0, Sampling())
        raise Refused("There is nothing to send.")

    with pytest.raises(Refused, match="nothing to send"):
        await world.runner.start(world.user_id, refuse())
    assert await world.store.turns.list_running() == []


@pytest.mark.parametrize(
    ("raised", "told"),
    [
        (
            Unavailable("The engine is gone.", retry_after_s=2),
            TurnFailed("unavailable", "The engine is gone.", True, 2000),
        ),
        (
            ZeroDivisionError("the password is hunter2"),
            TurnFailed("internal_error", "Something broke on our side. It has been logged.", False),
        ),
    ],
)
async def test_a_failure_after_acceptance_is_an_event_without_internal_details(
    world: World, raised: Exception, told: TurnFailed
) -> None:
    async def fail() -> AsyncGenerator[AnyEvent, None]:
        async for event in world.turn_events("a", gate=open_gate()):
            if isinstance(event, TurnFinished):
                raise raised
            yield event

    turn = await world.runner.start(world.user_id, fail())
    log = await read(turn)
    assert log[-1].event == told
    assert text(log) == "a"
    assert await world.store.turns.list_running() == []


async def test_a_silent_turn_sends_heartbeats(world: World) -> None:
    gate = asyncio.Event()
    turn = await world.runner.start(world.user_id, world.turn_events("a", gate=gate))
    async for batch in turn.follow(heartbeat_s=0.01):
        if not batch:
            gate.set()
    assert turn.is_closed


async def test_turns_left_by_a_crash_are_closed_at_the_next_start(world: World) -> None:
    turn = await world.runner.start(world.user_id, world.turn_events("a", gate=asyncio.Event()))
    seen = await first_text(turn)
    after_the_crash = Runner(world.store)  # the first one never came to close anything
    await after_the_crash.open()
    stored = await world.store.turns.events(TURN, world.user_id)
    assert stored[:-1] == seen
    assert stored[-1].event == TurnFinished("interrupted")
    conversation = await world.store.conversations.get(TALK, world.user_id)
    assert [(m.text, m.status) for m in conversation.messages][-1] == ("a", "partial")
    await after_the_crash.close()


async def test_a_turn_killed_before_its_first_commit_can_still_be_read(world: World) -> None:
    events = world.turn_events("a", gate=asyncio.Event())
    async for event in events:
        if isinstance(event, TurnAccepted):
            break  # accepted, and the power goes out
    await events.aclose()
    after_the_crash = Runner(world.store)
    await after_the_crash.open()
    log = await world.store.turns.events(TURN, world.user_id)
    assert [type(stamped.event) for stamped in log] == [TurnStarted, TurnFinished]
    assert b'"status":"interrupted"' in V1View().encode(log)
    await after_the_crash.close()


async def test_a_turn_that_cannot_be_stored_fails_alone_and_says_so(world: World) -> None:
    async def broken() -> AsyncGenerator[AnyEvent, None]:
        async for event in world.turn_events(gate=open_gate()):
            yield TextArrived("half a character: \ud83d") if event == END else event

    turn = await world.runner.start(world.user_id, broken())
    log = await read(turn)
    assert isinstance(log[-1].event, TurnFailed)
    assert await world.store.turns.events(TURN, world.user_id) == log
    assert await world.store.turns.list_running() == []


async def test_closing_while_a_turn_is_being_accepted_does_not_hang(world: World) -> None:
    at_the_door, closing = asyncio.Event(), asyncio.Event()

    async def slow() -> AsyncGenerator[AnyEvent, None]:
        yield TurnStarted(TURN, TALK, "next", "tiny", True, 1.0, Sampling())
        at_the_door.set()
        await closing.wait()
        yield ContextBuilt(())
        raise AssertionError("it went on")

    starting = asyncio.create_task(world.runner.start(world.user_id, slow()))
    await at_the_door.wait()
    ending = asyncio.create_task(world.runner.close())
    closing.set()
    with pytest.raises(Unavailable):
        await starting
    await ending
    assert await world.store.turns.list_running() == []


async def test_closing_ends_every_turn_and_refuses_new_ones(world: World) -> None:
    turn = await world.runner.start(world.user_id, world.turn_events("a", gate=asyncio.Event()))
    await world.runner.close()
    assert (await read(turn))[-1].event == TurnFinished("interrupted")
    with pytest.raises(Unavailable):
        await world.runner.start(world.user_id, world.turn_events(gate=open_gate()))


async def test_a_store_that_breaks_for_one_turn_does_not_stop_the_others(world: World) -> None:
    """Even the news that a turn failed may not be storable: here its text cannot be encoded,
    and by then its conversation has been deleted."""
    gate = asyncio.Event()

    async def broken() -> AsyncGenerator[AnyEvent, None]:
        async for event in world.turn_events("a", gate=gate):
            yield TextArrived("\ud83d") if event == END else event

    turn = await world.runner.start(world.user_id, broken())
    await first_text(turn)
    await world.store.conversations.delete(TALK, world.user_id)
    gate.set()
    assert (await read(turn))[-1].seq >= 1
    another = world.turn_events("still here", gate=open_gate(), name="2")
    next_turn = await world.runner.start(world.user_id, another)
    assert text(await read(next_turn)) == "still here"


class PendingTurn:
    """A turn that waits to be accepted, as if a model had to be loaded for it first."""

    def __init__(self, world: World) -> None:
        self.has_come, self.may_go_on = asyncio.Event(), asyncio.Event()
        self.starting = asyncio.create_task(world.runner.start(world.user_id, self._events(world)))

    async def _events(self, world: World) -> AsyncGenerator[AnyEvent, None]:
        async with aclosing(world.turn_events("a", gate=asyncio.Event())) as events:
            async for event in events:
                yield event
                if isinstance(event, TurnStarted):
                    self.has_come.set()
                    await self.may_go_on.wait()


async def until_begun(world: World) -> TurnLog:
    async with asyncio.timeout(5), aclosing(world.runner.watch(world.user_id)) as news:
        async for _ in news:
            if turn := world.runner.find(TURN, world.user_id):
                return turn
    raise AssertionError("nothing was begun")


async def test_a_sender_that_is_cancelled_leaves_a_turn_that_runs(world: World) -> None:
    pending = PendingTurn(world)
    await pending.has_come.wait()
    pending.starting.cancel()
    await asyncio.wait([pending.starting])
    assert pending.starting.cancelled()
    pending.may_go_on.set()
    assert text(await first_text(await until_begun(world))) == "a"


async def test_a_turn_stopped_during_acceptance_ends_once_accepted(world: World) -> None:
    pending = PendingTurn(world)
    await pending.has_come.wait()
    await world.runner.stop(world.user_id, TALK + "another")
    await world.runner.stop("somebody else")
    await world.runner.stop(world.user_id, TALK)
    pending.may_go_on.set()
    async with asyncio.timeout(5):
        assert (await read(await pending.starting))[-1].event == TurnFinished("stopped")


async def test_stopping_another_turn_does_not_stop_one_being_accepted(world: World) -> None:
    pending = PendingTurn(world)
    await pending.has_come.wait()
    await world.runner.stop(world.user_id, TALK + "another")
    await world.runner.stop("somebody else")
    pending.may_go_on.set()
    assert text(await first_text(await pending.starting)) == "a"


async def test_a_turn_that_nobody_runs_cannot_be_read_yet(world: World) -> None:
    async with aclosing(world.turn_events(gate=open_gate())) as events:
        async for event in events:
            if isinstance(event, TurnAccepted):
                break
    with pytest.raises(Unavailable):
        await world.runner.follow(TURN, world.user_id)


async def test_a_title_that_cannot_be_stored_leaves_the_answer_whole(world: World) -> None:
    ended = asyncio.Event()

    async def named() -> AsyncGenerator[AnyEvent, None]:
        async for event in world.turn_events("all of it", gate=open_gate()):
            yield event
        await ended.wait()
        yield TitleChosen("half a character: \ud83d", 2)

    turn = await world.runner.start(world.user_id, named())
    await turn.until_finished()
    await turn.until_finished()  # it has: nothing is waited for
    ended.set()
    assert (await read(turn))[-1].event == END
    assert (await world.store.turns.get(TURN, world.user_id)).state == "stop"
    assert (await world.store.turns.events(TURN, world.user_id))[-1].event == END


async def test_events_are_shown_once_even_if_publishing_news_fails(world: World) -> None:
    class Full(Mailbox[News]):
        def put_nowait(self, letter: News) -> None:
            raise RuntimeError("no room")

    async def named() -> AsyncGenerator[AnyEvent, None]:
        async for event in world.turn_events("once", gate=asyncio.Event()):
            yield event
            if isinstance(event, TextArrived):
                yield TitleChosen("Once", 1)

    turn = await world.runner.start(world.user_id, named())
    world.runner._news._mailboxes[world.user_id].add(Full())
    await first_text(turn)
    world.runner._news._mailboxes.clear()
    another = world.turn_events(gate=open_gate(), name="2")
    await read(await world.runner.start(world.user_id, another))  # so the first is through
    assert [stamped.seq for stamped in turn.events] == list(range(1, len(turn.events) + 1))
    assert text(turn.events) == "once"
    assert await world.store.turns.events(TURN, world.user_id) == turn.events


async def test_a_failed_early_end_that_nobody_awaits_is_logged(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    is_down, unlooked = asyncio.Event(), list[object]()

    def tell(_: TurnTask) -> None:
        if is_down.is_set():
            raise StoreDown("The disk failed.")

    asyncio.get_running_loop().set_exception_handler(lambda _, context: unlooked.append(context))
    work = TurnTask(world.user_id, 0, world.turn_events(gate=asyncio.Event()), tell)
    await work.run_until_accepted(lambda: None)
    is_down.set()
    await asyncio.wait([work.end_early("stopped")])
    del work
    gc.collect()
    assert unlooked == []
    assert "The disk failed." in caplog.text
