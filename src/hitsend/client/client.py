"""The client: one method per action."""

import uuid
from collections.abc import Mapping, Sequence
from typing import Self
from weakref import WeakSet

from hitsend.client.answer import Answer
from hitsend.client.connection import Backoff, Connection
from hitsend.client.proof_of_work import ProofOfWork
from hitsend.client.responses import Conversation, Feature, FeatureList, ModelList
from hitsend.client.turn_stream import TurnRequest, TurnStream
from hitsend.events import Action
from hitsend.messages import FormAction, Verdict
from hitsend.send import CallVerdict
from hitsend.wire.responses import ConversationPage, Me
from hitsend.wire.send import ROOT, SendBody, SendBodyAuthor, SendBodyContent, SendBodyMessage

SILENCE_S = 45.0
"""Read timeout. Streams send a heartbeat every ten seconds; a Send that waits for its model to load
is answered within thirty by default."""


class Client:
    """Connects to the server at `url` with an API key. Use it with `async with`."""

    def __init__(
        self, url: str, key: str, backoff: Backoff | None = None, *, silence_s: float = SILENCE_S
    ) -> None:
        self.url = url.rstrip("/")
        headers = {"authorization": f"Bearer {key}"}
        self._connection = Connection(self.url, headers, backoff or Backoff(), silence_s)
        self._proof = ProofOfWork()
        self._answers: WeakSet[Answer] = WeakSet()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Also closes unread answers. Answers being read fail."""
        for answer in [answer for answer in self._answers if not answer.is_being_read]:
            await answer.aclose()
        await self._connection.close()

    async def me(self) -> Me:
        return await self._connection.get(Me, "/backend-api/me")

    async def models(self) -> ModelList:
        return await self._connection.get(ModelList, "/backend-api/models")

    async def features(self) -> Sequence[Feature]:
        """Returns what can be turned on for a message, with its tools."""
        return (await self._connection.get(FeatureList, "/backend-api/tools")).features

    async def conversations(
        self, words: str = "", *, offset: int = 0, limit: int = 28
    ) -> ConversationPage:
        """Newest first; with `words`, those that contain them."""
        query = {"offset": str(offset), "limit": str(limit)} | ({"q": words} if words else {})
        return await self._connection.get(ConversationPage, "/backend-api/conversations", query)

    async def conversation(self, conversation_id: str) -> Conversation:
        return await self._connection.get(
            Conversation, f"/backend-api/conversation/{conversation_id}"
        )

    async def stop(self, conversation_id: str, turn_id: str | None = None) -> None:
        """Stops the running answer; the text so far is kept."""
        body = {"conversation_id": conversation_id, "turn_exchange_id": turn_id}
        await self._connection.post(object, "/backend-api/stop_conversation", body)

    async def approve(self, call_id: str, decision: Verdict, word: str = "") -> None:
        """Allows or refuses a call that a running answer waits for. Raises Conflict if none does:
        then `continue_answer` takes the verdict."""
        body = CallVerdict(call_id, decision, word)
        await self._connection.send("/backend-api/f/conversation/approve", body)

    async def answer_form(
        self, form_id: str, action: FormAction, content: Mapping[str, object] | None = None
    ) -> None:
        """Answers the form of a tool that runs. Raises Conflict if it waits no more."""
        body = {"form_id": form_id, "action": action, "content": content or {}}
        await self._connection.send("/backend-api/f/conversation/form", body)

    def send(
        self,
        text: str,
        *,
        conversation_id: str | None = None,
        parent_id: str | None = None,
        model: str = "auto",
        features: Sequence[str] = (),
        key: str | None = None,
        waits_for_title: bool = False,
    ) -> Answer:
        """Sends a message; without a conversation, begins one. The model may call the tools of
        `features`, such as `calculator`; `client.features()` lists them. Retries never send it
        twice. With your own idempotency `key` this also holds across runs of a program: the same
        text under the same key within a day gets the same answer. A conversation may get its final
        title after the answer; `waits_for_title` continues until then."""
        key = key or str(uuid.uuid4())
        message_id = str(uuid.uuid5(MESSAGE_NAMESPACE, key))
        content = SendBodyContent("text", (text,))
        body = SendBody(
            action="next",
            messages=(SendBodyMessage(message_id, SendBodyAuthor("user"), content),),
            parent_message_id=parent_id or ROOT,
            conversation_id=conversation_id,
            model=model,
            supported_encodings=("v1",),
            system_hints=tuple(features) or None,
        )
        return self._open_answer(TurnRequest(body, key, waits_for_title=waits_for_title))

    def answer_again(
        self,
        conversation_id: str,
        message_id: str,
        *,
        model: str = "auto",
        features: Sequence[str] | None = None,
    ) -> Answer:
        """Requests another answer to an earlier message, with the features of the one before unless
        `features` are given."""
        return self._send_action("variant", conversation_id, message_id, model, features)

    def continue_answer(
        self,
        conversation_id: str,
        message_id: str,
        *,
        model: str = "auto",
        features: Sequence[str] | None = None,
        verdicts: Sequence[CallVerdict] = (),
    ) -> Answer:
        """Continues an answer that was cut off, as a message below it, with its features unless
        others are given. `verdicts` decide about calls that its turn left undecided."""
        return self._send_action("continue", conversation_id, message_id, model, features, verdicts)

    def follow(self, turn_id: str, *, waits_for_title: bool = False) -> Answer:
        """Follows a running or finished turn from its beginning."""
        return self._open_answer(TurnRequest(turn_id=turn_id, waits_for_title=waits_for_title))

    def _send_action(
        self,
        action: Action,
        conversation_id: str,
        message_id: str,
        model: str,
        features: Sequence[str] | None,
        verdicts: Sequence[CallVerdict] = (),
    ) -> Answer:
        body = SendBody(
            action=action,
            parent_message_id=message_id,
            conversation_id=conversation_id,
            model=model,
            supported_encodings=("v1",),
            system_hints=None if features is None else tuple(features),
            verdicts=tuple(verdicts),
        )
        return self._open_answer(TurnRequest(body, str(uuid.uuid4())))

    def _open_answer(self, request: TurnRequest) -> Answer:
        updates = TurnStream(self._connection, self._proof, request).updates()
        answer = Answer(updates, self.stop)
        self._answers.add(answer)
        return answer


MESSAGE_NAMESPACE = uuid.UUID("5b0d3f5e-6a0e-4c39-9a53-0c8b1f0f6a41")
"""Derives the id of a message from its key, so that a retry sends the same id."""
