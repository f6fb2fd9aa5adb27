"""The reader of streams: split, cut and resumed in any way, it says every word once."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.unit.client.recorded import (
    NAMES,
    TURNS,
    end_of,
    log,
    rest,
    said,
    stored_answer,
    summary,
    token,
    whole,
)

from hitsend.client import (
    Delayed,
    Finished,
    Screened,
    Started,
    StreamInvalid,
    TextCut,
    TextReplaced,
    Titled,
    Update,
    restore,
)
from hitsend.client.stream_reader import StreamReader

"""How long an example takes says something about the machine, not about the code."""

cuts = st.lists(st.tuples(st.floats(0, 1), st.booleans()), max_size=5)
sizes = st.lists(st.integers(1, 300), min_size=1, max_size=20)


def read(reader: StreamReader, body: bytes, sizes: list[int] | None = None) -> list[Update]:
    """In pieces of these sizes, over and over."""
    heard, at = list[Update](), 0
    while at < len(body):
        for size in sizes or [len(body)]:
            heard += reader.feed(body[at : at + size])
            at += size
    return heard


def kinds(heard: list[Update]) -> list[type[Update]]:
    return [type(update) for update in heard]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_heard_is_what_is_stored(name: str) -> None:
    reader = StreamReader()
    heard = read(reader, (TURNS / f"{name}.sse").read_bytes())
    assert isinstance(heard[0], Started)
    assert isinstance([one for one in heard if not isinstance(one, Titled)][-1], Finished)
    assert said(heard) == stored_answer(name)
    assert reader.is_done


def test_the_end_of_an_answer_can_be_taken_back_and_hidden_values_are_told() -> None:
    heard = read(StreamReader(), whole("cut"))
    screened = next(one for one in heard if isinstance(one, Screened))
    assert screened.safety.outcome == "redact"
    assert restore("[CARD_7F3A]", screened.redactions) == "4556 7375 8689 9855"
    assert [one.text for one in heard if isinstance(one, TextCut)] == ["Yes 👋 it is. "]
    finished = heard[-1]
    assert isinstance(finished, Finished)
    assert finished.is_blocked
    assert finished.message
    assert finished.message.metadata.safety
    assert finished.message.metadata.safety.outcome == "cut"


@pytest.mark.parametrize("name", NAMES)
@given(sizes=sizes)
def test_it_makes_no_difference_where_the_bytes_are_split(name: str, sizes: list[int]) -> None:
    assert read(StreamReader(), whole(name), sizes) == read(StreamReader(), whole(name))


@pytest.mark.parametrize("name", NAMES)
@given(cuts=cuts, sizes=sizes)
def test_a_stream_cut_anywhere_and_resumed_says_every_word_once(
    name: str, cuts: list[tuple[float, bool]], sizes: list[int]
) -> None:
    reader, body, heard = StreamReader(), whole(name), list[Update]()
    for share, is_summary in cuts:
        heard += read(reader, body[: int(share * len(body))], sizes)
        reader.reconnect()
        at = reader.last_seq
        is_summed_up = is_summary and at < end_of(name)
        body = summary(name, at) if is_summed_up else rest(name, at)
    heard += read(reader, body, sizes)
    assert reader.is_done
    assert reader.last_seq == len(log(name))
    assert said(heard) == stored_answer(name)
    assert kinds(heard).count(Finished) == 1
    assert kinds(heard).count(Started) == 1
    assert TextReplaced not in kinds(heard)


@given(at=st.integers(0, 14))
def test_a_summary_from_further_on_brings_what_was_missed(at: int) -> None:
    reader = StreamReader()
    heard = read(reader, whole("hello")[:1500])
    reader.reconnect()
    heard += read(reader, summary("hello", max(at, reader.last_seq)))
    assert said(heard) == stored_answer("hello")
    assert TextReplaced not in kinds(heard)


def test_a_summary_sets_right_what_was_read_wrong() -> None:
    damaged = whole("hello").replace(b'"v":"', b'"v":"x', 1)
    reader, heard = StreamReader(), list[Update]()
    with pytest.raises(StreamInvalid, match="not what the server has stored"):
        heard.extend(reader.feed(damaged))
    reader.reconnect()
    heard = read(reader, summary("hello", 99))
    assert [one.text for one in heard if isinstance(one, TextReplaced)] == [stored_answer("hello")]
    assert isinstance(heard[-1], Finished)
    assert heard[-1].text == stored_answer("hello")


@given(at=st.floats(0, 1, exclude_max=True), byte=st.integers(0, 255))
@example(at=0.32421875, byte=32)  # the answer's role: "assi tant"
def test_a_damaged_byte_is_noticed_or_changes_no_word(at: float, byte: int) -> None:
    body = bytearray(whole("emoji"))
    body[int(at * len(body))] = byte
    reader, heard = StreamReader(), list[Update]()
    try:
        for update in reader.feed(bytes(body)):
            heard.append(update)
    except StreamInvalid:
        return
    if reader.is_done and any(isinstance(one, Finished) for one in heard):
        assert said(heard) == stored_answer("emoji")


def test_a_stream_that_goes_on_elsewhere_is_not_believed() -> None:
    reader = StreamReader()
    read(reader, whole("hello")[:1500])
    reader.reconnect()
    with pytest.raises(StreamInvalid, match="it goes on at"):
        read(reader, rest("hello", reader.last_seq + 1))


def test_the_newest_token_is_the_one_to_come_back_with() -> None:
    reader = StreamReader()
    read(reader, whole("hello")[:1500])
    assert reader.token == "first"
    reader.reconnect()
    read(reader, rest("hello", reader.last_seq, "second")[:600])
    assert reader.token == "second"
    assert reader.conversation_id == token("hello").conversation_id


def test_a_title_is_told() -> None:
    assert any(isinstance(update, Titled) for update in read(StreamReader(), whole("title")))


def test_a_failed_turn_says_why_and_keeps_what_was_said() -> None:
    finished = read(StreamReader(), whole("failed"))[-1]
    assert isinstance(finished, Finished)
    assert finished.failure is not None
    assert finished.failure.code == "worker_lost"
    assert finished.text == stored_answer("failed")


def test_a_wait_is_told_as_it_came() -> None:
    delays = [one for one in read(StreamReader(), whole("delayed")) if isinstance(one, Delayed)]
    assert delays == [Delayed("loading", 0), Delayed("queue", 2), Delayed("queue", 1)]


@pytest.mark.parametrize("number", ["9" * 5000, "-1", "x", "\u0663"])
def test_an_id_that_is_no_number_of_ours_does_not_move_the_reader(number: str) -> None:
    reader = StreamReader()
    read(reader, f"id: {number}\nevent: delta_encoding\ndata: 1\n\n".encode())
    assert reader.last_seq == 0
