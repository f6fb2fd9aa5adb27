"""Whatever is lost, doubled or late on its way: the page comes to what is stored."""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.server.pages import Follower, Frame
from tests.unit.wire.test_views import TOKEN, batches, begun, cuts, stamped, travelling, turns

from hitsend.events import Stamped
from hitsend.server.resuming import Resumed, Standing
from hitsend.server.socket.rules import Rules
from hitsend.server.socket.topic import Topic
from hitsend.wire import socket as wire
from hitsend.wire.typed import Opening, StreamResumed, StreamSnapshot
from hitsend.wire.v1 import V1View, channels

RULES = Rules(window=wire.WindowSize(items=3, bytes=20_000), catchup_bytes=500)
TURN = Standing("turn", "conversation", 1, None)
MOST_TRIES = 200
MUCH_LATER = 1e9

faults = st.lists(
    st.sampled_from(["pass", "pass", "lose", "double", "delay", "garble"]), max_size=60
)


@given(turns, cuts, faults)
def test_a_page_comes_to_what_is_stored_whatever_happens_on_the_way(
    log: list[Stamped], at: list[int], faults: list[str]
) -> None:
    follower = asyncio.run(Story(log, at, iter(faults)).told())
    assert follower.messages == travelling(log)
    assert follower.of_type("message_stream_complete")


@pytest.mark.parametrize("order_id", [None, 1])
async def test_what_waits_for_room_need_not_be_acknowledged_yet(order_id: int | None) -> None:
    story, line = Story(stamped(begun("Hello?")), [], iter(())), Busy()
    topic = Topic("topic", RULES, line, order_id)
    topic.task = asyncio.create_task(topic.push(story.resumed(0)))
    async with asyncio.timeout(5):
        await line.is_asked.wait()
        assert not topic.is_overdue(MUCH_LATER)
        line.is_asked.clear()
        line.room.release()
        await line.is_asked.wait()  # for what comes next
        assert topic.is_overdue(MUCH_LATER)
    topic.task.cancel()


class Busy:
    """A line on which nothing leaves for a while."""

    def __init__(self) -> None:
        self.is_asked = asyncio.Event()
        self.room = asyncio.Semaphore(0)

    async def say(self, _: wire.Frame) -> None:
        self.is_asked.set()
        await self.room.acquire()


class Story:
    """A turn, a page, and a line between them that is bad for a while."""

    def __init__(self, log: Sequence[Stamped], at: list[int], faults: Iterator[str]) -> None:
        self.log = log
        self.at = at
        self.faults = faults
        self.said: list[Frame] = []
        self.late: list[Frame] = []
        self.page = Follower("topic")

    async def told(self) -> Follower:
        """A page to which nothing comes any more, though there is more, connects again."""
        for _ in range(MOST_TRIES):
            await self._connect()
            if self.page.is_complete:
                return self.page
        raise AssertionError("it never got through")

    async def say(self, frame: wire.Frame) -> None:
        self.said.append(msgspec.json.decode(wire.encode(frame)))

    async def _connect(self) -> None:
        self.said, self.late, self.page.early = [], [], {}
        topic = Topic("topic", RULES, self, 1)
        topic.task = asyncio.create_task(topic.push(self.resumed(self.page.last)))
        while frames := await self._arriving():
            for frame in frames:
                for one in frame["reply"]["catchups"] if frame["type"] == "reply" else [frame]:
                    await self._take(topic, one)
        topic.task.cancel()
        await asyncio.wait([topic.task])

    async def _arriving(self) -> list[Frame]:
        await asyncio.sleep(0)
        await asyncio.sleep(0)  # a task that was cancelled has to be gone before the next begins
        said, self.said = [*self.said, *self.late], []
        self.late = []
        return [one for frame in said for one in self._befallen(frame)]

    def _befallen(self, frame: Frame) -> list[Frame]:
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

    async def _take(self, topic: Topic, frame: Frame) -> None:
        if frame["type"] == "garbled":
            self._restart(topic)
            return
        for command in self.page.take(frame):
            if next(self.faults, "pass") == "lose":
                continue
            if command["type"] == "ack":
                topic.ack(command["seq"])
            elif not await topic.say_again(command["from"], command["to"]):
                self._restart(topic)

    def _restart(self, topic: Topic) -> None:
        topic.task.cancel()
        topic.task = asyncio.create_task(topic.push(self.resumed(0, is_compact=True)))

    def resumed(self, offset: int, is_compact: bool = False) -> Resumed:
        view = V1View(16, TOKEN)
        if is_compact:
            offset = max(len(self.log) - 3, 1)
        view.skip(self.log[:offset])
        opening: Opening = StreamResumed("conversation", "turn", offset + 1, view.carry)
        if is_compact:
            shown = channels(self.log[:offset])
            opening = StreamSnapshot("conversation", "turn", view.seq, shown, view.carry)
        coming = self._coming(self.log[offset:])
        return Resumed(TURN, view, opening, TOKEN, len(self.log), coming)

    async def _coming(self, log: Sequence[Stamped]) -> AsyncGenerator[Sequence[Stamped], None]:
        for batch in batches(log, self.at):
            yield batch
