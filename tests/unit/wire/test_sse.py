import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitsend.wire.sse import DONE, SseEvent, SseParser, frame, heartbeat


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
def test_a_stream_is_read_as_the_specification_says(stream: bytes, events: list[SseEvent]) -> None:
    assert parsed(stream) == events


def test_the_server_may_say_how_long_to_wait() -> None:
    parser = SseParser()
    parser.feed(b"retry: 1x\nretry: 250\nretry:\nretry: -1\n")
    assert parser.retry_ms == 250


pieces = st.sampled_from(
    [b"data: a", b"data:", b"id: 7", b"event: x", b": c", "data: 🙂".encode(), b"\xef\xbb\xbf"]
    + [b"\n", b"\r", b"\r\n", b"\n\n", b"\r\n\r\n"]
)
streams = st.lists(pieces, max_size=40).map(b"".join)


@given(streams)
def test_where_the_bytes_are_cut_does_not_matter(stream: bytes) -> None:
    events = parsed(stream)
    for cut in range(len(stream)):
        parser = SseParser()
        assert parser.feed(stream[:cut]) + parser.feed(stream[cut:]) == events
    parser = SseParser()
    single = (stream[i : i + 1] for i in range(len(stream)))
    assert [event for byte in single for event in parser.feed(byte)] == events


names = st.one_of(st.none(), st.sampled_from(["delta", "error"]))
payloads = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n\0")).map(
    lambda text: b'"%b"' % text.encode()
)


@given(st.lists(st.tuples(payloads, names, st.integers(1, 10**6), st.sampled_from([0, 8, 16, 32]))))
def test_another_parser_reads_our_frames_as_we_do(
    frames: list[tuple[bytes, str | None, int, int]],
) -> None:
    stream = heartbeat(1_760_000_000_000).join([frame(*one) for one in frames]) + DONE
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


def test_padding_makes_lengths_alike() -> None:
    assert frame(b'{"v":"a"}', "delta", 3, 16) == b'id: 3\nevent: delta\ndata: {"v":"a"}       \n\n'
    assert frame(b"0123456789abcdef", pad=16) == b"data: 0123456789abcdef\n\n"
    assert frame(b"{}") == b"data: {}\n\n"
