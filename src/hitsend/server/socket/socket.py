"""One WebSocket: commands in, frames out, and as many turns followed on it as its page likes.

A page that goes away, is stuck or is thrown out ends its socket and nothing else: the turns
belong to the runner.
"""

import asyncio
import time
from contextlib import aclosing, suppress
from typing import assert_never
from uuid import uuid4

from starlette.types import Message
from starlette.websockets import WebSocket, WebSocketDisconnect

from hitsend.errors import HitsendError, TooFast
from hitsend.mailbox import Mailbox
from hitsend.runner import News, TitleChanged, TurnBegan
from hitsend.server.calls import House
from hitsend.server.people import Person
from hitsend.server.resuming import TOPIC
from hitsend.server.socket.following import Following, turn_of
from hitsend.server.socket.points import Points
from hitsend.server.socket.rules import Hangup, LineLost
from hitsend.server.socket.sending import started
from hitsend.wire import socket as wire

CLOSE_S = 1.0
"""For the last frame to leave. Whoever does not take it is cut off."""
MAX_REASON_BYTES = 123
"""More a closing frame cannot hold."""
A_WORD = 1.0
A_TASK = 10.0


class Socket:
    def __init__(self, line: WebSocket, house: House, person: Person) -> None:
        self.connection_id = str(uuid4())
        self._line = line
        self._house = house
        self._person = person
        self._rules = house.sockets.rules
        self._following = Following(house, person, self)
        self._num_under_way = 0
        self._outbox: Mailbox[wire.Frame | Hangup] = Mailbox(self._rules.max_frames)
        self._over: asyncio.Future[Hangup] = asyncio.get_running_loop().create_future()
        self._is_connected = False
        self._heard_at = self._pinged_at = time.monotonic()
        self._points = Points(self._rules.points_per_s, self._rules.max_points, self._heard_at)

    async def run(self) -> None:
        """Until either side hangs up."""
        with self._house.sockets.joined(self._person.user.id, self):
            try:
                async with asyncio.TaskGroup() as self._tasks:
                    self._tasks.create_task(self._write())
                    self._tasks.create_task(self._read())
                    await self._attend()
            except* (Hangup, LineLost) as reasons:
                reason = reasons.exceptions[0]
                if isinstance(reason, Hangup):
                    await hang_up(self._line, reason)

    def hang_up(self, why: Hangup) -> None:
        if not self._over.done():
            self._over.set_result(why)

    async def leave(self) -> None:
        """What the turns still said, where the server has ended them, comes first."""
        if not self._house.runner.is_open:
            await self._following.until_told()
        await self._outbox.put(Hangup(Hangup.RESTARTING, "hitsend is restarting."))

    async def say(self, frame: wire.Frame) -> None:
        await self._outbox.put(frame)

    async def _attend(self) -> None:
        """Looks at the clock, until somebody wants the line closed."""
        while not self._over.done():
            await asyncio.wait([self._over], timeout=self._rules.look_s)
            now = time.monotonic()
            if now - self._heard_at > self._rules.silence_s:
                raise Hangup(Hangup.TIMED_OUT, "Nothing was heard for too long.")
            self._following.check(now)
            if now - self._pinged_at >= self._rules.ping_s and not self._outbox.full():
                self._pinged_at = now
                self._outbox.put_nowait(wire.Ping(int(time.time() * 1000)))
        raise self._over.result()

    # NOTE: neither loop keeps what it handled last, or that would stay for as long as nothing
    # follows it, which is most of the time.

    async def _write(self) -> None:
        while True:
            await self._send(await self._outbox.get())

    async def _send(self, frame: wire.Frame | Hangup) -> None:
        if isinstance(frame, Hangup):
            raise frame
        text = await _text(frame)
        try:
            async with asyncio.timeout(self._rules.stuck_s):
                await self._line.send_text(text)
        except (TimeoutError, WebSocketDisconnect):
            raise LineLost from None

    async def _read(self) -> None:
        while True:
            await self._hear(await self._line.receive())

    async def _hear(self, received: Message) -> None:
        if received["type"] == "websocket.disconnect":
            raise LineLost
        self._heard_at = time.monotonic()
        try:
            orders = wire.read(received.get("text") or "")
        except wire.BadFrame as error:
            raise Hangup(Hangup.BAD_FRAME, str(error)) from None
        for order in orders:
            await self._take(order)

    async def _take(self, order: wire.Order) -> None:
        command = order.command
        is_word = isinstance(command, wire.Ack | wire.Pong)
        if not self._points.has_spent(A_WORD if is_word else A_TASK, self._heard_at):
            raise Hangup(Hangup.TOO_FAST, "Too many commands.")
        if isinstance(command, wire.Connect) is self._is_connected:
            raise Hangup(Hangup.BAD_FRAME, "`connect` is the first command, and comes once.")
        match command:
            case wire.Ack():
                self._following.ack(command)
            case wire.Nack():
                await self._following.repair(self._tasks, command)
            case wire.Unsubscribe():
                await self._following.unsubscribe(command.topic_id)
                if order.id is not None:
                    await self.say(wire.Reply(order.id, {"topic_id": command.topic_id}))
            case wire.Pong():
                return
            case _:
                await self._answer(command, order.id)

    async def _answer(self, command: wire.Question, order_id: int | None) -> None:
        if order_id is None:
            raise Hangup(Hangup.BAD_FRAME, "A command that is answered needs an `id`.")
        try:
            match command:
                case wire.Connect():
                    await self._connect(command, order_id)
                case wire.Subscribe():
                    await self._following.subscribe(self._tasks, order_id, command)
                case wire.Send() | wire.Stop():
                    self._begin(command, order_id)
                case _:
                    assert_never(command)
        except HitsendError as error:
            await self.say(wire.refusal(order_id, error))

    async def _connect(self, command: wire.Connect, order_id: int) -> None:
        self._is_connected = True
        if command.last_connection is not None and command.last_connection != self.connection_id:
            self._house.sockets.supersede(self._person.user.id, command.last_connection)
        rules = self._rules
        heartbeat_ms = round(rules.ping_s * 1000)
        told = wire.Connected(self.connection_id, heartbeat_ms, rules.ack, rules.window)
        # Listens before the reply has left: what happens after it is news.
        self._tasks.create_task(self._tell_news())
        await self.say(wire.Reply(order_id, told))

    def _begin(self, command: wire.Send | wire.Stop, order_id: int) -> None:
        """Goes on beside the reading: it may take a while."""
        if self._num_under_way >= self._rules.max_under_way:
            raise TooFast("Too much is under way on this socket.", retry_after_s=1)
        self._num_under_way += 1
        self._tasks.create_task(self._carry_out(command, order_id))

    async def _carry_out(self, command: wire.Send | wire.Stop, order_id: int) -> None:
        try:
            done = await self._done(command)
        except HitsendError as error:
            await self.say(wire.refusal(order_id, error))
        else:
            await self.say(wire.Reply(order_id, done))
        finally:
            self._num_under_way -= 1

    async def _done(self, command: wire.Send | wire.Stop) -> object:
        if isinstance(command, wire.Send):
            return await started(self._line, self._house, self._person, command)
        turn_id = turn_of(command.topic_id)
        await self._house.runner.stop(self._person.user.id, turn_id=turn_id)
        return {"topic_id": command.topic_id}

    async def _tell_news(self) -> None:
        async with aclosing(self._house.runner.watch(self._person.user.id)) as coming:
            async for news in coming:
                if news.conversation_id:  # an API call belongs to none
                    await self.say(wire.News(_told(news)))


async def hang_up(line: WebSocket, why: Hangup) -> None:
    """Says why, if that can still be said."""
    with suppress(TimeoutError, WebSocketDisconnect):
        async with asyncio.timeout(CLOSE_S):
            reason = why.reason.encode()[:MAX_REASON_BYTES].decode(errors="ignore")
            await line.close(why.code, reason)


async def _text(frame: wire.Frame) -> str:
    """A snapshot may be megabytes, so it is not written on the event loop."""
    if isinstance(frame, wire.Snapshot):
        return await asyncio.to_thread(_encoded, frame)
    return _encoded(frame)


def _encoded(frame: wire.Frame) -> str:
    return wire.encode(frame).decode()


def _told(news: News) -> wire.TurnBegan | wire.TurnEnded | wire.TitleChanged:
    if isinstance(news, TitleChanged):
        return wire.TitleChanged(news.conversation_id, news.title)
    kind = wire.TurnBegan if isinstance(news, TurnBegan) else wire.TurnEnded
    return kind(news.conversation_id, news.turn_id, TOPIC + news.turn_id)
