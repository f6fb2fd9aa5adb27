"""With lost, repeated and late frames a page still ends with the stored messages."""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.server.pages import Follower, Frame
from tests.unit.wire.test_views import (
    TOKEN,
    batches,
    cuts,
    first_events,
    stamped,
    turns,
    wire_messages,
)

from hitsend.events import Stamped
from hitsend.server.turns.resume import ResumedStream, TurnStatus
from hitsend.server.turns.socket.limits import SocketLimits
from hitsend.server.turns.socket.subscription import Subscription
from hitsend.wire import socket as wire
from hitsend.wire.side_events import Opening, StreamResumed, StreamSnapshot
from hitsend.wire.v1 import V1View, build_channels

RULES = SocketLimits(window=wire.WindowSize(items=3, bytes=20_000), catchup_bytes=500)
TURN = TurnStatus("turn", "conversation", 1, None)
MOST_TRIES = 200
MUCH_LATER = 1e9

faults = st.lists(
    st.sampled_from(["pass", "pass", "lose", "double", "delay", "garble"]), max_size=60
)


@given(turns, cuts, faults)
def test_a_page_ends_with_the_stored_messages_whatever_the_network_does(
    log: list[Stamped], at: list[int], faults: list[str]
) -> None:
    follower = asyncio.run(UnreliableSocket(log, at, iter(faults)).run())
    assert follower.messages == wire_messages(log)
    assert follower.of_type("message_stream_complete")


@pytest.mark.parametrize("command_id", [None, 1])
async def test_the_ack_timeout_does_not_start_before_a_message_is_sent(
    command_id: int | None,
) -> None:
    story, line = UnreliableSocket(stamped(first_events("Hello?")), [], iter(())), FullOutbox()
    topic = Subscription("topic", RULES, line, command_id)
    topic.task = asyncio.create_task(topic.push(story.open_stream(0)))
    async with asyncio.timeout(5):
        await line.is_asked.wait()
        assert not topic.is_overdue(MUCH_LATER)
        line.is_asked.clear()
        line.room.release()
        await line.is_asked.wait()  # the next frame
        assert topic.is_overdue(MUCH_LATER)
    topic.task.cancel()


class FullOutbox:
    """A socket whose outbox is full for a while."""

    def __init__(self) -> None:
        self.is_asked = asyncio.Event()
        self.room = asyncio.Semaphore(0)

    async def send(self, _: wire.Frame) -> None:
        self.is_asked.set()
        await self.room.acquire()


class UnreliableSocket:
    """A turn, a page, and a socket between them that is unreliable for a while."""

    def __init__(self, log: Sequence[Stamped], at: list[int], faults: Iterator[str]) -> None:
        self.log = log
        self.at = at
        self.faults = faults
        self.sent: list[Frame] = []
        self.late: list[Frame] = []
        self.page = Follower("topic")

    async def run(self) -> Follower:
        """Reconnects whenever no more frames arrive, until the turn is complete."""
        for _ in range(MOST_TRIES):
            await self._connect()
            if self.page.is_complete:
                return self.page
        raise AssertionError("it never got through")

    async def send(self, frame: wire.Frame) -> None:
        self.sent.append(msgspec.json.decode(wire.encode_frame(frame)))

    async def _connect(self) -> None:
        self.sent, self.late, self.page.early = [], [], {}
        topic = Subscription("topic", RULES, self, 1)
        topic.task = asyncio.create_task(topic.push(self.open_stream(self.page.last)))
        while frames := await self._next_frames():
            for frame in frames:
                for one in frame["reply"]["catchups"] if frame["type"] == "reply" else [frame]:
                    await self._take(topic, one)
        topic.task.cancel()
        await asyncio.wait([topic.task])

    async def _next_frames(self) -> list[Frame]:
        await asyncio.sleep(0)
        await asyncio.sleep(0)  # lets a cancelled task end before the next starts
        sent, self.sent = [*self.sent, *self.late], []
        self.late = []
        return [one for frame in sent for one in self._apply_fault(frame)]

    def _apply_fault(self, frame: Frame) -> list[Frame]:
        match next(self.faults, "pass"):
            case "lose":
                return []
            case "double":
                return [frame, frame]
            case "delay":
                self.late.append(frame)
                return []
            case "garble" if frame["type"] == "message":
                return [{"type": "garbled"}, frame]
        return [frame]

    async def _take(self, topic: Subscription, frame: Frame) -> None:
        if frame["type"] == "garbled":
            self._restart(topic)
            return
        for command in self.page.take(frame):
            if next(self.faults, "pass") == "lose":
                continue
            if command["type"] == "ack":
                topic.ack(command["seq"])
            elif not await topic.try_resend(command["from"], command["to"]):
                self._restart(topic)

    def _restart(self, topic: Subscription) -> None:
        topic.task.cancel()
        topic.task = asyncio.create_task(topic.push(self.open_stream(0, is_compact=True)))

    def open_stream(self, offset: int, is_compact: bool = False) -> ResumedStream:
        view = V1View(16, TOKEN)
        if is_compact:
            offset = max(len(self.log) - 3, 1)
        view.skip(self.log[:offset])
        opening: Opening = StreamResumed("conversation", "turn", offset + 1, view.carry)
        if is_compact:
            shown = build_channels(self.log[:offset])
            opening = StreamSnapshot("conversation", "turn", view.seq, shown, view.carry)
        upcoming = self._split_batches(self.log[offset:])
        return ResumedStream(TURN, view, opening, TOKEN, len(self.log), upcoming)

    async def _split_batches(
        self, log: Sequence[Stamped]
    ) -> AsyncGenerator[Sequence[Stamped], None]:
        for batch in batches(log, self.at):
            yield batch
