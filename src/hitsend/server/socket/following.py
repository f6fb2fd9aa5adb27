"""The turns that are followed on one socket: begun, acknowledged, said again, left."""

import asyncio

from hitsend.errors import Conflict, HitsendError, TooFast
from hitsend.server.admission import blaming
from hitsend.server.calls import House
from hitsend.server.people import Person
from hitsend.server.resuming import TOPIC, check_token, find_turn, opened
from hitsend.server.socket.rules import Hangup
from hitsend.server.socket.topic import Speaker, Topic
from hitsend.store.turns import no_turn
from hitsend.wire import socket as wire


class Following:
    def __init__(self, house: House, person: Person, speaker: Speaker) -> None:
        self._house = house
        self._person = person
        self._speaker = speaker
        self._rules = house.sockets.rules
        self._topics: dict[str, Topic] = {}
        self._reading_back = asyncio.Semaphore(self._rules.max_read_back)

    async def subscribe(
        self, tasks: asyncio.TaskGroup, order_id: int, command: wire.Subscribe
    ) -> None:
        """From the beginning of the command's choice; again, if it is followed already."""
        await self.unsubscribe(command.topic_id)
        self._make_room()
        topic = Topic(command.topic_id, self._rules, self._speaker, order_id)
        self._topics[topic.topic_id] = topic
        topic.task = tasks.create_task(self._follow(topic, command))

    async def unsubscribe(self, topic_id: str) -> None:
        """The command that asked for it is told, if it still waits for its answer."""
        topic = self._topics.pop(topic_id, None)
        if topic is None:
            return
        topic.task.cancel()
        if topic.order_id is not None:
            left = Conflict("This topic was left before it was opened.")
            await self._speaker.say(wire.refusal(topic.order_id, left, topic_id))

    def ack(self, command: wire.Ack) -> None:
        """Of a topic that was just left, perhaps."""
        if topic := self._topics.get(command.topic_id):
            topic.ack(command.seq)

    async def repair(self, tasks: asyncio.TaskGroup, command: wire.Nack) -> None:
        """What got lost is said again; what cannot be is shown as a whole."""
        topic = self._topics.get(command.topic_id)
        if topic is None or topic.order_id is not None:  # and so nothing of it can be lost yet
            return
        is_gap = command.reason == "gap"
        if is_gap and await topic.say_again(command.first, command.last):
            return
        topic.task.cancel()
        compact = wire.Subscribe(topic.topic_id, mode="compact")
        topic.task = tasks.create_task(self._follow(topic, compact))

    def check(self, now: float) -> None:
        if any(topic.is_overdue(now) for topic in self._topics.values()):
            raise Hangup(Hangup.TIMED_OUT, "Nothing was acknowledged for too long.")

    async def until_told(self) -> None:
        """To the end of every turn."""
        if tasks := [topic.task for topic in self._topics.values()]:
            await asyncio.wait(tasks)

    def _make_room(self) -> None:
        if len(self._topics) < self._rules.max_topics:
            return
        over = next((topic for topic in self._topics.values() if topic.is_over), None)
        if over is None:
            raise Conflict("This socket follows too many turns already. Unsubscribe from one.")
        del self._topics[over.topic_id]

    async def _follow(self, topic: Topic, command: wire.Subscribe) -> None:
        try:
            with blaming(self._house, self._person):
                await self._push(topic, command)
        except HitsendError as error:
            if topic.order_id is None and isinstance(error, TooFast):
                raise Hangup(Hangup.TOO_FAST, error.message) from None
            self._topics.pop(topic.topic_id, None)
            await self._speaker.say(wire.refusal(topic.order_id, error, topic.topic_id))

    async def _push(self, topic: Topic, command: wire.Subscribe) -> None:
        house, user_id, turn_id = self._house, self._person.user.id, turn_of(topic.topic_id)
        await house.returns.count(user_id)
        if command.token is not None:
            turn = await find_turn(house, user_id, turn_id)
            check_token(house, user_id, turn, command.token)
        offset = None if command.offset == "$" else int(command.offset)
        is_compact = command.mode == "compact"
        if house.runner.find(turn_id, user_id):
            return await topic.push(await opened(house, user_id, turn_id, offset, is_compact))
        async with self._reading_back:
            return await topic.push(await opened(house, user_id, turn_id, offset, is_compact))


def turn_of(topic_id: str) -> str:
    if not topic_id.startswith(TOPIC):
        raise no_turn()
    return topic_id.removeprefix(TOPIC)
