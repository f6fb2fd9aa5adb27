"""Our frames are read by another parser; our readers return the same wherever a stream is cut."""

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitsend.errors import EngineLost
from hitsend.sse import (
    DONE,
    MAX_LINE_BYTES,
    SseDataReader,
    SseEvent,
    SseParser,
    encode_frame,
    encode_heartbeat,
)


def parsed(data: bytes) -> list[SseEvent]:
    return SseParser().feed(data)


@pytest.mark.parametrize(
    ("stream", "events"),
    [
        pytest.param(b"data: a\n\n", [SseEvent("a")], id="one event"),
        pytest.param(b"data:a\ndata:  b\ndata\n\n", [SseEvent("a\n b\n")], id="several lines"),
        pytest.param(b"data: a\r\n\r\ndata: b\r\rdata: c\n\n", [*map(SseEvent, "abc")], id="ends"),
        pytest.param(b"data: a\r\ndata: b\r\n\r\n", [SseEvent("a\nb")], id="two bytes, one end"),
        pytest.param(b"\xef\xbb\xbfdata: a\n\n", [SseEvent("a")], id="byte order mark"),
        pytest.param(b"data: a\n\n\xef\xbb\xbfdata: b\n\n", [SseEvent("a")], id="a later mark"),
        pytest.param(b": ping\n\nid\n\nevent: x\n\n", [], id="nothing to tell"),
        pytest.param(b"data\n\n", [SseEvent("")], id="an empty line of data is data"),
        pytest.param(b"data: a\n", [], id="not whole yet"),
        pytest.param(
            b"event: x\ndata: a\n\ndata: b\n\n", [SseEvent("a", "x"), SseEvent("b")], id="name"
        ),
        pytest.param(
            b"id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n",
            [SseEvent("a", last_id="1"), SseEvent("b", last_id="1"), SseEvent("c")],
            id="an id stays until another comes",
        ),
        pytest.param(b"id: 1\0\ndata: a\n\n", [SseEvent("a")], id="an id with NUL is no id"),
        pytest.param(b"Data: a\n data: b\nx: c\n\n", [], id="fields nobody knows"),
        pytest.param(b"data: \xff\n\n", [SseEvent("\ufffd")], id="not UTF-8"),
        pytest.param(
            "data: \u2028\x0b\x85\n\n".encode(), [SseEvent("\u2028\x0b\x85")], id="no end"
        ),
    ],
)
def test_streams_are_parsed_as_specified(stream: bytes, events: list[SseEvent]) -> None:
    assert parsed(stream) == events


def test_the_retry_field_is_parsed() -> None:
    parser = SseParser()
    parser.feed(b"retry: 1x\nretry: 250\nretry:\nretry: -1\n")
    assert parser.retry_ms == 250


pieces = st.sampled_from(
    [b"data: a", b"data:", b"id: 7", b"event: x", b": c", "data: 🙂".encode(), b"\xef\xbb\xbf"]
    + [b"\n", b"\r", b"\r\n", b"\n\n", b"\r\n\r\n"]
)
streams = st.lists(pieces, max_size=40).map(b"".join)


@given(streams)
def test_the_parser_takes_bytes_split_anywhere(stream: bytes) -> None:
    events = parsed(stream)
    for cut in range(len(stream)):
        parser = SseParser()
        assert parser.feed(stream[:cut]) + parser.feed(stream[cut:]) == events
    parser = SseParser()
    single = (stream[i : i + 1] for i in range(len(stream)))
    assert [event for byte in single for event in parser.feed(byte)] == events


DATA_STREAM = (
    b': hello\n\nevent: x\ndata: {"a":1}\n\ndata:{"b":2}\r\n\r\nid: 3\ndata:  "\xc3\xa9"\n\n'
)
DATA_VALUES = [b'{"a":1}', b'{"b":2}', b'"\xc3\xa9"']


@given(st.lists(st.integers(0, len(DATA_STREAM)), max_size=8))
def test_data_does_not_depend_on_where_the_stream_was_cut(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(DATA_STREAM)]
    reader = SseDataReader()
    chunks = [DATA_STREAM[start:end] for start, end in zip(edges, edges[1:], strict=False)]
    assert [value for chunk in chunks for value in reader.feed(chunk)] == DATA_VALUES


def test_data_after_done_is_ignored() -> None:
    reader = SseDataReader()
    assert reader.feed(b"data: 1\n\ndata: [DONE]\n\ndata: 2\n\n") == [b"1"]
    assert reader.is_done


def test_a_line_without_an_end_is_refused() -> None:
    reader = SseDataReader()
    with pytest.raises(EngineLost, match="without an end"):
        reader.feed(b"data: " + b"x" * MAX_LINE_BYTES)


names = st.one_of(st.none(), st.sampled_from(["delta", "error"]))
payloads = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n\0")).map(
    lambda text: b'"%b"' % text.encode()
)


@given(st.lists(st.tuples(payloads, names, st.integers(1, 10**6), st.sampled_from([0, 8, 16, 32]))))
def test_another_parser_reads_our_frames(
    frames: list[tuple[bytes, str | None, int, int]],
) -> None:
    stream = encode_heartbeat(1_760_000_000_000).join([encode_frame(*one) for one in frames]) + DONE
    response = httpx2.Response(
        200,
        headers={"content-type": "text/event-stream"},
        content=stream,
        request=httpx2.Request("GET", "http://test/"),
    )
    theirs = [(e.data, e.event, e.id) for e in httpx2.EventSource(response)]
    assert theirs == [(e.data, e.event, e.last_id) for e in parsed(stream)]
    told = [(e.data.rstrip(" "), e.event, e.last_id) for e in parsed(stream)][:-1]
    assert told == [(data.decode(), event or "message", str(seq)) for data, event, seq, _ in frames]


def test_data_is_padded_to_a_multiple() -> None:
    assert (
        encode_frame(b'{"v":"a"}', "delta", 3, 16)
        == b'id:3\nevent:delta\ndata: {"v":"a"}       \n\n'
    )
    assert encode_frame(b"0123456789abcdef", pad=16) == b"data: 0123456789abcdef\n\n"
    assert encode_frame(b"{}") == b"data: {}\n\n"
