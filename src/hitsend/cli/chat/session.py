"""The state of a terminal chat: conversation, position in it, and model."""

from collections.abc import AsyncGenerator, Sequence

from hitsend.cli.chat.safety_notes import Placeholders
from hitsend.client import (
    Answer,
    CallVerdict,
    Client,
    Conversation,
    ConversationLine,
    Feature,
    Finished,
    Message,
    Screened,
    Started,
    ToolCalled,
    ToolReturned,
    Update,
)
from hitsend.errors import Conflict, Refused, Unavailable


class ChatSession:
    def __init__(self, client: Client, model: str) -> None:
        self.client = client
        self.model = model
        self.features: tuple[str, ...] = ()
        """What is turned on for messages."""
        self._verdicts: list[CallVerdict] = []
        """Decisions about calls whose turn has ended meanwhile."""
        self.conversation_id: str | None = None
        self._answer_id: str | None = None
        self._question_id: str | None = None
        self._is_behind = False
        """A turn was cut off here, so the server has newer messages."""
        self._listed: tuple[ConversationLine, ...] = ()
        self.placeholders = Placeholders()

    async def ask(self, text: str) -> AsyncGenerator[Update, None]:
        await self._reload_if_behind()
        answer = self.client.send(
            text,
            conversation_id=self.conversation_id,
            parent_id=self._answer_id,
            model=self.model,
            features=self.features,
        )
        async for update in self._track(answer):
            yield update

    async def ask_again(self) -> AsyncGenerator[Update, None]:
        """With the tools of the answer before."""
        if self.conversation_id is not None:
            self._set_position(await self.client.conversation(self.conversation_id))
        if self.conversation_id is None or self._question_id is None:
            raise Refused("There is no answer to retry.")
        answer = self.client.answer_again(self.conversation_id, self._question_id, model=self.model)
        async for update in self._track(answer):
            yield update

    async def decide(self, verdict: CallVerdict) -> None:
        """If nothing waits for it any more, `go_on` takes the decision."""
        try:
            await self.client.approve(verdict.call_id, verdict.decision, verdict.word)
        except (Conflict, Unavailable):
            self._verdicts.append(verdict)

    @property
    def has_verdicts(self) -> bool:
        return bool(self._verdicts)

    async def go_on(self) -> AsyncGenerator[Update, None]:
        """Continues the answer with what the person has decided."""
        verdicts, self._verdicts = self._verdicts, []
        await self._reload_if_behind()
        if self.conversation_id is None or self._answer_id is None:
            return
        answer = self.client.continue_answer(
            self.conversation_id, self._answer_id, model=self.model, verdicts=verdicts
        )
        async for update in self._track(answer):
            yield update

    async def toggle_features(self, names: Sequence[str]) -> Sequence[Feature]:
        """Turns these on or off, and returns all there are. Raises Refused."""
        there = await self.client.features()
        known = {feature.name for feature in there}
        if unknown := [name for name in names if name not in known]:
            raise Refused(
                f"There is no tool {unknown[0]}. There are: {', '.join(sorted(known)) or 'none'}."
            )
        self.features = tuple(sorted(set(self.features) ^ set(names)))
        return there

    async def follow(self, turn_id: str) -> AsyncGenerator[Update, None]:
        """Follows a running answer."""
        async for update in self._track(self.client.follow(turn_id)):
            yield update

    async def stop(self) -> None:
        if self.conversation_id is not None:
            await self.client.stop(self.conversation_id)

    def start_new(self) -> None:
        self.conversation_id = self._answer_id = self._question_id = None
        self._is_behind = False
        self.placeholders = Placeholders()

    async def list_conversations(self) -> tuple[ConversationLine, ...]:
        self._listed = (await self.client.conversations()).items
        return self._listed

    async def open(self, number: str) -> Conversation:
        """`number` is the position in the list, from 1."""
        if not self._listed:
            await self.list_conversations()
        if not number.isascii() or not number.isdigit() or not 0 < int(number) <= len(self._listed):
            raise Refused(
                f"Say which: a number from 1 to {len(self._listed)}, as /list shows them."
            )
        conversation = await self.client.conversation(self._listed[int(number) - 1].id)
        self._set_position(conversation)
        return conversation

    async def choose_model(self, name: str) -> None:
        known = [model.name for model in (await self.client.models()).models]
        if name != "auto" and name not in known:
            raise Refused(f"There is no model {name}. There are: auto, {', '.join(known)}.")
        self.model = name

    async def _reload_if_behind(self) -> None:
        if self._is_behind and self.conversation_id is not None:
            self._set_position(await self.client.conversation(self.conversation_id))

    def _set_position(self, conversation: Conversation) -> None:
        if self.conversation_id != conversation.conversation_id:
            self.placeholders = Placeholders()
        self.placeholders.learn(conversation.redactions)
        self.conversation_id = conversation.conversation_id
        self._answer_id = conversation.current_node
        self._question_id = _last_question(conversation.path())
        self._is_behind = False

    async def _track(self, answer: Answer) -> AsyncGenerator[Update, None]:
        open_calls: set[str] = set()
        async with answer:
            async for update in answer:
                match update:
                    case Started(conversation_id=conversation_id):
                        self.conversation_id, self._is_behind = conversation_id, True
                    case Screened(redactions=redactions):
                        self.placeholders.learn(redactions)
                    case ToolCalled(message_id=message_id):
                        open_calls.add(message_id)
                    case ToolReturned(message_id=message_id):
                        open_calls.discard(message_id)
                    case Finished(message=Message() as message) if not open_calls:
                        self._answer_id, self._is_behind = message.id, False
                yield update


def _last_question(path: list[Message]) -> str | None:
    return next((said.id for said in reversed(path) if said.author.role == "user"), None)
