"""What a client received, and whether it is what is stored.

After whatever fault, four things hold of every history: nothing that was shown is lost, nothing
happened twice, the numbers have no hole, and everything has come to an end.
"""

import asyncio
import hashlib
import time
from dataclasses import dataclass, field
from typing import Any

import httpx2
from tests.server.world import Heard, message

from hitsend.wire.sse import SseEvent

SEND = "/backend-api/f/conversation"


@dataclass
class Received:
    """How many characters all clients have received; lets somebody wait for so many."""

    enough: float = float("inf")
    has_enough: asyncio.Event = field(default_factory=asyncio.Event)
    num_chars: int = 0

    def add(self, num_chars: int) -> None:
        self.num_chars += num_chars
        if self.num_chars >= self.enough:
            self.has_enough.set()


@dataclass
class Noted(Heard):
    """A stream, with every number it came under."""

    received: Received = field(default_factory=Received)
    ids: list[int] = field(default_factory=list)

    def _take(self, event: SseEvent) -> None:
        num_before = len(self.text)
        super()._take(event)
        if event.last_id and self.last_id != (self.ids or [0])[-1]:
            self.ids.append(self.last_id)
        self.received.add(len(self.text) - num_before)


@dataclass
class History:
    """Of one message: it is sent once or often, heard in part or whole, and then looked for."""

    body: dict[str, Any]
    received: Received = field(default_factory=Received)
    heard: Noted | None = None
    """None as long as nothing was acknowledged."""
    status: int | None = None
    retry_after: str | None = None
    replay_s: float = 0.0

    @classmethod
    def of(cls, text: str, received: Received | None = None) -> "History":
        return cls(message(text), received or Received())

    @property
    def message_id(self) -> str:
        return str(self.body["messages"][0]["id"])

    @property
    def turn_id(self) -> str:
        assert self.heard
        return self.heard.turn_id

    @property
    def text(self) -> str:
        return self.heard.text if self.heard else ""

    @property
    def is_whole(self) -> bool:
        return self.heard is not None and self.heard.is_done

    async def send(self, http: httpx2.AsyncClient) -> None:
        """Listens until the end, or until the line goes dead."""
        try:
            async with http.stream("POST", SEND, json=self.body) as response:
                self.status = response.status_code
                self.retry_after = response.headers.get("retry-after")
                if self.status == 200:
                    self.heard = Noted(response.headers, received=self.received)
                    await self.heard.take(response)
        except httpx2.HTTPError:
            return

    async def go_on(self, http: httpx2.AsyncClient) -> None:
        """Comes back after the last event that arrived whole."""
        assert self.heard
        began, last_id = time.monotonic(), {"last-event-id": str(self.heard.last_id)}
        path = f"{SEND}/{self.turn_id}/events"
        async with http.stream("GET", path, headers=last_id) as response:
            assert response.status_code == 200, await response.aread()
            await self.heard.take(response)
        self.replay_s = time.monotonic() - began

    async def kept(self, http: httpx2.AsyncClient) -> "Kept":
        return await Kept.of(http, self.turn_id)

    async def check(self, http: httpx2.AsyncClient) -> "Kept":
        """All four, of a message that was acknowledged, and whose turn must be over."""
        shown, kept = self.text, await self.kept(http)
        assert kept.text.startswith(shown), "something that was shown is lost"
        assert kept.seqs == list(range(1, len(kept.seqs) + 1)), "the numbers have a hole"
        assert kept.has_ended, "it never came to its end"
        assert kept.user_ids == [self.message_id], "it was not said exactly once"
        assert kept.stored_text == kept.text, "the conversation tells another story than the log"
        await self.go_on(http)
        self._check_replay(kept)
        return kept

    def _check_replay(self, kept: "Kept") -> None:
        """What came before the fault and what came after it are the whole, and each once."""
        assert self.heard
        assert self.heard.is_done
        assert self.heard.ids == sorted(set(self.heard.ids)), "something came twice"
        assert self.text == kept.text, "what was resumed differs from what is stored"
        proof = [
            one["sha256"]
            for one in self.heard.of_type("message_stream_complete")["messages"]
            if one["id"] == kept.answer_id
        ]
        if kept.text or proof:
            assert proof == [hashlib.sha256(kept.text.encode()).hexdigest()]


@dataclass(frozen=True)
class Kept:
    """A turn as the server has it: its log, and its conversation."""

    log: list[dict[str, Any]]
    conversation_id: str
    messages: list[dict[str, Any]]

    @classmethod
    async def of(cls, http: httpx2.AsyncClient, turn_id: str) -> "Kept":
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
