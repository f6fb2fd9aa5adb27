"""One turn, to its end, over as many connections as it takes.

    send, under one key -> read -> cut off? resume after the last event -> read -> …

A turn lives on the server. A message whose answer never came is sent again under the same key,
which starts nothing twice; a stream that breaks is taken up after the last event that arrived.
So a lost connection costs time and not a word.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing

import httpx2
import msgspec

from hitsend.client.connection import Connection
from hitsend.client.failures import Garbled, Lost
from hitsend.client.proving import Proof
from hitsend.client.reader import Reader
from hitsend.client.shapes import Conversation, Message
from hitsend.client.updates import Finished, Retrying, Update
from hitsend.errors import Gone, PassExpired, PassInvalid, ProofNeeded, TooFast, Unavailable
from hitsend.wire.typed import Failure
from hitsend.wire.v1 import STATUS

SEND = "/backend-api/f/conversation"
NO_TOKEN = "no-token"
MAX_PROOFS = 3
MAX_SUMMARIES = 2
"""After a stream that made no sense so often, the stored message has to do."""


class Wanted(msgspec.Struct, frozen=True):
    """What is to be listened to: something to send, or a turn that was started before."""

    body: dict[str, object] = {}
    key: str = ""
    turn_id: str = ""
    waits_for_title: bool = False


class Listening:
    def __init__(self, line: Connection, proof: Proof, wanted: Wanted) -> None:
        self._line = line
        self._proof = proof
        self._wanted = wanted
        self._reader = Reader()
        self._reader.turn_id = wanted.turn_id
        self._is_over = False
        self._num_proofs = 0
        self._num_summaries = 0
        self._wants_summary = False

    async def updates(self) -> AsyncGenerator[Update, None]:
        num_tries = 0
        while not self._is_over:
            reached = self._reader.last_seq
            try:
                async with aclosing(self._mended()) as updates:
                    async for update in updates:
                        yield update
            except (TooFast, Unavailable) as error:
                num_tries = 1 if self._reader.last_seq > reached else num_tries + 1
                delay_s = self._line.backoff.delay_s(num_tries, error)
                if delay_s is None:
                    raise
                yield Retrying(error.message, delay_s, num_tries)
                await asyncio.sleep(delay_s)

    async def _mended(self) -> AsyncGenerator[Update, None]:
        """One connection's worth; then whatever has to be different about the next."""
        try:
            async with aclosing(self._read()) as updates:
                async for update in updates:
                    yield update
        except (PassExpired, PassInvalid):
            if not self._reader.token:
                raise
            self._reader.token = ""
        except ProofNeeded:
            if self._num_proofs == MAX_PROOFS:
                raise
            self._num_proofs += 1
            await self._proof.earn(self._line)
        except Gone:
            for update in await self._stored():
                yield update
        except Garbled:
            if not self._reader.conversation_id:
                raise
            self._num_summaries += 1
            self._wants_summary = self._num_summaries <= MAX_SUMMARIES
            if not self._wants_summary:
                for update in await self._stored():
                    yield update

    async def _read(self) -> AsyncGenerator[Update, None]:
        reader = self._reader
        reader.reconnect()
        async with self._line.response(self._request()) as response:
            reader.turn_id = reader.turn_id or response.headers.get("x-turn-exchange-id", "")
            async for chunk in response.aiter_bytes():
                for update in reader.feed(chunk):
                    self._wants_summary = False
                    yield update
                    if isinstance(update, Finished) and not self._wanted.waits_for_title:
                        self._is_over = True
                        return
        self._is_over = reader.is_done
        if not self._is_over:
            raise Lost(f"The answer from {self._line.url} ended too early.")

    def _request(self) -> httpx2.Request:
        reader, wanted = self._reader, self._wanted
        if reader.conversation_id:
            return self._resuming()
        if reader.turn_id:
            path = f"{SEND}/{reader.turn_id}/events"
            return self._line.getting(path, {"after": str(reader.last_seq)})
        headers = {"idempotency-key": wanted.key, **self._proof.headers}
        return self._line.posting(SEND, wanted.body, headers)

    def _resuming(self) -> httpx2.Request:
        reader = self._reader
        body = {
            "conversation_id": reader.conversation_id,
            "turn_exchange_id": reader.turn_id,
            "offset": reader.last_seq,
            "mode": "compact" if self._wants_summary else None,
        }
        headers = {"x-conduit-token": reader.token or NO_TOKEN}
        return self._line.posting(f"{SEND}/resume", body, headers)

    async def _stored(self) -> Iterator[Update]:
        """How it ended, from the conversation: its stream is over or cannot be read."""
        turn_id = self._reader.turn_id
        conversation_id = self._reader.conversation_id or await self._conversation_of(turn_id)
        path = f"/backend-api/conversation/{conversation_id}"
        conversation = await self._line.get(Conversation, path)
        if conversation.running and conversation.running.turn_exchange_id == turn_id:
            raise Garbled("This answer cannot be read as a stream, and is not stored whole yet.")
        self._is_over = True
        found = answer_of(conversation, turn_id)
        return iter([*(self._reader.set_right(found) if found else ()), _ended(found)])

    async def _conversation_of(self, turn_id: str) -> str:
        log = await self._line.get(_Log, f"/backend-api/turn/{turn_id}")
        return log.events[0].event.conversation_id


def answer_of(conversation: Conversation, turn_id: str) -> Message | None:
    messages = [node.message for node in conversation.mapping.values() if node.message]
    answers = [
        one
        for one in messages
        if one.metadata.turn_exchange_id == turn_id and one.author.role == "assistant"
    ]
    return answers[-1] if answers else None


def _ended(message: Message | None) -> Finished:
    details = message.metadata.finish_details if message else None
    status = STATUS[details.reason] if details else "failed"
    if status != "failed":
        return Finished(message, status)
    why = (details and details.message) or "The answer failed."
    return Finished(
        message, status, Failure(why, "unavailable_error", "unavailable", None, False, None)
    )


class _Began(msgspec.Struct, frozen=True):
    conversation_id: str = ""


class _Entry(msgspec.Struct, frozen=True):
    event: _Began


class _Log(msgspec.Struct, frozen=True):
    events: tuple[_Entry, ...]
