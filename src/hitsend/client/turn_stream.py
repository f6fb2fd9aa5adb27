"""Reads one turn to its end, over as many connections as needed.

    send with an idempotency key -> read -> cut off? resume after the last event -> read -> …

A Send without a response is sent again with the same key, which starts nothing twice; a broken
stream is resumed after the last event. A lost connection loses no text.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing

import httpx2
import msgspec

from hitsend.client.connection import Connection
from hitsend.client.errors import Disconnected, StreamInvalid
from hitsend.client.proof_of_work import ProofOfWork
from hitsend.client.responses import Conversation, Message
from hitsend.client.stream_reader import StreamReader
from hitsend.client.updates import Finished, Retrying, Update
from hitsend.errors import Gone, ProofNeeded, TokenExpired, TokenInvalid, TooFast, Unavailable
from hitsend.wire.send import SendBody
from hitsend.wire.side_events import Failure
from hitsend.wire.v1 import STREAM_STATUSES

SEND = "/backend-api/f/conversation"
NO_TOKEN = "no-token"
MAX_PROOFS = 3
MAX_SNAPSHOTS = 2
"""After this many invalid streams the stored message is used."""


class TurnRequest(msgspec.Struct, frozen=True):
    """A Send, or the id of a turn that was started before."""

    body: SendBody | None = None
    key: str = ""
    turn_id: str = ""
    waits_for_title: bool = False


class TurnStream:
    def __init__(self, connection: Connection, proof: ProofOfWork, request: TurnRequest) -> None:
        self._connection = connection
        self._proof = proof
        self._turn_request = request
        self._reader = StreamReader()
        self._reader.turn_id = request.turn_id
        self._is_over = False
        self._num_proofs = 0
        self._num_snapshots = 0
        self._wants_snapshot = False
        self._is_in_afterword = False

    async def updates(self) -> AsyncGenerator[Update, None]:
        num_tries = 0
        while not self._is_over:
            reached = self._reader.last_seq
            try:
                async with aclosing(self._read_once()) as updates:
                    async for update in updates:
                        yield update
            except (TooFast, Unavailable) as error:
                num_tries = 1 if self._reader.last_seq > reached else num_tries + 1
                delay_s = self._connection.backoff.delay_s(num_tries, error)
                if delay_s is None:
                    raise
                yield Retrying(error.message, delay_s, num_tries)
                await asyncio.sleep(delay_s)

    async def _read_once(self) -> AsyncGenerator[Update, None]:
        """Reads one connection, and handles errors that the next connection can fix."""
        try:
            async with aclosing(self._read()) as updates:
                async for update in updates:
                    yield update
        except (TokenExpired, TokenInvalid):
            if not self._reader.token:
                raise
            self._reader.token = ""
        except ProofNeeded:
            if self._num_proofs == MAX_PROOFS:
                raise
            self._num_proofs += 1
            await self._proof.solve(self._connection)
        except Gone:
            for update in await self._load_stored():
                yield update
        except StreamInvalid:
            if not self._reader.conversation_id:
                raise
            self._num_snapshots += 1
            self._wants_snapshot = self._num_snapshots <= MAX_SNAPSHOTS
            if not self._wants_snapshot:
                for update in await self._load_stored():
                    yield update

    async def _read(self) -> AsyncGenerator[Update, None]:
        reader = self._reader
        reader.reconnect()
        async with self._connection.response(self._build_request()) as response:
            reader.turn_id = reader.turn_id or response.headers.get("x-turn-exchange-id", "")
            async for chunk in response.aiter_bytes():
                for update in reader.feed(chunk):
                    self._wants_snapshot = False
                    yield update
                    if isinstance(update, Finished) and not self._turn_request.waits_for_title:
                        self._is_over = True
                        return
        if reader.is_done and reader.has_afterword and not self._is_in_afterword:
            self._is_in_afterword = True  # the next connection waits for the title
            return
        self._is_over = reader.is_done
        if not self._is_over:
            raise Disconnected(f"The answer from {self._connection.url} ended too early.")

    def _build_request(self) -> httpx2.Request:
        reader, wanted = self._reader, self._turn_request
        if reader.conversation_id and not self._is_in_afterword:
            return self._resume_request()
        if reader.turn_id:
            query = {"after": str(reader.last_seq)}
            query |= {"afterword": "true"} if self._is_in_afterword else {}
            return self._connection.get_request(f"{SEND}/{reader.turn_id}/events", query)
        headers = {"idempotency-key": wanted.key, **self._proof.headers}
        return self._connection.post_request(SEND, wanted.body, headers)

    def _resume_request(self) -> httpx2.Request:
        reader = self._reader
        body = {
            "conversation_id": reader.conversation_id,
            "turn_exchange_id": reader.turn_id,
            "offset": reader.last_seq,
            "mode": "compact" if self._wants_snapshot else None,
        }
        headers = {"x-conduit-token": reader.token or NO_TOKEN}
        return self._connection.post_request(f"{SEND}/resume", body, headers)

    async def _load_stored(self) -> Iterator[Update]:
        """Loads the ending from the stored conversation: the stream is gone or invalid."""
        turn_id = self._reader.turn_id
        conversation_id = self._reader.conversation_id or await self._find_conversation_id(turn_id)
        path = f"/backend-api/conversation/{conversation_id}"
        conversation = await self._connection.get(Conversation, path)
        if conversation.running and conversation.running.turn_exchange_id == turn_id:
            raise StreamInvalid(
                "This answer cannot be read as a stream, and is not stored whole yet."
            )
        self._is_over = True
        found = find_answer(conversation, turn_id)
        return iter([*(self._reader.correct(found) if found else ()), _stored_ending(found)])

    async def _find_conversation_id(self, turn_id: str) -> str:
        log = await self._connection.get(_TurnLog, f"/backend-api/turn/{turn_id}")
        return log.events[0].event.conversation_id


def find_answer(conversation: Conversation, turn_id: str) -> Message | None:
    messages = [node.message for node in conversation.mapping.values() if node.message]
    answers = [
        one
        for one in messages
        if one.metadata.turn_exchange_id == turn_id and one.author.role == "assistant"
    ]
    return answers[-1] if answers else None


def _stored_ending(message: Message | None) -> Finished:
    details = message.metadata.finish_details if message else None
    status = STREAM_STATUSES[details.reason] if details else "failed"
    if status != "failed":
        return Finished(message, status)
    why = (details and details.message) or "The answer failed."
    return Finished(
        message, status, Failure(why, "unavailable_error", "unavailable", None, False, None)
    )


class _FirstEvent(msgspec.Struct, frozen=True):
    conversation_id: str = ""


class _Entry(msgspec.Struct, frozen=True):
    event: _FirstEvent


class _TurnLog(msgspec.Struct, frozen=True):
    """The id that it starts with. A newer server may have events that this client does not know."""

    events: tuple[_Entry, ...]
