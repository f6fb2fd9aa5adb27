"""Whatever happened in a turn, and however its events are grouped, cut, padded or resumed:
every view of it comes to what the fold comes to."""

import hashlib
import re
from collections.abc import Iterable, Sequence
from typing import Any

import httpx2
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitsend import transcript
from hitsend.errors import HitsendError
from hitsend.events import (
    AnswerFinished,
    AnswerStarted,
    AnyEvent,
    ContextBuilt,
    Ending,
    MessageAdded,
    PromptRead,
    PromptWarmed,
    Stamped,
    TextArrived,
    TitleChosen,
    ToolCallArrived,
    TurnAccepted,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from hitsend.messages import Alternative, Message, Sampling, Text, Token, ToolCall, Usage
from hitsend.wire import openai
from hitsend.wire.coalesce import MAX_CHARS
from hitsend.wire.delta import Carry, Delta, DeltaDecoder
from hitsend.wire.message import Origin, message
from hitsend.wire.plain import PlainView
from hitsend.wire.sse import SseEvent, SseParser
from hitsend.wire.typed import ResumeToken, StreamResumed, StreamSnapshot
from hitsend.wire.v1 import V1View, channels, opened
from hitsend.work import is_end

START = TurnStarted("turn", "conversation", "next", "model", True, 1760000000.25, Sampling())
TOKEN = ResumeToken("signed", "conversation", "turn", 1760007200.25)
USAGE = Usage(7, 3, 5, 0.5, 1.5, 2.5)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
alternatives = st.builds(Alternative, st.integers(0, 9), texts, st.floats(-9, 0))
tokens = st.builds(
    Token,
    st.integers(0, 9),
    texts,
    st.none() | st.floats(-9, 0),
    st.floats(0, 99),
    st.lists(alternatives, max_size=2).map(tuple),
)
arrivals = st.lists(tokens, max_size=2).map(
    lambda made: TextArrived("".join(token.text for token in made), tuple(made))
)
happenings: st.SearchStrategy[AnyEvent] = st.one_of(
    arrivals,
    arrivals,
    arrivals,
    st.builds(lambda text: TextArrived(text * 3000), texts),
    st.builds(TitleChosen, texts, st.integers(1, 3)),
    st.builds(ToolCallArrived, st.builds(ToolCall, texts, texts, texts)),
)


def endings_of(*some: Ending) -> st.SearchStrategy[Ending]:
    return st.sampled_from(some)


endings: st.SearchStrategy[list[AnyEvent]] = st.one_of(
    endings_of("stop", "length", "tool_calls").map(
        lambda ending: [AnswerFinished("answer", ending, USAGE), TurnFinished(ending)]
    ),
    endings_of("stopped", "interrupted").map(lambda ending: [TurnFinished(ending)]),
    st.just([TurnFailed("worker_lost", "It died.", True, 10)]),
    st.just([AnswerFinished("answer", "failed", USAGE), TurnFailed("odd", "?", False)]),
)


def begun(asked: str) -> list[AnyEvent]:
    question = MessageAdded("question", None, Message("user", (Text(asked),), "user"))
    answer = AnswerStarted("answer", "question", "model")
    return [START, ContextBuilt(()), TurnAccepted(), question, answer, PromptRead(3, 4, 0.5, 1.5)]


def stamped(events: Iterable[AnyEvent]) -> list[Stamped]:
    return [Stamped(i, 1.5 * i, event) for i, event in enumerate(events, 1)]


turns = st.one_of(
    st.builds(
        lambda asked, middle, end, late: stamped([*begun(asked), *middle, *end, *late]),
        texts,
        st.lists(happenings, max_size=12),
        endings,
        st.lists(st.builds(TitleChosen, texts, st.just(4)), max_size=1),
    ),
    st.just(stamped([START, TurnAccepted(), TurnFailed("engine_down", "Not now.", True)])),
    st.builds(lambda asked: stamped([*begun(asked)[:4], TurnFinished("stopped")]), texts),
)
cuts = st.lists(st.integers(0, 40), max_size=8)
pads = st.sampled_from([0, 8, 16, 32])


def batches(log: Sequence[Stamped], at: Iterable[int]) -> list[Sequence[Stamped]]:
    """The log cut into pieces; an index outside of it is no cut."""
    edges = sorted({0, len(log), *(i for i in at if i < len(log))})
    return [log[a:b] for a, b in zip(edges, edges[1:], strict=False)]


def folded(log: Sequence[Stamped]) -> transcript.Transcript:
    return transcript.fold(one.event for one in log)


def travelling(log: Sequence[Stamped]) -> list[Any]:
    """The messages the log comes to, as JSON."""
    messages = [message(said, Origin.of(START)) for said in folded(log).messages]
    return [msgspec.json.decode(msgspec.json.encode(one)) for one in messages]


def checksum(message_id: str, text: str) -> Any:
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    return {"id": message_id, "chars": len(text), "sha256": sha256}


def resumed(view: V1View, past: Sequence[Stamped]) -> bytes:
    view.skip(past)
    opening = StreamResumed("conversation", "turn", len(past) + 1, view.carry)
    return opened(opening, TOKEN)


class Reader:
    """The least a v1 client does."""

    def __init__(self) -> None:
        self.decoder = DeltaDecoder()
        self.typed: list[Any] = []
        self.last_id = 0

    def read(self, events: Iterable[SseEvent]) -> None:
        for event in events:
            self.last_id = int(event.last_id or self.last_id)
            if event.event == "delta":
                self.decoder.decode(event.data)
            elif event.event != "delta_encoding":
                self.take(msgspec.json.decode(event.data))

    def take(self, typed: Any) -> None:
        self.typed.append(typed)
        if typed["type"] == "stream_resumed":
            self.decoder.resume(msgspec.convert(typed["carry"], Carry))
        if typed["type"] == "stream_snapshot":
            self.restore(typed)

    def restore(self, snapshot: Any) -> None:
        """Nothing of what it had counts any more."""
        self.decoder, self.last_id = DeltaDecoder(), snapshot["seq"]
        for channel, tree in snapshot["channels"].items():
            self.decoder.take(Delta("", "add", tree, int(channel)))
        self.decoder.resume(msgspec.convert(snapshot["carry"], Carry))

    @property
    def has_proof(self) -> bool:
        """It was told the end, and what it has is what was said."""
        (complete,) = self.told("message_stream_complete")[-1:] or (None,)
        return complete is not None and complete["messages"] == [
            checksum(one["id"], one["content"]["parts"][0]) for one in self.messages
        ]

    @property
    def messages(self) -> list[Any]:
        trees: list[Any] = [self.decoder.tree(channel) for channel in self.decoder.channels]
        assert all(tree["conversation_id"] == "conversation" for tree in trees)
        return [tree["message"] for tree in trees]

    def told(self, kind: str) -> list[Any]:
        return [typed for typed in self.typed if typed["type"] == kind]


@given(turns, cuts, pads)
def test_a_v1_stream_comes_to_the_fold_however_it_is_batched(
    log: list[Stamped], at: list[int], pad: int
) -> None:
    view, reader, parser = V1View(pad), Reader(), SseParser()
    seen = 0
    for batch in batches(log, at):
        reader.read(parser.feed(view.encode(batch)))
        seen += len(batch)
        assert reader.messages == travelling(log[:seen])
    assert reader.has_proof
    assert reader.last_id == log[-1].seq


@given(turns, cuts, st.integers(1, 40), st.integers(0, 10_000))
def test_a_reader_cut_off_anywhere_resumes_to_the_same_end(
    log: list[Stamped], at: list[int], cut_batch: int, cut_byte: int
) -> None:
    first, reader = V1View(), Reader()
    sent = b"".join(first.encode(batch) for batch in batches(log, at))
    reader.read(SseParser().feed(sent[: cut_byte % (len(sent) + 1)]))
    if reader.last_id < len(log):
        second, have = V1View(), reader.last_id
        sent = resumed(second, log[:have])
        sent += b"".join(second.encode(batch) for batch in batches(log[have:], [cut_batch]))
        reader.read(SseParser().feed(sent))
    assert reader.has_proof
    assert reader.messages == travelling(log)


@given(turns, st.integers(0, 40))
def test_resuming_repeats_nothing_and_says_where_it_goes_on(log: list[Stamped], after: int) -> None:
    have = log[:after]
    whole, view = V1View(), V1View()
    whole.encode(have)
    opening = resumed(view, have)
    assert view.encode(log[after:]) == whole.encode(log[after:])
    events = SseParser().feed(opening)
    assert [event.event for event in events[:2]] == ["delta_encoding", "message"]
    told = msgspec.json.decode(events[1].data)
    assert told["type"] == "stream_resumed"
    assert told["from"] == len(have) + 1
    assert msgspec.json.decode(events[2].data)["token"] == "signed"


@given(turns, st.integers(0, 40), st.integers(0, 40), cuts)
def test_a_snapshot_and_what_follows_it_come_to_the_whole(
    log: list[Stamped], had: int, taken: int, at: list[int]
) -> None:
    """Whatever the reader had before: nothing, less than the snapshot, or more."""
    before, reader = V1View(), Reader()
    reader.read(SseParser().feed(before.encode(log[:had])))
    num_before_end = next(i for i, one in enumerate(log) if is_end(one.event))
    view, past = V1View(), log[: min(taken, num_before_end)]
    view.skip(past)
    snapshot = StreamSnapshot("conversation", "turn", len(past), channels(past), view.carry)
    sent = opened(snapshot, TOKEN)
    sent += b"".join(view.encode(batch) for batch in batches(log[len(past) :], at))
    reader.read(SseParser().feed(sent))
    assert reader.has_proof
    assert reader.last_id == len(log)
    assert reader.messages == travelling(log)


@given(turns, cuts, st.integers(0, 40))
def test_items_are_the_stream_cut_by_events_without_a_gap(
    log: list[Stamped], at: list[int], after: int
) -> None:
    whole, view = V1View(), V1View()
    whole.skip(log[:after])
    view.skip(log[:after])
    last = min(after, len(log))
    for batch in batches(log[after:], at):
        items = view.items(batch)
        assert b"".join(item.data for item in items) == whole.encode(batch)
        for item in items:
            assert item.seq - item.n == last
            assert f"id: {item.seq}\n".encode() in item.data
            last = item.seq
    assert last == len(log)


@given(turns, cuts)
def test_the_token_to_come_back_with_is_the_second_thing_a_stream_says(
    log: list[Stamped], at: list[int]
) -> None:
    view = V1View(token=TOKEN)
    sent = b"".join(view.encode(batch) for batch in batches(log, at))
    banner, token, *rest = SseParser().feed(sent)
    assert banner.event == "delta_encoding"
    told = msgspec.json.decode(token.data)
    assert (told["type"], told["kind"], told["token"]) == (
        "resume_conversation_token",
        "topic",
        "signed",
    )
    without = V1View()
    bare = b"".join(without.encode(batch) for batch in batches(log, at))
    assert rest == SseParser().feed(bare)[1:]


@given(turns, st.none() | st.builds(PromptWarmed, st.booleans(), st.integers(0, 9), st.just(8.0)))
def test_the_facts_say_what_reading_ahead_saved(
    log: list[Stamped], warmed: PromptWarmed | None
) -> None:
    events = [one.event for one in log]
    if warmed:
        events.insert(1, warmed)
    reader = Reader()
    reader.read(SseParser().feed(V1View().encode(stamped(events))))
    (told,) = reader.told("server_ste_metadata")
    facts = told["metadata"]
    assert facts["resume_with_websockets"] is True
    assert facts["conduit_prewarmed"] is (warmed is not None)
    state = "cold" if warmed is None else "warm" if warmed.is_whole else "warming"
    assert facts["warmup_state"] == state
    if warmed is None or warmed.num_tokens == 0 or facts["usage"] is None:
        assert facts["saved_ms"] is None
    else:
        cached = facts["usage"]["num_cached_tokens"]
        assert facts["saved_ms"] == round(8 * min(1, cached / warmed.num_tokens), 3)


@given(turns, cuts, st.lists(st.integers(0, 5000), max_size=6))
def test_where_the_network_cuts_the_stream_does_not_matter(
    log: list[Stamped], at: list[int], byte_cuts: list[int]
) -> None:
    view, reader, parser = V1View(), Reader(), SseParser()
    sent = b"".join(view.encode(batch) for batch in batches(log, at))
    edges = sorted({0, len(sent), *(i for i in byte_cuts if i < len(sent))})
    for a, b in zip(edges, edges[1:], strict=False):
        reader.read(parser.feed(sent[a:b]))
    assert reader.messages == travelling(log)


@given(turns, cuts)
def test_another_parser_reads_the_same_events(log: list[Stamped], at: list[int]) -> None:
    view = V1View()
    sent = b"".join(view.encode(batch) for batch in batches(log, at))
    response = httpx2.Response(
        200,
        headers={"content-type": "text/event-stream"},
        content=sent,
        request=httpx2.Request("GET", "http://test/"),
    )
    theirs = [SseEvent(e.data, e.event, e.id) for e in httpx2.EventSource(response)]
    assert theirs == SseParser().feed(sent)


@given(turns, cuts, pads)
def test_every_delta_is_padded_and_padding_changes_nothing(
    log: list[Stamped], at: list[int], pad: int
) -> None:
    padded, bare = V1View(pad), V1View(0)
    for batch in batches(log, at):
        events = SseParser().feed(padded.encode(batch))
        for event in events:
            size = len(event.data.encode())
            assert event.event != "delta" or pad == 0 or size % pad == 0
        told = [(event.data.rstrip(" "), event.event, event.last_id) for event in events]
        plain = SseParser().feed(bare.encode(batch))
        assert told == [(event.data, event.event, event.last_id) for event in plain]


@given(turns, cuts)
def test_the_end_of_a_stream_proves_what_was_said(log: list[Stamped], at: list[int]) -> None:
    view, reader, parser = V1View(), Reader(), SseParser()
    for batch in batches(log, at):
        reader.read(parser.feed(view.encode(batch)))
    (complete,) = reader.told("message_stream_complete")
    assert complete["last_seq"] == next(one.seq for one in log if is_end(one.event))
    said = [(one["id"], one["content"]["parts"][0]) for one in reader.messages]
    assert complete["messages"] == [checksum(id, text) for id, text in said]


@given(turns, cuts)
def test_the_stream_says_once_when_words_begin_and_end(log: list[Stamped], at: list[int]) -> None:
    view, reader, parser = V1View(), Reader(), SseParser()
    for batch in batches(log, at):
        reader.read(parser.feed(view.encode(batch)))
    answer = [said for said in folded(log).messages if said.role == "assistant"]
    has_words = any(said.text for said in answer)
    markers = [(typed["marker"], typed["event"]) for typed in reader.told("message_marker")]
    assert markers == [("user_visible_token", "first")] * has_words + [
        ("last_token", "last") for _ in answer
    ]
    titles = [event.event.title for event in log if isinstance(event.event, TitleChosen)]
    assert [typed["title"] for typed in reader.told("title_generation")] == titles
    words = (e.at_ms for e in log if isinstance(e.event, TextArrived) and e.event.text)
    (facts,) = reader.told("server_ste_metadata")
    assert facts["metadata"]["ttft_ms"] == next(words, None)
    failures = [event.event for event in log if isinstance(event.event, TurnFailed)]
    assert [typed["error"]["code"] for typed in reader.told("error")] == [
        failure.code for failure in failures
    ]


@pytest.mark.parametrize("view", [V1View(), PlainView(), openai.ChunkView()])
def test_where_nothing_happened_nothing_is_said(
    view: V1View | PlainView | openai.ChunkView,
) -> None:
    assert view.encode([]) == b""


def test_text_that_arrived_together_is_one_delta_up_to_a_limit() -> None:
    arrivals = [TextArrived("x" * 1000) for _ in range(10)]
    log = stamped([*begun("?"), *arrivals])
    view = V1View()
    view.encode(log[:6])
    deltas = [e for e in SseParser().feed(view.encode(log[6:])) if e.event == "delta"]
    lengths = [len(msgspec.json.decode(delta.data)["v"]) for delta in deltas]
    assert lengths == [4000, 4000, 2000]
    assert max(lengths) <= MAX_CHARS
    assert [delta.last_id for delta in deltas] == ["10", "14", "16"]


@given(turns, cuts)
def test_plain_frames_come_to_the_fold(log: list[Stamped], at: list[int]) -> None:
    view, parser = PlainView(), SseParser()
    shown: dict[str, Any] = {}
    seen, events = 0, list[SseEvent]()
    for batch in batches(log, at):
        events += parser.feed(view.encode(batch))
        seen += len(batch)
        for event in events:
            if one := msgspec.json.decode(event.data)["message"]:
                shown[one["id"]] = one
        assert list(shown.values()) == travelling(log[:seen])


@given(turns, cuts, st.booleans(), st.none() | st.integers(0, 2))
def test_chunks_joined_are_the_whole_completion(
    log: list[Stamped], at: list[int], include_usage: bool, num_logprobs: int | None
) -> None:
    view = openai.ChunkView(include_usage=include_usage, num_logprobs=num_logprobs)
    sent = b"".join(view.encode(batch) for batch in batches(log, at))
    chunks = [event.data for event in SseParser().feed(sent)]
    told = [msgspec.json.decode(chunk) for chunk in chunks]
    if "error" in told[-1]:
        with pytest.raises(HitsendError, match=re.escape(told[-1]["error"]["message"])):
            openai.completion(log, num_logprobs)
        return
    whole = msgspec.json.decode(msgspec.json.encode(openai.completion(log, num_logprobs)))
    if include_usage:
        assert all(chunk["usage"] is None for chunk in told[:-1])
        assert told[-1]["usage"] == whole["usage"]
        assert told.pop()["choices"] == []
    assert all("usage" not in chunk or include_usage for chunk in told)
    assert all(chunk["id"] == whole["id"] for chunk in told)
    shown = joined([chunk["choices"][0] for chunk in told])
    if num_logprobs is None:
        assert shown["logprobs"]["content"] == []
        shown["logprobs"] = None
    assert shown == whole["choices"][0]


def joined(choices: list[Any]) -> Any:
    """What an SDK makes of the choices of a stream."""
    deltas = [choice["delta"] for choice in choices]
    assert [delta.get("role") for delta in deltas] == ["assistant"] + [None] * (len(deltas) - 1)
    assert [choice["finish_reason"] for choice in choices[:-1]] == [None] * (len(choices) - 1)
    fragments = [call for delta in deltas for call in delta.get("tool_calls", ())]
    assert [call.pop("index") for call in fragments] == list(range(len(fragments)))
    content = "".join(delta.get("content", "") for delta in deltas)
    answer = {
        "role": "assistant",
        "content": content or (None if fragments else ""),
        "refusal": None,
    }
    probabilities = [choice["logprobs"]["content"] for choice in choices if choice["logprobs"]]
    return {
        "index": 0,
        "message": answer | ({"tool_calls": fragments} if fragments else {}),
        "finish_reason": choices[-1]["finish_reason"],
        "logprobs": {"content": [p for some in probabilities for p in some], "refusal": None},
    }
