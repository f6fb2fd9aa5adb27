"""The client: one method per thing a person can do with a server."""

import uuid
from collections.abc import AsyncGenerator, Mapping
from types import TracebackType
from typing import Self, TypeAlias, TypeVar

import msgspec

from hitsend.client.backoff import Backoff
from hitsend.client.connection import Connection
from hitsend.client.shapes import Conversation, ConversationPage, Me, ModelList
from hitsend.client.updates import Update
from hitsend.errors import HitsendError

T = TypeVar("T")
Body: TypeAlias = dict[str, object]

ROOT = "client-created-root"
"""What a first message follows."""


class Client:
    """Speaks to the server at `url` with an API key. Use it with `async with`."""

    def __init__(self, url: str, key: str, backoff: Backoff | None = None) -> None:
        self.url = url.rstrip("/")
        self._line = Connection(self.url, key, backoff or Backoff())

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
        await self._line.close()

    async def me(self) -> Me:
        return await self._get(Me, "/backend-api/me")

    async def models(self) -> ModelList:
        return await self._get(ModelList, "/backend-api/models")

    async def conversations(
        self, words: str = "", *, offset: int = 0, limit: int = 28
    ) -> ConversationPage:
        """Newest first; with words, those that hold them."""
        query = {"offset": str(offset), "limit": str(limit)} | ({"q": words} if words else {})
        return await self._get(ConversationPage, "/backend-api/conversations", query)

    async def conversation(self, conversation_id: str) -> Conversation:
        return await self._get(Conversation, f"/backend-api/conversation/{conversation_id}")

    async def stop(self, conversation_id: str) -> None:
        """End the answer that is being written; what was said so far is kept."""
        body = {"conversation_id": conversation_id}
        await self._line.whole(self._line.request("POST", "/backend-api/stop_conversation", body))

    def send(
        self,
        text: str,
        *,
        conversation_id: str | None = None,
        parent_id: str | None = None,
        model: str = "auto",
    ) -> AsyncGenerator[Update, None]:
        """Say something; without a conversation, begin one. Use it inside `aclosing`."""
        message = {
            "id": str(uuid.uuid4()),
            "author": {"role": "user"},
            "content": {"content_type": "text", "parts": [text]},
        }
        body: Body = {
            "action": "next",
            "messages": [message],
            "parent_message_id": parent_id or ROOT,
        }
        return self._send(body, conversation_id, model)

    def answer_again(
        self, conversation_id: str, message_id: str, *, model: str = "auto"
    ) -> AsyncGenerator[Update, None]:
        """Another answer to something said earlier. Use it inside `aclosing`."""
        body: Body = {"action": "variant", "messages": [], "parent_message_id": message_id}
        return self._send(body, conversation_id, model)

    def go_on(
        self, conversation_id: str, message_id: str, *, model: str = "auto"
    ) -> AsyncGenerator[Update, None]:
        """More of an answer that was cut short, as a message below it. Use it inside `aclosing`."""
        body: Body = {"action": "continue", "messages": [], "parent_message_id": message_id}
        return self._send(body, conversation_id, model)

    def follow(self, turn_id: str) -> AsyncGenerator[Update, None]:
        """A turn that runs or ran, from its beginning. Use it inside `aclosing`."""
        return self._line.turn(self._line.following(turn_id), turn_id)

    def _send(
        self, body: Body, conversation_id: str | None, model: str
    ) -> AsyncGenerator[Update, None]:
        body |= {"model": model, "supported_encodings": ["v1"]}
        if conversation_id is not None:
            body["conversation_id"] = conversation_id
        return self._line.turn(self._line.request("POST", "/backend-api/f/conversation", body))

    async def _get(self, kind: type[T], path: str, query: Mapping[str, str] | None = None) -> T:
        body = await self._line.whole(self._line.request("GET", path, query=query))
        try:
            return msgspec.json.decode(body, type=kind)
        except msgspec.DecodeError as error:
            raise HitsendError(f"{self.url} does not answer as hitsend does: {error}.") from None
