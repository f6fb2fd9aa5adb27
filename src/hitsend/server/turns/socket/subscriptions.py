"""The subscriptions of one socket: subscribe, unsubscribe, ack, resend."""

import asyncio
from contextlib import nullcontext

from hitsend.errors import Conflict, HitsendError, TooFast
from hitsend.server.app import App
from hitsend.server.auth.identify import Identity
from hitsend.server.limits.send_limits import record_refusals
from hitsend.server.turns.resume import (
    TOPIC,
    check_claims,
    find_turn,
    open_stream,
    verify_resume_token,
)
from hitsend.server.turns.socket.limits import SocketClose
from hitsend.server.turns.socket.subscription import FrameSender, Subscription
from hitsend.store.turns import turn_not_found
from hitsend.wire import socket as wire


class Subscriptions:
    def __init__(self, app: App, identity: Identity, sender: FrameSender) -> None:
        self._app = app
        self._identity = identity
        self._sender = sender
        self._limits = app.sockets.limits
        self._subscriptions: dict[str, Subscription] = {}
        self._read_back = asyncio.Semaphore(self._limits.max_read_back)

    async def subscribe(
        self, tasks: asyncio.TaskGroup, command_id: int, command: wire.Subscribe
    ) -> None:
        """Replaces a subscription to the same topic."""
        await self.unsubscribe(command.topic_id)
        self._evict_ended()
        subscription = Subscription(command.topic_id, self._limits, self._sender, command_id)
        self._subscriptions[command.topic_id] = subscription
        subscription.task = tasks.create_task(self._follow(subscription, command))

    async def unsubscribe(self, topic_id: str) -> None:
        """A `subscribe` that has no reply yet is refused."""
        subscription = self._subscriptions.pop(topic_id, None)
        if subscription is None:
            return
        subscription.task.cancel()
        if subscription.command_id is not None:
            left = Conflict("This topic was unsubscribed before it was opened.")
            await self._sender.send(wire.build_nack_frame(subscription.command_id, left, topic_id))

    def ack(self, command: wire.Ack) -> None:
        """Ignores topics that were unsubscribed while the ack was on its way."""
        if subscription := self._subscriptions.get(command.topic_id):
            subscription.ack(command.seq)

    async def resend(self, tasks: asyncio.TaskGroup, command: wire.Nack) -> None:
        """Sends lost messages again, or a snapshot if they are no longer kept."""
        subscription = self._subscriptions.get(command.topic_id)
        if subscription is None or subscription.command_id is not None:  # nothing was sent yet
            return
        is_gap = command.reason == "gap"
        if is_gap and await subscription.try_resend(command.first, command.last):
            return
        subscription.task.cancel()
        compact = wire.Subscribe(subscription.topic_id, mode="compact")
        subscription.task = tasks.create_task(self._follow(subscription, compact))

    def check_acks(self, now: float) -> None:
        if any(subscription.is_overdue(now) for subscription in self._subscriptions.values()):
            raise SocketClose(SocketClose.TIMED_OUT, "Nothing was acknowledged for too long.")

    async def wait_until_sent(self) -> None:
        """Waits until every turn is sent to its end."""
        if tasks := [subscription.task for subscription in self._subscriptions.values()]:
            await asyncio.wait(tasks)

    def _evict_ended(self) -> None:
        """Removes one ended subscription if there are too many."""
        subscriptions = self._subscriptions
        if len(subscriptions) < self._limits.max_topics:
            return
        ended = next((topic_id for topic_id, one in subscriptions.items() if one.is_over), None)
        if ended is None:
            raise Conflict("This socket follows too many turns already. Unsubscribe from one.")
        del subscriptions[ended]

    async def _follow(self, subscription: Subscription, command: wire.Subscribe) -> None:
        try:
            with record_refusals(self._app, self._identity):
                await self._push(subscription, command)
        except HitsendError as error:
            if subscription.command_id is None and isinstance(error, TooFast):
                raise SocketClose(SocketClose.TOO_FAST, error.message) from None
            self._subscriptions.pop(subscription.topic_id, None)
            topic_id = subscription.topic_id
            await self._sender.send(wire.build_nack_frame(subscription.command_id, error, topic_id))

    async def _push(self, subscription: Subscription, command: wire.Subscribe) -> None:
        app, user_id = self._app, self._identity.user.id
        turn_id = topic_turn_id(subscription.topic_id)
        app.resume_limit.count(user_id)
        if command.token is not None:
            turn = await find_turn(app, user_id, turn_id)
            check_claims(verify_resume_token(app, user_id, command.token), turn)
        offset = None if command.offset == "$" else int(command.offset)
        is_compact = command.mode == "compact"
        # Only logs that are read from the database take turns: they may be long.
        is_running = app.runner.find(turn_id, user_id) is not None
        async with nullcontext() if is_running else self._read_back:
            stream = await open_stream(
                app, user_id, turn_id, offset, is_compact=is_compact, has_afterword=True
            )
            await subscription.push(stream)


def topic_turn_id(topic_id: str) -> str:
    if not topic_id.startswith(TOPIC):
        raise turn_not_found()
    return topic_id.removeprefix(TOPIC)
