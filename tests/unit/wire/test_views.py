"""Every view of any turn gives the folded messages, for any batching, cut, padding or resume."""

import hashlib
import re
from collections.abc import Iterable, Sequence
from typing import Any

import httpx2
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

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
    ToolArgumentsArrived,
    ToolCallArrived,
    ToolCallDropped,
    ToolCallStarted,
    TurnAccepted,
    TurnFailed,
    TurnFinished,
    TurnStarted,
    is_end,
)
from hitsend.messages import Alternative, Message, Sampling, Text, Token, ToolCall, Usage
from hitsend.sse import SseEvent, SseParser
from hitsend.wire import openai
from hitsend.wire.coalesce import MAX_CHARS
from hitsend.wire.delta import Carry, Delta, DeltaDecoder
from hitsend.wire.full_messages import FullMessageView
from hitsend.wire.message import Origin, build_message, get_tool_calls
from hitsend.wire.side_events import ResumeToken, StreamResumed, StreamSnapshot
from hitsend.wire.v1 import V1View, build_channels, encode_opening

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
call_ids = st.uuids().map(str)


def call_events(call_id: str, pieces: list[str], is_whole: bool) -> list[AnyEvent]:
    """A call as the model writes it, each piece with a token."""
    token = TextArrived("", (Token(1, "x", None, 1.0),))
    arguments = [(token, ToolArgumentsArrived(call_id, piece)) for piece in pieces]
    call = ToolCall(call_id, "weather", "".join(pieces))
    end = ToolCallArrived(call) if is_whole else ToolCallDropped("cut", call_id=call_id)
    return [ToolCallStarted(call_id, "weather"), *(one for two in arguments for one in two), end]


