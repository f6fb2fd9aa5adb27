"""Compares the stream a client received with the stored log.

After any fault, four things hold for every history: nothing that was shown is lost, nothing
happened twice, event numbers have no gap, and every turn has ended.
"""

import asyncio
import hashlib
import time
from dataclasses import dataclass, field
from typing import Any

import httpx2
from tests.server.world import AnswerStream, message

from hitsend.sse import SseEvent

SEND = "/backend-api/f/conversation"


@dataclass
class CharacterCount:
    """Counts the characters that all clients received; a test can wait for a number of them."""

    enough: float = float("inf")
    has_enough: asyncio.Event = field(default_factory=asyncio.Event)
    num_chars: int = 0

    def add(self, num_chars: int) -> None:
        self.num_chars += num_chars
        if self.num_chars >= self.enough:
            self.has_enough.set()


@dataclass
class RecordedEvents(AnswerStream):
    """A stream, with the number of each event."""

    received: CharacterCount = field(default_factory=CharacterCount)
    ids: list[int] = field(default_factory=list)

    def _take(self, event: SseEvent) -> None:
        num_before = len(self.text)
        super()._take(event)
        if event.last_id and self.last_id != (self.ids or [0])[-1]:
            self.ids.append(self.last_id)
        self.received.add(len(self.text) - num_before)


@dataclass
class History:
    """The history of one message: sent once or several times, its stream read in part or whole, and
    then looked up."""

    body: dict[str, Any]
    received: CharacterCount = field(default_factory=CharacterCount)
    stream: RecordedEvents | None = None
    """None while nothing was acknowledged."""
    status: int | None = None
    retry_after: str | None = None
    replay_s: float = 0.0

    @classmethod
    def of(cls, text: str, received: CharacterCount | None = None) -> "History":
        return cls(message(text), received or CharacterCount())

    @property
    def message_id(self) -> str:
        return str(self.body["messages"][0]["id"])

    @property
    def turn_id(self) -> str:
        assert self.stream
        return self.stream.turn_id

    @property
    def text(self) -> str:
        return self.stream.text if self.stream else ""

    @property
    def is_whole(self) -> bool:
        return self.stream is not None and self.stream.is_done

    async def send(self, http: httpx2.AsyncClient) -> None:
        """Reads until the end, or until the connection is dead."""
        try:
            async with http.stream("POST", SEND, json=self.body) as response:
                self.status = response.status_code
                self.retry_after = response.headers.get("retry-after")
                if self.status == 200:
                    self.stream = RecordedEvents(response.headers, received=self.received)
                    await self.stream.take(response)
        except httpx2.HTTPError:
            return

    async def resume(self, http: httpx2.AsyncClient) -> None:
        """Resumes after the last event that arrived whole."""
        assert self.stream
        began, last_id = time.monotonic(), {"last-event-id": str(self.stream.last_id)}
        path = f"{SEND}/{self.turn_id}/events"
        async with http.stream("GET", path, headers=last_id) as response:
            assert response.status_code == 200, await response.aread()
            await self.stream.take(response)
        self.replay_s = time.monotonic() - began

    async def read_stored(self, http: httpx2.AsyncClient) -> "StoredTurn":
        return await StoredTurn.of(http, self.turn_id)

    async def check(self, http: httpx2.AsyncClient) -> "StoredTurn":
        """Checks all four for a message that was acknowledged and whose turn must have ended."""
        shown, stored = self.text, await self.read_stored(http)
        assert stored.text.startswith(shown), "something that was shown is lost"
        assert stored.seqs == list(range(1, len(stored.seqs) + 1)), "the numbers have a hole"
        assert stored.has_ended, "it never came to its end"
        assert stored.user_ids == [self.message_id], "it was not said exactly once"
        assert stored.stored_text == stored.text, "the conversation differs from the log"
        await self.resume(http)
        self._check_replay(stored)
        return stored

    def _check_replay(self, stored: "StoredTurn") -> None:
        """Checks that the events before and after the fault join to the whole log, without
        repetition."""
        assert self.stream
        assert self.stream.is_done
        assert self.stream.ids == sorted(set(self.stream.ids)), "something came twice"
        assert self.text == stored.text, "what was resumed differs from what is stored"
        proof = [
            one["sha256"]
            for one in self.stream.of_type("message_stream_complete")["messages"]
            if one["id"] == stored.answer_id
        ]
        if stored.text or proof:
            assert proof == [hashlib.sha256(stored.text.encode()).hexdigest()]


@dataclass(frozen=True)
class StoredTurn:
    """A turn as the server stored it: its log and its conversation."""

    log: list[dict[str, Any]]
    conversation_id: str
    messages: list[dict[str, Any]]

    @classmethod
    async def of(cls, http: httpx2.AsyncClient, turn_id: str) -> "StoredTurn":
        log = (await http.get(f"/backend-api/turn/{turn_id}")).json()["events"]
        conversation_id = log[0]["event"]["conversation_id"]
        tree = (await http.get(f"/backend-api/conversation/{conversation_id}")).json()
        messages = [node["message"] for node in tree["mapping"].values() if node["message"]]
        return cls(log, conversation_id, messages)

    @property
    def seqs(self) -> list[int]:
        return [stamped["seq"] for stamped in self.log]

    @property
    def text(self) -> str:
        return "".join(event["text"] for event in self._of_type("TextArrived"))

    @property
    def ending(self) -> str | None:
        failed = ["failed" for _ in self._of_type("TurnFailed")]
        ended = [str(event["ending"]) for event in self._of_type("TurnFinished")]
        assert len(failed + ended) <= 1
        return next(iter(failed + ended), None)

    @property
    def has_ended(self) -> bool:
        statuses = {one["status"] for one in self.messages}
        return self.ending is not None and "in_progress" not in statuses

    @property
    def user_ids(self) -> list[str]:
        return [one["id"] for one in self.messages if one["author"]["role"] == "user"]

    @property
    def answer_id(self) -> str:
        (answer,) = (one for one in self.messages if one["author"]["role"] == "assistant")
        return str(answer["id"])

    @property
    def stored_text(self) -> str:
        (answer,) = (one for one in self.messages if one["id"] == self.answer_id)
        return "".join(answer["content"]["parts"])

    def _of_type(self, kind: str) -> list[dict[str, Any]]:
        return [one["event"] for one in self.log if one["event"]["type"] == kind]
