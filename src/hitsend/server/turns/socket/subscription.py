"""One turn followed on one socket, with flow control: at most a window of messages is unacked.

While the window is full the turn's log grows, and the missed events are coalesced.
"""

import asyncio
import time
from collections.abc import Iterator, Sequence
from contextlib import aclosing
from itertools import chain
from typing import Protocol

import msgspec

from hitsend.events import Stamped
from hitsend.server.turns.resume import ResumedStream, TurnStatus
from hitsend.server.turns.socket.limits import SocketLimits
from hitsend.wire import socket as wire
from hitsend.wire.coalesce import coalesce_text
from hitsend.wire.side_events import StreamSnapshot
from hitsend.wire.unacked import UnackedWindow
from hitsend.wire.v1 import Item, V1View


class FrameSender(Protocol):
    async def send(self, frame: wire.Frame) -> None:
        """Waits while the outbox is full."""


class Subscription:
    task: asyncio.Task[None]
    """Ends with the turn."""
    _turn: TurnStatus

    def __init__(
        self,
        topic_id: str,
        limits: SocketLimits,
        sender: FrameSender,
        command_id: int | None = None,
    ) -> None:
        self.topic_id = topic_id
        self.command_id = command_id
        """The id of the `subscribe` command, until it has its reply."""
        self._limits = limits
        self._sender = sender
        self._window = UnackedWindow(limits.window)
        self._has_room: asyncio.Future[None] | None = None
        self._unacked_since = 0.0

    @property
    def is_over(self) -> bool:
        """The turn has ended, and every message is acked."""
        return self.task.done() and self._window.is_empty

    def is_overdue(self, now: float) -> bool:
        return not self._window.is_empty and now - self._unacked_since > self._limits.ack_s

    async def push(self, stream: ResumedStream) -> None:
        """Sends the stream to the end of the turn. The reply to `subscribe` comes first, and holds
        the start of what the reader missed."""
        self._turn, self._window = stream.turn, UnackedWindow(self._limits.window)
        async with aclosing(stream.batches) as batches:
            is_behind = stream.view.seq < stream.last_seq
            missed = _items(stream.view, await anext(batches, ()) if is_behind else ())
            await self._send_items(await self._open(stream, missed))
            async for batch in batches:
                await self._send_items(_items(stream.view, batch))

    def ack(self, seq: int) -> None:
        if self._window.ack(seq):
            self._unacked_since = time.monotonic()
            if self._has_room is not None and not self._has_room.done():
                self._has_room.set_result(None)

    async def try_resend(self, first: int, last: int) -> bool:
        """Sends the same bytes again. Returns False if they are not in the window."""
        items = self._window.items_covering(first, last)
        for item in items or ():
            again = msgspec.structs.replace(self._message(item), redelivery=True)
            await self._sender.send(again)
        return items is not None

    async def _open(self, stream: ResumedStream, missed: Iterator[Item]) -> Iterator[Item]:
        """Sends the reply and the snapshot, if due. Returns the missed items that are left."""
        opening = stream.opening
        if self.command_id is not None:
            is_snapshot = isinstance(opening, StreamSnapshot)
            first, missed = ([], missed) if is_snapshot else self._split_catchup(missed)
            catchups = [frame for _, frame in first]
            reply = wire.SubscribeReply(self.topic_id, 1, stream.last_seq, catchups, opening.carry)
            await self._sender.send(wire.ReplyFrame(self.command_id, reply))
            self.command_id = None
            for item, _ in first:
                self._add_unacked(item)
        if isinstance(opening, StreamSnapshot):
            snapshot = wire.SnapshotFrame(
                self.topic_id, opening.seq, opening.channels, opening.carry
            )
            await self._sender.send(snapshot)
        return missed

    def _split_catchup(
        self, missed: Iterator[Item]
    ) -> tuple[list[tuple[Item, msgspec.Raw]], Iterator[Item]]:
        """Splits off the items that fit into the reply, at least one."""
        first: list[tuple[Item, msgspec.Raw]] = []
        num_bytes_left = self._limits.catchup_bytes
        for item in missed:
            frame = wire.encode_frame(self._message(item))
            if first and len(frame) > num_bytes_left:
                return first, chain([item], missed)
            num_bytes_left -= len(frame)
            first.append((item, msgspec.Raw(frame)))
        return first, missed

    async def _send_items(self, items: Iterator[Item]) -> None:
        for item in items:
            while not self._window.has_room(item):
                self._has_room = asyncio.get_running_loop().create_future()
                await self._has_room
            await self._sender.send(self._message(item))
            self._add_unacked(item)

    def _add_unacked(self, item: Item) -> None:
        """Only after it is sent: the ack timeout must not start while it waits for the outbox."""
        if self._window.is_empty:
            self._unacked_since = time.monotonic()
        self._window.add(item)

    def _message(self, item: Item) -> wire.MessageFrame:
        turn = self._turn
        return wire.build_message_frame(self.topic_id, turn.conversation_id, turn.turn_id, item)


def _items(view: V1View, batch: Sequence[Stamped]) -> Iterator[Item]:
    """Lazily: items that do not fit into the window yet are not encoded yet."""
    for stamped in coalesce_text(batch):
        yield from view.encode_items([stamped])