middle_events: st.SearchStrategy[list[AnyEvent]] = st.one_of(
    st.lists(arrivals, min_size=1, max_size=3),
    st.builds(lambda text: [TextArrived(text * 3000)], texts),
    st.builds(lambda title, revision: [TitleChosen(title, revision)], texts, st.integers(1, 3)),
    st.builds(lambda *call: [ToolCallArrived(ToolCall(*call))], call_ids, texts, texts),
    st.builds(call_events, call_ids, st.lists(texts, max_size=3), st.booleans()),
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


def first_events(asked: str) -> list[AnyEvent]:
    question = MessageAdded("question", None, Message("user", (Text(asked),), "user"))
    answer = AnswerStarted("answer", "question", "model")
    return [START, ContextBuilt(()), TurnAccepted(), question, answer, PromptRead(3, 4, 0.5, 1.5)]


def stamped(events: Iterable[AnyEvent]) -> list[Stamped]:
    return [Stamped(i, 1.5 * i, event) for i, event in enumerate(events, 1)]


turns = st.one_of(
    st.builds(
        lambda asked, middle, end, late: stamped(
            [*first_events(asked), *(event for events in middle for event in events), *end, *late]
        ),
        texts,
        st.lists(middle_events, max_size=12),
        endings,
        st.lists(st.builds(TitleChosen, texts, st.just(4)), max_size=1),
    ),
    st.just(stamped([START, TurnAccepted(), TurnFailed("engine_down", "Not now.", True)])),
    st.builds(lambda asked: stamped([*first_events(asked)[:4], TurnFinished("stopped")]), texts),
)
cuts = st.lists(st.integers(0, 40), max_size=8)
pads = st.sampled_from([0, 8, 16, 32])


def batches(log: Sequence[Stamped], at: Iterable[int]) -> list[Sequence[Stamped]]:
    """Splits the log at these indices; those outside of it are ignored."""
    edges = sorted({0, len(log), *(i for i in at if i < len(log))})
    return [log[a:b] for a, b in zip(edges, edges[1:], strict=False)]


def fold_log(log: Sequence[Stamped]) -> transcript.Transcript:
    return transcript.fold(one.event for one in log)


def wire_messages(log: Sequence[Stamped]) -> list[Any]:
    """The folded messages of the log, as JSON."""
    messages = [build_message(said, Origin.from_turn(START)) for said in fold_log(log).messages]
    return [msgspec.json.decode(msgspec.json.encode(one)) for one in messages]


def checksum(message_id: str, text: str) -> Any:
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    return {"id": message_id, "chars": len(text), "sha256": sha256}


def resume_stream(view: V1View, past: Sequence[Stamped]) -> bytes:
    view.skip(past)
    opening = StreamResumed("conversation", "turn", len(past) + 1, view.carry)
    return encode_opening(opening, TOKEN)


class Reader:
    """A minimal v1 client."""

    def __init__(self) -> None:
        self.decoder = DeltaDecoder()
        self.all_side_events: list[Any] = []
        self.last_id = 0

    def read(self, events: Iterable[SseEvent]) -> None:
        for event in events:
            self.last_id = int(event.last_id or self.last_id)
            if event.event == "delta":
                self.decoder.decode(event.data)
            elif event.event != "delta_encoding":
                self.add_side_event(msgspec.json.decode(event.data))

    def add_side_event(self, event: Any) -> None:
        self.all_side_events.append(event)
        if event["type"] == "stream_resumed":
            self.decoder.resume(msgspec.convert(event["carry"], Carry))
        if event["type"] == "stream_snapshot":
            self.restore(event)

    def restore(self, snapshot: Any) -> None:
        """Replaces the whole state."""
        self.decoder, self.last_id = DeltaDecoder(), snapshot["seq"]
        for channel, tree in snapshot["channels"].items():
            self.decoder.apply(Delta("", "add", tree, int(channel)))
        self.decoder.resume(msgspec.convert(snapshot["carry"], Carry))

    @property
    def has_proof(self) -> bool:
        """The stream has ended, and its checksums match the messages."""
        (complete,) = self.side_events("message_stream_complete")[-1:] or (None,)
        return complete is not None and complete["messages"] == [
            checksum(one["id"], one["content"]["parts"][0]) for one in self.messages
        ]

    @property
    def messages(self) -> list[Any]:
        trees: list[Any] = [self.decoder.tree(channel) for channel in self.decoder.channels]
        assert all(tree["conversation_id"] == "conversation" for tree in trees)
        return [tree["message"] for tree in trees]

    def side_events(self, kind: str) -> list[Any]:
        return [event for event in self.all_side_events if event["type"] == kind]


@given(turns, cuts, pads)
def test_a_v1_stream_gives_the_folded_messages_for_any_batching(
    log: list[Stamped], at: list[int], pad: int
) -> None:
    view, reader, parser = V1View(pad), Reader(), SseParser()
    seen = 0
    for batch in batches(log, at):
        reader.read(parser.feed(view.encode(batch)))
        seen += len(batch)
        assert reader.messages == wire_messages(log[:seen])
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
        sent = resume_stream(second, log[:have])
        sent += b"".join(second.encode(batch) for batch in batches(log[have:], [cut_batch]))
        reader.read(SseParser().feed(sent))
    assert reader.has_proof
    assert reader.messages == wire_messages(log)


@given(turns, st.integers(0, 40))
def test_a_resumed_stream_repeats_nothing_and_names_its_first_event(
    log: list[Stamped], after: int
) -> None:
    have = log[:after]
    whole, view = V1View(), V1View()
    whole.encode(have)
    opening = resume_stream(view, have)
    assert view.encode(log[after:]) == whole.encode(log[after:])
    events = SseParser().feed(opening)
    assert [event.event for event in events[:2]] == ["delta_encoding", "message"]
    decoded = msgspec.json.decode(events[1].data)
    assert decoded["type"] == "stream_resumed"
    assert decoded["from"] == len(have) + 1
    assert msgspec.json.decode(events[2].data)["token"] == "signed"


@given(turns, st.integers(0, 40), st.integers(0, 40), cuts)
def test_a_snapshot_and_the_rest_give_the_whole_turn(
    log: list[Stamped], had: int, taken: int, at: list[int]
) -> None:
    """The reader had nothing before, less than the snapshot, or more."""
    before, reader = V1View(), Reader()
    reader.read(SseParser().feed(before.encode(log[:had])))
    num_before_end = next(i for i, one in enumerate(log) if is_end(one.event))
    view, past = V1View(), log[: min(taken, num_before_end)]
    view.skip(past)
    snapshot = StreamSnapshot("conversation", "turn", len(past), build_channels(past), view.carry)
    sent = encode_opening(snapshot, TOKEN)
    sent += b"".join(view.encode(batch) for batch in batches(log[len(past) :], at))
    reader.read(SseParser().feed(sent))
    assert reader.has_proof
    assert reader.last_id == len(log)
    assert reader.messages == wire_messages(log)


@given(turns, cuts, st.integers(0, 40))
def test_items_cover_every_event_of_the_stream_without_a_gap(
    log: list[Stamped], at: list[int], after: int
) -> None:
    whole, view = V1View(), V1View()
    whole.skip(log[:after])
    view.skip(log[:after])
    last = min(after, len(log))
    for batch in batches(log[after:], at):
        items = view.encode_items(batch)
        assert b"".join(item.data for item in items) == whole.encode(batch)
        for item in items:
            assert item.seq - item.n == last
            assert f"id:{item.seq}\n".encode() in item.data
            last = item.seq
    assert last == len(log)


@given(turns, cuts)
def test_the_resume_token_is_the_second_frame_of_a_stream(
    log: list[Stamped], at: list[int]
) -> None:
    view = V1View(token=TOKEN)
    sent = b"".join(view.encode(batch) for batch in batches(log, at))
    banner, token, *rest = SseParser().feed(sent)
    assert banner.event == "delta_encoding"
    decoded = msgspec.json.decode(token.data)
    assert (decoded["type"], decoded["kind"], decoded["token"]) == (
        "resume_conversation_token",
        "topic",
        "signed",
    )
    without = V1View()
    bare = b"".join(without.encode(batch) for batch in batches(log, at))
    assert rest == SseParser().feed(bare)[1:]


def warmed_with(is_whole: bool, num_before: int, num_new: int | None) -> PromptWarmed:
    """`num_new` is None in logs of earlier versions, which count all tokens as new."""
    known = UNSET if num_new is None else num_new
    return PromptWarmed(is_whole, num_before + (num_new or 0), 8.0, known)


@given(
    turns,
    st.none()
    | st.builds(warmed_with, st.booleans(), st.integers(0, 9), st.none() | st.integers(0, 9)),
)
def test_the_metadata_says_how_much_time_prewarming_saved(
    log: list[Stamped], warmed: PromptWarmed | None
) -> None:
    events = [one.event for one in log]
    if warmed:
        events.insert(1, warmed)
    reader = Reader()
    reader.read(SseParser().feed(V1View().encode(stamped(events))))
    (decoded,) = reader.side_events("server_ste_metadata")
    facts = decoded["metadata"]
    assert facts["resume_with_websockets"] is True
    num_cached = (facts["usage"] or {}).get("num_cached_tokens", 0)
    num_warm, num_new = 0, 0
    if warmed:
        num_new = warmed.num_tokens if warmed.num_new_tokens is UNSET else warmed.num_new_tokens
        num_before = warmed.num_tokens - num_new
        num_warm = max(min(warmed.num_tokens, num_cached) - num_before, 0)
    assert facts["conduit_prewarmed"] is bool(num_warm)
    state = "cold" if warmed is None else "warm" if warmed.is_whole else "warming"
    assert facts["warmup_state"] == state
    if num_new == 0 or facts["usage"] is None:
        assert facts["saved_ms"] is None
    else:
        assert facts["saved_ms"] == round(8 * num_warm / num_new, 3)


@given(turns, cuts, st.lists(st.integers(0, 5000), max_size=6))
def test_a_stream_may_be_split_at_any_byte(
    log: list[Stamped], at: list[int], byte_cuts: list[int]
) -> None:
    view, reader, parser = V1View(), Reader(), SseParser()
    sent = b"".join(view.encode(batch) for batch in batches(log, at))
    edges = sorted({0, len(sent), *(i for i in byte_cuts if i < len(sent))})
    for a, b in zip(edges, edges[1:], strict=False):
        reader.read(parser.feed(sent[a:b]))
    assert reader.messages == wire_messages(log)


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
        decoded = [(event.data.rstrip(" "), event.event, event.last_id) for event in events]
        plain = SseParser().feed(bare.encode(batch))
        assert decoded == [(event.data, event.event, event.last_id) for event in plain]


@given(turns, cuts)
def test_the_end_of_a_stream_has_the_checksum_of_each_message(
    log: list[Stamped], at: list[int]
) -> None:
    view, reader, parser = V1View(), Reader(), SseParser()
    for batch in batches(log, at):
        reader.read(parser.feed(view.encode(batch)))
    (complete,) = reader.side_events("message_stream_complete")
    assert complete["last_seq"] == next(one.seq for one in log if is_end(one.event))
    said = [(one["id"], one["content"]["parts"][0]) for one in reader.messages]
    assert complete["messages"] == [checksum(id, text) for id, text in said]


@given(turns, cuts)
def test_the_first_and_the_last_token_are_each_marked_once(
    log: list[Stamped], at: list[int]
) -> None:
    view, reader, parser = V1View(), Reader(), SseParser()
    for batch in batches(log, at):
        reader.read(parser.feed(view.encode(batch)))
    answer = [said for said in fold_log(log).messages if said.role == "assistant"]
    has_words = any(said.text for said in answer)
    markers = [(event["marker"], event["event"]) for event in reader.side_events("message_marker")]
    assert markers == [("user_visible_token", "first")] * has_words + [
        ("last_token", "last") for _ in answer
    ]
    titles = [event.event.title for event in log if isinstance(event.event, TitleChosen)]
    assert [event["title"] for event in reader.side_events("title_generation")] == titles
    words = (e.at_ms for e in log if isinstance(e.event, TextArrived) and e.event.text)
    (facts,) = reader.side_events("server_ste_metadata")
    assert facts["metadata"]["ttft_ms"] == next(words, None)
    failures = [event.event for event in log if isinstance(event.event, TurnFailed)]
    assert [event["error"]["code"] for event in reader.side_events("error")] == [
        failure.code for failure in failures
    ]


@pytest.mark.parametrize("view", [V1View(), FullMessageView(), openai.ChunkView()])
def test_an_empty_batch_encodes_to_nothing(
    view: V1View | FullMessageView | openai.ChunkView,
) -> None:
    assert view.encode([]) == b""


def test_text_of_one_batch_is_one_delta_up_to_a_limit() -> None:
    arrivals = [TextArrived("x" * 1000) for _ in range(10)]
    log = stamped([*first_events("?"), *arrivals])
    view = V1View()
    view.encode(log[:6])
    deltas = [e for e in SseParser().feed(view.encode(log[6:])) if e.event == "delta"]
    lengths = [len(msgspec.json.decode(delta.data)["v"]) for delta in deltas]
    assert lengths == [4000, 4000, 2000]
    assert max(lengths) <= MAX_CHARS
    assert [delta.last_id for delta in deltas] == ["10", "14", "16"]


@given(turns, cuts)
def test_full_message_frames_give_the_folded_messages(log: list[Stamped], at: list[int]) -> None:
    view, parser = FullMessageView(), SseParser()
    shown: dict[str, Any] = {}
    seen, events = 0, list[SseEvent]()
    for batch in batches(log, at):
        events += parser.feed(view.encode(batch))
        seen += len(batch)
        for event in events:
            if one := msgspec.json.decode(event.data)["message"]:
                shown[one["id"]] = one
        assert list(shown.values()) == wire_messages(log[:seen])


@given(turns, cuts, st.booleans(), st.none() | st.integers(0, 2))
def test_chunks_joined_are_the_whole_completion(
    log: list[Stamped], at: list[int], include_usage: bool, num_logprobs: int | None
) -> None:
    view = openai.ChunkView(include_usage=include_usage, num_logprobs=num_logprobs)
    sent = b"".join(view.encode(batch) for batch in batches(log, at))
    chunks = [event.data for event in SseParser().feed(sent)]
    decoded = [msgspec.json.decode(chunk) for chunk in chunks]
    if "error" in decoded[-1]:
        with pytest.raises(HitsendError, match=re.escape(decoded[-1]["error"]["message"])):
            openai.build_completion(log, num_logprobs)
        return
    whole = msgspec.json.decode(msgspec.json.encode(openai.build_completion(log, num_logprobs)))
    if include_usage:
        assert all(chunk["usage"] is None for chunk in decoded[:-1])
        assert decoded[-1]["usage"] == whole["usage"]
        assert decoded.pop()["choices"] == []
    assert all("usage" not in chunk or include_usage for chunk in decoded)
    assert all(chunk["id"] == whole["id"] for chunk in decoded)
    shown = join_choices([chunk["choices"][0] for chunk in decoded])
    drop_partial_calls(shown["message"], fold_log(log).messages[-1])
    if num_logprobs is None:
        assert shown["logprobs"]["content"] == []
        shown["logprobs"] = None
    assert shown == whole["choices"][0]


def drop_partial_calls(message: Any, answer: transcript.FoldedMessage) -> None:
    """A call that was cut was begun in the stream, and is not in the whole answer."""
    partial = {part.call_id for part in get_tool_calls(answer) if part.is_partial is True}
    calls = [call for call in message.pop("tool_calls", ()) if call["id"] not in partial]
    if calls:
        message["tool_calls"] = calls
    elif message["content"] is None:
        message["content"] = ""


def join_choices(choices: list[Any]) -> Any:
    """Joins the chunks of a stream into one choice, as an SDK does."""
    deltas = [choice["delta"] for choice in choices]
    assert [delta.get("role") for delta in deltas] == ["assistant"] + [None] * (len(deltas) - 1)
    assert [choice["finish_reason"] for choice in choices[:-1]] == [None] * (len(choices) - 1)
    calls: list[Any] = []
    for piece in (call for delta in deltas for call in delta.get("tool_calls", ())):
        index = piece.pop("index")
        if index == len(calls):
            calls.append(piece)
        else:
            assert index == len(calls) - 1
            assert piece.keys() == {"function"}
            calls[-1]["function"]["arguments"] += piece["function"]["arguments"]
    content = "".join(delta.get("content", "") for delta in deltas)
    answer = {
        "role": "assistant",
        "content": content or (None if calls else ""),
        "refusal": None,
    }
    probabilities = [choice["logprobs"]["content"] for choice in choices if choice["logprobs"]]
    return {
        "index": 0,
        "message": answer | ({"tool_calls": calls} if calls else {}),
        "finish_reason": choices[-1]["finish_reason"],
        "logprobs": {"content": [p for some in probabilities for p in some], "refusal": None},
    }
