"""One turn followed on one socket: pushed as fast as its reader acknowledges, and no faster.

The log of the turn grows meanwhile, and what the reader missed is told in fewer, longer pieces.
"""

import asyncio
import time
from collections.abc import Iterator, Sequence
from contextlib import aclosing
from itertools import chain
from typing import Protocol

import msgspec

from hitsend.events import Stamped
from hitsend.server.resuming import Resumed, Standing
from hitsend.server.socket.rules import Rules
from hitsend.wire import socket as wire
from hitsend.wire.coalesce import coalesced
from hitsend.wire.typed import StreamSnapshot
from hitsend.wire.v1 import Item, V1View
from hitsend.wire.window import Window


class Speaker(Protocol):
    async def say(self, frame: wire.Frame) -> None:
        """Waits where too much is waiting to leave."""


class Topic:
    task: asyncio.Task[None]
    """Ends with the turn."""
    _turn: Standing

    def __init__(
        self, topic_id: str, rules: Rules, speaker: Speaker, order_id: int | None = None
    ) -> None:
        self.topic_id = topic_id
        self.order_id = order_id
        """Of the command that asked for it, until that is answered."""
        self._rules = rules
        self._speaker = speaker
        self._window = Window(rules.window)
        self._has_moved: asyncio.Future[None] | None = None
        self._waiting_since = 0.0

    @property
    def is_over(self) -> bool:
        """The turn has ended, and its reader has all of it."""
        return self.task.done() and self._window.is_empty

    def is_overdue(self, now: float) -> bool:
        return not self._window.is_empty and now - self._waiting_since > self._rules.ack_s

    async def push(self, resumed: Resumed) -> None:
        """Everything from where the stream was opened to the end of the turn. A command that
        asked for it is answered first, with the beginning of what was missed."""
        self._turn, self._window = resumed.turn, Window(self._rules.window)
        async with aclosing(resumed.coming) as coming:
            is_behind = resumed.view.seq < resumed.last_seq
            missed = _items(resumed.view, await anext(coming, ()) if is_behind else ())
            await self._push(await self._open(resumed, missed))
            async for batch in coming:
                await self._push(_items(resumed.view, batch))

    def ack(self, seq: int) -> None:
        if self._window.ack(seq):
            self._waiting_since = time.monotonic()
            if self._has_moved is not None and not self._has_moved.done():
                self._has_moved.set_result(None)

    async def say_again(self, first: int, last: int) -> bool:
        """The same, byte by byte. False where it is no longer kept, or never was."""
        items = self._window.again(first, last)
        for item in items or ():
            await self._speaker.say(msgspec.structs.replace(self._message(item), redelivery=True))
        return items is not None

    async def _open(self, resumed: Resumed, missed: Iterator[Item]) -> Iterator[Item]:
        """What is left to tell of what was missed."""
        opening = resumed.opening
        if self.order_id is not None:
            is_snapshot = isinstance(opening, StreamSnapshot)
            first, missed = ([], missed) if is_snapshot else self._first(missed)
            catchups = [frame for _, frame in first]
            told = wire.Subscribed(self.topic_id, 1, resumed.last_seq, catchups, opening.carry)
            await self._speaker.say(wire.Reply(self.order_id, told))
            self.order_id = None
            for item, _ in first:
                self._keep(item)
        if isinstance(opening, StreamSnapshot):
            shown = wire.Snapshot(self.topic_id, opening.seq, opening.channels, opening.carry)
            await self._speaker.say(shown)
        return missed

    def _first(
        self, missed: Iterator[Item]
    ) -> tuple[list[tuple[Item, msgspec.Raw]], Iterator[Item]]:
        """What goes with the reply, and the rest. It is one item at least."""
        first: list[tuple[Item, msgspec.Raw]] = []
        room = self._rules.catchup_bytes
        for item in missed:
            frame = wire.encode(self._message(item))
            if first and len(frame) > room:
                return first, chain([item], missed)
            room -= len(frame)
            first.append((item, msgspec.Raw(frame)))
        return first, missed

    async def _push(self, items: Iterator[Item]) -> None:
        for item in items:
            while not self._window.has_room(item):
                self._has_moved = asyncio.get_running_loop().create_future()
                await self._has_moved
            await self._speaker.say(self._message(item))
            self._keep(item)

    def _keep(self, item: Item) -> None:
        """Once it is said: what still waits for room cannot be acknowledged."""
        if self._window.is_empty:
            self._waiting_since = time.monotonic()
        self._window.add(item)

    def _message(self, item: Item) -> wire.Message:
        turn = self._turn
        return wire.message(self.topic_id, turn.conversation_id, turn.turn_id, item)


def _items(view: V1View, batch: Sequence[Stamped]) -> Iterator[Item]:
    """One by one: what the reader has no room for yet is not made yet."""
    for stamped in coalesced(batch):
        yield from view.items([stamped])
