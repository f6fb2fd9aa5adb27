"""The client: one method per thing a person can do with a server."""

import uuid
from types import TracebackType
from typing import Self, TypeAlias
from weakref import WeakSet

from hitsend.client.answer import Answer
from hitsend.client.backoff import Backoff
from hitsend.client.connection import Connection
from hitsend.client.listening import Listening, Wanted
from hitsend.client.proving import Proof
from hitsend.client.shapes import Conversation, ConversationPage, Me, ModelList

Body: TypeAlias = dict[str, object]

ROOT = "client-created-root"
"""What a first message follows."""

SILENCE_S = 45.0
"""A stream says something at least every ten seconds; one that does not is dead. Only a message
that waits for a model to be loaded is answered later, by default within thirty."""


class Client:
    """Speaks to the server at `url` with an API key. Use it with `async with`."""

    def __init__(
        self, url: str, key: str, backoff: Backoff | None = None, *, silence_s: float = SILENCE_S
    ) -> None:
        self.url = url.rstrip("/")
        headers = {"authorization": f"Bearer {key}"}
        self._line = Connection(self.url, headers, backoff or Backoff(), silence_s)
        self._proof = Proof()
        self._answers: WeakSet[Answer] = WeakSet()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Also closes the answers that were left unread. Those that are being read break off."""
        for answer in [answer for answer in self._answers if not answer.is_being_read]:
            await answer.aclose()
        await self._line.close()

    async def me(self) -> Me:
        return await self._line.get(Me, "/backend-api/me")

    async def models(self) -> ModelList:
        return await self._line.get(ModelList, "/backend-api/models")

    async def conversations(
        self, words: str = "", *, offset: int = 0, limit: int = 28
    ) -> ConversationPage:
        """Newest first; with words, those that hold them."""
        query = {"offset": str(offset), "limit": str(limit)} | ({"q": words} if words else {})
        return await self._line.get(ConversationPage, "/backend-api/conversations", query)

    async def conversation(self, conversation_id: str) -> Conversation:
        return await self._line.get(Conversation, f"/backend-api/conversation/{conversation_id}")

    async def stop(self, conversation_id: str, turn_id: str | None = None) -> None:
        """End the answer that is being written; what was said so far is kept."""
        body = {"conversation_id": conversation_id, "turn_exchange_id": turn_id}
        await self._line.post(object, "/backend-api/stop_conversation", body)

    def send(
        self,
        text: str,
        *,
        conversation_id: str | None = None,
        parent_id: str | None = None,
        model: str = "auto",
        key: str | None = None,
        waits_for_title: bool = False,
    ) -> Answer:
        """Say something; without a conversation, begin one. It is said once, however often it has
        to be sent. With a `key` of your own that holds for the next run of a program, too: the
        same words under the same key within a day get the same answer. A conversation may get
        its final title after the answer; `waits_for_title` goes on until then."""
        key = key or str(uuid.uuid4())
        message = {
            "id": str(uuid.uuid5(MESSAGES, key)),
            "author": {"role": "user"},
            "content": {"content_type": "text", "parts": [text]},
        }
        body: Body = {
            "action": "next",
            "messages": [message],
            "parent_message_id": parent_id or ROOT,
            "conversation_id": conversation_id,
            "model": model,
        }
        return self._asked(body, key, waits_for_title)

    def answer_again(self, conversation_id: str, message_id: str, *, model: str = "auto") -> Answer:
        """Another answer to something said earlier."""
        return self._answered("variant", conversation_id, message_id, model)

    def go_on(self, conversation_id: str, message_id: str, *, model: str = "auto") -> Answer:
        """More of an answer that was cut short, as a message below it."""
        return self._answered("continue", conversation_id, message_id, model)

    def follow(self, turn_id: str, *, waits_for_title: bool = False) -> Answer:
        """A turn that runs or ran, from its beginning."""
        return self._answer(Wanted(turn_id=turn_id, waits_for_title=waits_for_title))

    def _answered(self, action: str, conversation_id: str, message_id: str, model: str) -> Answer:
        body: Body = {
            "action": action,
            "messages": [],
            "parent_message_id": message_id,
            "conversation_id": conversation_id,
            "model": model,
        }
        return self._asked(body, str(uuid.uuid4()))

    def _asked(self, body: Body, key: str, waits_for_title: bool = False) -> Answer:
        return self._answer(
            Wanted(body | {"supported_encodings": ["v1"]}, key, "", waits_for_title)
        )

    def _answer(self, wanted: Wanted) -> Answer:
        updates = Listening(self._line, self._proof, wanted).updates()
        answer = Answer(updates, self.stop)
        self._answers.add(answer)
        return answer


MESSAGES = uuid.UUID("5b0d3f5e-6a0e-4c39-9a53-0c8b1f0f6a41")
"""Makes the id of a message from its key, so that both are the same when it is said again."""
