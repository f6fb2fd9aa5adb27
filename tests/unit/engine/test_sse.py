"""Events are the same wherever the network cut them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitsend.engine.sse import MAX_LINE_BYTES, SseReader
from hitsend.errors import EngineLost

STREAM = b': hello\n\nevent: x\ndata: {"a":1}\n\ndata:{"b":2}\r\n\r\nid: 3\ndata:  "\xc3\xa9"\n\n'
VALUES = [b'{"a":1}', b'{"b":2}', b'"\xc3\xa9"']


@given(st.lists(st.integers(0, len(STREAM)), max_size=8))
def test_values_do_not_depend_on_where_the_stream_was_cut(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(STREAM)]
    reader = SseReader()
    pieces = [STREAM[start:end] for start, end in zip(edges, edges[1:], strict=False)]
    assert [value for piece in pieces for value in reader.feed(piece)] == VALUES


def test_nothing_counts_after_done() -> None:
    reader = SseReader()
    assert reader.feed(b"data: 1\n\ndata: [DONE]\n\ndata: 2\n\n") == [b"1"]
    assert reader.is_done


def test_a_line_without_an_end_is_given_up() -> None:
    reader = SseReader()
    with pytest.raises(EngineLost, match="without an end"):
        reader.feed(b"data: " + b"x" * MAX_LINE_BYTES)
